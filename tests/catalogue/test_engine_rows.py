"""Engines against rows that InferenceX measured, by the closed form: how far off they are.

InferenceX by SemiAnalysis (https://github.com/SemiAnalysisAI/InferenceX), Apache-2.0: 8k/1k, no
speculative decoding, one worker that prefills and decodes.  Rows: system, engine, model, TP,
requests in flight, tokens a second and GPU, median TPOT in ms.
"""

from __future__ import annotations

import pytest

from jalapeno import Plan, catalogue, compile_price
from jalapeno.analysis.subject import subject
from jalapeno.mapping import Load, SteadyState, estimate

Measured = tuple[str, str, str, int, int, float, float]

HOPPER: tuple[Measured, ...] = (
    ("h100-hgx", "vllm", "gpt-oss-120b", 2, 4, 2949, 5.75),
    ("h100-hgx", "vllm", "gpt-oss-120b", 4, 4, 1910, 4.45),
    ("h100-hgx", "vllm", "gpt-oss-120b", 2, 64, 10225, 27.53),
    ("h100-hgx", "vllm", "gpt-oss-120b", 4, 64, 8006, 17.54),
    ("h200-hgx", "vllm", "gpt-oss-120b", 1, 4, 4539, 7.44),
    ("h200-hgx", "vllm", "gpt-oss-120b", 1, 64, 12697, 44.47),
    ("h200-hgx", "vllm", "gpt-oss-120b", 4, 64, 8318, 16.90),
)
SGLANG_ON_AMD: tuple[Measured, ...] = (
    ("mi300x-oam", "sglang-rocm", "deepseek-r1", 8, 4, 184, 23.13),
    ("mi300x-oam", "sglang-rocm", "deepseek-r1", 8, 64, 920, 76.39),
    ("mi325x-oam", "sglang-rocm", "deepseek-r1", 8, 4, 182, 23.58),
    ("mi325x-oam", "sglang-rocm", "deepseek-r1", 8, 64, 1006, 69.88),
    ("mi355x-oam", "sglang-rocm", "deepseek-r1", 8, 4, 219, 20.02),
    ("mi355x-oam", "sglang-rocm", "deepseek-r1", 8, 64, 1312, 54.20),
    ("mi355x-oam", "sglang-rocm", "deepseek-r1", 4, 64, 1857, 72.62),
    ("mi300x-oam", "sglang-rocm", "gpt-oss-120b", 1, 64, 11512, 49.0),
    ("mi325x-oam", "sglang-rocm", "gpt-oss-120b", 1, 64, 13011, 43.5),
)
OLD = SGLANG_ON_AMD[4:5]
"""Of December 2025; the runs of three months later are a third faster."""
ATOM: tuple[Measured, ...] = (
    ("mi355x-oam", "atom", "gpt-oss-120b", 1, 4, 7564, 4.47),
    ("mi355x-oam", "atom", "gpt-oss-120b", 1, 16, 18128, 7.51),
    ("mi355x-oam", "atom", "gpt-oss-120b", 1, 64, 35913, 15.54),
    ("mi355x-oam", "atom", "gpt-oss-120b", 1, 128, 44999, 25.05),
    ("mi355x-oam", "atom", "gpt-oss-120b", 8, 4, 1191, 3.53),
    ("mi355x-oam", "atom", "gpt-oss-120b", 8, 16, 3931, 4.21),
)


def steady(row: Measured, engine: str | None = None) -> SteadyState:
    """The closed form of the deployment that *row* measured, under *engine*."""
    system, own, model, tp, concurrency, *_ = row
    asked = subject(model, system, engine or own)
    plan = Plan(tp=tp, max_running=concurrency, max_tokens=8192, precision=asked.precision)
    price = compile_price(asked.model, plan, asked.system, asked.engine)
    prompt, output = asked.mean_lengths
    return estimate((price,), (1,), Load(concurrency=concurrency, prompt=prompt, output=output))


@pytest.mark.parametrize("row", HOPPER)
def test_vllm_comes_out_on_hopper(row: Measured) -> None:
    found, (*_, throughput, tpot_ms) = steady(row), row
    assert found.tokens_per_s_per_chip == pytest.approx(throughput, rel=0.12)
    assert 1e3 * found.tpot == pytest.approx(tpot_ms, rel=0.12)


@pytest.mark.parametrize("row", [row for row in SGLANG_ON_AMD if row not in OLD])
def test_sglang_comes_out_on_amd(row: Measured) -> None:
    found, (*_, throughput, tpot_ms) = steady(row), row
    assert found.tokens_per_s_per_chip == pytest.approx(throughput, rel=0.25)
    assert 1e3 * found.tpot == pytest.approx(tpot_ms, rel=0.25)


@pytest.mark.parametrize("row", OLD)
def test_a_first_run_on_a_new_chip_is_slower_than_the_fit_to_all_of_them(row: Measured) -> None:
    assert steady(row).tokens_per_s_per_chip > 1.5 * row[5]


@pytest.mark.parametrize("row", ATOM)
def test_what_was_chosen_by_hand_for_atom_comes_out(row: Measured) -> None:
    found, (*_, throughput, tpot_ms) = steady(row), row
    assert found.tokens_per_s_per_chip == pytest.approx(throughput, rel=0.15)
    assert 1e3 * found.tpot == pytest.approx(tpot_ms, rel=0.15)


@pytest.mark.parametrize("row", [row for row in SGLANG_ON_AMD if row[2] == "deepseek-r1"])
def test_the_constants_of_nvidias_gpus_are_too_good_for_amds(row: Measured) -> None:
    assert steady(row, "sglang").tokens_per_s_per_chip > 1.15 * row[5]


def test_the_default_engine_of_a_measured_system_is_the_one_it_was_measured_with() -> None:
    for system, engine, *_ in (*HOPPER, *SGLANG_ON_AMD[:4], *ATOM):
        assert catalogue.system(system).engine == engine
