"""Fits: constants that the points were played with are found again, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.analysis.calibration.certainty import certainty
from jalapeno.analysis.calibration.constants import (
    CONSTANTS,
    LAYER,
    MOST,
    chip_of,
    concerns,
    engine_with,
    factors,
)
from jalapeno.analysis.calibration.fit import Fit, fit, soft, soft_slope
from jalapeno.analysis.calibration.residuals import SCALE, Problem
from jalapeno.analysis.calibration.twin import unfitted
from jalapeno.errors import UsageError
from tests.analysis.calibration.small import CONSTANTS as SMALL
from tests.analysis.calibration.small import TRUTH, problem

Rows = list[dict[str, Any]]
sizes = st.floats(-20.0, 20.0, allow_nan=False)


def test_constants_are_found_again_from_points_that_were_played_with_them(exact: Fit) -> None:
    assert exact.values == pytest.approx(TRUTH, rel=0.05)
    assert exact.left == pytest.approx(0.0, abs=2e-3)
    assert exact.answered.all()


def test_with_noise_the_intervals_hold_them(noisy: list[Fit]) -> None:
    held = []
    for found in noisy:
        low, high = certainty(found).interval
        truth = np.array(TRUTH)
        held += ((low <= truth) & (truth <= high)).tolist()
        assert (high / low)[:3].max() < 1.8, "intervals that hold everything say nothing"
    assert np.mean(held) >= 0.8


def test_the_spread_left_over_is_that_of_the_noise(noisy: list[Fit]) -> None:
    spreads = [certainty(found).spread for found in noisy]
    assert np.mean(spreads) == pytest.approx(0.02, rel=0.2)


def test_a_chip_that_nobody_measured_has_the_factor_one(exact: Fit) -> None:
    place = [constant.path for constant in SMALL].index("issue_scale.b200")
    assert exact.values[place] == pytest.approx(1.0, abs=1e-6)


def test_the_engine_has_the_fitted_values_and_no_factor_but_those(exact: Fit) -> None:
    engine = exact.engine
    assert engine.host_step == pytest.approx(TRUTH[1], rel=0.05)
    assert set(engine.issue_scale) == {"h200", "b200"}
    assert engine.maturity == {}
    assert engine.link_efficiency == unfitted("vllm").link_efficiency
    assert all(getattr(engine, name) == 0.0 for name in LAYER)


def test_a_fit_that_begins_at_the_fit_stays_there(exact: Fit) -> None:
    again = fit(exact.problem, begin=exact.x)
    assert again.x == pytest.approx(exact.x, abs=0.02)


def test_a_fit_begins_where_the_entry_stands(exact: Fit) -> None:
    begin = np.exp(exact.problem.begin)
    entry = unfitted("vllm")
    assert begin[:3] == pytest.approx([getattr(entry, one.path) for one in SMALL[:3]])
    assert begin[3:] == pytest.approx([entry.issue_scale.get(one.key, 1.0) for one in SMALL[3:]])


def test_what_an_entry_says_beyond_the_bounds_is_no_place_to_begin(exact: Fit) -> None:
    odd = replace(exact.problem, engine=replace(exact.problem.engine, host_step=1.0))
    assert np.exp(odd.begin)[1] == pytest.approx(SMALL[1].start)
    tuned = replace(exact.problem, engine=replace(exact.problem.engine, issue_scale={"h200": 2.0}))
    assert np.exp(tuned.begin)[3] == pytest.approx(2.0)


def test_a_point_that_is_far_off_hardly_moves_the_fit(exact: Fit, altered: Fit) -> None:
    # soft L1: half again as slow is four scales off, and still one of thirteen
    assert np.abs(altered.x - exact.x)[:3].max() < 0.35
    assert altered.left[12, 0] < -0.2


def test_fewer_points_than_constants_are_named_with_both_numbers(clean: Rows) -> None:
    short = Problem(unfitted("vllm"), clean[:2], SMALL)
    with pytest.raises(UsageError, match="vllm: 2 points cannot tell 3 constants"):
        fit(short)


def test_factors_need_no_points_of_their_own(clean: Rows) -> None:
    enough = Problem(unfitted("vllm"), clean[:1], SMALL[2:])
    assert fit(enough).values[0] == pytest.approx(TRUTH[2], rel=0.05)


def test_stages_are_told(clean: Rows) -> None:
    told: set[str] = set()
    fit(
        Problem(unfitted("vllm"), clean[:2], SMALL[1:2]),
        lambda stage, done, total: told.add(stage),
    )
    assert {"points", "derivatives, round 1"} <= told


def test_rows_that_do_not_fit_are_not_answered(clean: Rows) -> None:
    large = dict(clean[0], model="deepseek-r1", precision="fp8", decode_tp=1, gpus=1)
    found = fit(Problem(unfitted("vllm"), [*clean[:2], large], SMALL[1:2]))
    assert found.answered.tolist() == [True, True, False]
    assert np.isfinite(found.x).all()


# ---- the loss


@given(sizes)
def test_the_slope_of_the_soft_loss_is_its_derivative(size: float) -> None:
    at, step = np.array([[size]]), 1e-6
    central = (soft(at + step) - soft(at - step)) / (2.0 * step)
    assert soft_slope(at) == pytest.approx(central, rel=1e-4, abs=1e-6)


@given(sizes)
def test_squares_of_soft_residuals_are_the_soft_l1_loss(size: float) -> None:
    loss = SCALE**2 * 2.0 * (np.sqrt(1.0 + (size / SCALE) ** 2) - 1.0)
    assert float(soft(np.array([size]))[0] ** 2) == pytest.approx(loss, rel=1e-9, abs=1e-15)


@given(sizes)
def test_small_residuals_are_squared_and_large_ones_count_by_their_root(size: float) -> None:
    found = float(soft(np.array([size]))[0])
    assert abs(found) <= abs(size) + 1e-12
    assert abs(found) <= np.sqrt(2.0 * SCALE * abs(size)) + 1e-12
    assert found * size >= 0.0


def test_near_nothing_the_slope_is_one() -> None:
    assert soft_slope(np.array([0.0, 1e-9, -1e-9])) == pytest.approx(1.0)


def test_rows_without_an_answer_count_nothing() -> None:
    gap = np.array([np.nan])
    assert soft(gap)[0] == 0.0
    assert np.isfinite(soft_slope(gap)[0])


# ---- constants and factors


def test_factors_are_of_chips_models_and_pairs_that_are_there(clean: Rows) -> None:
    paths = [constant.path for constant in factors(clean)]
    keys = ["h100", "h200", "gpt-oss-120b", "llama-3.3-70b"]
    keys += [f"{chip}/{model}" for chip in keys[:2] for model in keys[2:]]
    assert paths == [f"{table}.{key}" for table in ("maturity", "issue_scale") for key in keys]
    assert len(set(paths)) == len(paths)


def test_a_factor_is_from_a_quarter_to_four_around_one(clean: Rows) -> None:
    for constant in factors(clean):
        assert (constant.low, constant.start, constant.high) == (1 / MOST, 1.0, MOST)
        assert 0.0 < constant.spread < 1.0


def test_a_pair_is_known_better_than_a_chip_or_a_model(clean: Rows) -> None:
    spreads = {constant.key: constant.spread for constant in factors(clean)}
    assert spreads["h100/gpt-oss-120b"] < spreads["h100"]
    assert spreads["h100"] == spreads["gpt-oss-120b"]


def test_what_a_constant_concerns(clean: Rows) -> None:
    by = {constant.path: constant for constant in (*CONSTANTS, *factors(clean))}
    place = ("h100", "gpt-oss-120b")
    assert chip_of(clean[0]) == "h100"
    assert concerns(by["host_step"], *place)
    assert concerns(by["maturity.h100"], *place)
    assert concerns(by["maturity.gpt-oss-120b"], *place)
    assert concerns(by["maturity.h100/gpt-oss-120b"], *place)
    assert not concerns(by["maturity.h200"], *place)
    assert not concerns(by["maturity.h100/llama-3.3-70b"], *place)


@pytest.mark.parametrize("constant", CONSTANTS, ids=lambda constant: constant.path)
def test_a_constant_is_a_field_of_an_engine_and_starts_within_bounds(constant: Any) -> None:
    assert hasattr(catalogue.engine("vllm"), constant.path)
    assert constant.low < constant.start < constant.high
    assert constant.spread == float("inf")
    assert (constant.table, constant.key) == ("", "")


def test_an_engine_with_values_keeps_all_else() -> None:
    before = catalogue.engine("tensorrt-llm")
    after = engine_with(before, SMALL, TRUTH)
    same = replace(
        after,
        **{
            name: getattr(before, name)
            for name in (
                *("memory_efficiency", "host_step", "first_token_delay"),
                *("issue_scale", "maturity", *LAYER),
            )
        },
    )
    assert same == before


def test_the_small_problem_is_of_vllm(clean: Rows) -> None:
    assert problem(clean).engine.name == "vllm"
