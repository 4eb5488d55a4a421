"""How much of the machine is used: by hand, pool by pool, and never more than there is."""

from __future__ import annotations

import math
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.metrics import measure
from jalapeno.metrics.totals import Totals
from jalapeno.metrics.utilisation import utilisation
from jalapeno.simulation import Journal
from tests.metrics import journals

# ---- by hand


def test_engines_of_two_requests_are_busy_for_shares_of_the_run() -> None:
    used = measure(journals.two_requests()).utilisation
    # of 23 ms: steps 22, matrix 3 + 5, vector 1, memory 2 + 3 + 4, link 2
    assert used.running == pytest.approx(22 / 23)
    assert used.matrix == pytest.approx(8 / 23)
    assert used.vector == pytest.approx(1 / 23)
    assert used.memory == pytest.approx(9 / 23)
    assert used.link == pytest.approx(2 / 23)


def test_the_mean_batch_leaves_out_steps_that_only_prefill() -> None:
    # one sequence for a step, two for three; the step with A's prompt alone does not count
    used = measure(journals.two_requests()).utilisation
    assert used.mean_batch == pytest.approx((1 + 2 * 3) / 4)


def test_blocks_count_for_as_long_as_they_are_taken() -> None:
    used = measure(journals.two_requests()).utilisation
    # of 1,000 blocks: 100 for 4 ms, 300 for 6 and 12
    assert used.mean_kv_share == pytest.approx((100 * 4 + 300 * 18) / (1000 * 22))
    assert used.peak_kv_share == 0.3


def test_chips_count_alike_over_pools() -> None:
    report = measure(journals.one_moved())
    # in 15 ms: one chip's matrix engine 4 ms, two chips' memory 2 + 3
    assert report.utilisation.matrix == pytest.approx(4 / 45)
    assert report.utilisation.memory == pytest.approx(2 * 5 / 45)
    assert report.utilisation.running == pytest.approx((4 + 2 * 5) / 45)


def test_each_pool_has_a_utilisation_of_its_own() -> None:
    prefill, decode = measure(journals.one_moved()).pools
    assert (prefill.matrix, prefill.memory) == pytest.approx((4 / 15, 0.0))
    assert (decode.matrix, decode.memory) == pytest.approx((0.0, 5 / 15))
    assert (prefill.peak_kv_share, decode.peak_kv_share) == (0.05, 0.2)
    assert decode.mean_batch == 1.0


def test_a_pool_that_never_decodes_has_no_batch() -> None:
    prefill, _ = measure(journals.one_moved()).pools
    assert math.isnan(prefill.mean_batch)


def test_tables_say_a_share_of_the_time_in_which_steps_run() -> None:
    used = utilisation(Totals(measured=3.0, running=4 * 10**12), 8, 10.0)
    assert used.measured == 0.75


# ---- laws


def test_nothing_is_used_more_than_there_is(run: Journal) -> None:
    report = measure(run)
    for used in (report.utilisation, *report.pools):
        shares = (used.running, used.matrix, used.vector, used.memory, used.link)
        assert all(0.0 <= share <= 1.0 for share in shares)
        assert 0.0 < used.mean_kv_share <= used.peak_kv_share <= 1.0


def test_a_batch_holds_no_more_than_the_plan_runs(run: Journal) -> None:
    for used, pool in zip(measure(run).pools, run.scenario.pools, strict=True):
        if not math.isnan(used.mean_batch):
            assert 1.0 <= used.mean_batch <= pool.plan.max_running * pool.plan.dp


def test_pools_weighted_by_their_chips_are_the_whole(run: Journal) -> None:
    report, pools = measure(run), run.scenario.pools
    chips = [pool.chips for pool in pools]
    for name in ("running", "matrix", "vector", "memory", "link"):
        weighted = sum(
            getattr(used, name) * count for used, count in zip(report.pools, chips, strict=True)
        )
        assert weighted / sum(chips) == pytest.approx(getattr(report.utilisation, name))


def test_time_runs_or_idles(run: Journal) -> None:
    report, idle = measure(run), run.scenario.system.chip.power.idle
    whole = report.throughput.chips * report.throughput.duration_s
    assert report.utilisation.running * whole + report.power.idle_joules / idle == pytest.approx(
        whole
    )


amounts = st.floats(0.0, 1e6)


@given(amounts, amounts, st.integers(1, 100), st.floats(0.001, 1e3))
def test_shares_are_of_all_chips_time(a: float, b: float, chips: int, seconds: float) -> None:
    used = utilisation(Totals(matrix=a, memory=b), chips, seconds)
    assert used.matrix * chips * seconds == pytest.approx(a)
    assert used.memory * chips * seconds == pytest.approx(b)


def test_a_run_of_no_time_uses_no_share_of_it() -> None:
    numbers = astuple(utilisation(Totals(), 8, math.nan))
    # what was never taken is a peak of nothing, not undefined
    assert [number for number in numbers if not math.isnan(number)] == [0.0]
