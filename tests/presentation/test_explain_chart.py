"""The picture of what makes the slow ones slow."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from jalapeno.analysis.explain import Metric
from jalapeno.analysis.explanation import BANDS, Explanation, Scope, explain
from jalapeno.metrics import CAUSES, PARTS_AND_WAITS, measure
from jalapeno.presentation.explain_chart import (
    COLOURS,
    bar_name,
    colour_of,
    explain_chart,
    numbered,
    pieces,
)
from jalapeno.simulation import simulate
from tests.metrics import journals
from tests.presentation.charts import mark_type, marks, rows, titles


@pytest.fixture(scope="module")
def found() -> Explanation:
    journal = simulate(journals.scenario(journals.split(2, 2), requests=60, concurrency=24))
    return explain(journal, measure(journal), Metric.TTFT, Scope())


@pytest.fixture(scope="module")
def spec(found: Explanation) -> dict[str, Any]:
    made: dict[str, Any] = explain_chart(found, "gpt-oss-120b somewhere").to_dict()
    return made


def lightness(colour: str) -> float:
    """Relative luminance, roughly: 0 is black, 1 is white."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_it_says_what_it_shows(spec: dict[str, Any]) -> None:
    assert spec["title"]["text"] == "Where TTFT goes, by percentile of TTFT"
    assert "gpt-oss-120b somewhere" in spec["title"]["subtitle"]
    assert titles(spec, "x") == {"share of the mean TTFT of the band, %"}
    assert [panel["title"] for panel in spec["vconcat"]] == [
        "whose work it was",
        "what bound the step, and waits",
    ]


def test_there_is_a_bar_a_band(spec: dict[str, Any], found: Explanation) -> None:
    names = [bar_name(ends, of) for ends, of in zip(BANDS, found.bands, strict=True)]
    assert names[0].startswith("P0 to P50 (30 requests)")
    for panel in spec["vconcat"]:
        drawn = {
            row["bar"]
            for layer in marks(panel)
            if mark_type(layer) == "bar"
            for row in rows(spec, layer)
        }
        assert drawn == set(names)


@pytest.mark.parametrize("by", ["cause", "part"])
def test_pieces_fill_the_bar_without_a_gap(found: Explanation, by: Any) -> None:
    names = numbered(found.bands, by)
    for of in found.bands:
        drawn = pieces("bar", of, by, names)
        assert drawn[0]["start"] == 0.0
        assert drawn[-1]["end"] == pytest.approx(100.0)
        assert all(a["end"] == pytest.approx(b["start"]) for a, b in pairwise(drawn))


def test_pieces_are_told_apart_without_colour(found: Explanation, spec: dict[str, Any]) -> None:
    """A name, or the number of the legend, stands in each piece that has room for it."""
    names = numbered(found.bands, "cause")
    for of in found.bands:
        for piece in pieces("bar", of, "cause", names):
            if piece["end"] - piece["start"] > 2.0:
                number, _, word = piece["label"].partition(" ")
                assert piece["inside"] in (number, word)
    bars = [layer for layer in marks(spec) if mark_type(layer) == "bar"]
    assert {layer["mark"]["stroke"] for layer in bars} == {"#111111"}


def test_the_legend_names_what_took_time_and_nothing_else(found: Explanation) -> None:
    shown = numbered(found.bands, "cause")
    took = [name for name in CAUSES if any(of.by_cause[name] for of in found.bands)]
    assert list(shown) == took
    assert [name.split()[0] for name in shown.values()] == [
        str(place) for place in range(1, len(took) + 1)
    ]


def test_every_label_has_a_light_colour_of_its_own_in_both_views() -> None:
    every = {*CAUSES, *PARTS_AND_WAITS}
    assert len({colour_of(label) for label in every}) == len(every)
    assert min(lightness(colour) for colour in COLOURS) > 0.5


def test_the_mean_stands_at_the_end_of_each_bar(spec: dict[str, Any]) -> None:
    for panel in spec["vconcat"]:
        texts = [
            row["text"]
            for layer in marks(panel)
            if mark_type(layer) == "text"
            for row in rows(spec, layer)
            if "text" in row
        ]
        assert len(texts) == len(BANDS)
        assert all(text.endswith("s") for text in texts)
