"""Pipelines, context parallelism, redundant and whole experts, and domains of the fabric."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.catalogue import Level, Mla, System
from jalapeno.errors import BadPlan
from jalapeno.mapping import OUTPUTS, Plan, StepPrice, check_plan, compile_price, kv_elements, room
from jalapeno.mapping.batch import (
    PREFILL_PAIRS,
    PREFILL_READS,
    Item,
    batch_row,
    column,
    columns,
)
from jalapeno.mapping.lower import Placed, lower
from jalapeno.mapping.memory import kv_bytes, weight_bytes
from jalapeno.mapping.outputs import IMBALANCE, JOULES, N_PARTS
from jalapeno.mapping.plan import domains
from jalapeno.mapping.rates import Rates
from tests.mapping.oracle import listed, oracle
from tests.mapping.worlds import FEW, as_served, chunk, decoding

R1, OSS = catalogue.model("deepseek-r1"), catalogue.model("gpt-oss-120b")
GB300, TRT = catalogue.system("gb300-nvl72"), catalogue.engine("tensorrt-llm")
POD, TEACUP = catalogue.system("jalapeno-pod"), catalogue.engine("jalapeno-engine")


def plan(**cut: int | bool) -> Plan:
    precision = as_served("deepseek-r1", "tensorrt-llm")
    whole = Plan(max_running=64, max_tokens=4096, precision=precision)
    return replace(whole, **cut)  # type: ignore[arg-type]


def priced(**cut: int | bool) -> StepPrice:
    return compile_price(R1, plan(**cut), GB300, TRT)


def rows(price: StepPrice, *sequences: list[Item]) -> np.ndarray:
    made = [batch_row(each, price.caps) for each in sequences]
    made += [np.zeros(columns(price.caps))] * (price.plan.ranks - len(made))
    return np.array(made)


def seconds(price: StepPrice, *sequences: list[Item]) -> float:
    first, _, _ = price.price(rows(price, *sequences))
    return float(first[:N_PARTS].sum())


def named(price: StepPrice, part: str) -> list[Placed]:
    rates = Rates.of(price.system, price.engine, price.model)
    return [p for p in lower(price.model, price.plan, rates) if part in p.operator.name]


def batch(count: int, context: int = 4000) -> list[Item]:
    return [decoding(context) for _ in range(count)]


# ---- all of it, against operators priced one by one

CUTS: tuple[dict[str, int], ...] = (
    {"tp": 8, "pp": 2},
    {"tp": 4, "ep": 4, "pp": 4},
    {"tp": 8, "ep": 8, "cp": 4},
    {"tp": 4, "ep": 4, "cp": 2, "pp": 2},
    {"dp": 8, "ep": 8, "redundant": 8},
    {"tp": 2, "dp": 4, "ep": 8, "whole_shared": 1},
)

sequences = st.lists(
    st.one_of(
        st.builds(decoding, st.integers(0, 200_000)),
        st.builds(chunk, st.integers(0, 100_000), st.integers(1, 2048)),
    ),
    max_size=4,
)


@pytest.mark.parametrize("cut", CUTS, ids=str)
@given(data=st.data())
@FEW
def test_a_price_is_that_of_its_operators(cut: dict[str, int], data: st.DataObject) -> None:
    price = priced(**cut)
    batches = [data.draw(sequences) for _ in range(price.plan.ranks)]
    made = rows(price, *batches)
    first, _, _ = price.price(made)
    expected = listed(oracle(price, made))
    np.testing.assert_allclose(first, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_a_price_grows_with_the_prompt_as_it_says(cut: dict[str, int]) -> None:
    price = priced(**cut)
    made = rows(price, [chunk(4096, 512)] * 2)
    growth = np.zeros_like(made)
    growth[0, column(0, PREFILL_READS)] = 1024
    growth[0, column(0, PREFILL_PAIRS)] = 2 * 512 * 512
    _, slope, hold = price.price(made, growth)
    assert hold >= 1
    now, _, _ = price.price(made)
    next_one, _, _ = price.price(made + growth)
    if hold > 1:
        np.testing.assert_allclose(now + slope, next_one, rtol=1e-9, atol=1e-12)
    else:  # a latent cache leaves a choice, so that every step is priced anew
        assert next_one[:N_PARTS].sum() > now[:N_PARTS].sum()


def test_a_gathered_cache_grows_with_the_prompt() -> None:
    cut = Plan(tp=8, cp=4, max_running=8, max_tokens=4096, precision=plan().precision)
    price = compile_price(OSS, cut, GB300, TRT)
    made = np.array([batch_row([chunk(4096, 512)], price.caps)])
    growth = np.zeros_like(made)
    growth[0, column(0, PREFILL_READS)] = 512
    growth[0, column(0, PREFILL_PAIRS)] = 512 * 512
    first, slope, hold = price.price(made, growth)
    assert hold > 1
    last, _, _ = price.price(made + (hold - 1) * growth)
    np.testing.assert_allclose(first + (hold - 1) * slope, last, rtol=1e-9)


# ---- pipelines


def test_a_full_pipeline_takes_a_step_as_long_as_one_stage_with_all_layers_and_the_hand_overs() -> (
    None
):
    one, four = priced(tp=8, ep=8), priced(tp=8, ep=8, pp=4)
    handing = seconds(four, *[batch(6)] * 4) - seconds(one, batch(6))
    hops = named(four, "next stage")
    assert [item.repeat for item in hops] == [4]
    numbers = hops[0].operator.numbers
    each = numbers["latency"] + 6 * numbers["link_row"] / numbers["link_rate"]
    assert handing == pytest.approx(4 * each * numbers["exposed"], rel=1e-6)


def test_a_lone_micro_batch_leaves_the_other_stages_waiting() -> None:
    price = priced(tp=8, ep=8, pp=4)
    alone, _, _ = price.price(rows(price, batch(6)))
    full, _, _ = price.price(rows(price, *[batch(6)] * 4))
    assert alone[:N_PARTS].sum() == pytest.approx(full[:N_PARTS].sum())
    assert full[IMBALANCE] == pytest.approx(
        4
        * (
            alone[IMBALANCE]
            - 0.75 * (alone[:N_PARTS].sum() - TRT.host_step - R1.layers * TRT.issue_layer_load)
        ),
        rel=1e-6,
    )


@pytest.mark.parametrize("sequences", [1, 8])
def test_a_pipeline_is_never_faster_for_a_lone_micro_batch(sequences: int) -> None:
    precision = as_served("gpt-oss-120b", "jalapeno-engine")
    rack = catalogue.system("jalapeno-rack")
    lone, staged = (
        compile_price(
            OSS,
            Plan(tp=8, pp=pp, max_running=64, max_tokens=4096, precision=precision),
            rack,
            TEACUP,
        )
        for pp in (1, 2)
    )
    assert seconds(staged, batch(sequences)) > seconds(lone, batch(sequences))


def test_a_pipeline_cuts_the_weights_and_keeps_the_cache_of_a_micro_batch() -> None:
    one, four = plan(tp=8), plan(tp=8, pp=4)
    assert weight_bytes(R1, four) == pytest.approx(weight_bytes(R1, one) / 4, rel=0.06)
    assert kv_bytes(R1, four) == kv_bytes(R1, one)
    assert room(R1, four, GB300, TRT).blocks > room(R1, one, GB300, TRT).blocks


def test_the_joules_of_a_pipeline_are_those_of_its_micro_batches() -> None:
    one, two = priced(tp=8), priced(tp=8, pp=2)
    static = GB300.chip.power.static
    for count in (1, 9):
        single, _, _ = one.price(rows(one, batch(count)))
        both, _, _ = two.price(rows(two, batch(count), batch(count)))
        moving = [
            float(first[JOULES]) - static * chips * float(first[:N_PARTS].sum())
            for first, chips in ((single, 8), (both, 16))
        ]
        links = 2 * 2 * 8 * count * R1.hidden * 2 * GB300.chip.energy.per_link_byte
        assert moving[1] == pytest.approx(2 * moving[0] + links, rel=1e-9)


def test_stages_and_attention_ranks_do_not_mix() -> None:
    with pytest.raises(BadPlan, match="let one of them be 1"):
        plan(tp=1, dp=8, ep=8, pp=2)


def test_there_are_no_more_stages_than_layers() -> None:
    with pytest.raises(BadPlan, match="64 stages for the 61 layers"):
        check_plan(plan(pp=64), R1, GB300)


def test_a_pipeline_over_two_racks_hands_over_between_them_twice() -> None:
    wide = replace(POD, chips=2048)
    cut = replace(plan(tp=64, pp=4), precision=as_served("deepseek-r1", "jalapeno-engine"))
    items = lower(R1, cut, Rates.of(wide, TEACUP, R1))
    far = [item for item in items if "another domain" in item.operator.name]
    near = [item for item in items if "next stage" in item.operator.name]
    assert [item.repeat for item in far + near] == [2, 2]
    assert far[0].operator.numbers["link_rate"] < near[0].operator.numbers["link_rate"]


# ---- context parallelism


@pytest.mark.parametrize("shares", [1, 2, 4, 8])
def test_a_latent_that_lay_on_every_chip_is_shared(shares: int) -> None:
    assert kv_elements(R1, 8, shares)[0] * shares == kv_elements(R1)[0]


def test_kv_heads_are_shared_until_no_chip_repeats_another() -> None:
    whole = kv_elements(OSS)
    assert [round(16 * kv_elements(OSS, 16, cp)[0] / whole[0]) for cp in (1, 2, 4)] == [2, 1, 1]


@pytest.mark.parametrize("model", [R1, OSS])
def test_shares_of_the_context_do_the_same_work(model: catalogue.Model) -> None:
    def work(cp: int) -> list[float]:
        cut = replace(plan(tp=8, cp=cp), precision=as_served(model.name, "tensorrt-llm"))
        items = lower(model, cut, Rates.of(GB300, TRT, model))
        return [
            item.operator.numbers["useful_pair"] * item.repeat
            for item in items
            if "useful_pair" in item.operator.numbers
        ]

    assert work(4) == pytest.approx(work(1))


def test_long_contexts_decode_faster_in_shares_and_short_ones_slower() -> None:
    whole, shared = priced(tp=8, ep=8), priced(tp=8, ep=8, cp=8)
    assert seconds(shared, batch(4, 150_000)) < 0.85 * seconds(whole, batch(4, 150_000))
    assert seconds(shared, batch(1, 100)) > seconds(whole, batch(1, 100))


def test_only_shares_exchange_queries_results_and_cache() -> None:
    assert not named(priced(tp=8), "context shares")
    exchanged = named(priced(tp=8, cp=4), "context shares")
    assert [item.repeat for item in exchanged] == [61, 61, 61]
    cache, queries, _ = exchanged
    assert cache.operator.numbers["link_row"] == pytest.approx(576 * 3 / 4)
    latent = 16 * 4 * 576 * 2 * 3 / 4
    assert queries.operator.numbers["link_row"] == pytest.approx(latent)


def test_a_share_is_a_share_of_the_ranks_chips() -> None:
    with pytest.raises(BadPlan, match=r"plan\.cp=3 does not divide plan\.tp=8"):
        plan(tp=8, cp=3)


# ---- experts


def test_wide_expert_parallelism_needs_copies_to_come_out_even() -> None:
    with pytest.raises(BadPlan, match=r"plan\.redundant=32 would fill its groups"):
        check_plan(plan(dp=72, ep=72), R1, GB300)
    price = priced(dp=72, ep=72, redundant=32)
    numbers = named(price, "routed experts")[0].operator.numbers
    assert numbers["experts"] == 4.0
    assert numbers["share"] * numbers["experts"] * 72 == pytest.approx(8.0)


def test_copies_take_memory() -> None:
    plain, more = (weight_bytes(R1, plan(dp=64, ep=64, redundant=n)) for n in (0, 64))
    experts = 58 * 256 * 3 * 7168 * 2048 * 4.5 / 8
    assert more - plain == pytest.approx(experts / 4 / 64)


def test_copies_without_groups_are_refused() -> None:
    with pytest.raises(BadPlan, match="serve only to even out groups"):
        plan(tp=8, redundant=8)


def test_a_whole_shared_expert_does_the_same_work_on_fewer_rows() -> None:
    cut, whole = (priced(tp=4, dp=2, ep=8, whole_shared=flag) for flag in (False, True))

    def flops(price: StepPrice) -> float:
        return sum(item.operator.numbers["flops_row"] for item in named(price, "shared expert"))

    assert flops(whole) == pytest.approx(flops(cut))
    more = weight_bytes(R1, whole.plan) - weight_bytes(R1, cut.plan)
    assert more == pytest.approx(58 * 3 * 7168 * 2048 * 4.5 / 8 * 3 / 4)


def test_a_dense_model_takes_no_expert_parallelism() -> None:
    dense = replace(OSS, dense_layers=36, dense_width=2880, moe=catalogue.NO_EXPERTS)
    with pytest.raises(BadPlan, match="has no experts"):
        check_plan(plan(tp=2, ep=2), dense, GB300)


# ---- placement


def boards(reach: int, rails: int = 1, chips: int = 64) -> System:
    near, far = GB300.fabric.values()
    fabric = {
        "near": replace(near, reach=reach),
        "far": replace(far, reach=chips, rails=rails),
    }
    return replace(GB300, fabric=fabric, chips=chips)


def busiest_seconds(system: System, chips: int, spread: int) -> float:
    """Seconds for which the busiest port of either level works when every chip sends a byte to
    every other, divided evenly; counted chip by chip."""
    near, far = system.nearest, system.beyond(chips)
    domain = chips // spread
    share = 1.0 / (chips - 1)
    inner, outer = np.zeros(chips), np.zeros(chips)
    for source in range(chips):
        for target in range(chips):
            if source == target:
                continue
            if source // domain == target // domain:
                inner[source] += share
                continue
            rails = far.rails
            aligned = source % rails == target % rails
            if not aligned:
                inner[source] += share
            outer[source] += share
    return float(max(inner.max() / near.bandwidth, outer.max() / far.bandwidth))


@given(
    spread=st.sampled_from([2, 4, 8]),
    domain=st.sampled_from([2, 4, 8]),
    rails=st.sampled_from([1, 2, 4]),
)
@FEW
def test_the_rate_over_domains_is_that_of_the_busiest_port(
    spread: int, domain: int, rails: int
) -> None:
    chips = spread * domain
    rails = min(rails, domain)
    system = boards(domain, rails)
    cut = plan(dp=chips, ep=chips)
    assert domains(cut, system) == spread
    numbers = Rates.of(system, TRT, R1).exchange(cut, 1e-6)
    slowest = TRT.link_efficiency / numbers["link_rate"]
    assert slowest == pytest.approx(busiest_seconds(system, chips, spread), rel=1e-9)


def test_a_worker_within_a_domain_does_not_see_the_next_level() -> None:
    rates = Rates.of(boards(16), TRT, R1)
    cut = plan(dp=16, ep=16)
    assert rates.exchange(cut, 1e-6) == rates.link(16, 1e-6)


def test_a_worker_laid_wider_exchanges_more_slowly() -> None:
    rates = Rates.of(boards(32), TRT, R1)
    taken = [rates.exchange(plan(dp=16, ep=16, spread=s), 1e-6)["link_rate"] for s in (1, 2, 4)]
    assert taken == sorted(taken, reverse=True)
    assert taken[0] > taken[-1]


def test_rails_cost_a_hop_inside_and_energy() -> None:
    free, railed = (Rates.of(boards(8, rails), TRT, R1) for rails in (1, 8))
    cut = plan(dp=64, ep=64)
    assert railed.exchange(cut, 0.0)["latency"] > free.exchange(cut, 0.0)["latency"]
    assert railed.exchange(cut, 0.0)["joules_link"] > free.exchange(cut, 0.0)["joules_link"]
    assert railed.exchange(cut, 0.0)["link_rate"] <= free.exchange(cut, 0.0)["link_rate"]


def test_tensor_parallel_chips_that_no_domain_joins_use_the_next_level() -> None:
    cut = plan(tp=16, ep=16)
    system = boards(8)
    assert domains(cut, system) == 1
    assert Rates.of(system, TRT, R1).link(16, 0.0)["link_rate"] == pytest.approx(
        system.beyond(16).bandwidth * TRT.link_efficiency
    )


def test_ranks_are_laid_evenly_over_domains() -> None:
    with pytest.raises(BadPlan, match=r"plan\.spread=3 does not divide the worker's 8 ranks"):
        plan(dp=8, ep=8, spread=3)


def test_a_single_level_has_nothing_to_spread_over() -> None:
    single = replace(GB300, fabric={"only": next(iter(GB300.fabric.values()))})
    with pytest.raises(BadPlan, match="single fabric level"):
        check_plan(plan(dp=8, ep=8, spread=2), R1, single)


def test_the_level_beyond_joins_the_chips_or_is_the_last() -> None:
    levels: dict[str, Level] = dict(POD.fabric)
    assert POD.beyond(256) is list(levels.values())[1]
    assert isinstance(R1.attention, Mla)


def test_outputs_of_a_step_have_names() -> None:
    assert len(OUTPUTS) > N_PARTS
