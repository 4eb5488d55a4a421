"""Saturation: whether requests that come by themselves come faster than they are served.

A queue that keeps up falls back again and again; one that does not grows for as long as requests
come, and its latencies say how long the run was rather than how fast the system is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from jalapeno.metrics.distribution import Integers, ratio
from jalapeno.metrics.throughput import offered_rate
from jalapeno.simulation import ClosedLoop
from jalapeno.simulation.arrivals import Arrivals
from jalapeno.simulation.columns import NEVER, PICOSECONDS

DEVIATIONS = 3.0
"""Standard deviations of a Poisson count by which the least backlog must grow: the number in a
system with a server for everybody, which has no queue at all, varies so much by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """Whether a run could keep up with requests that came independently of the answers."""

    saturated: bool
    """Requests came faster than they were served for as long as they came."""
    settled: bool
    """The run was long enough to tell: a quarter of the time in which requests came outlasts the
    service of half of them, or all that came in its last quarter waited for longer than that, which
    no filling of empty slots explains.  Where neither, *saturated* is False and means nothing."""
    offered_per_s: float
    """Requests a second that came: the rate of the arrivals, or of a trace its mean."""
    sustained_per_s: float
    """The most requests a second that are served, where it is saturated; else NaN, for the run
    has not come to its limit."""
    backlog_at_end: int
    """Requests in the system when the last one came."""


def saturation(requests: pl.DataFrame, arrivals: Arrivals) -> Saturation | None:
    """Judge the *requests* of a journal; None for a closed loop, which waits and cannot overload.

    The backlog is all that is in the system, so that it does not matter where a scheduler lets
    requests wait.  While requests come, time is cut into quarters; the first fills the system.  It
    is saturated where the least backlog of the second, third and fourth rises from one to the next
    and by :data:`DEVIATIONS` in all, and where fewer requests were served than are offered while
    the backlog was at least that of half time.  The second condition tells a busy hour from
    overload: a queue that grew because more came than is usual serves more than is usual.
    """
    if isinstance(arrivals, ClosedLoop):
        return None
    sent = requests.filter(pl.col("arrival") >= 0)
    came = np.sort(sent["arrival"].to_numpy())
    left = np.sort(np.where(sent["end"].to_numpy() < 0, NEVER, sent["end"].to_numpy()))
    start, last = (int(came[0]), int(came[-1])) if len(came) else (0, 0)
    offered = float(getattr(arrivals, "rate", offered_rate(sent)))
    quarters = [start + (last - start) * part // 4 for part in range(5)]
    settled = last > start and (
        _service(sent) <= quarters[1] - start or _wait(sent, quarters[3]) > quarters[1] - start
    )
    second, third, fourth = (
        _least(came, left, begin, end) for begin, end in pairwise(quarters[1:])
    )
    grown = fourth - second > DEVIATIONS * math.sqrt(max(second, 1)) and second < third < fourth
    served = _served(came, left, quarters[2])
    saturated = settled and grown and served < offered
    return Saturation(
        saturated=saturated,
        settled=settled,
        offered_per_s=offered,
        sustained_per_s=served if saturated else math.nan,
        backlog_at_end=_level(came, left, last),
    )


def _service(sent: pl.DataFrame) -> float:
    """Median time from the first step of a request to its end, ps; what is not done lasts on."""
    begun, end = sent["admitted"].to_numpy(), sent["end"].to_numpy()
    lasted = np.where(end >= 0, end - begun, NEVER)
    return float(np.median(lasted)) if len(lasted) else math.inf


def _wait(sent: pl.DataFrame, since: int) -> int:
    """The shortest wait for the first step among those that came *since*, ps."""
    late = sent.filter(pl.col("arrival") >= since)
    begun, came = late["admitted"].to_numpy(), late["arrival"].to_numpy()
    return int(np.where(begun < 0, NEVER, begun - came).min(initial=NEVER))


def _level(came: Integers, left: Integers, time: int) -> int:
    """Requests in the system at *time*."""
    return int(np.searchsorted(came, time, "right") - np.searchsorted(left, time, "right"))


def _least(came: Integers, left: Integers, begin: int, end: int) -> int:
    """The fewest requests in the system from *begin* to *end*: at *begin*, or when one leaves."""
    leaving = left[np.searchsorted(left, begin, "right") : np.searchsorted(left, end, "right")]
    at = np.concatenate([[begin], leaving])
    levels = np.searchsorted(came, at, "right") - np.searchsorted(left, at, "right")
    return int(levels.min())


def _served(came: Integers, left: Integers, half: int) -> float:
    """Requests served a second from *half* time until the backlog is below that of then for good.

    It may be so only after the last request has come, which makes the measure a longer one.
    """
    level = _level(came, left, half)
    after = left[np.searchsorted(left, half, "right") :]
    before = np.searchsorted(came, after, "right") - np.searchsorted(left, after, "left")
    # `before`: in the system just before each leaves, if those that leave with it are still there
    busy = after[(before >= max(level, 1)) & (after < NEVER)]
    if not len(busy):
        return math.nan
    until = int(busy[-1])
    served = int(np.searchsorted(left, until, "right") - np.searchsorted(left, half, "right"))
    return ratio(served * PICOSECONDS, until - half)
