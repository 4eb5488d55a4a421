"""The picture of where the time goes."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from jalapeno.metrics import PARTS_AND_WAITS
from jalapeno.presentation.report_tables import label_word
from jalapeno.presentation.time_bars import (
    COLOURS,
    SOURCE,
    TITLE,
    X_TITLE,
    bars,
    pieces,
    time_bars,
)
from tests.presentation.charts import mark_type, marks, rows, titles
from tests.presentation.samples import attribution, reproduction, small


@pytest.fixture(scope="module")
def spec() -> dict[str, Any]:
    found: dict[str, Any] = time_bars(reproduction()).to_dict()
    return found


def lightness(colour: str) -> float:
    """Relative luminance, roughly: 0 is black, 1 is white."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


# ---- words


def test_it_has_a_title_a_source_and_a_unit(spec: dict[str, Any]) -> None:
    assert spec["title"]["text"] == TITLE
    assert SOURCE in spec["title"]["subtitle"]
    assert "InferenceX by SemiAnalysis" in SOURCE
    assert titles(spec, "x") == {X_TITLE}
    assert X_TITLE.endswith("%")


def test_there_is_a_panel_a_model(spec: dict[str, Any]) -> None:
    assert len(spec["vconcat"]) == 3
    assert spec["vconcat"][1]["title"] == "OpenAI gpt-oss-120b"


def test_jalapeno_stands_above_its_reference_for_every_number() -> None:
    names = [name for name, _ in bars(small().comparisons[0])]
    assert names == [
        f"{number} · {system}"
        for number in ("peak", "lowest E2E", "lowest TBT", "at reference TBT")
        for system in ("Jalapeño rack", "NVIDIA GB200 NVL72")
    ]


def test_the_absolute_time_is_at_the_end_of_each_bar(spec: dict[str, Any]) -> None:
    made = reproduction()
    for panel, comparison in zip(spec["vconcat"], made.comparisons, strict=True):
        texts = [
            row["text"]
            for layer in marks(panel)
            if mark_type(layer) == "text"
            for row in rows(spec, layer)
            if "text" in row
        ]
        assert len(texts) == 8
        assert all(re.fullmatch(r"[\d,.]+ ms", text) for text in texts)
        first = comparison.jalapeno[0].outcome.report.latency.e2e_ms.mean
        assert float(texts[0].removesuffix(" ms").replace(",", "")) == pytest.approx(
            first, rel=1e-3
        )


# ---- pieces


def test_the_pieces_of_a_bar_fill_it_without_gaps() -> None:
    for comparison in reproduction().comparisons:
        for name, found in bars(comparison):
            drawn = pieces(name, found)
            assert drawn[0]["start"] == 0.0
            assert drawn[-1]["end"] == pytest.approx(100.0)
            for before, after in pairwise(drawn):
                assert before["end"] == pytest.approx(after["start"])


def test_the_pieces_add_up_to_the_latency() -> None:
    name, found = bars(small().comparisons[0])[0]
    total = sum(piece["ms"] for piece in pieces(name, found))
    assert total == pytest.approx(found.outcome.report.latency.e2e_ms.mean)


def test_what_took_no_time_is_not_drawn() -> None:
    name, found = bars(small().comparisons[0])[0]
    assert "KV transfer" not in {piece["part"] for piece in pieces(name, found)}


def test_only_pieces_with_room_are_named() -> None:
    name, found = bars(small().comparisons[0])[0]
    named = {piece["part"]: piece["name"] for piece in pieces(name, found)}
    assert named["memory"] == "memory"
    assert named["vector"] == ""


def test_a_run_that_took_no_time_has_no_pieces() -> None:
    name, found = bars(small().comparisons[0])[0]
    nothing = attribution(0.0, 0.0)
    report = replace(found.outcome.report, attribution=nothing)
    assert pieces(name, replace(found, outcome=replace(found.outcome, report=report))) == []


# ---- colours


def test_every_part_has_a_colour_of_its_own() -> None:
    assert len(set(COLOURS)) == len(COLOURS) == len(PARTS_AND_WAITS)


def test_names_inside_can_be_read_on_every_colour() -> None:
    assert min(lightness(colour) for colour in COLOURS) > 0.5


def test_pieces_have_a_rim_so_that_neighbours_are_told_apart(spec: dict[str, Any]) -> None:
    layers = [layer for layer in marks(spec) if mark_type(layer) == "bar"]
    assert {layer["mark"]["stroke"] for layer in layers} == {"#111111"}


def test_the_legend_has_every_part_in_the_order_of_the_bars(spec: dict[str, Any]) -> None:
    for layer in marks(spec):
        if mark_type(layer) == "bar":
            domain = layer["encoding"]["color"]["scale"]["domain"]
            assert domain == [label_word(part) for part in PARTS_AND_WAITS]
