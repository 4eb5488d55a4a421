"""Runs of vLLM whose every request was timed: what was sent, what came of it, and as a trace.

They ship with the package (``catalogue/data/measured/llmservingsim``; by LLMServingSim, MIT).
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tomllib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np
import polars as pl

from jalapeno.catalogue import Fact, facts
from jalapeno.errors import unknown_name
from jalapeno.simulation.trace import Trace, trace_in

BLOCK = 16
"""Tokens of a block of a prompt as the workload numbers them, and of vLLM's KV blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmRun:
    """One run: its facts, its requests, and how many ran and waited each second."""

    name: str
    hardware: str
    system: str
    model: str
    tp: int
    dp: int
    max_num_seqs: int
    max_num_batched_tokens: int
    kv_blocks: int | None
    """As vLLM reported them; None where it was not noted, and more than the run needs."""
    host_step: Fact
    """Seconds of a step beyond the profiled kernels, fitted to this run."""
    requests: pl.DataFrame
    """``queued_s, prompt, output, scheduled_s, first_s, last_s, blocks``, by arrival."""
    series: pl.DataFrame
    """``t`` (s), ``running``, ``waiting`` and more."""


@cache
def run_names() -> tuple[str, ...]:
    """The names of the runs."""
    return tuple(_facts())


@cache
def vllm_run(name: str) -> VllmRun:
    """The run called *name*; :class:`UnknownName` lists the nearest and all."""
    if name not in run_names():
        raise unknown_name("run", name, run_names())
    known = dict(_facts()[name])
    host = facts.fact(known.pop("host_step"), "s", False, {})
    folder = _folder() / "runs" / name
    return VllmRun(
        name=name,
        kv_blocks=known.pop("kv_blocks", None),
        host_step=host,
        requests=_table(folder / "requests.csv.gz"),
        series=_table(folder / "series.csv.gz"),
        **known,
    )


def _folder() -> Traversable:
    return files("jalapeno.catalogue") / "data" / "measured" / "llmservingsim"


def _facts() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((_folder() / "runs.toml").read_text("utf-8"))


def _table(path: Traversable) -> pl.DataFrame:
    return pl.read_csv(io.BytesIO(gzip.decompress(path.read_bytes())))


def trace_of_run(run: VllmRun, cached: Sequence[int]) -> Trace:
    """The requests of *run* as a trace, when the scheduler queued them; so many tokens *cached*."""
    columns = run.requests.select(time="queued_s", prompt="prompt", output="output").with_columns(
        cached=pl.Series(cached)
    )
    return trace_in(columns.write_csv().encode(), run.name)


def prefix_hits(run: VllmRun, capacity: int | None) -> list[int]:
    """Tokens of each prompt of *run* that a prefix cache of *capacity* blocks has when it comes.

    Requests are taken in order of arrival, each leaving its prompt and its answer in a cache that
    drops the block unused longest; whole blocks from the beginning of a prompt count, and its last
    token never does, for it is computed in any case (vLLM's rule).  None: a cache that keeps all.
    """
    kept: OrderedDict[tuple[int, int], None] = OrderedDict()
    found = []
    rows = run.requests.select("prompt", "output", "blocks").iter_rows()
    for number, (prompt, output, words) in enumerate(rows):
        blocks = [(-1, block) for block in _blocks(words)]
        hit = 0
        while hit < (prompt - 1) // BLOCK and blocks[hit] in kept:
            hit += 1
        answer = range(prompt // BLOCK, (prompt + output) // BLOCK)
        for block in (*blocks[: prompt // BLOCK], *((number, place) for place in answer)):
            kept.pop(block, None)
            kept[block] = None
        while capacity is not None and len(kept) > capacity:
            kept.popitem(last=False)
        found.append(hit * BLOCK)
    return found


def _blocks(words: str) -> list[int]:
    """Numbers of blocks from runs of them: ``"5+3 9+1"`` is 5, 6, 7, 9."""
    numbers: list[int] = []
    for word in words.split():
        first, _, count = word.partition("+")
        numbers.extend(range(int(first), int(first) + int(count)))
    return numbers


def digest_of_run(run: VllmRun) -> str:
    """SHA-256 of the run's requests, first 16 hex digits."""
    return hashlib.sha256(run.requests.write_csv().encode()).hexdigest()[:16]


def latencies(frame: pl.DataFrame) -> pl.DataFrame:
    """TTFT, TPOT and E2E, ms, from ``queued_s, output, first_s, last_s``."""
    first, last = pl.col("first_s"), pl.col("last_s")
    return frame.select(
        TTFT=(first - pl.col("queued_s")) * 1e3,
        TPOT=(last - first) / (pl.col("output") - 1) * 1e3,
        E2E=(last - pl.col("queued_s")) * 1e3,
    )


def statistics(values: pl.Series) -> dict[str, float]:
    """Mean, median, P90, P95 and P99, linear between ranks."""
    numbers = values.to_numpy()
    marks = np.percentile(numbers, [50.0, 90.0, 95.0, 99.0])
    names = ("median", "P90", "P95", "P99")
    return {"mean": float(numbers.mean())} | dict(zip(names, map(float, marks), strict=True))
