"""The tornado."""

from __future__ import annotations

from typing import Any

import pytest

from jalapeno.analysis.sensitivity import Sensitivity, Swing
from jalapeno.analysis.sensitivity_answers import answer_of
from jalapeno.catalogue import Fact, Kind
from jalapeno.errors import UsageError
from jalapeno.presentation.sensitivity_tables import Found
from jalapeno.presentation.tornado_chart import FILLS, bar_name, ends, outermost, tornado_chart
from tests.presentation.charts import mark_type, marks, rows, titles


def made(path: str, low: float | str | None, high: float | str | None) -> Swing:
    fact = Fact(2e12, "2 TB/s", "B/s", Kind.ASSUMED, "a test", low=1e12, high=4e12)
    return Swing(path=path, fact=fact, base=10.0, low=low, high=high)


SWINGS = (
    made("chip.a", 20.0, 5.0),
    made("chip.b", 12.0, 14.0),
    made("chip.c", "it does not fit", 11.0),
    made("chip.d", 10.0, 10.0),
)


def found(swings: tuple[Swing, ...] = SWINGS) -> Found:
    result = Sensitivity(
        base=10.0,
        elasticities=(),
        without_effect=(),
        not_tried={},
        swings=swings,
        still=(),
        without_range=(),
    )
    return Found(
        answer=answer_of("mean_tbt_ms"),
        run="a run",
        by="closed form",
        why="",
        simulated=10.1,
        sensitivity=result,
        combined=None,
    )


@pytest.fixture(scope="module")
def spec() -> dict[str, Any]:
    drawn: dict[str, Any] = tornado_chart(found(), 15).to_dict()
    return drawn


def test_it_says_what_it_shows_in_which_unit_and_what_the_marks_mean(spec: dict[str, Any]) -> None:
    assert spec["title"]["text"] == "What mean_tbt_ms rests on"
    subtitle = " ".join(spec["title"]["subtitle"])
    assert "a run; by closed form: 10.00 ms" in subtitle
    assert "! assumed are weak evidence" in subtitle
    assert titles(spec, "x") == {"mean_tbt_ms, ms"}


def test_bars_stand_in_the_order_of_their_swing(spec: dict[str, Any]) -> None:
    (order,) = {
        tuple(layer["encoding"]["y"]["sort"]) for layer in marks(spec) if "y" in layer["encoding"]
    }
    assert order == tuple(bar_name(swing) for swing in SWINGS[:3])
    assert order[0] == "chip.a = 2 TB/s (! assumed)"


def test_a_refused_end_is_named(spec: dict[str, Any]) -> None:
    assert bar_name(SWINGS[2]) == "chip.c = 2 TB/s (! assumed, low end refused)"
    assert [piece["end"] for piece in ends(SWINGS[2])] == ["at the high end"]


def test_ends_have_the_facts_text_and_the_answer() -> None:
    low, high = sorted(ends(SWINGS[0]), key=lambda piece: piece["end"], reverse=True)
    assert (low["text"], low["side"]) == ("1 TB/s: 20.0", "right")
    assert (high["text"], high["side"]) == ("4 TB/s: 5.00", "left")


def test_ends_are_told_apart_without_colour(spec: dict[str, Any]) -> None:
    (bars,) = [layer for layer in marks(spec) if mark_type(layer) == "bar"]
    assert bars["encoding"]["color"]["scale"]["range"] == list(FILLS.values())
    assert bars["mark"]["stroke"] == "#111111"
    for colour in FILLS.values():
        assert len({colour[1:3], colour[3:5], colour[5:7]}) == 1  # greys


def test_where_both_ends_go_one_way_the_longer_is_drawn_first_and_has_the_text() -> None:
    pieces = ends(SWINGS[1])
    assert [piece["answer"] for piece in pieces] == [14.0, 12.0]
    assert [outermost(piece, pieces) for piece in pieces] == [True, False]


def test_the_answer_as_it_is_stands_as_a_line(spec: dict[str, Any]) -> None:
    (line,) = [layer for layer in marks(spec) if mark_type(layer) == "rule"]
    assert rows(spec, line) == [{"answer": 10.0}]


def test_only_the_top_is_drawn() -> None:
    spec = tornado_chart(found(), 1).to_dict()
    (bars,) = [layer for layer in marks(spec) if mark_type(layer) == "bar"]
    assert {row["bar"] for row in rows(spec, bars)} == {bar_name(SWINGS[0])}


def test_nothing_that_moves_is_nothing_to_draw() -> None:
    with pytest.raises(UsageError, match="no fact with a range changes mean_tbt_ms"):
        tornado_chart(found(SWINGS[3:]), 15)
