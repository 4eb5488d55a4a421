"""Calibration as a whole: which points are taken, and what comes out."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from jalapeno import catalogue
from jalapeno.analysis.calibration.calibrate import (
    DRAFTING,
    Asked,
    Calibration,
    Data,
    calibrate,
    choose,
    naming,
    played,
)
from jalapeno.analysis.calibration.fit import Fit
from jalapeno.analysis.calibration.twin import unfitted
from jalapeno.analysis.evidence.sources.points import COLUMNS, LEFT_OUT, Points
from jalapeno.catalogue import Kind, engine_of
from jalapeno.errors import UsageError
from tests.analysis.calibration.small import TRUTH
from tests.analysis.validation.points import frame, row

ASKED = Asked(name="mine", base="vllm", replicates=20, seed=0, rounds=14, as_of="2026-11-30")


def points(rows: list[dict[str, Any]], statistic: str = "mean") -> Points:
    made = frame(rows).with_columns(pl.lit(statistic).alias("statistic"))
    return Points(made.select(*COLUMNS), pl.DataFrame(schema=pl.Schema(LEFT_OUT)))


@pytest.fixture(scope="session")
def found(clean: list[dict[str, Any]]) -> Calibration:
    """The small points, with all unknowns."""
    data = choose(points(clean), None, "made up")
    return calibrate(data, unfitted("vllm"), ASKED)


# ---- which points


def test_the_only_engine_need_not_be_named(clean: list[dict[str, Any]]) -> None:
    data = choose(points(clean), None, "made up")
    assert data.engine == "vllm"
    assert len(data.rows) == len(clean)
    assert data.curves == 7
    assert data.medians == 0
    assert data.others == {}


def test_of_several_engines_one_must_be_chosen() -> None:
    both = points([row(1), row(2, engine="sglang"), row(3, engine="sglang", system="mi355x-oam")])
    with pytest.raises(UsageError, match=r"sglang-rocm \(1 points\).*choose one with --engine"):
        choose(both, None, "made up")
    data = choose(both, "sglang", "made up")
    assert data.rows["id"].to_list() == ["point-002"]
    assert data.others == {"sglang-rocm": 1, "vllm": 1}


def test_an_engine_without_points_is_told_what_there_is() -> None:
    with pytest.raises(UsageError, match="no points of atom to fit; there are vllm"):
        choose(points([row(1)]), "atom", "made up")
    with pytest.raises(UsageError, match="there are none"):
        choose(Points(points([row(1)]).rows.clear(), points([row(1)]).left_out), None, "")


def test_contradictions_and_drafting_are_left_out_by_name() -> None:
    bad = row(2, measured_tokens_per_s_per_gpu=1e6)
    drafting = row(3, speculative=True)
    data = choose(points([row(1), bad, drafting]), None, "made up")
    assert data.rows["id"].to_list() == ["point-001"]
    reasons = dict(data.left_out.iter_rows())
    assert reasons["point-003"] == DRAFTING
    assert "times what its concurrency" in reasons["point-002"]


def test_medians_are_counted() -> None:
    assert choose(points([row(1), row(2)], "median"), None, "").medians == 2


# ---- what comes out


def test_constants_are_found_and_errors_vanish(found: Calibration) -> None:
    constants = found.fit.problem.constants
    values = {one.path: value for one, value in zip(constants, found.fit.values, strict=True)}
    assert values["memory_efficiency"] == pytest.approx(TRUTH[0], rel=0.1)
    assert values["first_token_delay"] == pytest.approx(TRUTH[2], rel=0.1)
    after = found.after["predicted_tpot_ms"] / found.after["measured_tpot_ms"] - 1.0
    before = found.before["predicted_tpot_ms"] / found.before["measured_tpot_ms"] - 1.0
    assert after.abs().mean() < 0.01 < before.abs().mean()  # type: ignore[operator]


def test_what_is_written_is_what_is_predicted_with(found: Calibration) -> None:
    engine = engine_of(found.tree)
    again, refused = played(found.data.rows, engine)
    assert again["predicted_tpot_ms"].equals(found.after["predicted_tpot_ms"])
    assert refused.is_empty()
    assert found.refused.is_empty()


def test_intervals_hold_the_values(found: Calibration) -> None:
    assert (found.low <= found.fit.values).all()
    assert (found.fit.values <= found.high).all()
    assert found.drawn is not None
    assert found.drawn.shape == (20, len(found.fit.problem.constants))


def test_before_is_what_the_base_says(found: Calibration) -> None:
    expected, _ = played(found.data.rows, unfitted("vllm"))
    assert expected["predicted_ttft_ms"].equals(found.before["predicted_ttft_ms"])


def test_the_source_names_points_curves_and_what_is_left_over(found: Calibration) -> None:
    fact = engine_of(found.tree).facts["host_step"]
    assert fact.kind is Kind.FITTED
    assert fact.source.startswith("made up: 13 points on 7 curves; median error of mean TPOT left")
    assert fact.as_of == "2026-11-30"


def test_versions_of_the_data_are_those_of_the_entry(found: Calibration, exact: Fit) -> None:
    assert engine_of(found.tree).version == "0.1"
    rows = found.data.rows
    for column, expected in (
        (pl.lit("unknown"), "unknown"),
        (pl.format("0.{}", "concurrency"), "0.16, 0.4, 0.8"),
    ):
        data = Data("vllm", rows.with_columns(column.alias("engine_version")), rows, {}, "x")
        assert naming(data, exact, ASKED)["version"] == expected


def test_one_curve_is_refused_before_anything_is_played(clean: list[dict[str, Any]]) -> None:
    same = [{**one, "curve": "one"} for one in clean]
    with pytest.raises(UsageError, match="--bootstrap 0"):
        calibrate(choose(points(same), None, ""), catalogue.engine("vllm"), ASKED)


def test_fewer_points_than_constants_are_refused(clean: list[dict[str, Any]]) -> None:
    few = choose(points(clean[:4]), None, "")
    with pytest.raises(UsageError, match="4 points cannot tell 12 constants"):
        calibrate(few, catalogue.engine("vllm"), ASKED)


def test_a_plan_that_does_not_fit_is_named() -> None:
    large = row(1, model="deepseek-r1", precision="fp8", tp=1)
    frame_, refused = played(points([large, row(2)]).rows, catalogue.engine("vllm"))
    assert refused["id"].to_list() == ["point-001"]
    assert frame_["predicted_tpot_ms"].null_count() == 1
    assert len(frame_) == 2
