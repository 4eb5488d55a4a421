"""The life of one request: when, where, how many steps, and beside whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from jalapeno.analysis.explain_waits import worker_of_rank
from jalapeno.errors import UsageError
from jalapeno.metrics.distribution import Integers
from jalapeno.metrics.segments import batches
from jalapeno.simulation import Journal

CLOSEST = 5
"""Companions that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """The steps that a request sat through on one worker, from one time to another."""

    what: str
    """``prefill`` or ``decode``."""
    worker: int
    plan: str
    start: int
    """ps"""
    end: int
    steps: int
    decoding: float
    """Sequences of the worker that decoded in a step, mean over the steps."""
    prompt_tokens: int
    """Prompt tokens that the worker computed in these steps, the request's own included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """Another request that sat in the same steps."""

    request: int
    shared: int
    """For how long, ps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What happened to one request."""

    request: int
    prompt: int
    output: int
    times: Mapping[str, int]
    """ps after it was sent, in order, by event."""
    stays: tuple[Stay, ...]
    companions: int
    """Other requests that sat in any of its steps."""
    closest: tuple[Companion, ...]
    """Those of them with the longest time together."""


def life(journal: Journal, request: int) -> Life:
    """The life of *request*, by its place in the order of sending, from 0.

    Raises :class:`UsageError` where there is no such request or it is not done.
    """
    row = _row(journal.requests, request)
    split = row["decode_rank"] >= 0
    names = ("arrival", "ready", "admitted", "prefilled", "assigned", "moved", "first", "end")
    shown = [name for name in names if split or name not in ("assigned", "moved")]
    stays = tuple(_stay(journal, *stay) for stay in _stays(journal, row))
    companions = _companions(journal, request, row)
    return Life(
        request=request,
        prompt=row["prompt"],
        output=row["output"],
        times={name: row[name] - row["arrival"] for name in shown},
        stays=stays,
        companions=len(companions),
        closest=companions[:CLOSEST],
    )


def _row(requests: pl.DataFrame, request: int) -> dict[str, int]:
    if not 0 <= request < len(requests):
        raise UsageError(
            f"no request {request}: the run has requests 0 to {len(requests) - 1}, "
            "in the order in which they were sent"
        )
    row = requests.row(request, named=True)
    if row["status"] != "done":
        raise UsageError(f"request {request} is not done: it is {row['status']}")
    return row


def _stays(journal: Journal, row: Mapping[str, int]) -> list[tuple[str, int, int, int]]:
    """(what, worker, start, end) of the request's stays."""
    worker = worker_of_rank(journal)
    last = row["decode_rank"] if row["decode_rank"] >= 0 else row["rank"]
    found = [("prefill", int(worker[row["rank"]]), row["admitted"], row["prefilled"])]
    if row["output"] > 1:
        found.append(("decode", int(worker[last]), row["first"], row["end"]))
    return found


def _stay(journal: Journal, what: str, worker: int, start: int, end: int) -> Stay:
    steps = decoding = tokens = 0
    for _, batch in batches(journal):
        begins = batch.integers("start")
        inside = batch.integers("worker") == worker
        inside &= (begins >= start) & (begins + batch.elapsed <= end)
        count = batch.steps[inside]
        steps += int(count.sum())
        decoding += int(np.dot(count, batch.integers("decoding")[inside]))
        tokens += int(np.dot(count, batch.integers("prefill")[inside]))
    return Stay(
        what=what,
        worker=worker,
        plan=str(journal.workers["plan"][worker]),
        start=start,
        end=end,
        steps=steps,
        decoding=decoding / steps if steps else 0.0,
        prompt_tokens=tokens,
    )


def _companions(journal: Journal, request: int, row: Mapping[str, int]) -> tuple[Companion, ...]:
    """All others in its steps, the longest together first."""
    table, worker = journal.requests, worker_of_rank(journal)
    rank, decode = table["rank"].to_numpy(), table["decode_rank"].to_numpy()
    places = (
        (rank, "admitted", "prefilled"),
        (np.where(decode >= 0, decode, rank), "first", "end"),
    )
    shared = np.zeros(len(table), dtype=np.int64)
    for _, where, start, end in _stays(journal, row):
        for ranks, begin, finish in places:
            there = (ranks >= 0) & (worker[np.maximum(ranks, 0)] == where)
            shared += np.where(there, _overlap(table, (begin, finish), (start, end)), 0)
    shared[request] = 0
    order = np.argsort(-shared, kind="stable")
    return tuple(
        Companion(request=int(other), shared=int(shared[other]))
        for other in order[: int((shared > 0).sum())]
    )


def _overlap(table: pl.DataFrame, names: tuple[str, str], span: tuple[int, int]) -> Integers:
    """For how long each request was between its two times during the *span*, ps."""
    begin, end = (table[name].to_numpy() for name in names)
    end = np.where((begin >= 0) & (end < 0), 2**62, end)  # not there yet: still at it
    together: Integers = np.minimum(end, span[1]) - np.maximum(begin, span[0])
    return np.where(begin >= 0, np.maximum(together, 0), 0)
