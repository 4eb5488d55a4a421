"""A row becomes a scenario: its layout, its formats, the requests that its client sends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jalapeno import catalogue, simulate
from jalapeno.analysis.evidence.scenarios import (
    SLOTS,
    TOKENS,
    Layout,
    as_catalogued,
    entry_name,
    scenario_for,
)
from jalapeno.simulation import ClosedLoop, Lengths, Role
from tests.analysis.validation.points import row


def split(**changes: Any) -> dict[str, Any]:
    layout = {
        "mode": "split",
        "gpus": 12,
        "prefill_workers": 2,
        "prefill_tp": 2,
        "prefill_dp": 1,
        "prefill_ep": 1,
        "decode_workers": 1,
        "decode_tp": 1,
        "decode_dp": 8,
        "decode_ep": 8,
    }
    return row(1, system="gb200-nvl72", engine="tensorrt-llm", **layout) | changes


def test_a_unified_row_has_one_pool_of_its_layout() -> None:
    (pool,) = scenario_for(row(1, tp=4, concurrency=32)).pools
    assert (pool.role, pool.replicas) == (Role.UNIFIED, 1)
    assert (pool.plan.tp, pool.plan.dp, pool.plan.ep) == (4, 1, 1)
    assert (pool.plan.max_running, pool.plan.max_tokens) == (32, TOKENS)


def test_a_split_row_has_both_pools() -> None:
    front, back = scenario_for(split(concurrency=64)).pools
    assert (front.role, front.replicas, front.plan.tp) == (Role.PREFILL, 2, 2)
    assert (back.role, back.replicas, back.plan.dp, back.plan.ep) == (Role.DECODE, 1, 8, 8)
    assert back.plan.max_running == 8, "64 in flight over eight ranks"
    assert front.plan.max_tokens >= 1024


def test_slots_are_shared_by_workers_and_ranks_and_end_somewhere() -> None:
    many = row(1, concurrency=100_000, decode_workers=2, gpus=8)
    (pool,) = scenario_for(many).pools
    assert pool.plan.max_running == SLOTS
    (pool,) = scenario_for(row(1, concurrency=7, decode_workers=2, gpus=8)).pools
    assert pool.plan.max_running == 4
    assert pool.replicas == 2


def test_a_long_prompt_fits_in_a_step_of_a_prefill_worker() -> None:
    front, _ = scenario_for(split(isl=100_000)).pools
    assert front.plan.max_tokens == 100_000


def test_requests_are_those_of_the_client() -> None:
    found = scenario_for(row(1, isl=1024, osl=512, concurrency=8)).traffic
    assert found.arrivals == ClosedLoop(concurrency=8)
    assert found.requests == 80
    assert found.lengths == Lengths(isl=1024, osl=512, ratio=0.8)


def test_the_formats_are_those_of_the_checkpoint() -> None:
    (pool,) = scenario_for(row(1, model="deepseek-r1", tp=8)).pools
    assert (pool.plan.precision.experts, pool.plan.precision.attention) == ("nvfp4", "bf16")


def test_under_attention_dp_experts_lie_on_all_chips_of_a_worker() -> None:
    model = catalogue.model("deepseek-r1")
    precision = scenario_for(row(1, model="deepseek-r1", tp=8)).pools[0].plan.precision
    plan = Layout(workers=1, tp=1, dp=8, ep=1).plan(model, precision, 4, 1024)
    assert plan.ep == 8
    plan = Layout(workers=1, tp=8, dp=1, ep=1).plan(model, precision, 4, 1024)
    assert plan.ep == 1


def test_redundant_experts_fill_groups_that_do_not_divide() -> None:
    model = catalogue.model("deepseek-r1")
    precision = scenario_for(row(1, model="deepseek-r1", tp=8)).pools[0].plan.precision
    plan = Layout(workers=1, tp=1, dp=48, ep=48).plan(model, precision, 4, 1024)
    assert (model.moe.experts + plan.redundant) % 48 == 0
    assert 0 < plan.redundant < 48


def test_a_dense_model_has_no_experts_to_cut() -> None:
    (pool,) = scenario_for(row(1, model="llama-3.3-70b", precision="fp8", decode_ep=4)).pools
    assert pool.plan.ep == 1


def test_the_step_of_a_rank_holds_all_of_its_slots() -> None:
    model = catalogue.model("llama-3.3-70b")
    precision = scenario_for(row(1, model="llama-3.3-70b")).pools[0].plan.precision
    assert Layout(1, 4, 1, 1).plan(model, precision, 512, 64).max_tokens == 512


def test_engines_on_amd_have_their_own_entry() -> None:
    assert entry_name(row(1, engine="sglang", system="mi355x-oam")) == "sglang-rocm"
    assert entry_name(row(1, engine="sglang", system="h200-hgx")) == "sglang"
    assert entry_name(row(1, engine="vllm", system="mi355x-oam")) == "vllm"


def test_an_engine_may_be_replaced_and_the_digest_stays_that_of_the_catalogue() -> None:
    slow = replace(catalogue.engine("vllm"), host_step=0.01)
    plain = scenario_for(row(1))
    changed = scenario_for(row(1), lambda name, system, model: slow)
    assert plain.engine == as_catalogued("vllm", plain.system, plain.model)
    assert changed.engine is slow
    assert changed.digest == plain.digest


def test_its_run_ends_with_all_requests_done() -> None:
    journal = simulate(scenario_for(row(1, concurrency=4)))
    assert len(journal.requests) == 40
    with pytest.raises(KeyError):
        scenario_for({})
