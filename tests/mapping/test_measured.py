"""What tables say in the price of a step: sums of what was measured, affine, continuous beyond."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.catalogue import Kind, engine_of, tree
from jalapeno.cost import PARTS
from jalapeno.cost.formulas import touched_experts
from jalapeno.cost.operator import FAMILY, MEASURED
from jalapeno.cost.tables import Grid
from jalapeno.cost.tables.find import find_tables, reference_to
from jalapeno.cost.tables.stored import tables_bytes
from jalapeno.cost.tables.table import Axis, StepTable
from jalapeno.errors import BadPlan
from jalapeno.mapping import Plan, Precision, StepPrice, compile_price, memo_for, stack
from jalapeno.mapping.batch import Item, batch_row, growth_row
from jalapeno.mapping.outputs import FOREVER, JOULES, N_OUTPUTS, N_PARTS, OUTPUTS, TOLD
from jalapeno.mapping.pricing import price_rows
from tests.cost.tables.profiles import line
from tests.mapping.test_growth import as_promised

Array = npt.NDArray[np.float64]

ENGINE = "vllm-0.19"
WORLDS = {
    "rtx-4090": ("rtx-4090-host", "llama-3.1-8b", 1, 1),
    "tp2": ("rtx-pro-6000-host", "qwen3-32b", 2, 1),
    "dp2": ("rtx-pro-6000-host", "qwen3-30b-a3b", 1, 2),
}


def plan(model: str, system: str, tp: int = 1, dp: int = 1, engine: str = ENGINE) -> Plan:
    chip = catalogue.system(system).chip
    formats = Precision.as_served(catalogue.engine(engine), catalogue.model(model), chip)
    ep = dp if dp > 1 else 1
    return Plan(tp=tp, dp=dp, ep=ep, max_running=64, max_tokens=2048, precision=formats)


@cache
def compiled(world: str) -> StepPrice:
    system, model, tp, dp = WORLDS[world]
    return compile_price(
        catalogue.model(model),
        plan(model, system, tp, dp),
        catalogue.system(system),
        catalogue.engine(ENGINE),
    )


def with_tables(folder: Path, tables: Iterable[StepTable]) -> StepPrice:
    """gpt-oss-120b on an H100 by these tables and else by rooflines."""
    path = folder / "mine.parquet"
    path.write_bytes(tables_bytes(tables))
    own = tree("engines", "vllm") | {"tables": {"h100/llama-3.1-8b/tp1": reference_to(str(path))}}
    system = catalogue.system("h100-hgx")
    here = plan("llama-3.1-8b", "h100-hgx", engine="vllm")
    return compile_price(catalogue.model("llama-3.1-8b"), here, system, engine_of(own))


@cache
def without_tables() -> StepPrice:
    here, system = plan("llama-3.1-8b", "h100-hgx", engine="vllm"), catalogue.system("h100-hgx")
    model, engine = catalogue.model("llama-3.1-8b"), catalogue.engine("vllm")
    return compile_price(model, here, system, engine)


def rows_of(price: StepPrice, items: Iterable[Item]) -> Array:
    """The same sequences on every rank."""
    return np.array([batch_row(items, price.caps)] * price.plan.ranks)


def growing(price: StepPrice, items: Iterable[Item]) -> Array:
    decoding = sum(not item.prefill for item in items)
    return np.array([growth_row(decoding, price.caps)] * price.plan.ranks)


def decode(context: int) -> Item:
    return Item(context - 1, 1, False, True)


def prompt(cached: int, new: int) -> Item:
    return Item(cached, new, True, True)


@st.composite
def batches(draw: st.DrawFn) -> list[Item]:
    """Within the profiles' sweeps: at most one prompt, beside up to 64 sequences."""
    contexts = draw(st.lists(st.integers(2, 15_000), max_size=64))
    items = [decode(context) for context in contexts]
    if not items or draw(st.booleans()):
        items.append(prompt(draw(st.integers(0, 16_000)), draw(st.integers(1, 1900))))
    return items


def slow_seconds(world: str, items: list[Item]) -> float:
    """What the tables say of a step, added up; collectives and host left out."""
    system, model_name, tp, dp = WORLDS[world]
    model, chip = catalogue.model(model_name), catalogue.system(system).chip.name
    reference = catalogue.engine(ENGINE).tables[f"{chip}/{model_name}/tp{tp}"]
    tokens = sum(item.new for item in items)
    decoding = [item.cached + 1 for item in items if not item.prefill]
    context = sum(decoding) / len(decoding) if decoding else 0.0
    new, cached = next(((item.new, item.cached) for item in items if item.prefill), (0, 0))
    total = 0.0
    for table in find_tables(reference).tables:
        if table.name == "attention":
            point: tuple[float, ...] = (new, cached, len(decoding), context)
        elif table.name == "experts":
            local, share = model.moe.experts / dp, model.moe.top_k / model.moe.experts
            point = (tokens, touched_experts(local, share, tokens * dp))
        else:
            point = (len(items) if Axis.SEQUENCES in table.axes else tokens,)
        once = table.name in ("embedding", "final norm", "LM head and sampler")
        times = 1 if once else 2 * model.layers if table.name == "norm" else model.layers
        total += times * table.grid.at(point)
    return total


def seconds_of(values: Array) -> float:
    return float(values[:N_PARTS].sum())


# ---- sums


@pytest.mark.parametrize("world", WORLDS)
@settings(max_examples=60)
@given(items=batches())
def test_a_step_is_the_sum_of_what_was_measured(world: str, items: list[Item]) -> None:
    price = compiled(world)
    assume(sum(item.new for item in items) > 1)  # one token reaches fewer experts than were swept
    first, _, _ = price.price(rows_of(price, items))
    slow = slow_seconds(world, items)
    assert first[TOLD] == pytest.approx(slow, rel=1e-9)
    beside = first[PARTS.index("communication")]
    assert seconds_of(first) == pytest.approx(slow + beside, rel=1e-9)
    assert (beside > 0.0) == (world != "rtx-4090")


@pytest.mark.parametrize("world", WORLDS)
@settings(max_examples=60)
@given(items=batches(), share=st.floats(0.0, 1.0))
def test_a_measured_step_grows_as_promised_while_the_price_holds(
    world: str, items: list[Item], share: float
) -> None:
    price = compiled(world)
    as_promised(price, rows_of(price, items), growing(price, items), share)


def test_a_price_holds_up_to_the_next_knot_of_the_mean_context() -> None:
    price = compiled("rtx-4090")
    items = [decode(1000), decode(1020)]
    _, slope, hold = price.price(rows_of(price, items), growing(price, items))
    assert hold == 1024 - 1010 + 1
    assert slope[TOLD] > 0.0


def test_a_batch_that_does_not_grow_holds_for_good() -> None:
    price = compiled("rtx-4090")
    assert price.price(rows_of(price, [prompt(100, 500)]))[2] == FOREVER


@settings(max_examples=40)
@given(batches())
def test_busy_seconds_and_joules_are_those_of_the_work(items: list[Item]) -> None:
    price = compiled("rtx-4090")
    first, _, _ = price.price(rows_of(price, items))
    busy = first[N_PARTS:JOULES]
    assert busy.sum() <= first[TOLD] * (1 + 1e-9)
    weights = price.room.weight_bytes
    least = price.system.chip.energy.per_hbm_byte * weights * 0.9
    assert first[JOULES] > least


def test_two_prompts_are_as_one_of_as_many_pairs() -> None:
    price = compiled("rtx-4090")
    several = price.price(rows_of(price, [prompt(0, 256)] * 4))[0]
    one = price.price(rows_of(price, [prompt(0, 1024)]))[0]
    shared = price.price(rows_of(price, [prompt(1000, 512), prompt(1000, 512)]))[0]
    beside = price.price(rows_of(price, [prompt(744, 1024)]))[0]
    head = price.price(rows_of(price, [Item(744, 1024, True, False)]))[0][TOLD]
    assert several[TOLD] < one[TOLD]
    # the same tokens and pairs; the head sees two sequences in place of one
    more = beside[TOLD] - head
    assert shared[TOLD] == pytest.approx(beside[TOLD], abs=more)


# ---- beyond


@pytest.mark.parametrize("context", [16_384, 30_000, 100_000])
def test_beyond_the_grid_seconds_go_on_as_the_roofline_does(context: int) -> None:
    price = compiled("rtx-4090")
    at, beyond = (price.price(rows_of(price, [decode(each)] * 4))[0] for each in (16_384, context))
    none = price.price(rows_of(price, [decode(2)] * 4))[0]
    assert (beyond[TOLD] < at[TOLD]) == (context > 16_384)
    attention = seconds_of(at) - seconds_of(none)
    grown = seconds_of(beyond) - seconds_of(none)
    assert grown / attention == pytest.approx(context / 16_384, rel=0.05)


@given(st.integers(16_300, 16_500), st.integers(1, 8))
def test_the_price_does_not_jump_at_the_edge(context: int, sequences: int) -> None:
    price = compiled("rtx-4090")
    one, next_one = (
        seconds_of(price.price(rows_of(price, [decode(each)] * sequences))[0])
        for each in (context, context + 1)
    )
    assert next_one == pytest.approx(one, rel=1e-3)


def test_beyond_the_grid_each_step_is_priced_anew() -> None:
    price = compiled("rtx-4090")
    items = [decode(20_000)] * 2
    assert price.price(rows_of(price, items), growing(price, items))[2] == 1


def test_tokens_beyond_a_table_go_on_as_the_roofline_does(tmp_path: Path) -> None:
    short = with_tables(tmp_path, [line(knots=(1.0, 64.0), seconds=(1e-5, 2e-5))])
    modelled = without_tables()
    inside, outside = (short.price(rows_of(short, [prompt(0, n)]))[0] for n in (64, 2048))
    assert inside[TOLD] == pytest.approx(32 * 2e-5)
    assert outside[TOLD] == 0.0
    plain = [modelled.price(rows_of(modelled, [prompt(0, n)]))[0] for n in (64, 2048)]
    # what else there is costs the same with and without the table
    rest = [seconds_of(a) - seconds_of(b) for a, b in zip((inside, outside), plain, strict=True)]
    assert rest[1] != pytest.approx(rest[0])
    assert seconds_of(outside) > seconds_of(inside)


def test_a_table_without_a_roofline_must_hold_all_that_a_plan_comes_to(tmp_path: Path) -> None:
    lone = line("sampler", Axis.SEQUENCES, (1.0, 32.0), (1e-5, 2e-5), stands_for=())
    with pytest.raises(BadPlan, match=r"table sampler knows 1 to 32 sequences a step, TP1 with"):
        with_tables(tmp_path, [lone])
    enough = line("sampler", Axis.SEQUENCES, (1.0, 64.0), (1e-5, 2e-5), stands_for=())
    price = with_tables(tmp_path, [enough])
    first = price.price(rows_of(price, [decode(100)] * 64))[0]
    plain = without_tables()
    before = plain.price(rows_of(plain, [decode(100)] * 64))[0]
    issue = OUTPUTS.index("issue")
    assert first[issue] - before[issue] == pytest.approx(2e-5)
    assert seconds_of(first) - seconds_of(before) == pytest.approx(2e-5)


# ---- what a table stands for


def test_a_table_takes_the_place_of_what_it_stands_for_and_of_nothing_else(tmp_path: Path) -> None:
    price, plain = with_tables(tmp_path, [line()]), without_tables()
    items = [decode(100)] * 64
    first, before = (each.price(rows_of(each, items))[0] for each in (price, plain))
    assert first[TOLD] == pytest.approx(32 * 2e-5)
    assert before[TOLD] == 0.0
    assert first[JOULES] == pytest.approx(
        before[JOULES] + (seconds_of(first) - seconds_of(before)) * plain.system.chip.power.static
    )


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (line(stands_for=("qvk",)), "stands for 'qvk', which is not among the operators of TP1; "),
        (line(stands_for=("decode attention, full",)), "attention goes by prompt, cached,"),
        (line("it", Axis.EXPERTS), "goes by the tokens of experts: it must stand for 'routed exp"),
        (line("it", Axis.CONTEXT, stands_for=()), "is of attention and stands for no operator"),
    ],
)
def test_a_table_that_stands_for_the_wrong_thing_is_refused(
    tmp_path: Path, table: StepTable, says: str
) -> None:
    with pytest.raises(BadPlan) as caught:
        with_tables(tmp_path, [table])
    assert says in str(caught.value)


def test_an_engine_with_tables_prices_nothing_that_it_has_none_for() -> None:
    with pytest.raises(BadPlan, match=r"has none for rtx-pro-6000/llama-3\.1-8b/tp2; choose an"):
        compile_price(
            catalogue.model("llama-3.1-8b"),
            plan("llama-3.1-8b", "rtx-pro-6000-host", tp=2),
            catalogue.system("rtx-pro-6000-host"),
            catalogue.engine(ENGINE),
        )


def test_decode_and_prompts_may_have_tables_of_their_own(tmp_path: Path) -> None:
    knots = np.array([0.0, 64.0, 4096.0])
    prompts = Grid((knots, knots), np.full((3, 3), 3e-5), Kind.MEASURED, "by hand")
    reads = Grid((np.array([1.0, 64.0]), knots), np.full((2, 3), 1e-5), Kind.MEASURED, "by hand")
    price = with_tables(
        tmp_path,
        [
            StepTable("new", (Axis.PROMPT, Axis.CACHED), prompts, ("prefill attention, full",)),
            StepTable("old", (Axis.DECODING, Axis.CONTEXT), reads, ("decode attention, full",)),
        ],
    )
    both, alone, none = (
        price.price(rows_of(price, items))[0][TOLD]
        for items in ([decode(9), prompt(0, 9)], [prompt(0, 9)], [decode(9)])
    )
    assert (both, alone, none) == pytest.approx((32 * 4e-5, 32 * 3e-5, 32 * 1e-5))


# ---- compiled


def test_prices_with_tables_stand_beside_others() -> None:
    prices = [compiled("rtx-4090"), without_tables(), compiled("dp2"), compiled("rtx-4090")]
    stacked, memo = stack(prices), memo_for(prices, 64)
    items = [decode(700)] * 9 + [prompt(100, 300)]
    for which, price in enumerate(prices):
        rows, growth = rows_of(price, items), growing(price, items)
        first, slope = np.zeros(N_OUTPUTS), np.zeros(N_OUTPUTS)
        hold = price_rows(stacked, memo, which, rows, growth, first, slope)
        alone = price.price(rows, growth)
        np.testing.assert_array_equal(first, alone[0])
        np.testing.assert_array_equal(slope, alone[1])
        assert hold == alone[2]


def test_what_tables_stand_for_is_in_no_class() -> None:
    arrays = compiled("rtx-4090").arrays
    measured = np.flatnonzero(arrays.ops[:, FAMILY] == MEASURED)
    assert len(measured) == 10
    assert measured.max() < arrays.start[0, -1] < len(arrays.ops)
    assert math.isfinite(arrays.tables.sum())
    assert not len(without_tables().arrays.tables)
