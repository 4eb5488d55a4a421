"""Residuals and how they answer: by differences, on the rows that are concerned."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from jalapeno import catalogue
from jalapeno.analysis.calibration import residuals
from jalapeno.analysis.calibration.constants import CONSTANTS, Constant, factors
from jalapeno.analysis.calibration.residuals import (
    PEAK,
    SCALE,
    STEP,
    TTFT_WEIGHT,
    Problem,
)
from jalapeno.analysis.calibration.residuals import problem as named_problem
from jalapeno.analysis.evidence.answers import Answer
from jalapeno.analysis.evidence.answers import answers as real_answers
from tests.analysis.calibration.small import CONSTANTS as SMALL
from tests.analysis.calibration.small import TRUTH, problem

Rows = list[dict[str, Any]]
AT = np.log(TRUTH)


def test_nothing_is_left_over_with_the_constants_that_the_rows_were_measured_with(
    clean: Rows,
) -> None:
    assert problem(clean).residuals(AT) == pytest.approx(0.0, abs=1e-12)


def test_a_residual_is_the_logarithm_of_played_over_measured(clean: Rows) -> None:
    late = [dict(clean[0], measured_ttft_ms=clean[0]["measured_ttft_ms"] / 2.0)]
    ((tpot, ttft),) = problem(late).residuals(AT)
    assert tpot == pytest.approx(0.0, abs=1e-12)
    assert ttft == pytest.approx(TTFT_WEIGHT * math.log(2.0))


def test_a_plan_that_does_not_fit_has_no_residual(clean: Rows) -> None:
    large = dict(clean[0], model="deepseek-r1", precision="fp8", decode_tp=1, gpus=1)
    found = problem([large, clean[0]]).residuals(AT)
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1]).all()


def test_progress_counts_the_points(clean: Rows) -> None:
    seen: list[int] = []
    problem(clean[:3]).residuals(AT, seen.append)
    assert seen == [1, 2, 3]


def test_derivatives_agree_with_central_differences(clean: Rows) -> None:
    # of TPOT; the TTFT of so few requests jumps where one just makes a step or just misses it
    few = problem([clean[1], clean[6], clean[9]])
    found = few.derivatives(AT, few.residuals(AT))
    for column in range(len(AT)):
        step = np.zeros(len(AT))
        step[column] = STEP
        central = (few.residuals(AT + step) - few.residuals(AT - step)) / (2.0 * STEP)
        assert found[:, 0, column] == pytest.approx(central[:, 0], abs=0.03)


def test_slower_host_is_slower_and_faster_memory_faster(clean: Rows) -> None:
    few = problem(clean[:2])
    found = few.derivatives(AT, few.residuals(AT))
    places = {constant.path: place for place, constant in enumerate(SMALL)}
    assert (found[:, 0, places["host_step"]] > 0.0).all()
    assert (found[:, 0, places["memory_efficiency"]] < 0.0).all()
    assert (found[:, 1, places["first_token_delay"]] > 0.0).all()


def test_a_factor_touches_the_rows_alone_that_it_concerns(clean: Rows) -> None:
    small = problem(clean)
    found = small.derivatives(AT, small.residuals(AT))
    others = [number for number, row in enumerate(clean) if row["system"] != "h200-hgx"]
    own = [number for number in range(len(clean)) if number not in others]
    assert (found[others, :, 3] == 0.0).all()
    assert (found[own, 0, 3] > 0.0).all()
    assert (found[:, :, 4] == 0.0).all()


def test_for_a_factor_nothing_is_played_where_all_that_it_multiplies_is_unknown(
    clean: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def counted(rows: Rows, *rest: Any) -> list[Answer | str]:
        asked.append(len(rows))
        return real_answers(rows, *rest)

    monkeypatch.setattr(residuals, "answers", counted)
    every = all_unknowns(clean[:2])
    every.derivatives(every.start, every.residuals(every.start))
    assert len(asked) == 1 + len(CONSTANTS)


def test_the_derivative_by_a_factor_is_that_of_what_it_multiplies(clean: Rows) -> None:
    every = all_unknowns([clean[5], clean[12]])
    at = every.residuals(every.start)
    found = every.derivatives(every.start, at)
    for column, constant in enumerate(every.constants):
        if constant.table:
            alone = Problem(every.engine_at(every.start), every.rows, (constant,))
            tried = alone.derivatives(alone.start, at)
            assert found[:, 0, column] == pytest.approx(tried[:, 0, 0], abs=0.03), constant.path


def test_progress_of_derivatives_counts_the_unknowns(clean: Rows) -> None:
    small, seen = problem(clean[:1]), list[int]()
    small.derivatives(AT, small.residuals(AT), seen.append)
    assert seen == [1, 2, 3, 4, 5]


def test_at_the_upper_bound_the_step_goes_down(clean: Rows) -> None:
    one = Problem(
        catalogue.engine("vllm"), clean[:1], (Constant("memory_efficiency", 0.9, 0.4, 0.98),)
    )
    at = np.log([0.98])
    found = one.derivatives(at, one.residuals(at))
    assert found[0, 0, 0] < 0.0


def all_unknowns(clean: Rows) -> Problem:
    return Problem(catalogue.engine("vllm"), clean, (*CONSTANTS, *factors(clean)))


def test_priors_are_nothing_at_the_start(clean: Rows) -> None:
    whole = all_unknowns(clean)
    assert (whole.prior(whole.start) == 0.0).all()


def test_a_factor_a_spread_from_one_counts_as_an_error_of_the_scale(clean: Rows) -> None:
    whole = all_unknowns(clean)
    for place, constant in enumerate(whole.constants):
        x = whole.start
        x[place] += min(constant.spread, 0.01)
        expected = SCALE * min(1.0, 0.01 / constant.spread)
        assert whole.prior(x)[place] == pytest.approx(expected)


def test_what_is_promised_beyond_the_peak_is_paid_for(clean: Rows) -> None:
    whole = all_unknowns(clean)
    place = {constant.path: n for n, constant in enumerate(whole.constants)}
    x = whole.start
    x[place["matrix_efficiency"]] = math.log(PEAK)
    assert (whole.prior(x)[len(x) :] == 0.0).all()
    x[place["maturity.h100"]] = 0.1
    beyond = whole.prior(x)[len(x) :]
    # gpt-oss-120b and llama-3.3-70b on H100, none on H200
    assert (beyond > 0.0).sum() == 2
    assert beyond.max() == pytest.approx(residuals.PENALTY * SCALE * 0.1)


def test_slopes_of_the_priors_are_their_derivatives(clean: Rows) -> None:
    whole = all_unknowns(clean)
    rng = np.random.default_rng(0)
    for _ in range(5):
        x = whole.start + rng.normal(scale=0.4, size=len(whole.start))
        slopes = whole.prior_slopes(x)
        for column in range(len(x)):
            step = np.zeros(len(x))
            step[column] = 1e-7
            central = (whole.prior(x + step) - whole.prior(x - step)) / 2e-7
            assert slopes[:, column] == pytest.approx(central, abs=1e-5)


def test_bounds_and_start_are_those_of_the_constants(clean: Rows) -> None:
    whole = all_unknowns(clean)
    low, high = whole.bounds
    assert (low < whole.start).all()
    assert (whole.start < high).all()
    engine = whole.engine_at(whole.start)
    for constant in CONSTANTS:
        assert getattr(engine, constant.path) == pytest.approx(constant.start)


def test_a_problem_is_of_the_catalogues_entry(clean: Rows) -> None:
    assert named_problem("sglang", clean, SMALL).engine == catalogue.engine("sglang")
