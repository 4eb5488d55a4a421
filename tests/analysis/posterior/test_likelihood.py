"""The likelihood, against the formulas written out."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm
from scipy.stats import t as student

from jalapeno import catalogue
from jalapeno.analysis.posterior.evidence import WATTS, Published, published_numbers
from jalapeno.analysis.posterior.likelihood import (
    DEGREES,
    Judge,
    Outcomes,
    Ramp,
    judge_of,
    log_shares,
    log_student,
    picked,
)
from jalapeno.analysis.posterior.options import Listed, Options, Try, served, table
from jalapeno.analysis.posterior.sampler import prior_draws
from jalapeno.analysis.posterior.unknowns import (
    ALONE,
    LOADED,
    PATHS,
    REGRET,
    Floats,
    place_of,
    values_of,
)
from jalapeno.analysis.posterior.worlds import World, measured_system
from jalapeno.analysis.published import ENGINE

BY_NAME = {number.name: number for number in published_numbers()}
BASE = World(measured_system(), catalogue.engine(ENGINE), "MXFP8", "MXFP8")
TBT, PEAK, AT = (BY_NAME[f"deepseek-r1/{name}"] for name in ("min_tbt", "peak", "at 5.90 ms"))


def judge(numbers: Sequence[Published], options: int = 2) -> Judge:
    """A judge of some numbers of DeepSeek-R1, each with as many options."""
    of = served("deepseek-r1", BASE)
    tries = tuple((Try((8, 1, 1), 8192, 2**place),) for place in range(options))
    listed = Listed(of, tuple(Options(number, tries) for number in numbers))
    return judge_of(numbers, {"deepseek-r1": listed}, BASE.system, BASE.engine)


def outcomes(
    numbers: Sequence[Published], logs: Floats, slopes: Floats, watts: float = 400.0
) -> Outcomes:
    """As many draws as *logs* has rows; scales 5 % alone and 10 % loaded, regret 2 %."""
    values = values_of(np.zeros((len(logs), len(PATHS))))
    values[:, [place_of(path) for path in (ALONE, LOADED, REGRET)]] = (0.05, 0.1, 0.02)
    drawn = np.full((len(logs), len(numbers)), watts)
    each = logs.shape[1] // len(numbers)
    return Outcomes(judge(numbers, each), values, np.hstack([logs, slopes, drawn]))


@given(st.floats(-20.0, 20.0))
def test_the_density_is_scipys_student(away: float) -> None:
    assert log_student(np.array([away]))[0] == pytest.approx(student.logpdf(away, DEGREES))


@given(
    arrays(np.float64, (3, 4), elements=st.floats(0.0, 5.0)),
    st.floats(0.005, 0.1),
)
def test_shares_add_up_to_one_and_fall_with_regret(regret: np.ndarray, tolerance: float) -> None:
    shares = np.exp(log_shares(regret, np.full(3, tolerance)))
    assert shares.sum(axis=1) == pytest.approx(1.0)
    for row, share in zip(regret, shares, strict=True):
        order = np.argsort(row)
        assert np.all(np.diff(share[order]) <= 1e-12)


def test_options_that_are_as_good_share_alike() -> None:
    assert np.exp(log_shares(np.zeros((1, 4)), np.array([0.02])))[0] == pytest.approx(0.25)


def test_columns_are_picked_as_often_as_they_weigh() -> None:
    weights = np.tile([0.1, 0.6, 0.3], (20_000, 1))
    found = picked(weights, np.random.default_rng(0))
    assert np.bincount(found) / len(found) == pytest.approx([0.1, 0.6, 0.3], abs=0.02)


def test_a_latency_is_a_mixture_over_plans_written_out() -> None:
    twin = np.array([[1.40e-3, 1.45e-3]])
    found = outcomes([TBT], np.log(twin), np.zeros((1, 1)))
    shares = np.exp(-np.log(twin[0] / twin[0, 0]) / 0.02)
    shares /= shares.sum()
    scale = math.sqrt(0.05**2 + TBT.rounding**2 / 3.0)
    away = np.log(TBT.value / twin[0]) / scale
    expected = math.log(np.sum(shares * student.pdf(away, DEGREES) / scale))
    assert found.log_likelihoods()[0, 0] == pytest.approx(expected)


def test_the_better_of_two_throughputs_is_the_likelier_plan() -> None:
    found = outcomes([PEAK], np.log([[20_000.0, 15_000.0]]), np.zeros((1, 1)))
    assert found.weights_of(0)[0, 0] > found.weights_of(0)[0, 1]


def test_at_a_limit_an_error_of_tbt_moves_throughput_too() -> None:
    flat = outcomes([AT], np.log([[12_000.0, 1.0]]), np.array([[0.0]]))
    steep = outcomes([AT], np.log([[12_000.0, 1.0]]), np.array([[2.0]]))
    assert flat.scale_of(0)[0] == pytest.approx(0.1, rel=1e-3)
    assert steep.scale_of(0)[0] == pytest.approx(0.1 * math.sqrt(5.0), rel=1e-3)


def test_the_bound_on_power_is_a_step_for_runs_under_load_only() -> None:
    logs = np.log([[1.43e-3, 20_000.0]])

    def bound(watts: float) -> float:
        values = outcomes([TBT, PEAK], logs, np.zeros((1, 2)), watts)
        return float(values.log_bound()[0])

    assert bound(300.0) == pytest.approx(0.0, abs=1e-6)
    assert bound(WATTS) == pytest.approx(math.log(0.5))
    assert bound(600.0) == pytest.approx(norm.logcdf(math.log(WATTS / 600.0) / 0.1))


def test_what_is_predicted_scatters_as_the_errors_say() -> None:
    logs = np.log(np.tile([[1.43e-3, 9.0]], (20_000, 1)))
    found = outcomes([TBT], logs, np.zeros((20_000, 1)))
    drawn = np.log(found.predictive(0, np.random.default_rng(1)) / 1.43e-3)
    scale = float(found.scale_of(0)[0])
    assert np.quantile(drawn, [0.05, 0.95]) == pytest.approx(
        scale * student.ppf([0.05, 0.95], DEGREES), rel=0.06
    )


# ---- asked of the twin


def test_an_outcome_is_what_the_table_says_times_its_ramp() -> None:
    plain = judge([TBT, PEAK])
    ramped = judge_of(
        plain.numbers, plain.listed, BASE.system, BASE.engine, {PEAK.name: Ramp(value=1.1)}
    )
    scores = prior_draws(2, 5)
    one, other = plain.outcomes(scores), ramped.outcomes(scores)
    difference = other.logs - one.logs
    assert difference[:, plain.slices[0]] == pytest.approx(0.0)
    assert difference[:, plain.slices[1]] == pytest.approx(math.log(1.1))
    world = plain.world(one.values[0])
    listed = plain.listed["deepseek-r1"]
    row = table(listed.of, world, listed.tries).row(listed.tries[0])
    assert math.exp(one.logs[0, 0]) == pytest.approx(row[1])


def test_a_draw_that_was_asked_about_is_remembered() -> None:
    asked = judge([TBT])
    scores = prior_draws(3, 6)
    first = asked.outcomes(scores)
    assert len(asked.seen) == 3
    again = asked.outcomes(scores[:2])
    assert np.array_equal(again.flat, first.flat[:2])
