"""Tables: the same words on a terminal and on a page."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from jalapeno.catalogue import Kind
from jalapeno.presentation.tables import (
    MARKS,
    Table,
    kind_style,
    kind_word,
    to_markdown,
    to_rich,
)

PARTS = Table(
    title="parts",
    headers=("part", "time, ms", "remark"),
    align="krl",
    rows=(("memory", "12.5", "a|b"), ("matrix", "3.25", "[bold]not markup[/bold]")),
    note="all of them",
)


def drawn(table: Table, width: int = 100, colour: bool = False) -> str:
    page = io.StringIO()
    console = Console(file=page, width=width, color_system="standard" if colour else None)
    console.print(to_rich(table))
    return page.getvalue()


def squeezed(text: str) -> str:
    return re.sub(r"[\s─]+", "", text)


def test_a_page_has_heading_header_sides_rows_and_note() -> None:
    assert to_markdown(PARTS) == (
        "### parts\n"
        "\n"
        "| part | time, ms | remark |\n"
        "|:--|--:|:--|\n"
        "| memory | 12.5 | a\\|b |\n"
        "| matrix | 3.25 | [bold]not markup[/bold] |\n"
        "\n"
        "all of them\n"
    )


def test_the_level_of_the_heading_is_the_caller_s() -> None:
    assert to_markdown(PARTS, level=2).startswith("## parts\n")


def test_without_title_or_note_there_is_only_the_table() -> None:
    bare = Table(title="", headers=("a",), align="l", rows=(("1",),))
    assert to_markdown(bare) == "| a |\n|:--|\n| 1 |\n"


def test_a_terminal_shows_every_word() -> None:
    text = drawn(PARTS)
    for word in ("parts", "part", "time, ms", "remark", "memory", "12.5", "a|b", "all of them"):
        assert word in text


def test_words_are_never_taken_for_markup() -> None:
    assert "[bold]not markup[/bold]" in drawn(PARTS)


@pytest.mark.parametrize("width", [28, 40, 60])
def test_a_narrow_terminal_folds_and_cuts_nothing_off(width: int) -> None:
    long = Table(
        title="",
        headers=("path", "source"),
        align="kl",
        rows=(("hbm.bandwidth", "OpenAI, Hot Chips 2026; six stacks at 10.03 Gb/s a pin"),),
    )
    text = drawn(long, width)
    assert "hbm.bandwidth" in text
    assert sorted(squeezed(text)) == sorted(squeezed("".join((*long.headers, *long.rows[0]))))
    assert max(map(len, text.splitlines())) <= width


def test_some_columns_can_be_shown_alone() -> None:
    alone = PARTS.columns((0, 2), "less")
    assert (alone.title, alone.headers, alone.align) == ("less", ("part", "remark"), "kl")
    assert alone.rows[0] == ("memory", "a|b")
    assert alone.note == PARTS.note


def test_numbers_stand_right_and_words_left() -> None:
    lines = drawn(PARTS).splitlines()
    memory, matrix = (next(line for line in lines if word in line) for word in ("12.5", "3.25"))
    assert memory.index("12.5") + 4 == matrix.index("3.25") + 4
    assert memory.index("memory") == matrix.index("matrix")


def test_a_row_of_another_width_is_a_mistake() -> None:
    with pytest.raises(ValueError, match=r"^table 'x' has rows of \[1, 2\] columns$"):
        Table(title="x", headers=("a", "b"), align="ll", rows=(("1",),))


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (Kind.MEASURED, "measured"),
        (Kind.PUBLISHED, "published"),
        (Kind.DERIVED, "derived"),
        (Kind.FITTED, "fitted"),
        (Kind.EMULATED, "emulated"),
        (Kind.ESTIMATED, "~ estimated"),
        (Kind.ASSUMED, "! assumed"),
    ],
)
def test_weak_evidence_is_marked_without_colour(kind: Kind, word: str) -> None:
    assert kind_word(kind) == word


def test_the_marks_are_explained() -> None:
    for kind in (Kind.ESTIMATED, Kind.ASSUMED):
        assert kind_word(kind) in MARKS


def test_weak_evidence_is_coloured_too_and_nothing_else_is() -> None:
    assert kind_style("! assumed") == "bold red"
    assert kind_style("~ estimated") == "yellow"
    assert kind_style("published") == ""
    assert kind_style("~/folder") == ""
    assert kind_style("") == ""
    evidence = Table(title="", headers=("a",), align="l", rows=(("! assumed",),))
    assert "\x1b[1;31m! assumed" in drawn(evidence, colour=True)
