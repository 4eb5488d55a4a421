"""Thousands of command lines, good and bad: an answer or a message, and never a traceback."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.presentation.fuzz.program import FOLDER, draws, empty_place, judge, run
from tests.presentation.fuzz.strategies import Path_, Texts, commands, junk, lines

USUAL = 400
EXAMPLES: Mapping[Path_, int] = {
    ("list",): 50,
    ("show",): 1200,
    ("scenario",): 1500,
    ("fit",): 100,
    ("calibrate",): 200,
    ("reproduce",): 200,
    ("validate",): 200,
}
"""Command lines for each command; for any other, :data:`USUAL`."""
WITHOUT = 200
"""Command lines that name no command."""

CHEAP = frozenset(
    {("list",), ("show",), ("scenario",), ("simulate",), ("explain",)}
    | {("system", "check"), ("model", "import")}
)
"""Commands whose good lines take no time with our inputs; the lines of others are all spoilt."""

RUN = re.compile("[0-9a-f]{16}")
"""Name of a run's folder."""

COMMANDS = commands()


def spoilt(path: Path_) -> Texts | st.SearchStrategy[list[str]]:
    """Words that no command line of *path* survives, wherever it looks first."""
    found = [["--bogus"]]
    flags = {flag: each for each in COMMANDS[path] for flag in each.flags}
    for flag, word in (
        *(("--out", FOLDER), ("--out", FOLDER), ("--out", f"{FOLDER}/mine.txt")),
        *(("--set", "no.such=1"), ("--engine", "none"), ("--model", "none"), ("--most", "0")),
        *(("--answer", "none"), ("--draw", "none"), ("--step", "none")),
    ):
        if flag in flags:
            found.append([flag, word])
    return st.sampled_from(found)


def line_of(path: Path_) -> st.SearchStrategy[list[str]]:
    """Command lines of the command at *path*; those of a slow one never do its work."""
    rest = lines(COMMANDS[path])
    if path in CHEAP:
        return rest.map(lambda words: [*path, *words])
    return st.builds(
        lambda words, end: [*path, *(w for w in words if w != "--"), *end], rest, spoilt(path)
    )


def examples(path: Path_) -> int:
    return EXAMPLES.get(path, USUAL)


def test_there_are_six_thousand_command_lines() -> None:
    assert sum(map(examples, COMMANDS)) + WITHOUT >= 6_000


def foreign(world: Path) -> list[str]:
    """What lies in *world*, but for runs: a line may ask for them there."""
    return sorted(name for name in os.listdir(world) if not RUN.fullmatch(name))


def hold(line: st.SearchStrategy[list[str]], count: int, world: Path) -> None:
    """Run *count* command lines in a place of their own, and judge each."""
    seen = 0
    around = foreign(world)

    @draws(count)
    @given(line)
    def holds(arguments: list[str]) -> None:
        nonlocal seen
        place = world / "work"
        with empty_place(place):
            ended = run(arguments, b"{}")
        judge(arguments, ended, place)
        assert foreign(world) == around
        seen += 1

    holds()
    assert seen >= count


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_line_ends_well(path: Path_, world: Path) -> None:
    hold(line_of(path), examples(path), world)


def test_what_names_no_command_ends_well(world: Path) -> None:
    groups = [path[:end] for path in COMMANDS for end in range(len(path))]
    start = st.sampled_from(sorted(set(groups)))
    line = st.builds(lambda path, words: [*path, *words], start, st.lists(junk(), max_size=3))
    hold(line, WITHOUT, world)
