"""Tables: figures are those of the findings, misses come first, absence is said."""

from __future__ import annotations

import math

import polars as pl
import pytest

from jalapeno.analysis.validation.drift import drift, read_record
from jalapeno.analysis.validation.scores import score, worst
from jalapeno.analysis.validation.tiers import Finding, Verdict
from jalapeno.presentation.validation.tables import (
    attribution,
    brief,
    drift_table,
    drift_words,
    excluded_table,
    power_table,
    side_by_side_table,
    tables_of,
    verdict_row,
    verdict_table,
    worst_table,
)
from tests.presentation.validation.suites import data, drifted, end_to_end, side_by_side


def verdict(reached: float, **changes: object) -> Verdict:
    given: dict[str, object] = {"tier": "T", "measure": "m", "target": 0.12, "reached": reached}
    return Verdict(**(given | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "cells"),
    [
        (verdict(0.1, points=1234), ("T", "m", "≤ 12 %", "10.0 %", "met", "1,234", "")),
        (verdict(0.2, note="why"), ("T", "m", "≤ 12 %", "20.0 %", "MISSED", "0", "why")),
        (verdict(math.nan), ("T", "m", "≤ 12 %", "–", "MISSED", "0", "")),
        (
            verdict(0.9, target=0.85, unit="", at_most=False),
            ("T", "m", "≥ 0.85", "0.900", "met", "0", ""),
        ),
    ],
)
def test_a_verdict_in_words(one: Verdict, cells: tuple[str, ...]) -> None:
    assert verdict_row(one) == cells


def test_misses_come_first() -> None:
    words = [row[4] for row in verdict_table([side_by_side(), end_to_end()]).rows]
    assert words == sorted(words, key=lambda word: word != "MISSED")
    assert {"MISSED", "met"} == set(words)


def test_scores_are_those_of_the_frame() -> None:
    finding = end_to_end()
    (table,) = (table for table in tables_of(finding) if table.title == "by part")
    rows = finding.frame.filter((pl.col("contender") == "twin") & (pl.col("protocol") == "curves"))
    (row,) = (row for row in table.rows if row[:3] == ("curves", "all", "twin"))
    assert row[3:7] == ("48", "0", "20.0", "20.0")
    assert score(rows)["mape"] == pytest.approx(0.2)
    assert row[table.headers.index("TPOT bias")] == "+18.2"


def test_contenders_stand_in_their_own_order() -> None:
    (table,) = (table for table in tables_of(end_to_end()) if table.title == "by engine")
    names = [row[1] for row in table.rows]
    assert names[:4] == ["roofline", "affine", "linear", "twin"]


def test_a_terminal_shows_less() -> None:
    short, full = brief(end_to_end()), tables_of(end_to_end())
    assert len(short) < len(full)
    assert all(len(table.headers) <= 9 for table in short)
    assert brief(side_by_side()) == tables_of(side_by_side())


def test_the_worst_points_have_their_attribution() -> None:
    rows = end_to_end().frame.filter(pl.col("contender") == "twin")
    table = worst_table("worst", worst(rows, 3))
    assert len(table.rows) == 3
    assert {row[-1] for row in table.rows} == {"memory 70 %, issue 25 %"}
    assert {row[5] for row in table.rows} == {"20.0"}


def test_no_attribution_is_a_dash() -> None:
    assert attribution({"share_memory": None}) == "–"
    assert attribution({}) == "–"


def test_side_by_side_says_what_cannot_be_predicted_and_why() -> None:
    table = side_by_side_table(side_by_side().frame)
    assert table.rows[0][3:6] == ("100", "110", "+10.0")
    assert table.rows[1][4:] == ("–", "–", "no layout is public")


def test_what_is_left_out_is_named() -> None:
    assert excluded_table(data().excluded).rows == (
        ("liar", "throughput is 9 times what it can be"),
    )


def test_drift_in_words_and_figures() -> None:
    words = drift_words(drifted())
    assert words.startswith("Of 48 points predicted by 26.11.0 and today, 48 moved by more than")
    assert "50.0 % then and 20.0 % now" in words
    table = drift_table(drifted())
    assert len(table.rows) == 10
    assert {row[-1] for row in table.rows} == {"20.0"}


def test_no_point_in_common_is_said() -> None:
    strangers = read_record(b"id,version,ttft_ms,tpot_ms\nx,1.0,2.0,3.0\n", "record")
    rows = end_to_end().frame.filter(
        (pl.col("contender") == "twin") & (pl.col("protocol") == "curves")
    )
    assert drift_words(drift(strangers, rows)).startswith("No point is in both the record of 1.0")


def test_watts_are_shown_row_by_row() -> None:
    frame = pl.DataFrame(
        {
            "id": ["one"],
            "board_watts_per_gpu": [800.0],
            "simulated_watts": [600.0],
            "ape": [0.25],
            "dynamic_watts": [120.0],
            "watts_at_measured_speed": [650.0],
            "speed_ratio": [1.5],
        }
    )
    cells = ("one", "800", "600", "25.0", "120", "650", "1.50")
    assert power_table(frame).rows == (cells,)
    finding = Finding(tier="power", title="", frame=frame, verdicts=())
    assert tables_of(finding) == [power_table(frame)]
