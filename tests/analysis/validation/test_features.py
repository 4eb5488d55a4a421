"""Features: bytes and FLOP are the catalogue's, counted by hand where that is easy."""

from __future__ import annotations

from dataclasses import fields

import pytest

from jalapeno import catalogue
from jalapeno.analysis.evidence.checkpoints import served
from jalapeno.analysis.validation.features import (
    Features,
    Work,
    features_of,
    ideal,
)
from jalapeno.catalogue import Chip, Model
from jalapeno.mapping import Plan, Precision
from jalapeno.mapping.memory import weight_bytes
from jalapeno.mapping.parameters import parameters
from tests.analysis.validation.points import SYSTEMS, row

LLAMA = {"model": "llama-3.3-70b", "precision": "fp8", "system": "h100-hgx"}


def formats(chip: Chip, model: Model, precision: str) -> Precision:
    """What a baseline takes the row to be served in."""
    return served(model, chip, ideal("tensorrt-llm"), precision)


def of(**changes: object) -> Features:
    return features_of(row(0, **changes))


def test_a_dense_model_reads_all_its_weights_in_a_step() -> None:
    model, chip = catalogue.model("llama-3.3-70b"), catalogue.chip("h100")
    plan = Plan(
        tp=4,
        max_running=1,
        max_tokens=1,
        precision=formats(chip, model, "fp8"),
    )
    embedding = parameters(model).embedding * 2.0 / 4  # looked up, not read
    read = of(**LLAMA).step.weights * chip.hbm.bandwidth
    assert read == pytest.approx(weight_bytes(model, plan) - embedding, rel=1e-3)


def test_matrix_work_is_two_flop_a_weight_and_token() -> None:
    model, chip = catalogue.model("llama-3.3-70b"), catalogue.chip("h100")
    count = parameters(model)
    one = of(**LLAMA, concurrency=8).step.flops * chip.speed
    narrow = 2.0 * 8 * (count.active - count.head) / 4 / chip.matrix.peak_8x8
    head = 2.0 * 8 * count.head / 4 / chip.matrix.peak_16x16
    assert one == pytest.approx(narrow + head, rel=1e-3)


def test_experts_are_read_as_they_are_touched() -> None:
    few, many = (of(concurrency=load).step.weights for load in (1, 512))
    model, chip = catalogue.model("gpt-oss-120b"), catalogue.chip("b200")
    plan = Plan(
        tp=4,
        max_running=1,
        max_tokens=1,
        precision=formats(chip, model, "fp4"),
    )
    all_of_them = weight_bytes(model, plan) / chip.hbm.bandwidth
    assert few < 0.2 * all_of_them
    assert many == pytest.approx(all_of_them, rel=0.1)


@pytest.mark.parametrize("name", [field.name for field in fields(Work)])
def test_more_requests_never_take_less(name: str) -> None:
    steps = [getattr(of(concurrency=load).step, name) for load in (4, 8, 64, 512)]
    assert steps == sorted(steps)


def test_a_longer_context_reads_more_cache_and_no_more_weights() -> None:
    short, long = of(isl=1024).step, of(isl=8192).step
    assert long.kv > 2.0 * short.kv
    assert long.weights == short.weights


def test_tensor_parallelism_shares_the_work_and_costs_collectives() -> None:
    one, four = of(tp=1).step, of(tp=4).step
    assert one.collectives == one.link == 0.0
    assert four.collectives > 0.0
    assert four.link > 0.0
    assert four.weights < one.weights / 2.0


def test_split_pools_are_not_interrupted_by_prompts() -> None:
    pool = {"prefill_workers": 2, "prefill_tp": 1, "prefill_dp": 4, "prefill_ep": 4}
    split = of(mode="split", gpus=12, concurrency=64, **pool)
    unified = of(concurrency=64)
    assert split.others == 0.0
    assert unified.others == pytest.approx(63 / ((819 + 1024) / 2))
    assert split.queue == 64 / 8


def test_an_idle_deployment_is_interrupted_by_nobody() -> None:
    assert of(concurrency=1).others == 0.0


def test_attention_ranks_share_the_requests() -> None:
    assert of(decode_dp=8, tp=1, gpus=8, concurrency=64).sequences == 8.0


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_roofline_is_memory_at_small_batches_and_never_less_than_a_part(system: str) -> None:
    step = of(system=system, concurrency=4).step
    assert step.roofline == step.weights + step.kv
    assert step.roofline >= step.flops + step.attention


def test_a_perfect_engine_costs_nothing_fixed() -> None:
    engine = ideal("vllm")
    assert engine.issue_phase == engine.host_step == engine.all_reduce_latency == 0.0
    assert engine.memory_efficiency == engine.matrix_efficiency == engine.imbalance == 1.0
