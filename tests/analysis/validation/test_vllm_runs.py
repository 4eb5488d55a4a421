"""Runs of vLLM that ship: whole, in order, and with the prefix hits of a cache counted slowly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.validation.vllm_runs import (
    BLOCK,
    VllmRun,
    latencies,
    prefix_hits,
    run_names,
    statistics,
    trace_of_run,
    vllm_run,
)
from jalapeno.catalogue import Kind
from jalapeno.errors import UnknownName

RUN = vllm_run("rtx-4090-llama-3.1-8b")


def of(prompts: Sequence[Sequence[int]], outputs: Sequence[int]) -> VllmRun:
    """A run of prompts of these blocks, each whole."""
    rows = {
        "prompt": [BLOCK * len(blocks) for blocks in prompts],
        "output": list(outputs),
        "blocks": [" ".join(f"{block}+1" for block in blocks) for blocks in prompts],
    }
    return replace(RUN, requests=pl.DataFrame(rows))


@pytest.mark.parametrize("name", run_names())
def test_a_run_has_three_hundred_requests_in_order(name: str) -> None:
    run = vllm_run(name)
    times = run.requests.select("queued_s", "scheduled_s", "first_s", "last_s")
    assert len(times) == 300
    assert times["queued_s"].is_sorted()
    assert times["queued_s"][0] == 0.0
    for before, after in zip(times.columns, times.columns[1:], strict=False):
        assert (times[before] <= times[after]).all()
    assert run.host_step.kind is Kind.FITTED
    assert run.series["t"].is_sorted()


@pytest.mark.parametrize("name", run_names())
def test_the_blocks_of_a_prompt_hold_it(name: str) -> None:
    for prompt, words in vllm_run(name).requests.select("prompt", "blocks").iter_rows():
        blocks = sum(int(word.partition("+")[2]) for word in words.split())
        assert blocks == prompt // BLOCK


def test_an_unknown_run_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'rtx-4090-llama-3.1-8b'"):
        vllm_run("rtx-4090-llama-3-8b")


def test_a_run_is_a_trace() -> None:
    trace = trace_of_run(RUN, [0] * 299 + [16])
    assert len(trace) == 300
    assert trace.cached.tolist() == [0] * 299 + [16]
    assert trace.prompts.tolist() == RUN.requests["prompt"].to_list()
    assert trace.span_s == pytest.approx(RUN.requests["queued_s"][-1], abs=1e-6)


# ---- prefix hits

blocks = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=8)


@given(blocks)
def test_a_cache_that_keeps_all_has_every_beginning_that_came_before(
    prompts: list[list[int]],
) -> None:
    seen: set[int] = set()
    expected = []
    for prompt in prompts:
        hit = 0
        while hit < len(prompt) - 1 and prompt[hit] in seen:
            hit += 1
        expected.append(hit * BLOCK)
        seen.update(prompt)
    assert prefix_hits(of(prompts, [1] * len(prompts)), None) == expected


@given(blocks, st.integers(1, 20))
def test_a_smaller_cache_never_has_more(prompts: list[list[int]], capacity: int) -> None:
    run = of(prompts, [40] * len(prompts))
    for few, all_of_it in zip(prefix_hits(run, capacity), prefix_hits(run, None), strict=True):
        assert few <= all_of_it


def test_a_cache_drops_what_was_unused_longest() -> None:
    # 1 and 2 come, 3 takes the place of 1; an answer of two blocks of its own takes that of 2
    run = of([(1, 9), (2, 9), (1, 9), (2, 9)], [1, 1, 1, 1])
    assert prefix_hits(run, 3) == [0, 0, BLOCK, BLOCK]
    assert prefix_hits(run, 2) == [0, 0, 0, 0]
    long = of([(1, 9), (2, 9), (1, 9)], [1, 40, 1])
    assert prefix_hits(long, 4) == [0, 0, 0]
    assert prefix_hits(long, 6) == [0, 0, BLOCK]


def test_the_last_token_of_a_prompt_is_computed_in_any_case() -> None:
    assert prefix_hits(of([(1, 2), (1, 2)], [1, 1]), None) == [0, BLOCK]


# ---- statistics


def test_latencies_count_from_the_queue() -> None:
    frame = pl.DataFrame(
        {"queued_s": [1.0], "output": [11], "first_s": [1.5], "last_s": [2.5]},
    )
    assert latencies(frame).rows() == [(500.0, 100.0, 1500.0)]


def test_statistics_are_linear_between_ranks() -> None:
    found = statistics(pl.Series([0.0, 1.0, 2.0, 3.0, 4.0]))
    assert found == pytest.approx({"mean": 2, "median": 2, "P90": 3.6, "P95": 3.8, "P99": 3.96})
