"""Latency: what a client sees, request by request and token by token."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from jalapeno.metrics.distribution import Distribution, distribution, milliseconds, ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Distributions over requests, except for the token gaps.

    The time to first token (TTFT) is the sum, request by request, of the four that follow it.
    """

    ttft_ms: Distribution
    """From the client's send to the first token."""
    ttft_front_end_ms: Distribution
    """From the send to the scheduler's queue: parsing, tokenising, routing."""
    ttft_queue_ms: Distribution
    """From the queue to the first step that takes the prompt."""
    ttft_service_ms: Distribution
    """From there to the end of the prompt, others' work in the same steps included."""
    ttft_handover_ms: Distribution
    """Split pools: from there to the decode worker's first step: slot wait and KV transfer."""
    tpot_ms: Distribution
    """``(E2E - TTFT) / (OSL - 1)`` of a request (TPOT, also TBT), where OSL > 1."""
    token_gap_ms: Distribution
    """Gap before every token but first ones (inter-token latency), all tokens alike, those after a
    pause of a sequence that gave way included.  Tokens of one verification step come together,
    after one gap; where ``engine.stream_interval`` is more than 1, the gaps are those between the
    chunks that are sent (undefined where a sequence gave way after its first token)."""
    e2e_ms: Distribution
    """From the client's send to the last token."""
    mean_tokens_per_s_per_user: float
    """``1000 / mean TPOT in ms``: InferenceX's interactivity, not the mean of reciprocals."""
    median_tokens_per_s_per_user: float
    """``1000 / median TPOT in ms``."""


def latency(done: pl.DataFrame, token_gap_ms: Distribution) -> Latency:
    """The latencies of the requests that are *done*; the token gaps are the segments' to tell."""
    tpot = tpot_ms(done)
    return Latency(
        ttft_ms=_between(done, "arrival", "first"),
        ttft_front_end_ms=_between(done, "arrival", "ready"),
        ttft_queue_ms=_between(done, "ready", "admitted"),
        ttft_service_ms=_between(done, "admitted", "prefilled"),
        ttft_handover_ms=_between(done, "prefilled", "first"),
        tpot_ms=tpot,
        token_gap_ms=token_gap_ms,
        e2e_ms=_between(done, "arrival", "end"),
        mean_tokens_per_s_per_user=ratio(1000.0, tpot.mean),
        median_tokens_per_s_per_user=ratio(1000.0, tpot.median),
    )


def tpot_ms(done: pl.DataFrame) -> Distribution:
    """Time per output token over the requests with more than one token."""
    more = done["output"].to_numpy() - 1
    decode = milliseconds(done["end"].to_numpy() - done["first"].to_numpy())
    return distribution(decode[more > 0] / more[more > 0])


def _between(done: pl.DataFrame, begin: str, end: str) -> Distribution:
    return distribution(milliseconds(done[end].to_numpy() - done[begin].to_numpy()))
