"""Short lists of plans, and curves read at a limit, against slow references."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from jalapeno import catalogue
from jalapeno.analysis.posterior.evidence import published_numbers
from jalapeno.analysis.posterior.options import (
    IMPOSSIBLE,
    NOWHERE,
    TBT,
    THROUGHPUT,
    TOO_SLOW,
    Options,
    Table,
    Try,
    at_limit,
    bracket,
    by_budget,
    by_load,
    elasticity,
    every_try,
    filled,
    greedy,
    lost,
    plan_of,
    served,
    table,
)
from jalapeno.analysis.posterior.worlds import World, measured_system
from jalapeno.analysis.published import ENGINE, mean_lengths
from jalapeno.mapping.search import candidate

ALONE = (8, 1, 1)


def made(tbts: list[float], rates: list[float]) -> tuple[Table, list[Try]]:
    """A table in which a curve has these points; NaN where it cannot be."""
    curve = [Try(ALONE, 8192, 2**place) for place in range(len(tbts))]
    rows = {
        one: IMPOSSIBLE if math.isnan(tbt) else (rate, tbt, 1.0, 300.0)
        for one, tbt, rate in zip(curve, tbts, rates, strict=True)
    }
    return Table({}, rows), curve


rising = st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=8, unique=True).map(sorted)


@given(rising, st.integers(0, 3), st.floats(5e-4, 2.0))
def test_a_bracket_is_what_looking_at_every_point_finds(
    tbts: list[float], missing: int, limit: float
) -> None:
    found, curve = made([*tbts, *[math.nan] * missing], [1.0] * (len(tbts) + missing))
    keeping = [at for at, tbt in enumerate(tbts) if tbt <= limit]
    low = keeping[-1] if keeping else -1
    beyond = low + 1 < len(tbts)
    assert bracket(found, curve, limit) == ((low, low + 1) if beyond else (low, low))


@given(rising, st.floats(2e-3, 1.0))
def test_a_curve_is_read_as_interpolation_in_logarithms_says(
    tbts: list[float], limit: float
) -> None:
    rates = [100.0 * tbt**0.7 for tbt in tbts]  # one power law, so that a look between fits too
    found, curve = made(tbts, rates)
    met = at_limit(found, curve, limit)
    if limit < tbts[0]:
        missed = math.log(tbts[0] / limit)
        assert met.log == pytest.approx(math.log(rates[0]) - TOO_SLOW * missed)
    else:
        expected = np.interp(math.log(limit), np.log(tbts), np.log(rates))
        assert met.log == pytest.approx(float(expected))


@given(rising, st.floats(2e-3, 1.0), st.floats(1.0, 3.0))
def test_a_looser_limit_never_costs_throughput(
    tbts: list[float], limit: float, looser: float
) -> None:
    found, curve = made(tbts, [10.0 + at for at in range(len(tbts))])
    assert at_limit(found, curve, looser * limit).log >= at_limit(found, curve, limit).log - 1e-12


def test_a_curve_of_nothing_possible_is_nowhere() -> None:
    found, curve = made([math.nan] * 3, [1.0] * 3)
    assert at_limit(found, curve, 1.0).log == -NOWHERE


def test_between_two_points_one_more_is_looked_at() -> None:
    of, world = r1()
    curve = [Try((8, 1, 1), 8192, 2**place) for place in range(7)]
    found = table(of, world, curve)
    limit = 3.0e-3
    met = at_limit(found, curve, limit)
    assert met.one not in curve
    assert found.row(met.one)[TBT] <= limit
    # the search through every load agrees
    rates = []
    for load in range(1, 65):
        row = found.row(Try((8, 1, 1), 8192, load))
        if row[TBT] <= limit:
            rates.append(row[THROUGHPUT])
    assert math.exp(met.log) == pytest.approx(max(rates), rel=0.05)


def test_elasticity_is_that_of_the_best_on_either_side() -> None:
    steep, flat = np.array([0.0, -0.01]), np.array([2.0, 0.1])
    # upwards the steep curve gains 0.2, downwards the flat one loses 0.02
    assert elasticity(steep, flat) == pytest.approx((0.2 + 0.02) / 0.2)


@given(arrays(np.float64, (5, 7), elements=st.floats(-1.0, 0.0)))
def test_a_greedy_list_starts_best_and_only_gets_better(merits: np.ndarray) -> None:
    losses = [lost(merits, greedy(merits, most)) for most in (1, 2, 3, 7)]
    assert losses == sorted(losses, reverse=True)
    assert greedy(merits, 1) == [int(merits.mean(axis=0).argmax())]
    assert lost(merits, greedy(merits, 7)) == pytest.approx(0.0, abs=1e-9)


@given(arrays(np.float64, (4, 6), elements=st.floats(-0.2, 0.0)))
def test_a_filled_list_keeps_what_it_had(merits: np.ndarray) -> None:
    kept = greedy(merits, 2)
    found = filled(merits, kept, 4)
    assert found[: len(kept)] == kept
    assert len(set(found)) == len(found) <= 4


def test_curves_go_from_fast_to_slow() -> None:
    for curve in by_load(every_try()):
        assert [one.concurrency for one in curve] == sorted({one.concurrency for one in curve})
    for curve in by_budget():
        assert [one.budget for one in curve] == sorted({one.budget for one in curve})
        assert all(one.budget > -(-one.concurrency // one.layout[2]) for one in curve)


# ---- the real thing


def r1() -> tuple:  # type: ignore[type-arg]
    world = World(measured_system(), catalogue.engine(ENGINE), "MXFP8", "MXFP8")
    return served("deepseek-r1", world), world


def test_a_row_is_what_the_search_says_of_the_candidate() -> None:
    of, world = r1()
    one = Try((1, 8, 8), 2048, 256)
    found = table(of, world, [one])
    item = candidate(found.prices[one.layout], 256, 2048, mean_lengths())
    assert item is not None
    steady = item.steady
    expected = (steady.tokens_per_s_per_chip, steady.tpot, steady.e2e, steady.watts_per_chip)
    assert found.row(one) == expected
    assert item.plan == plan_of(one, of.precision)


def test_what_does_not_fit_cannot_be() -> None:
    of, world = r1()
    one = Try((1, 1, 1), 8192, 1)  # 359 GB on one chip
    assert all(map(math.isnan, table(of, world, [one]).row(one)))


def test_numbers_are_read_in_their_own_unit() -> None:
    of, world = r1()
    tries = [Try((8, 1, 1), 8192, 1), Try((1, 1, 1), 8192, 1)]
    found = table(of, world, tries)
    row = found.row(tries[0])
    by_name = {number.name: number for number in published_numbers()}
    each = tuple((one,) for one in tries)
    logs, slope = Options(by_name["deepseek-r1/min_tbt"], each).read(found, 700.0)
    assert slope == 0.0
    assert math.exp(logs[0]) == pytest.approx(row[TBT])
    assert logs[1] == NOWHERE
    logs, _ = Options(by_name["deepseek-r1/peak"], each).read(found, 700.0)
    assert math.exp(logs[0]) == pytest.approx(row[THROUGHPUT] / 0.7)
    assert logs[1] == -NOWHERE
