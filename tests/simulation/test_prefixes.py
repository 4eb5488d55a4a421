"""Prefix caching: prompts that are partly cached, blocks that keep their content, and files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from jalapeno.errors import BadPlan, BadScenario
from jalapeno.metrics import measure, require
from jalapeno.simulation import (
    Pool,
    Preemption,
    Role,
    TraceTimes,
    Traffic,
    dump_scenario,
    simulate,
)
from jalapeno.simulation.lengths import TraceLengths
from jalapeno.simulation.scenario_file import parse_scenario
from jalapeno.simulation.trace import trace_in
from jalapeno.simulation.trace_table import trace_columns
from tests.simulation.scenes import NO_WINDOWS, Scene, closed, plan, tight_scenes
from tests.simulation.traces import trace

# ---- a column of a trace


@pytest.mark.parametrize("name", ["cached", "Cached_Tokens", "num_cached_tokens"])
def test_a_trace_may_say_what_is_cached(name: str) -> None:
    text = f"time,prompt,output,{name}\n0,10,1,0\n1,20,1,16\n"
    assert trace_columns(text.encode(), "it").cached.tolist() == [0, 16]


def test_jsonl_may_say_so_too() -> None:
    lines = '{"time": 0, "prompt": 9, "output": 2, "cached": 8}\n'
    assert trace_columns(lines.encode(), "it").cached.tolist() == [8]


def test_a_trace_that_does_not_say_has_nothing_cached() -> None:
    assert trace_columns(b"time,prompt,output\n0,10,1\n", "it").cached.tolist() == [0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("time,prompt,output,cached\n0,10,1,10\n", "it: line 2: cached: '10' is no whole number"),
        ("time,prompt,output,cached\n0,10,1,-1\n", "from 0 to less than the prompt's 10 tokens"),
        ("time,prompt,output,cached\n0,10,1,1.5\n", "'1.5' is no whole number"),
        ("time,prompt,output,cached\n0,10,1,few\n", "'few' is not a whole number of tokens"),
        ("time,prompt,output,cached,cached_tokens\n0,9,1,1,1\n", "several columns for the cached"),
    ],
)
def test_what_cannot_be_cached_is_refused(text: str, says: str) -> None:
    with pytest.raises(BadScenario) as caught:
        trace_columns(text.encode(), "it")
    assert says in str(caught.value)


def test_lengths_drawn_from_a_trace_keep_what_is_cached_with_their_prompt() -> None:
    hits = trace(prompts=(10, 20, 30, 40), cached=(1, 2, 3, 4))
    for seed in (None, 7):
        lengths = TraceLengths(trace=hits, seed=seed)
        prompts, _ = lengths.draw(50)
        assert (lengths.cached(50) * 10 == prompts).all()


def test_lengths_that_are_drawn_have_nothing_cached() -> None:
    assert not closed(5, 1, 100, 10, ratio=1.0).lengths.cached(5).any()


# ---- what it saves


def scene_of(cached: int) -> Scene:
    """A prompt of 1,000 tokens, so many of them cached, alone on a chip."""
    hits = trace((0.0,), (1000,), (4,), cached=(cached,))
    traffic = Traffic(lengths=TraceLengths(trace=hits), arrivals=TraceTimes(trace=hits), requests=1)
    return Scene(pools=((Role.UNIFIED, 1, plan("TP1", max_tokens=64)),), traffic=traffic)


def test_what_is_cached_is_attended_to_and_not_computed() -> None:
    nothing, half, but_one = (simulate(scene_of(n).scenario()) for n in (0, 500, 999))
    for journal, computed in ((nothing, 1000), (half, 500), (but_one, 1)):
        table = journal.segment_table()
        assert (table["prefill"] * table["steps"]).sum() == computed
        require(measure(journal).checks)
    first = [float(journal.requests["first"][0]) for journal in (nothing, half, but_one)]
    assert first[0] > first[1] > first[2]
    # the second half attends to the first, which costs more than to begin
    shorter = trace((0.0,), (500,), (4,))
    traffic = Traffic(
        lengths=TraceLengths(trace=shorter), arrivals=TraceTimes(trace=shorter), requests=1
    )
    alone = simulate(replace(scene_of(0), traffic=traffic).scenario())
    assert first[1] > float(alone.requests["first"][0])
    # its blocks are its own all the same
    assert nothing.requests["blocks"].equals(half.requests["blocks"])


@settings(max_examples=60)
@given(tight_scenes())
def test_whoever_comes_back_computes_no_more_for_finding_something(scene: Scene) -> None:
    tight = replace(scene, preemption=Preemption.RECOMPUTE)
    journal = simulate(replace(tight, prefix_caching=True).scenario())
    require(measure(journal).checks)
    requests = journal.requests
    again = requests["recomputed"].to_numpy()
    most = (requests["prompt"] + requests["output"]).to_numpy() * requests["preemptions"].to_numpy()
    assert (again >= 0).all()
    assert (again <= most).all()


def test_the_more_blocks_are_free_the_more_is_found() -> None:
    pools = ((Role.UNIFIED, 1, plan("TP1", max_running=2, max_tokens=200)),)
    found = []
    for blocks in (80, 100, 140):
        scene = Scene(
            pools=pools,
            traffic=closed(2, 2, 150, 150, ratio=1.0),
            block_tokens=4,
            blocks=blocks,
            preemption=Preemption.RECOMPUTE,
            prefix_caching=True,
            overrides=NO_WINDOWS,
        )
        requests = simulate(scene.scenario()).requests
        assert requests["preemptions"].to_list() == [0, 1]
        found.append(int(requests["recomputed"][1]))
    # 20, 100 and 260 tokens of 159, 199 and 279 are still there
    assert found == [139, 99, 19]


# ---- pools and files


@pytest.mark.parametrize("preemption", [Preemption.NONE, Preemption.SWAP])
def test_prefix_caching_without_prefilling_again_is_refused(preemption: Preemption) -> None:
    with pytest.raises(BadPlan, match=f"prefix caching and preemption '{preemption.value}'"):
        Pool(
            role=Role.UNIFIED,
            plan=plan("TP1"),
            replicas=1,
            preemption=preemption,
            prefix_caching=True,
        )


def test_a_scenario_file_keeps_prefix_caching_and_says_nothing_of_none() -> None:
    scene = Scene(
        pools=((Role.UNIFIED, 1, plan("TP1")),),
        traffic=closed(2, 2, 10, 10, ratio=1.0),
        preemption=Preemption.RECOMPUTE,
    )
    keeps, loses = replace(scene, prefix_caching=True).scenario(), scene.scenario()
    assert "prefix_caching" not in dump_scenario(loses)
    text = dump_scenario(keeps)
    again = parse_scenario(text.encode(), "it", "here")  # type: ignore[arg-type]
    assert again.pools[0].prefix_caching
    assert again.digest == keeps.digest != loses.digest
    wrong = text.replace('"prefix_caching": true', '"prefix_caching": 1')
    with pytest.raises(BadScenario, match="prefix_caching must be true or false, got 1"):
        parse_scenario(wrong.encode(), "it", "here")  # type: ignore[arg-type]


def test_a_trace_in_memory_is_that_of_its_text() -> None:
    text = b"time,prompt,output,cached\n0,10,1,4\n"
    made = trace_in(text, "made")
    assert (made.name, made.path, len(made)) == ("made", None, 1)
    assert made.cached.dtype == np.int64
    assert made.sha256 == trace_in(text, "again").sha256
