"""Laws of an operator's price, whatever the operator and the chip."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jalapeno.catalogue import Kind
from jalapeno.cost import COLUMNS, Cost, Operator, price
from jalapeno.cost.operator import COMPUTE, JOULES_LINK
from tests.cost.operators import (
    ABSORBED,
    ATTENTION,
    CHIP,
    COUNTS,
    DISPATCH,
    EXPANDED,
    FAMILIES,
    FEW,
    GEMM,
    GROUPED,
    LATENT,
    LINK,
    SPEEDS,
    SUM,
    any_operator,
    changed,
    total,
)

ENOUGH = 1.0 - 1e-12
"""For sums whose order of addition differs."""


# ---- monotone


@FEW
@given(any_operator(), COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)
def test_more_work_never_costs_less(
    operator: Operator,
    rows: float,
    pairs: float,
    reads: float,
    more_rows: float,
    more_pairs: float,
    more_reads: float,
) -> None:
    some = price(operator, rows, pairs, reads)
    more = price(operator, rows + more_rows, pairs + more_pairs, reads + more_reads)
    assert more.seconds >= some.seconds * ENOUGH
    assert more.joules >= some.joules * ENOUGH
    for resource, seconds in some.busy.items():
        assert more.busy[resource] >= seconds * ENOUGH


@FEW
@given(any_operator(), st.sampled_from(SPEEDS), st.floats(1.0, 100.0), COUNTS, COUNTS, COUNTS)
def test_a_faster_chip_is_never_slower(
    operator: Operator, speed: str, faster: float, rows: float, pairs: float, reads: float
) -> None:
    assume(speed in operator.numbers)
    quick = changed(operator, **{speed: operator.numbers[speed] * faster})
    slow, fast = price(operator, rows, pairs, reads), price(quick, rows, pairs, reads)
    assert fast.seconds <= slow.seconds / ENOUGH
    assert fast.joules == slow.joules


@FEW
@given(any_operator(), COUNTS, COUNTS, COUNTS)
def test_more_cores_at_the_same_rate_each_are_never_slower(
    operator: Operator, rows: float, pairs: float, reads: float
) -> None:
    assume("cores" in operator.numbers)
    cores, rate = operator.numbers["cores"], operator.numbers["rate"]
    bigger = changed(operator, cores=2 * cores, rate=2 * rate)
    slow = price(operator, rows, pairs, reads).seconds
    assert price(bigger, rows, pairs, reads).seconds <= slow / ENOUGH


@FEW
@given(any_operator(), st.integers(1, 1 << 16).map(float), COUNTS, COUNTS, st.floats(0.0, 1e-3))
def test_issue_is_paid_once_whatever_the_size(
    operator: Operator, rows: float, pairs: float, reads: float, issue: float
) -> None:
    free = price(changed(operator, issue=0.0), rows, pairs, reads)
    assume(free.seconds > 0.0)
    paid = price(changed(operator, issue=issue), rows, pairs, reads)
    assert paid.seconds == pytest.approx(free.seconds + issue)
    assert paid.parts["issue"] == issue
    assert paid.busy == free.busy


# ---- nothing


@FEW
@given(any_operator())
def test_no_work_costs_nothing(operator: Operator) -> None:
    cost = price(operator, 0.0)
    assert (cost.seconds, cost.joules, dict(cost.parts), dict(cost.busy)) == (0.0, 0.0, {}, {})
    assert cost.kind is operator.kind


def test_no_rows_read_no_weights_and_no_cache() -> None:
    assert price(GEMM, 0.0, reads=1000.0).seconds == 0.0


@pytest.mark.parametrize("operator", [SUM, DISPATCH], ids=lambda operator: str(operator.name))
def test_alone_a_collective_costs_nothing(operator: Operator) -> None:
    alone = price(changed(operator, group=1.0), 1000.0)
    assert (alone.seconds, alone.joules) == (0.0, 0.0)


# ---- it adds up


@FEW
@given(any_operator(), COUNTS, COUNTS, COUNTS)
def test_parts_add_up_to_the_seconds(
    operator: Operator, rows: float, pairs: float, reads: float
) -> None:
    cost = price(operator, rows, pairs, reads)
    assert total(cost) == pytest.approx(cost.seconds, rel=1e-12)
    assert math.isfinite(cost.seconds)
    assert all(seconds >= 0.0 for seconds in (*cost.parts.values(), *cost.busy.values()))


@FEW
@given(any_operator(), COUNTS, COUNTS, COUNTS)
def test_no_engine_is_busy_for_longer_than_the_operator_takes(
    operator: Operator, rows: float, pairs: float, reads: float
) -> None:
    cost = price(operator, rows, pairs, reads)
    for engine in ("matrix", "vector", "memory"):
        assert cost.busy.get(engine, 0.0) <= cost.seconds


@FEW
@given(any_operator(), COUNTS, COUNTS, COUNTS)
def test_a_price_is_as_sure_as_its_operator(
    operator: Operator, rows: float, pairs: float, reads: float
) -> None:
    assert price(operator, rows, pairs, reads).kind is operator.kind


@FEW
@given(COUNTS, COUNTS, COUNTS)
def test_energy_of_attention_adds_up(rows: float, pairs: float, reads: float) -> None:
    assume(rows > 0.0)
    own = ATTENTION.numbers
    flops = pairs * own["useful_pair"] + reads * own["flops_read"]
    vector = rows * own["vector_row"] + pairs * own["vector_pair"]
    size = rows * own["bytes_row"] + reads * own["bytes_read"]
    expected = (
        flops * CHIP["joules_flop"] + vector * CHIP["joules_vector"] + size * CHIP["joules_byte"]
    )
    assert price(ATTENTION, rows, pairs, reads).joules == pytest.approx(expected)


@FEW
@given(st.integers(1, 4096).map(float), st.integers(1, 4096).map(float))
def test_energy_of_two_batches_exceeds_that_of_both_by_the_weights(a: float, b: float) -> None:
    weights = GEMM.numbers["bytes_fixed"] * CHIP["joules_byte"]
    apart = price(GEMM, a).joules + price(GEMM, b).joules
    assert apart == pytest.approx(price(GEMM, a + b).joules + weights)


@FEW
@given(st.integers(1, 4096).map(float))
def test_a_collectives_energy_is_that_of_the_bytes_a_chip_sends(rows: float) -> None:
    # an all-reduce over eight sends seven eighths to be summed and seven eighths of the sum
    each = rows * LINK["link_row"] * LINK["joules_link"]
    assert price(SUM, rows).joules == pytest.approx(2 * 7 / 8 * each)
    assert price(DISPATCH, rows).joules == pytest.approx(each)
    assert SUM.row()[JOULES_LINK] == DISPATCH.row()[JOULES_LINK] == LINK["joules_link"]


@FEW
@given(st.integers(1, 4096).map(float), st.integers(1, 128).map(float))
def test_a_group_of_any_size_sends_less_than_twice_what_it_sums(rows: float, group: float) -> None:
    twice = 2 * rows * LINK["link_row"] * LINK["joules_link"]
    one, two = (price(changed(SUM, group=chips), rows).joules for chips in (group, group + 1))
    assert one < two < twice


def test_padding_costs_time_and_no_energy() -> None:
    one, sixteen = price(GEMM, 1.0), price(GEMM, 16.0)
    assert one.busy["matrix"] == sixteen.busy["matrix"]
    joules = 15 * (
        GEMM.numbers["flops_row"] * CHIP["joules_flop"]
        + GEMM.numbers["bytes_row"] * CHIP["joules_byte"]
    )
    assert sixteen.joules - one.joules == pytest.approx(joules)


# ---- what binds


def test_a_small_batch_waits_for_its_weights_and_a_big_one_for_its_engine() -> None:
    heavy = changed(GEMM, bytes_fixed=1e6)
    assert price(heavy, 1.0).parts["memory"] > 0.0
    assert "matrix" not in price(heavy, 1.0).parts
    assert price(heavy, 4096.0).parts["matrix"] > 0.0
    assert "memory" not in price(heavy, 4096.0).parts


def test_seventeen_rows_take_two_tiles_of_sixteen() -> None:
    one, two = price(GEMM, 16.0), price(GEMM, 17.0)
    assert two.busy["matrix"] == 2 * one.busy["matrix"]


def test_half_of_the_communication_hides() -> None:
    cost = price(SUM, 512.0)
    assert cost.parts["communication"] == 0.5 * cost.busy["link"]
    assert cost.seconds == cost.parts["communication"]


def test_waiting_for_the_busiest_expert_rank_shows_as_imbalance() -> None:
    balanced = price(changed(GROUPED, ranks=1.0), 4096.0)
    skewed = price(GROUPED, 4096.0)
    assert balanced.parts["imbalance"] == 0.0
    assert skewed.parts["imbalance"] > 0.0
    assert skewed.busy == balanced.busy
    assert skewed.joules == balanced.joules


@FEW
@given(st.integers(1, 4096).map(float), st.floats(1.0, 2.0), st.floats(0.0, 1.0))
def test_more_skew_never_waits_less(rows: float, imbalance: float, more: float) -> None:
    some = price(changed(GROUPED, imbalance=imbalance), rows)
    worse = price(changed(GROUPED, imbalance=imbalance + more), rows)
    assert worse.seconds >= some.seconds


@FEW
@given(st.integers(1, 1 << 14).map(float))
def test_the_busiest_rank_never_sees_more_than_every_token_at_every_expert(rows: float) -> None:
    flooded = price(changed(GROUPED, imbalance=1e9), rows)
    everything = price(changed(GROUPED, share=1.0, ranks=1.0), rows)
    assert flooded.seconds <= everything.seconds / ENOUGH


# ---- latent attention, expanded or absorbed


def chunk_cost(operator: Operator, cached: int, new: int) -> Cost:
    """Price of *new* queries on *cached* entries and on themselves."""
    pairs = new * cached + new * (new + 1) // 2
    return price(operator, float(new), float(pairs), float(cached + new))


CACHED = st.integers(0, 1 << 16)
CHUNKS = st.one_of(st.integers(1, 40), st.integers(41, 1 << 12))


@given(CACHED, CHUNKS)
def test_a_latent_is_expanded_or_left_as_it_is_whichever_is_faster(cached: int, new: int) -> None:
    either = [chunk_cost(form, cached, new) for form in (EXPANDED, ABSORBED)]
    cost = chunk_cost(LATENT, cached, new)
    assert cost.seconds == pytest.approx(min(each.seconds for each in either), rel=1e-12)
    assert any(
        cost.busy == pytest.approx(each.busy, rel=1e-12)
        and cost.joules == pytest.approx(each.joules)
        for each in either
    )


@FEW
@given(st.integers(100, 1 << 16), st.integers(1, 8))
def test_few_queries_on_a_long_context_do_not_expand_it(cached: int, new: int) -> None:
    cost, expanded = (chunk_cost(form, cached, new) for form in (LATENT, EXPANDED))
    assert cost.busy["matrix"] < expanded.busy["matrix"]
    assert cost.busy["memory"] < expanded.busy["memory"]
    assert cost.busy["vector"] == expanded.busy["vector"]
    assert cost.joules < expanded.joules


@FEW
@given(CACHED, st.integers(256, 1 << 12))
def test_many_queries_expand_it(cached: int, new: int) -> None:
    assert chunk_cost(LATENT, cached, new) == chunk_cost(EXPANDED, cached, new)


@FEW
@given(st.integers(16, 1 << 12))
def test_a_prompts_first_chunk_expands_itself(new: int) -> None:
    # as many entries as queries: expanding costs what absorbing does, and a pair is cheaper; of
    # fewer than sixteen the bytes count for more
    assert chunk_cost(LATENT, 0, new) == chunk_cost(EXPANDED, 0, new)


@given(CACHED, CHUNKS, st.integers(0, 1 << 12), st.integers(0, 40))
def test_a_longer_chunk_on_a_longer_context_never_takes_less_across_the_change(
    cached: int, new: int, more_cached: int, more: int
) -> None:
    some = chunk_cost(LATENT, cached, new)
    longer = chunk_cost(LATENT, cached + more_cached, new + more)
    assert longer.seconds >= some.seconds * ENOUGH


# ---- as written down


def test_an_operator_lists_its_numbers_in_the_order_of_the_columns() -> None:
    numbers = {name: float(place) for place, name in enumerate(COLUMNS)}
    assert np.array_equal(Operator("all", numbers).row(), np.arange(len(COLUMNS)))


def test_numbers_that_are_not_named_are_zero() -> None:
    row = Operator("little", {"rate": 5.0}).row()
    assert row[COLUMNS.index("rate")] == 5.0
    assert np.count_nonzero(row) == 1


def test_an_unknown_column_is_refused() -> None:
    wrong = Operator("GEMM", {"family": COMPUTE, "rate": 3.0, "flops": 1.0})
    with pytest.raises(KeyError, match="flops"):
        wrong.row()
    with pytest.raises(KeyError, match="flops"):
        price(wrong, 1.0)


def test_columns_are_named_once() -> None:
    assert len(set(COLUMNS)) == len(COLUMNS)


@pytest.mark.parametrize("operator", FAMILIES, ids=lambda operator: str(operator.name))
def test_every_family_has_a_price(operator: Operator) -> None:
    cost = price(operator, 100.0, 5000.0, 5000.0)
    assert cost.seconds > 0.0
    assert cost.joules > 0.0
    assert cost.kind is Kind.ESTIMATED


@pytest.mark.parametrize(
    ("operator", "idle"),
    [
        (GEMM, "vector_rate"),
        (GEMM, "kv_bandwidth"),
        (changed(ATTENTION, flops_pair=0.0, flops_read=0.0), "rate"),
        (changed(ATTENTION, bytes_row=0.0), "bandwidth"),
        (changed(GROUPED, vector_row=0.0), "vector_rate"),
        (GROUPED, "kv_bandwidth"),
    ],
    ids=lambda case: case if isinstance(case, str) else case.name,
)
def test_an_engine_without_work_needs_no_rate(operator: Operator, idle: str) -> None:
    without = {name: value for name, value in operator.numbers.items() if name != idle}
    bare = Operator(operator.name, without, operator.kind)
    assert price(bare, 4096.0, 9e4, 9e4) == price(operator, 4096.0, 9e4, 9e4)
