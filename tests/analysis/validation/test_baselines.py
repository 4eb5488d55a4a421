"""Baselines: they find what made the data, and never see what they are asked about."""

from __future__ import annotations

import polars as pl
import pytest

from jalapeno.analysis.validation.baselines import (
    BASELINES,
    LINEAR,
    affine,
    linear,
    linear_tpot,
    linear_ttft,
    roofline,
    roofline_tpot,
)
from jalapeno.analysis.validation.features import features_of
from jalapeno.analysis.validation.protocols import play, protocol
from jalapeno.analysis.validation.scores import score
from jalapeno.errors import UsageError
from tests.analysis.validation.points import grid, row


def made(rows: pl.DataFrame, slope: float, offset_ms: float) -> pl.DataFrame:
    """*rows* as a machine would measure them that is *slope* rooflines and an offset slow."""
    points = [features_of(one) for one in rows.iter_rows(named=True)]
    tpot = [1000.0 * slope * roofline_tpot(point) + offset_ms for point in points]
    ttft = [1000.0 * slope * point.prompt.roofline + offset_ms for point in points]
    return rows.with_columns(
        pl.Series("measured_tpot_ms", tpot), pl.Series("measured_ttft_ms", ttft)
    )


def test_the_roofline_scores_nothing_on_a_perfect_machine() -> None:
    rows = made(grid(), 1.0, 0.0)
    played = play(protocol("datasheet")(rows), roofline)
    assert score(played, "tpot")["mape"] == pytest.approx(0.0, abs=1e-9)
    assert score(played, "ttft")["mape"] == pytest.approx(0.0, abs=1e-9)


def test_the_affine_roofline_finds_slope_and_offset() -> None:
    rows = made(grid(), 1.6, 4.0)
    for name in ("curves", "systems", "models"):
        played = play(protocol(name)(rows), affine)
        assert score(played, "tpot")["mape"] == pytest.approx(0.0, abs=1e-4)
        assert score(played, "ttft")["mape"] == pytest.approx(0.0, abs=1e-4)


def test_the_linear_model_holds_the_affine_roofline_of_a_machine_without_prompts() -> None:
    # where memory binds and nothing interrupts, both are weights, KV and something fixed
    rows = made(grid().with_columns(pl.lit(1, pl.Int64).alias("concurrency")), 1.5, 0.0)
    played = play(protocol("curves")(rows), linear)
    assert score(played, "tpot")["mape"] < 0.01


def test_there_are_nine_constants() -> None:
    point = features_of(row(0))
    assert len(LINEAR) == len(linear_tpot(point)) == len(linear_ttft(point)) == 9


def test_an_engine_without_rows_of_its_own_is_asked_with_everyones_constants() -> None:
    rows = grid()
    others = rows.filter(pl.col("engine") != "sglang")
    said = linear(others)(rows.filter(pl.col("engine") == "sglang"))
    assert said["predicted_tpot_ms"].null_count() == 0
    assert len(said) == len(rows.filter(pl.col("engine") == "sglang"))


@pytest.mark.parametrize("name", ["affine", "linear"])
def test_nothing_to_fit_on_is_said(name: str) -> None:
    _, fit = BASELINES[name]
    with pytest.raises(UsageError, match="no unified rows"):
        fit(grid().clear())


@pytest.mark.parametrize("name", list(BASELINES))
def test_every_baseline_answers_every_row(name: str) -> None:
    _, fit = BASELINES[name]
    played = play(protocol("curves")(grid()), fit)
    for what in ("tpot", "ttft", "throughput"):
        assert score(played, what)["missing"] == 0
