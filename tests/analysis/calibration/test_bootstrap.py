"""Draws of whole curves: exact where residuals are linear, and wider where curves differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jalapeno.analysis.calibration.bootstrap import draws, interval, refitted
from jalapeno.analysis.calibration.certainty import certainty
from jalapeno.analysis.calibration.fit import Fit, fit
from jalapeno.analysis.calibration.residuals import Floats
from jalapeno.errors import UsageError
from tests.analysis.calibration.toys import FACTOR, HOST, MEMORY, PHASE, drawn, toy, whiff

CURVES = [f"curve {number // 4}" for number in range(40)]


def solved(noise: Floats | None = None) -> Fit:
    noise = whiff(40, 0.05, 2) if noise is None else noise
    return fit(toy(drawn(40, 3, 1), noise, (HOST, PHASE, FACTOR)))


def test_every_row_once_is_the_fit_itself() -> None:
    found = solved()
    assert refitted(found, np.ones(40)) == pytest.approx(found.x, abs=1e-4)


def test_a_draw_is_the_fit_of_its_rows_where_residuals_are_linear() -> None:
    found = solved()
    times = np.random.default_rng(3).integers(0, 3, size=40)
    again = np.repeat(np.arange(40), times)
    brute = fit(toy(drawn(40, 3, 1)[again], whiff(40, 0.05, 2)[again], (HOST, PHASE, FACTOR)))
    assert refitted(found, times.astype(np.float64)) == pytest.approx(brute.x, abs=1e-3)


def test_the_same_seed_gives_the_same_draws() -> None:
    found = solved()
    one, two, other = (draws(found, CURVES, 5, seed, lambda *_: None) for seed in (1, 1, 2))
    assert (one == two).all()
    assert (one != other).any()


def test_draws_lie_around_the_fit() -> None:
    found = solved()
    made = draws(found, CURVES, 100, 0)
    assert made.shape == (100, 3)
    assert np.median(made, axis=0) == pytest.approx(found.x, abs=0.02)


def test_progress_is_told_draw_by_draw() -> None:
    told: list[tuple[str, int, int]] = []
    draws(solved(), CURVES, 3, 0, lambda *stage: told.append(stage))
    assert [(done, total) for _, done, total in told] == [(1, 3), (2, 3), (3, 3)]


def test_curves_that_differ_as_wholes_make_it_less_sure_than_points_that_do() -> None:
    # The same size of noise, once a point's own and once shared by all points of a curve.
    own = whiff(40, 0.05, 5)
    shared = np.repeat(whiff(10, 0.05, 5), 4, axis=0)
    alike = np.repeat(drawn(10, 3, 1), 4, axis=0)
    ends = []
    for noise in (own, shared):
        found = fit(toy(alike, noise, (HOST, PHASE, MEMORY)))
        ends.append(draws(found, CURVES, 200, 0).std(axis=0).mean())
    assert ends[1] > 1.5 * ends[0]


def test_an_interval_is_the_wider_of_both() -> None:
    known = certainty(solved())
    low, high = known.interval
    assert interval(known, None)[0] == pytest.approx(low)
    assert interval(known, None)[1] == pytest.approx(high)
    narrow = np.repeat(known.x[None, :], 10, axis=0)
    assert interval(known, narrow)[0] == pytest.approx(low)
    wide = known.x + np.linspace(-2.0, 2.0, 101)[:, None]
    least, most = interval(known, wide)
    assert (least < low).all()
    assert (most > high).all()
    assert least[0] == pytest.approx(np.exp(known.x[0] - 1.8))


def test_what_no_curve_concerns_keeps_the_width_of_its_prior() -> None:
    slopes = drawn(40, 2, 1)
    slopes[:, :, 1] = 0.0
    found = fit(toy(slopes, whiff(40, 0.05, 2), (HOST, FACTOR)))
    made = draws(found, CURVES, 20, 0)
    assert made[:, 1] == pytest.approx(0.0, abs=1e-6)
    low, high = interval(certainty(found), made)
    assert low[1] == pytest.approx(np.exp(-1.645 * FACTOR.spread), rel=0.01)
    assert high[1] == pytest.approx(np.exp(1.645 * FACTOR.spread), rel=0.01)


def test_rows_without_an_answer_are_in_no_draw() -> None:
    found = solved()
    left = found.left.copy()
    left[:4] = np.nan
    gaps = replace(found, left=left)
    assert np.isfinite(draws(gaps, CURVES, 5, 0)).all()


def test_one_curve_has_nothing_to_draw_from() -> None:
    with pytest.raises(UsageError, match="--bootstrap 0"):
        draws(solved(), ["one"] * 40, 5, 0)
