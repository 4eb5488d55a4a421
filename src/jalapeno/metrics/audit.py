"""Audit: the laws that the journal of a finished run obeys, whatever it simulated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from jalapeno.errors import LawBroken
from jalapeno.metrics.attribution import Until, causes, parts
from jalapeno.metrics.distribution import Integers, exact_dot
from jalapeno.metrics.survey import Survey

POWER_TOLERANCE = 1e-9
"""Relative, on top of the rounding of times: joules are floats."""

UNIFIED_ORDER = ("arrival", "ready", "assigned", "admitted", "prefilled", "first", "end")
SPLIT_ORDER = ("arrival", "ready", "admitted", "prefilled", "assigned", "moved", "first", "end")
"""A decode pool assigns anew."""


@dataclass(frozen=True, slots=True)
class Check:
    """One law: whether it holds, and the numbers that say so."""

    name: str
    holds: bool
    detail: str


def audit(requests: pl.DataFrame, survey: Survey) -> tuple[Check, ...]:
    """Check a finished run: its *requests* table against itself and against its segments."""
    done = finished(requests)
    return (
        _requests(requests, done, survey),
        _tokens(done, survey),
        _prompts(done, survey),
        _blocks(survey),
        _order(done),
        _overlap(survey),
        _attribution(done),
        _decoding(done, survey),
        _joules(survey),
        _power(survey),
    )


def require(checks: Iterable[Check]) -> None:
    """Raise :class:`LawBroken` that names every check which does not hold."""
    broken = [f"{check.name}: {check.detail}" for check in checks if not check.holds]
    if broken:
        raise LawBroken("the journal breaks a law: " + "; ".join(broken))


def finished(requests: pl.DataFrame) -> pl.DataFrame:
    """The requests that have all of their tokens."""
    done = requests["status"] == "done"
    return requests if done.all() else requests.filter(done)


def _requests(requests: pl.DataFrame, done: pl.DataFrame, survey: Survey) -> Check:
    prompts, again = survey.together.prompts, _sum(done, "resumed")
    detail = f"{len(done):,} of {len(requests):,} done, {prompts:,} prompts completed in steps"
    detail += f", {again:,} of them again" if again else ""
    return Check("requests", len(done) == len(requests) == prompts - again, detail)


def _tokens(done: pl.DataFrame, survey: Survey) -> Check:
    # a prompt completed again gives a token, too
    asked, again = _sum(done, "output"), _sum(done, "resumed")
    made = survey.together.gap_tokens + len(done) + again
    detail = f"{made:,} made in steps or as first tokens, {asked:,} in the answers"
    # a step gives a sequence one token at least, and at the most what it verifies
    possible = all(
        sums.gap_count <= sums.gap_tokens <= most * sums.gap_count
        for sums, most in zip(survey.pools, survey.most_tokens, strict=True)
    )
    if not possible or survey.together.gap_tokens != survey.together.gap_count:
        detail += f", in {survey.together.gap_count:,} steps of sequences"
    return Check("output tokens", made == asked and possible, detail)


def _prompts(done: pl.DataFrame, survey: Survey) -> Check:
    asked, taken = _sum(done, "prompt"), survey.together.prompt_tokens
    again, cached = _sum(done, "recomputed"), _sum(done, "cached")
    detail = f"{taken:,} prefilled in steps, {asked:,} in the prompts"
    detail += f", {cached:,} of them in the cache" if cached else ""
    detail += f" and {again:,} more than once" if again else ""
    return Check("prompt tokens", taken == asked - cached + again, detail)


def _sum(done: pl.DataFrame, column: str) -> int:
    return int(done[column].sum())


def _blocks(survey: Survey) -> Check:
    least, most = survey.together.least_blocks, survey.together.most_blocks
    detail = f"workers took {least:.4%} to {most:.4%} of their KV blocks"
    return Check("KV blocks", least >= 0.0 and most <= 1.0, detail)


def _order(done: pl.DataFrame) -> Check:
    moved = done["moved"] >= 0
    wrong = _disordered(done.filter(~moved) if moved.any() else done, UNIFIED_ORDER)
    if moved.any():
        wrong += _disordered(done.filter(moved), SPLIT_ORDER)
    return Check("order of times", wrong == 0, f"{wrong:,} requests out of order")


def _disordered(done: pl.DataFrame, order: Sequence[str]) -> int:
    wrong = done[order[0]].to_numpy() < 0
    for before, after in pairwise(order):
        wrong = wrong | (done[before].to_numpy() > done[after].to_numpy())
    return int(wrong.sum())


def _overlap(survey: Survey) -> Check:
    detail = f"segments of a worker overlap by up to {survey.overlap:,} ps"
    return Check("one segment at a time", survey.overlap <= 0, detail)


def _attribution(done: pl.DataFrame) -> Check:
    wrong = sum(_unexplained(done, until) for until in ("first", "end"))
    return Check("attribution", wrong == 0, f"{wrong:,} latencies are not the sum of their labels")


def _unexplained(done: pl.DataFrame, until: Until) -> int:
    whole = done[until].to_numpy() - done["arrival"].to_numpy()
    return sum(int((_added(labels(done, until)) != whole).sum()) for labels in (causes, parts))


def _added(columns: pl.DataFrame) -> Integers:
    total = np.zeros(len(columns), dtype=np.int64)
    for column in columns:
        total += column.to_numpy()
    return total


def _decoding(done: pl.DataFrame, survey: Survey) -> Check:
    decode = done["end"].to_numpy() - done["first"].to_numpy()
    lost = -done["preempted_first"].to_numpy()
    for loss in ("preempted", "recompute"):
        lost = lost + done[loss].to_numpy()
    one = np.ones(len(done), dtype=np.int64)
    seen, paused = exact_dot(one, decode - lost), exact_dot(one, lost)
    ran, late = survey.together.gaps, survey.paused
    detail = f"gaps between tokens are {ran:,} ps in steps, {seen:,} ps in requests"
    detail += f"; {late:,} ps in pauses, {paused:,} ps in requests" if late or paused else ""
    return Check("decoding time", seen == ran and late == paused, detail)


def _joules(survey: Survey) -> Check:
    total, least = survey.together.joules, survey.together.least_joules
    detail = f"{total:.6g} J in all, steps below zero down to {least:.6g} J"
    return Check("joules", math.isfinite(total) and least >= 0.0, detail)


def _power(survey: Survey) -> Check:
    most = survey.together.most_power
    detail = f"the hottest step draws {most:.10%} of the cap"
    return Check("power cap", most <= 1.0 + POWER_TOLERANCE, detail)
