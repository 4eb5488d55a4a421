"""Prefix hits of traces in a cache that never forgets, against what is stated of them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from jalapeno.analysis.validation.block_traces import NAMES, WEKA, Conversation, trace
from jalapeno.analysis.validation.frames import side_by_side

MEASURED = {
    "mooncake-conversation": {"all": 0.366},
    "mooncake-synthetic": {"all": 0.640},
    WEKA: {"median": 0.96, "P25": 0.92, "mean": 0.93},
}
"""Stated shares of blocks: of all blocks of Mooncake's traces; of each kv-cache-tester session."""

TOLERANCE = 0.01
"""A point: published numbers are rounded to one, or to less."""


@dataclass(frozen=True, slots=True)
class Hits:
    """Blocks of a conversation, and those of them that were there before."""

    hit: int
    blocks: int

    @property
    def share(self) -> float:
        """Hits over blocks; NaN without any."""
        return self.hit / self.blocks if self.blocks else float("nan")


def hits_of(conversation: Conversation) -> Hits:
    """Count the leading blocks of each request that any request before had.

    A prefix cache serves a block only after all blocks before it, so counting ends at the first
    that is new.  The cache is the conversation's own, shared by its threads, and never full.
    """
    seen: set[int] = set()
    hit = blocks = 0
    for thread in conversation:
        for request in thread:
            leading = request.shared
            for block in request.rest:
                if block not in seen:
                    break
                leading += 1
            hit += leading
            blocks += request.blocks
            seen.update(request.rest)
    return Hits(hit, blocks)


def statistics_of(conversations: Iterable[Conversation]) -> dict[str, float]:
    """Shares over all blocks, and the mean, the quartile and the median over conversations."""
    each = [hits for hits in map(hits_of, conversations) if hits.blocks]
    shares = [hits.share for hits in each]
    quarter = statistics.quantiles(shares, n=4, method="inclusive")[0] if shares[1:] else shares[0]
    return {
        "all": sum(hits.hit for hits in each) / sum(hits.blocks for hits in each),
        "mean": statistics.fmean(shares),
        "median": statistics.median(shares),
        "P25": quarter,
    }


def prefix_hits(data: Path | None = None) -> pl.DataFrame:
    """Return published and counted hits, a row a statistic (:data:`.frames.COLUMNS`).

    *data* is a folder of the original files; the shipped traces without it.
    """
    lines = []
    for name in NAMES:
        counted = statistics_of(trace(name, data))
        lines += [
            {
                "row": f"{name}/{statistic}",
                "model": "",
                "system": "",
                "quantity": f"prefix hits, {statistic}",
                "unit": "share",
                "measured": measured,
                "predicted": counted[statistic],
                "assumptions": _assumptions(name),
            }
            for statistic, measured in MEASURED[name].items()
        ]
    return side_by_side(lines)


def _assumptions(name: str) -> str:
    if name == WEKA:
        return (
            "infinite cache of its own for each session, sub-agents included; 64-token blocks; "
            "710 of the 739 sessions"
        )
    return "one infinite cache for all requests; 512-token blocks"
