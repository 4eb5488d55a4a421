"""Every command that a page mentions exists, with the options it is given."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer.main

from jalapeno.presentation.cli import app
from tests.docs.pages import ALL, ROOT, blocks, commands, read

GROUP = typer.main.get_command(app)
PAGES = (*ALL, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md")


def options(command: Any) -> set[str]:
    """Options of a command and of those under it."""
    own = {option for parameter in command.params for option in parameter.opts}
    return own.union(*(options(under) for under in getattr(command, "commands", {}).values()))


def known() -> dict[str, set[str]]:
    """Options of each subcommand."""
    return {name: options(command) for name, command in getattr(GROUP, "commands", {}).items()}


def mentions(text: str) -> list[str]:
    """Calls of the command in a page: lines of consoles, and code in a line."""
    consoles = [line for block in blocks(text) for line, _ in commands(block)]
    inline = re.findall(r"`((?:jalapeno|make) [^`]+)`", text)
    return [re.sub(r"^\S*/", "", call) for call in (*consoles, *inline)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_mentioned_exists(page: Path) -> None:
    for call in mentions(read(page)):
        if call.startswith("jalapeno "):
            name = call.split()[1]
            assert name in known() or name == "--version", call


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_option_mentioned_is_one_of_its_command(page: Path) -> None:
    for call in mentions(read(page)):
        words = call.split()
        if words[0] == "jalapeno" and words[1] in known():
            given = {word for word in words if word.startswith("--")}
            assert given <= known()[words[1]], call


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_target_of_make_mentioned_exists(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    for call in mentions(read(page)):
        if call.startswith("make "):
            assert call.split()[1] in targets, call


def test_the_guide_mentions_every_command() -> None:
    named = {call.split()[1] for call in mentions(read(ROOT / "docs" / "guide.md"))}
    assert set(known()) <= named


def test_calls_are_found_in_consoles_and_in_lines() -> None:
    text = "Use `jalapeno list chips`.\n\n```console\n$ .venv/bin/jalapeno show x\n```\n"
    assert mentions(text) == ["jalapeno show x", "jalapeno list chips"]
