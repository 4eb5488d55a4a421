"""Options that belong together are one value in Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from jalapeno.presentation.option_groups import grouped


@dataclass(frozen=True, slots=True, kw_only=True)
class Colours:
    """A group."""

    back: Annotated[str, typer.Option("--back", help="Behind.")]
    front: Annotated[str | None, typer.Option("--front", help="Before.")] = None
    shades: Annotated[list[int] | None, typer.Option("--shade")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Another."""

    height: Annotated[int, typer.Option("--height")] = 3


seen: list[tuple[str, Colours, Size, bool]] = []


@grouped
def paint(
    what: Annotated[str, typer.Argument()],
    colours: Colours,
    size: Size,
    quick: Annotated[bool, typer.Option("--quick")] = False,
) -> None:
    """Paint it."""
    seen.append((what, colours, size, quick))


def run(*words: str) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(paint)
    seen.clear()
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.output


def test_fields_are_options_and_the_command_gets_the_group() -> None:
    assert run("wall", "--back", "red", "--shade", "1", "--shade", "2", "--height", "9")[0] == 0
    assert seen == [("wall", Colours(back="red", shades=[1, 2]), Size(height=9), False)]


def test_what_is_not_given_is_the_field_s_default() -> None:
    assert run("wall", "--back", "red", "--quick")[0] == 0
    assert seen == [("wall", Colours(back="red"), Size(), True)]


def test_a_field_without_a_default_is_demanded() -> None:
    code, _ = run("wall")
    assert (code, seen) == (2, [])


def test_help_shows_every_field_and_the_words_of_the_command() -> None:
    code, out = run("--help")
    assert code == 0
    for word in ("Paint it.", "--back", "--front", "--shade", "--height", "--quick", "Behind."):
        assert word in out
