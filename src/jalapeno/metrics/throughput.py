"""Throughput: tokens and requests a second, in all and a chip."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from jalapeno.metrics.distribution import ratio
from jalapeno.metrics.survey import Span
from jalapeno.simulation import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """Rates over the whole run, ramp-up and drain included, as InferenceX has them.

    Tokens are *mixed* where nothing else is said: prompt and output together.  In split pools
    output is divided by the decode chips and input by the prefill chips (InferenceX
    process_result.py), so the two do not add up to the mixed rate; one pool's chips do both.
    """

    duration_s: float
    requests_per_s: float
    """Requests done, over the whole run."""
    offered_requests_per_s: float
    """Open loop: requests sent, from the first to the last, whether or not the system keeps up.
    NaN for a closed loop, which offers what is done."""
    prompt_tokens: int
    output_tokens: int
    chips: int
    prefill_chips: int
    decode_chips: int
    tokens_per_s: float
    tokens_per_s_per_chip: float
    """InferenceX's ``tput_per_gpu``."""
    output_tokens_per_s_per_decode_chip: float
    """InferenceX's ``output_tput_per_gpu``."""
    input_tokens_per_s_per_prefill_chip: float
    """InferenceX's ``input_tput_per_gpu``."""

    @property
    def tokens(self) -> int:
        """Mixed tokens of the run."""
        return self.prompt_tokens + self.output_tokens


def throughput(
    done: pl.DataFrame, workers: pl.DataFrame, window: Span, offered: float = math.nan
) -> Throughput:
    """Rates of the requests that are *done* over the *window* and these *workers*.

    *offered*: requests a second of an open loop, see :func:`offered_rate`.
    """
    prompt, output = int(done["prompt"].sum()), int(done["output"].sum())
    chips = int(workers["chips"].sum())
    prefill, decode = (
        int(workers.filter(pl.col("role").is_in([Role.UNIFIED.value, role.value]))["chips"].sum())
        for role in (Role.PREFILL, Role.DECODE)
    )
    rate = ratio(prompt + output, window.seconds)
    return Throughput(
        duration_s=window.seconds,
        requests_per_s=ratio(len(done), window.seconds),
        offered_requests_per_s=offered,
        prompt_tokens=prompt,
        output_tokens=output,
        chips=chips,
        prefill_chips=prefill,
        decode_chips=decode,
        tokens_per_s=rate,
        tokens_per_s_per_chip=ratio(rate, chips),
        output_tokens_per_s_per_decode_chip=ratio(ratio(output, window.seconds), decode),
        input_tokens_per_s_per_prefill_chip=ratio(ratio(prompt, window.seconds), prefill),
    )


def offered_rate(requests: pl.DataFrame) -> float:
    """Requests a second that an open loop sent: gaps over the time from the first to the last.

    NaN for fewer than two, or where all came at once.
    """
    sent = np.sort(requests["arrival"].to_numpy())
    sent = sent[sent >= 0]
    if len(sent) < 2 or sent[0] == sent[-1]:
        return math.nan
    return (len(sent) - 1) / (float(sent[-1] - sent[0]) / 1e12)
