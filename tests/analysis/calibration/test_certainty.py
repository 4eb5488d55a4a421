"""What the data fix: covariance, pairs, open combinations, on problems that anybody can solve."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from jalapeno.analysis.calibration.certainty import (
    NINETY,
    Direction,
    Pair,
    certainty,
    is_time,
    open_directions,
    prior_precision,
    what_is_fixed,
    width,
    within,
)
from jalapeno.analysis.calibration.constants import CONSTANTS, Constant
from jalapeno.analysis.calibration.fit import Fit, fit
from tests.analysis.calibration.toys import FACTOR, HOST, MEMORY, PHASE, drawn, toy, whiff

THREE = (HOST, PHASE, MEMORY)
SMALL = 0.01
"""Noise at which the soft loss is hardly other than squares."""


def solved(constants: tuple[Constant, ...] = THREE, rows: int = 40, size: float = SMALL) -> Fit:
    return fit(toy(drawn(rows, len(constants), 1), whiff(rows, size, 2), constants))


def test_the_covariance_is_that_of_least_squares() -> None:
    found = solved()
    known = certainty(found)
    flat = found.slopes.reshape(-1, 3)
    usual = np.linalg.inv(flat.T @ flat) * known.spread**2
    assert known.covariance == pytest.approx(usual, rel=0.05, abs=1e-8)


def test_many_refits_to_new_noise_scatter_as_the_covariance_says() -> None:
    slopes = drawn(20, 3, 1)
    ends = [fit(toy(slopes, whiff(20, SMALL, seed), THREE)).x for seed in range(300)]
    scatter = np.asarray(np.cov(np.array(ends).T))
    known = certainty(fit(toy(slopes, whiff(20, SMALL, 7), THREE)))
    scaled = known.covariance * (SMALL / known.spread) ** 2
    assert np.diag(scaled) == pytest.approx(np.diag(scatter), rel=0.25)
    off = scaled[0, 1] / math.sqrt(scaled[0, 0] * scaled[1, 1])
    assert off == pytest.approx(scatter[0, 1] / math.sqrt(scatter[0, 0] * scatter[1, 1]), abs=0.15)


def test_nine_of_ten_intervals_hold_the_truth() -> None:
    slopes, held = drawn(20, 3, 1), 0
    for seed in range(100):
        known = certainty(fit(toy(slopes, whiff(20, SMALL, seed), THREE)))
        low, high = known.interval
        truth = np.array([one.start for one in THREE])
        held += int(((low <= truth) & (truth <= high)).sum())
    assert 0.84 < held / 300 < 0.95


@pytest.mark.parametrize("size", [0.003, 0.02])
def test_the_spread_is_that_of_the_noise(size: float) -> None:
    assert certainty(solved(rows=200, size=size)).spread == pytest.approx(size, rel=0.1)


def test_more_points_make_it_surer() -> None:
    few, many = certainty(solved(rows=20)), certainty(solved(rows=200))
    assert (many.errors < few.errors).all()


def test_as_many_unknowns_are_determined_as_data_can() -> None:
    assert certainty(solved()).effective == pytest.approx(3.0, abs=0.05)
    slopes = drawn(40, 3, 1)
    slopes[:, :, 2] = 0.0
    blind = certainty(fit(toy(slopes, whiff(40, SMALL, 2), THREE)))
    assert blind.effective == pytest.approx(2.0, abs=0.05)


def test_a_factor_that_no_point_concerns_keeps_its_prior() -> None:
    slopes = drawn(40, 2, 1)
    slopes[:, :, 1] = 0.0
    known = certainty(fit(toy(slopes, whiff(40, SMALL, 2), (HOST, FACTOR))))
    assert known.x[1] == pytest.approx(0.0, abs=1e-6)
    assert known.errors[1] == pytest.approx(FACTOR.spread)
    assert known.learnt[1] == pytest.approx(0.0, abs=1e-9)
    assert [str(each) for each in known.open] == [
        "issue_scale.h100: the data say less of it than its prior or its bounds"
    ]


def test_a_constant_that_no_point_concerns_is_known_by_its_bounds() -> None:
    slopes = drawn(40, 2, 1)
    slopes[:, :, 1] = 0.0
    known = certainty(fit(toy(slopes, whiff(40, SMALL, 2), (HOST, PHASE))))
    assert known.errors[1] == pytest.approx(width(PHASE))
    low, high = known.interval
    assert low[1] >= PHASE.low
    assert high[1] <= PHASE.high


def test_what_the_data_say_much_of_has_learnt_nearly_all() -> None:
    assert (certainty(solved()).learnt > 0.99).all()


def test_two_times_whose_sum_alone_counts_are_a_pair_and_one_open_combination() -> None:
    slopes = drawn(40, 3, 1)
    slopes[:, :, 1] = slopes[:, :, 0]
    known = certainty(fit(toy(slopes, whiff(40, SMALL, 2), THREE)))
    (pair,) = known.pairs
    assert {pair.first, pair.second} == {"host_step", "issue_phase"}
    assert pair.correlation < -0.99
    assert str(pair).endswith(": correlation -1.00: the data fix their sum")
    (direction,) = known.open
    assert {name for name, _ in direction.parts} == {"host_step", "issue_phase"}
    assert "up with" in str(direction)
    assert direction.share < 1e-6


def test_what_is_told_apart_has_no_pairs_and_nothing_open() -> None:
    known = certainty(solved())
    assert known.pairs == ()
    assert known.open == ()


def test_rows_without_an_answer_count_nothing() -> None:
    found = solved()
    left, slopes = found.left.copy(), found.slopes.copy()
    wanting = replace(
        found,
        left=np.concatenate([left, np.full((5, 2), np.nan)]),
        slopes=np.concatenate([slopes, np.full((5, 2, 3), np.nan)]),
    )
    with_gaps, without = certainty(wanting), certainty(found)
    assert with_gaps.covariance == pytest.approx(without.covariance)
    assert with_gaps.spread == pytest.approx(without.spread)


def test_a_point_far_off_counts_less_than_one_that_is_close() -> None:
    noise = whiff(40, SMALL, 2)
    noise[0] = 5.0
    far = fit(toy(drawn(40, 3, 1), noise, THREE))
    near = solved()
    assert far.x == pytest.approx(near.x, abs=0.05)


def test_a_value_at_its_bound_is_known_to_be() -> None:
    truth = (HOST.start, PHASE.start, 0.99)
    slopes = drawn(40, 3, 1)
    known = certainty(fit(toy(slopes, whiff(40, SMALL, 2) - slopes[:, :, 2], THREE, truth)))
    assert known.at_bound(2)
    assert not known.at_bound(0)


def test_the_precision_before_the_data_is_of_priors_and_bounds() -> None:
    found = fit(toy(drawn(40, 2, 1), whiff(40, SMALL, 2), (HOST, FACTOR)))
    before = prior_precision(found)
    assert before == pytest.approx(np.diag([width(HOST) ** -2, FACTOR.spread**-2]))


def test_the_width_of_bounds_is_that_of_a_uniform_distribution() -> None:
    one = Constant("host_step", 1.0, 1.0, math.e)
    sample = np.random.default_rng(0).uniform(0.0, 1.0, 100_000).std()
    assert width(one) == pytest.approx(sample, rel=0.01)


def test_directions_come_least_known_first_and_their_largest_part_is_up() -> None:
    normal = np.diag([0.5, 0.1, 9.0])
    found = open_directions(THREE, normal, np.ones(3))
    assert [each.parts[0][0] for each in found] == ["issue_phase", "host_step"]
    assert [each.share for each in found] == pytest.approx([0.1, 0.5])
    assert all(each.parts[0][1] > 0.0 for each in found)


def test_directions_in_words() -> None:
    both = Direction((("a", 0.8), ("b", 0.5)), 0.1)
    assert str(both) == "a and b up together: the data do not tell it apart"
    three = Direction((("a", 0.8), ("b", -0.5), ("c", -0.4)), 0.1)
    assert str(three) == "a up with b and c down: the data do not tell it apart"


def test_what_a_pair_fixes_depends_on_the_sign_and_on_what_they_are() -> None:
    assert what_is_fixed(HOST, PHASE, -0.95) == "sum"
    assert what_is_fixed(HOST, MEMORY, -0.95) == "product"
    assert what_is_fixed(FACTOR, PHASE, -0.95) == "product"
    assert what_is_fixed(HOST, PHASE, 0.95) == "ratio"
    assert str(Pair("a", "b", 0.951, "ratio")) == (
        "a and b: correlation 0.95: the data fix their ratio"
    )


def test_times_are_told_from_shares_as_the_catalogue_has_their_units() -> None:
    from jalapeno import catalogue

    facts = catalogue.engine("jalapeno-engine").facts
    for constant in CONSTANTS:
        if constant.path in facts:
            assert is_time(constant) == (facts[constant.path].unit == "s"), constant.path
    assert not is_time(FACTOR)


def test_an_interval_holds_the_value_and_stays_within_the_bounds() -> None:
    x = np.log([one.start for one in THREE])
    low, high = within(THREE, x, x + 1.0, x - 1.0)
    assert low == pytest.approx([one.start for one in THREE])
    assert high == pytest.approx(low)
    low, high = within(THREE, x, x - 1e3, x + 1e3)
    assert low == pytest.approx([one.low for one in THREE])
    assert high == pytest.approx([one.high for one in THREE])


def test_ninety_percent_lie_within_the_reach() -> None:
    assert math.erf(NINETY / math.sqrt(2.0)) == pytest.approx(0.9)
