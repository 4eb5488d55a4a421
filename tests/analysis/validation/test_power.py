"""Power: measured rows become runs, watts add up, and a diagnosis finds what made the data."""

from __future__ import annotations

import math

import polars as pl
import pytest

from jalapeno.analysis.validation.power import (
    ENGINES,
    MOST,
    contradictions,
    finding,
    read_watts,
    scenario_for,
    simulated,
    what_binds,
)
from jalapeno.simulation import Role


def rows() -> list[dict[str, object]]:
    return list(read_watts().iter_rows(named=True))


def test_every_shipped_row_becomes_a_run_of_its_own_layout() -> None:
    for row in rows():
        scenario = scenario_for(row)
        chips = sum(pool.replicas * pool.plan.chips for pool in scenario.pools)
        assert chips == row["gpus"]
        split = row["prefill_tp"] is not None
        assert [pool.role for pool in scenario.pools] == (
            [Role.PREFILL, Role.DECODE] if split else [Role.UNIFIED]
        )


def test_every_framework_has_an_engine_that_ships() -> None:
    assert {row["framework"] for row in rows()} <= set(ENGINES)


def test_four_bits_are_amds() -> None:
    formats = {row["precision"]: scenario_for(row).pools[0].plan.precision for row in rows()}
    assert (formats["fp4"].experts, formats["fp4"].experts_act) == ("mxfp4", "mxfp4")
    assert formats["fp8"].experts == "fp8_block"


def test_a_row_that_littles_law_forbids_is_named() -> None:
    kept, left = contradictions(read_watts())
    assert left["id"].to_list() == ["mi355x-atom-fp8-1k1k-c512-8gpu"]
    assert len(kept) == len(read_watts()) - 1


def test_watts_are_static_idle_and_work() -> None:
    row = min(rows(), key=lambda one: (one["prefill_tp"] is None, one["concurrency"]))
    found = simulated(row)
    parts = (
        float(found["static_watts"]) * float(found["running_share"])
        + float(found["idle_watts"]) * (1.0 - float(found["running_share"]))
        + float(found["dynamic_watts"])
    )
    assert found["simulated_watts"] == pytest.approx(parts)
    assert 0.0 < float(found["running_share"]) < 1.0  # one request at a time rests a pool


def made(static: float, factor: float) -> pl.DataFrame:
    """Rows whose boards draw *static* watts and *factor* times the work's."""
    frame = pl.DataFrame(
        {
            "id": [f"r{number}" for number in range(8)],
            "running_share": [1.0, 0.9, 0.5, 1.0, 0.8, 1.0, 0.7, 0.95],
            "dynamic_watts": [20.0, 50.0, 10.0, 90.0, 40.0, 120.0, 30.0, 70.0],
            "speed_ratio": [2.0, 1.5, 1.0, 1.0, 1.2, 0.9, 1.1, 1.0],
        }
    ).with_columns(
        pl.lit(160.0).alias("idle_watts"),
        pl.lit(420.0).alias("static_watts"),
        pl.lit(False).alias("speculative"),
    )
    resting = pl.col("idle_watts") * (1.0 - pl.col("running_share"))
    work = pl.col("dynamic_watts") * pl.col("speed_ratio")
    board = static * pl.col("running_share") + resting + factor * work
    own = 420.0 * pl.col("running_share") + resting + pl.col("dynamic_watts")
    return frame.with_columns(
        board.alias("board_watts_per_gpu"),
        own.alias("simulated_watts"),
        (420.0 * pl.col("running_share") + resting + work).alias("watts_at_measured_speed"),
        (own / board - 1.0).abs().alias("ape"),
    )


def test_a_diagnosis_finds_what_made_the_data() -> None:
    found = what_binds(made(500.0, 3.0))
    assert (found.static_watts, found.factor) == pytest.approx((500.0, 3.0))
    assert (found.fitted, found.held_out) == pytest.approx((0.0, 0.0), abs=1e-6)


def test_a_deployment_is_diagnosed_by_the_others() -> None:
    frame = made(500.0, 3.0)
    lies = pl.when(pl.col("id") == "r0").then(2.0).otherwise(1.0)
    bent = frame.with_columns((pl.col("board_watts_per_gpu") * lies).alias("board_watts_per_gpu"))
    found = what_binds(bent)
    assert found.held_out == pytest.approx(0.5 / 8, rel=0.1)  # r0 draws twice what is foreseen
    assert math.isnan(what_binds(frame.head(2)).held_out)


def test_the_verdict_is_the_mean_error_and_the_notes_say_what_binds() -> None:
    frame = made(420.0, 2.0)
    none = pl.DataFrame(schema={"id": pl.String, "reason": pl.String})
    found = finding(frame, none)
    (verdict,) = found.verdicts
    assert verdict.reached == pytest.approx(float(frame["ape"].to_numpy().mean()))
    assert verdict.target == MOST
    assert verdict.points == 8
    assert "2.0 times the dynamic energies would leave 0.0 %" in found.notes[-1]
