"""A small profile as LLMServingSim writes them, and tables made by hand."""

from __future__ import annotations

import gzip
from itertools import product

import numpy as np

from jalapeno.catalogue import Kind
from jalapeno.cost.tables import Grid
from jalapeno.cost.tables.table import Axis, StepTable

DENSE = "layer,tokens,time_us\nqkv_proj,1,10\nqkv_proj,4,16\nlayernorm,1,1\nlayernorm,4,2\n"
PER_SEQUENCE = "layer,sequences,time_us\nlm_head,1,100\nlm_head,2,110\nsampler,1,5\nsampler,2,7\n"
MOE = "tokens,activated_experts,time_us\n1,8,50\n2,8,60\n2,16,120\n"


def attention() -> str:
    """Ten microseconds, one a new token, a tenth a pair of either sort."""
    lines = ["prefill_chunk,kv_prefill,n_decode,kv_decode,time_us"]
    for new, cached, decoding, context in product((0, 16, 32), (0, 64), (0, 1, 2), (0, 16, 64)):
        swept = (new > 0 or cached == 0) and (decoding > 0) == (context > 0)
        measured = new == 0 or decoding < 2
        if swept and measured and new + decoding > 0:
            time = 10 + new + 0.1 * new * cached + 0.1 * decoding * context
            lines.append(f"{new},{cached},{decoding},{context},{time}")
    return "\n".join(lines) + "\n"


CONTENTS = {
    "dense.csv": DENSE.encode(),
    "per_sequence.csv.gz": gzip.compress(PER_SEQUENCE.encode()),
    "attention.csv": attention().encode(),
    "moe.csv": MOE.encode(),
}


def line(
    name: str = "qkv",
    axis: Axis = Axis.TOKENS,
    knots: tuple[float, ...] = (1.0, 64.0, 512.0),
    seconds: tuple[float, ...] = (1e-5, 2e-5, 9e-5),
    stands_for: tuple[str, ...] = ("qkv",),
) -> StepTable:
    """A table of one axis."""
    grid = Grid((np.array(knots),), np.array(seconds), Kind.MEASURED, "by hand")
    return StepTable(name, (axis,), grid, stands_for)
