"""Operators of a step: their FLOP, bytes and collectives against counts of another kind."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.catalogue import Gqa, Mla, Model
from jalapeno.cost import price
from jalapeno.cost.operator import ALL_REDUCE, ALL_TO_ALL, EXPERTS
from jalapeno.mapping import Plan, Precision, parameters
from jalapeno.mapping.batch import DECODE, PREFILL, SAMPLED, TOKENS, Rows, batch_row
from jalapeno.mapping.lower import WORKER, Placed, lower
from jalapeno.mapping.memory import kv_bytes, weight_bytes
from jalapeno.mapping.precision import stored_bytes
from tests.mapping.worlds import (
    ALONE,
    FEW,
    MODELS,
    TOGETHER,
    WORLDS,
    World,
    chunk,
    decoding,
    in_bf16,
    plan_of,
    rates_of,
)

PROMPT, ANSWER = 7372.5, 921.5
"""Mean lengths of the benchmark that calls itself 8K/1K."""
CONTEXT = PROMPT + ANSWER / 2


def lowered(world: World, precision: Precision | None = None) -> list[Placed]:
    plan = plan_of(world)
    if precision is not None:
        plan = replace(plan, precision=precision)
    return lower(catalogue.model(world[0]), plan, rates_of(world))


def lone(name: str) -> list[Placed]:
    """Operators on one chip, whether it has the memory or not."""
    return lowered((name, "jalapeno-rack", 1, 1, 1))


def flop(item: Placed, row: Rows) -> float:
    """Useful matrix FLOP of an operator in a step, its repetitions included, on one chip."""
    numbers = {"useful_pair": 0.0, "flops_read": 0.0} | item.operator.numbers
    rows = row[TOKENS] if item.scope == WORKER else row[item.rows]
    if numbers["family"] == EXPERTS:
        rows = rows * numbers["share"] * numbers["experts"]
    pairs = row[item.pairs] if item.pairs >= 0 else 0.0
    reads = row[item.reads] if item.reads >= 0 else 0.0
    each = rows * numbers.get("flops_row", 0.0)
    if rows > 0.0:
        each += pairs * numbers["useful_pair"] + reads * numbers["flops_read"]
    return float(item.repeat * each)


def total_flop(placed: list[Placed], row: Rows) -> float:
    return sum(flop(item, row) for item in placed)


# ---- FLOP


def closed_form(model: Model) -> tuple[float, float]:
    """FLOP an input and an output token, from the sizes alone."""
    count = parameters(model)
    linear, head, layers = 2.0 * (count.active - count.head), 2.0 * count.head, model.layers
    match model.attention:
        case Gqa(heads=heads, head_dim=dim, window=window, window_layers=windows):
            pair, full = 4.0 * heads * dim, layers - windows
            core_in = pair * (full * PROMPT / 2 + windows * window)
            core_out = pair * (full * CONTEXT + windows * window)
        case Mla() as mla:
            key = mla.nope_dim + mla.rope_dim
            latent = 2 * mla.kv_rank + mla.rope_dim
            core_in = 2.0 * mla.heads * (key + mla.value_dim) * layers * PROMPT / 2
            core_out = 2.0 * mla.heads * latent * layers * CONTEXT
    return linear + core_in, linear + head + core_out


@pytest.mark.parametrize(
    ("name", "into", "out"),
    [("gpt-oss-120b", 10.2, 12.6), ("deepseek-r1", 89.8, 206.3), ("kimi-k2.5", 70.2, 129.9)],
)
def test_tokens_take_the_flop_of_the_closed_form(name: str, into: float, out: float) -> None:
    model = catalogue.model(name)
    placed = lone(name)
    prompt = batch_row([chunk(0, int(PROMPT), last=False)], model.caps)
    taken_in = total_flop(placed, prompt) / int(PROMPT)
    taken_out = total_flop(placed, batch_row([decoding(int(CONTEXT) - 1)], model.caps))
    assert (taken_in, taken_out) == pytest.approx(closed_form(model), rel=0.01)
    assert taken_in / 1e9 == pytest.approx(into, rel=0.03)
    assert taken_out / 1e9 == pytest.approx(out, rel=0.03)


@pytest.mark.parametrize("name", MODELS)
def test_a_token_passes_its_active_parameters(name: str) -> None:
    model = catalogue.model(name)
    row = batch_row([decoding(0)], model.caps)
    linear = [item for item in lone(name) if item.pairs < 0]
    assert total_flop(linear, row) == pytest.approx(2.0 * parameters(model).active)


@pytest.mark.parametrize("name", MODELS)
def test_the_head_is_paid_by_sampled_tokens_only(name: str) -> None:
    model = catalogue.model(name)
    rows = [batch_row([chunk(0, 500, last)], model.caps) for last in (False, True)]
    some, more = (total_flop(lone(name), row) for row in rows)
    assert more - some == pytest.approx(2.0 * parameters(model).head)


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_chips_together_do_the_flop_of_one(world: World) -> None:
    # what is whole on each chip of a rank (router, latent projections, repeated KV heads) is extra
    model, plan = catalogue.model(world[0]), plan_of(world)
    row = batch_row([decoding(5000)] * 32, model.caps)
    rank = [item for item in lowered(world) if item.scope != WORKER]
    experts = [item for item in lowered(world) if item.scope == WORKER]
    whole_rank = [item for item in lone(world[0]) if item.scope != WORKER]
    whole_experts = [item for item in lone(world[0]) if item.scope == WORKER]
    assert plan.chips * total_flop(experts, row) == pytest.approx(total_flop(whole_experts, row))
    together, alone = plan.tp * total_flop(rank, row), total_flop(whole_rank, row)
    assert alone * (1 - 1e-12) <= together <= 1.5 * alone


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_padding_never_does_less_than_is_useful(world: World) -> None:
    for item in lowered(world):
        numbers = item.operator.numbers
        if "useful_pair" in numbers:
            assert numbers["flops_pair"] >= numbers["useful_pair"]
        if numbers["family"] == EXPERTS or "tile_flops" in numbers:
            rows = numbers["tile_rows"]
            tiles = numbers["tiles_across"] * numbers["tile_flops"]
            assert tiles >= rows * numbers["flops_row"] * (1 - 1e-12)


# ---- bytes


@pytest.mark.parametrize("world", WORLDS, ids=str)
@pytest.mark.parametrize("idle", [DECODE, PREFILL], ids=["a prompt alone", "decode alone"])
def test_a_full_step_reads_the_weights_that_lie_on_the_chip_once(world: World, idle: int) -> None:
    # prompts and decoding sequences each read the weights that expand the latent
    model, plan = catalogue.model(world[0]), plan_of(world)
    read = 0.0
    for item in lowered(world):
        if item.rows != idle:
            numbers = {"bytes_fixed": 0.0, "bytes_expert": 0.0, "experts": 0.0}
            numbers |= item.operator.numbers
            once = numbers["bytes_fixed"] + numbers["experts"] * numbers["bytes_expert"]
            read += item.repeat * once
    embedding = parameters(model).head * stored_bytes(plan.precision.head) / plan.tp
    assert read + embedding == pytest.approx(weight_bytes(model, plan), rel=1e-6)


@FEW
@given(st.sampled_from(WORLDS), st.integers(200, 100_000))
def test_a_decoding_sequence_reads_the_cache_that_it_holds(world: World, context: int) -> None:
    model, plan = catalogue.model(world[0]), plan_of(world)
    row = batch_row([decoding(context - 1)], model.caps)
    read = sum(
        item.repeat * row[item.reads] * item.operator.numbers["bytes_read"]
        for item in lowered(world)
        if item.rows == DECODE and item.reads >= 0
    )
    token, window = kv_bytes(model, plan)
    assert read == pytest.approx(context * token + window)


@pytest.mark.parametrize(
    ("name", "tp", "kv", "intensity"),
    [
        ("deepseek-r1", 1, "bf16", 242),
        ("deepseek-r1", 1, "fp8", 484),
        ("deepseek-r1", 8, "bf16", 30),
        ("deepseek-r1", 8, "fp8", 60),
        ("kimi-k2.5", 1, "bf16", 121),
        ("kimi-k2.5", 1, "fp8", 242),
    ],
)
def test_absorbed_attention_has_its_intensity_whatever_the_context(
    name: str, tp: int, kv: str, intensity: float
) -> None:
    # 2 heads (576 + 512) FLOP over 576 elements
    placed = lowered((name, "jalapeno-rack", tp, 1, 1), in_bf16(kv=kv))
    (core,) = [item for item in placed if item.rows == DECODE and item.reads >= 0]
    numbers = core.operator.numbers
    model = catalogue.model(name)
    heads = model.attention.heads // tp
    exact = 2 * heads * 1088 / (576 * stored_bytes(kv))
    assert numbers["useful_pair"] / numbers["bytes_read"] == pytest.approx(exact)
    assert exact == pytest.approx(intensity, rel=0.02)


def test_decode_attention_of_gpt_oss_pads_its_group_of_queries_to_a_tile() -> None:
    (full, _) = [item for item in lone("gpt-oss-120b") if "decode attention" in item.operator.name]
    numbers = full.operator.numbers
    assert numbers["tile_rows"] % 8 == 0
    assert numbers["flops_pair"] == numbers["useful_pair"] * numbers["tile_rows"] / 8


# ---- collectives


def collectives(placed: list[Placed]) -> list[Placed]:
    return [item for item in placed if item.operator.numbers["family"] >= ALL_REDUCE]


@pytest.mark.parametrize("name", MODELS)
def test_one_chip_needs_no_collective(name: str) -> None:
    for item in collectives(lone(name)):
        assert price(item.operator, 4096.0).seconds == 0.0


@pytest.mark.parametrize("world", ALONE, ids=str)
def test_two_all_reduces_a_layer_join_a_rank(world: World) -> None:
    model, found = catalogue.model(world[0]), collectives(lowered(world))
    assert all(item.operator.numbers["family"] == ALL_REDUCE for item in found)
    layers = [item for item in found if item.rows == TOKENS]
    assert sum(item.repeat for item in layers) == 2 * model.layers
    size = sum(item.repeat * item.operator.numbers["link_row"] for item in layers)
    assert size == 2 * model.layers * model.hidden * 2
    assert {item.operator.numbers["group"] for item in found} == {world[2]}


@pytest.mark.parametrize("world", TOGETHER, ids=str)
def test_ranks_meet_in_a_dispatch_and_a_combine_a_sparse_layer(world: World) -> None:
    model, plan = catalogue.model(world[0]), plan_of(world)
    found = [
        item
        for item in collectives(lowered(world))
        if item.operator.numbers["family"] == ALL_TO_ALL
    ]
    assert [item.operator.name for item in found] == ["dispatch", "combine"]
    for item in found:
        assert item.repeat == model.layers - model.dense_layers
        assert item.operator.numbers["group"] == plan.chips
    there, back = (item.operator.numbers["link_row"] for item in found)
    assert back / there == pytest.approx(2.0 / stored_bytes(plan.precision.experts_act))


@pytest.mark.parametrize("world", TOGETHER, ids=str)
def test_a_token_is_sent_once_to_each_other_rank_that_has_an_expert_for_it(world: World) -> None:
    model, plan, engine = catalogue.model(world[0]), plan_of(world), rates_of(world).engine
    (combine,) = [item for item in lowered(world) if item.operator.name == "combine"]
    row = combine.operator.numbers["link_row"] * plan.tp
    copies = row / (engine.imbalance * model.hidden * 2)
    most = min(model.moe.top_k, plan.ep) * (1 - 1 / plan.ep)
    assert 0.6 * most < copies <= most


def test_sampling_sends_candidates_and_not_logits() -> None:
    (sampling,) = [item for item in lone("gpt-oss-120b") if item.operator.name == "sampling"]
    assert sampling.rows == SAMPLED
    assert sampling.operator.numbers["link_row"] < 16


# ---- shape


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_every_operator_can_be_priced_and_has_a_name_of_its_own(world: World) -> None:
    placed = lowered(world)
    for item in placed:
        assert price(item.operator, 64.0, 64.0, 64.0).seconds >= 0.0
        assert item.repeat >= 1
    assert len({item.operator.name for item in placed}) == len(placed)


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_only_routed_experts_see_all_ranks(world: World) -> None:
    (item,) = [item for item in lowered(world) if item.scope == WORKER]
    assert item.operator.name == "routed experts"
    assert item.operator.numbers["ranks"] == plan_of(world).ep


def test_window_layers_are_half_of_gpt_oss() -> None:
    cores = [item for item in lone("gpt-oss-120b") if item.reads >= 0]
    assert [item.repeat for item in cores] == [18] * 4


def test_a_model_without_windows_has_no_operator_for_them() -> None:
    model = catalogue.model("gpt-oss-120b")
    assert isinstance(model.attention, Gqa)
    plain = replace(model, attention=replace(model.attention, window=0, window_layers=0))
    world = ("gpt-oss-120b", "jalapeno-rack", 1, 1, 1)
    names = [item.operator.name for item in lower(plain, plan_of(world), rates_of(world))]
    assert not any("window" in name for name in names)
    assert isinstance(plan_of(world), Plan)


@pytest.mark.parametrize("name", ["deepseek-r1", "kimi-k2.5"])
@pytest.mark.parametrize("tp", [1, 8])
def test_a_token_of_a_prompt_that_is_left_absorbed_takes_the_flop_of_a_decoded_one(
    name: str, tp: int
) -> None:
    placed = lowered((name, "jalapeno-rack", tp, 1, 1))
    absorb, decode, prefill = (
        item.operator.numbers
        for item in placed
        if "absorbed" in item.operator.name or "prefill" in item.operator.name
    )
    assert prefill["absorbed_row"] == absorb["flops_row"]
    assert prefill["absorbed_pair"] == decode["useful_pair"]
    assert prefill["absorbed_read"] == decode["bytes_read"]
    assert prefill["bytes_fixed"] == absorb["bytes_fixed"]


def joules(placed: list[Placed], row: Rows) -> float:
    """Dynamic energy of a rank's step."""
    sums = [
        (row[item.rows], *(row[at] if at >= 0 else 0.0 for at in (item.pairs, item.reads)))
        for item in placed
    ]
    pairs = zip(placed, sums, strict=True)
    return sum(item.repeat * price(item.operator, *counts).joules for item, counts in pairs)


def test_so_it_takes_the_energy_but_for_activations_that_stay_on_the_chip() -> None:
    model = catalogue.model("deepseek-r1")
    placed = lone("deepseek-r1")
    prompt, decode = (batch_row([item], model.caps) for item in (chunk(5000, 1), decoding(5000)))
    assert joules(placed, prompt) == pytest.approx(joules(placed, decode), rel=1e-3)
    assert joules(placed, prompt) < joules(placed, decode)
