"""The pages of the documentation as the tests read them: blocks, links, headings, words.

A comment on the line before a block says how it is tested::

    <!-- run -->            each ``$ jalapeno`` line of the console block succeeds
    <!-- run: exit 2 -->    ... ends with that code, and prints what stands below it
    <!-- printed -->        the block before it prints this text
    <!-- entry: chips -->   the loader takes the TOML block as an entry of that shelf

Blocks of Python need no mark: all of them are run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

MADE = ("validation.md", "speed.md", "audit.md", "posterior.md")
"""Pages that commands write."""

WRITTEN = (ROOT / "README.md", *sorted(p for p in DOCS.glob("*.md") if p.name not in MADE))
"""Pages that people write: their code is run."""

ALL = (*WRITTEN, *(DOCS / name for name in MADE if (DOCS / name).exists()))

_FENCE = re.compile(r"(?P<ticks>`{3,})(?P<language>\w*)\s*")
_MARK = re.compile(r"<!-- (?P<mark>.+) -->")
_LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"#+ (?P<title>.+)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page."""

    line: int
    """Of its first line of text, from one."""
    language: str
    mark: str
    """What the comment before it says, or nothing."""
    text: str


def read(page: Path) -> str:
    """The text of *page*."""
    return page.read_text(encoding="utf-8")


def blocks(text: str) -> tuple[Block, ...]:
    """The fenced blocks of a page, in order; ValueError where one is not closed."""
    found: list[Block] = []
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        fence = _FENCE.fullmatch(lines[at])
        at += 1
        if fence is None:
            continue
        begin = at
        while at < len(lines) and lines[at] != fence["ticks"]:
            at += 1
        if at == len(lines):
            raise ValueError(f"line {begin}: the block is not closed")
        mark = _MARK.fullmatch(lines[begin - 2]) if begin > 1 else None
        inside = "\n".join(lines[begin:at])
        found.append(Block(begin + 1, fence["language"], mark["mark"] if mark else "", inside))
        at += 1
    return tuple(found)


def prose(text: str) -> str:
    """The text of a page without its fenced blocks."""
    kept = text.splitlines()
    for block in blocks(text):
        size = len(block.text.split("\n")) if block.text else 0
        for at in range(block.line - 2, block.line + size):
            kept[at] = ""
    return "\n".join(kept)


def links(text: str) -> tuple[str, ...]:
    """The targets of the links and pictures of a page, in order."""
    return tuple(link["target"] for link in _LINK.finditer(prose(text)))


def headings(text: str) -> tuple[str, ...]:
    """The headings of a page, in order."""
    lines = prose(text).splitlines()
    return tuple(found["title"] for line in lines if (found := _HEADING.fullmatch(line)))


def anchor(heading: str) -> str:
    """The fragment that GitHub gives to a *heading*."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def commands(block: Block) -> tuple[tuple[str, str], ...]:
    """(command, what is printed below it) of a console block; a backslash joins lines."""
    found: list[tuple[str, str]] = []
    for line in block.text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), ""))
        elif found:
            command, below = found[-1]
            found[-1] = (command, f"{below}\n{line}".strip())
    return tuple(found)
