"""Operator scores: right on a world that is known, and within the targets on the measured one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from jalapeno.analysis.validation.operators import (
    COLUMNS,
    Measured,
    across_systems,
    between_loads,
    held_out,
    load_regime,
    measured_tables,
    scores,
)
from jalapeno.cost.tables import FAMILIES, OperatorTable, checked, table_files
from jalapeno.errors import BadTable
from tests.cost.tables.worlds import (
    OPS,
    PEAKS,
    attention_table,
    experts_table,
    gemm_table,
    lawful,
    needs_ops,
    origin,
    prompt_table,
)


def world(system: str, generation: str = "round", speed: float = 1.0) -> Measured:
    """The round chip's GEMMs on a chip so many times as fast."""
    peaks = replace(
        PEAKS,
        matrix={name: speed * rate for name, rate in PEAKS.matrix.items()},
        bandwidth=speed * PEAKS.bandwidth,
    )
    rows = gemm_table().rows
    slower = rows.with_columns(pl.col("time_us") / speed)
    return Measured(checked(origin("gemm", system), slower), peaks, generation)


def one(frame: pl.DataFrame, **where: str) -> dict[str, float]:
    """The row of a score with ``all`` wherever nothing is said."""
    said = {name: where.get(name, "all") for name in COLUMNS if name != "protocol"}
    said["protocol"] = where.get("protocol", frame["protocol"][0])
    row = frame.filter(*(pl.col(name) == value for name, value in said.items()))
    return {name: row[name].item() for name in row.columns if name not in COLUMNS}


def test_scores_are_those_of_a_hand_count() -> None:
    errors = pl.DataFrame(
        {
            "family": ["gemm"] * 4,
            "dtype": ["a", "a", "b", "b"],
            "regime": ["x"] * 4,
            "system": ["s", "s", "s", "t"],
            "error": [0.1, -0.3, 0.2, -0.2],
        }
    )
    frame = scores("p", [errors])
    total = one(frame, family="gemm")
    assert total["n"] == 4
    assert total["mean_ape_percent"] == pytest.approx(20.0)
    assert total["median_ape_percent"] == pytest.approx(20.0)
    assert total["bias_percent"] == pytest.approx(-5.0)
    assert one(frame, family="gemm", dtype="a")["mean_ape_percent"] == pytest.approx(20.0)
    assert one(frame, family="gemm", system="t")["n"] == 1
    assert one(frame, family="gemm", dtype="b", system="s", regime="x")["n"] == 1


def test_a_smooth_world_is_found_again_with_its_sites_held_out() -> None:
    frame = held_out([world("one")])
    score = one(frame, family="gemm")
    assert score["n"] == 36 * 7
    assert score["median_ape_percent"] < 2.0
    assert set(frame["regime"]) == {"all", "to 64 rows", "to 1024 rows", "above 1024 rows"}


def test_a_held_out_site_is_what_a_table_without_it_says() -> None:
    ripple = 0.2 * (pl.col("n").log() * pl.col("k").log()).sin()
    whole = lawful("gemm", gemm_table().rows.drop("time_us"), ripple)
    errors = held_out([Measured(whole, PEAKS, "round")])
    assert one(errors, family="gemm")["median_ape_percent"] > 1.0
    missing = whole.rows.filter((pl.col("n") != 1024) | (pl.col("k") != 1024))
    table = OperatorTable(checked(whole.origin, missing), PEAKS)
    site: dict[str, str | int] = {"dtype": "bf16", "kernel": "law", "n": 1024, "k": 1024}
    truth = OperatorTable(whole, PEAKS).seconds(site, [256]).seconds
    told = table.seconds(site, [256]).seconds / truth - 1.0
    worst = errors.filter(pl.col("regime") == "to 1024 rows")["p90_ape_percent"].max()
    assert isinstance(worst, float)
    assert abs(told) < 3.0 * worst / 100.0


def test_a_load_on_the_line_between_its_neighbours_is_found_exactly() -> None:
    frame = gemm_table().rows.with_columns(time_us=2.0 + 0.5 * pl.col("rows").cast(pl.Float64))
    straight = Measured(checked(origin("gemm"), frame), PEAKS, "round")
    score = one(between_loads([straight]), family="gemm")
    assert score["n"] == 36 * 5
    assert score["mean_ape_percent"] == pytest.approx(0.0, abs=1e-9)


def test_a_load_above_its_neighbours_is_missed_by_as_much() -> None:
    frame = gemm_table().rows.with_columns(
        time_us=pl.when(pl.col("rows") == 64).then(3.0).otherwise(2.0)
    )
    bent = Measured(checked(origin("gemm"), frame), PEAKS, "round")
    frame = between_loads([bent]).filter(pl.col("regime") == "to 64 rows")
    # of the rows 4, 16 and 64, the last is a third too low and the middle one a little too high
    assert frame["p90_ape_percent"].max() == pytest.approx(100.0 / 3.0, rel=0.01)


def test_every_scored_family_can_be_held_out() -> None:
    for table in (attention_table(), prompt_table(), experts_table()):
        frame = held_out([Measured(table, PEAKS, "round")])
        assert one(frame, family=table.origin.family)["n"] == len(table.rows)


def test_a_law_fitted_on_one_chip_prices_another_by_its_datasheet() -> None:
    systems = [world("h200_sxm", "a"), world("h100_sxm", "a", 0.8), world("b200_sxm", "b", 3.0)]
    frame = across_systems([*systems, world("gb300", "b", 3.3)])
    assert set(frame["protocol"]) == {
        "fitted on H200 and B200",
        "fitted on its generation",
        "system left out",
    }
    scored = frame.filter(pl.col("protocol") == "fitted on its generation")
    assert set(scored["system"]) == {"all", "h100_sxm", "gb300"}
    assert one(frame, family="gemm", protocol="system left out")["mean_ape_percent"] < 15.0


def test_a_system_is_never_scored_by_constants_that_saw_it() -> None:
    frame = across_systems([world("h200_sxm", "a"), world("h100_sxm", "a")])
    pooled = frame.filter(pl.col("protocol") == "fitted on H200 and B200")
    assert set(pooled["system"]) == {"all", "h100_sxm"}


def test_every_row_has_the_name_of_its_range_of_loads() -> None:
    expected = {
        "gemm": ["to 64 rows", "to 1024 rows", "above 1024 rows"],
        "moe": ["to 64 tokens", "to 1024 tokens", "above 1024 tokens"],
        "context_attention": ["to 512 tokens", "to 4096 tokens", "above 4096 tokens"],
        "generation_attention": ["to 20 us", "to 200 us", "above 200 us"],
    }
    for name, labels in expected.items():
        column = "time_us" if name == "generation_attention" else FAMILIES[name].axes[-1]
        loads = pl.DataFrame({column: [1, 150 if name == "generation_attention" else 1000, 10**6]})
        assert loads.select(load_regime(FAMILIES[name]).alias("x"))["x"].to_list() == labels


def test_a_folder_without_the_tables_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadTable, match=r"no table 'gemm' of trtllm 1\.3\.0rc20"):
        measured_tables(table_files(tmp_path), "gemm")


# ---- the targets, on the measured tables of six systems


@pytest.fixture(scope="module", params=["gemm", "context_attention", "generation_attention", "moe"])
def tables(request: pytest.FixtureRequest) -> tuple[str, tuple[Measured, ...]]:
    return request.param, measured_tables(table_files(OPS), request.param)


@needs_ops
def test_held_out_sites_meet_their_targets(tables: tuple[str, tuple[Measured, ...]]) -> None:
    family, measured = tables
    # two of the six, one of each generation; all six take a minute
    some = [each for each in measured if each.system in ("h200_sxm", "gb300")]
    score = one(held_out(some), family=family)
    assert score["median_ape_percent"] <= (8.0 if family == "moe" else 4.0)
    assert abs(score["bias_percent"]) < 1.0


@needs_ops
def test_held_out_loads_are_found_between_their_neighbours(
    tables: tuple[str, tuple[Measured, ...]],
) -> None:
    family, measured = tables
    assert one(between_loads(measured), family=family)["median_ape_percent"] <= 3.0


@needs_ops
def test_held_out_systems_meet_their_targets(tables: tuple[str, tuple[Measured, ...]]) -> None:
    family, measured = tables
    frame = across_systems(measured)
    for protocol in frame["protocol"].unique():
        score = one(frame, family=family, protocol=protocol)
        assert score["mean_ape_percent"] <= (20.0 if family == "gemm" else 25.0), protocol
