"""Families of operators: which columns a table of each has.

A table is long: one row a measurement.  Its key columns say what was measured, ``time_us`` how long
it took; names carry units where a number has one.  Words (``TEXT``) and whole numbers (``WHOLE``)
that no interpolation crosses are *variant* columns; those that tell shapes apart, and between which
one interpolates, are *site* columns; ``axes`` grow with the load.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jalapeno.errors import unknown_name

TIME = "time_us"
"""The measured column: microseconds of one call on one chip, a median or a mean of repetitions."""


@dataclass(frozen=True, slots=True)
class Family:
    """Columns of one sort of operator."""

    name: str
    words: tuple[str, ...]
    """Text columns; never interpolated across."""
    exact: tuple[str, ...]
    """Whole-number columns that are never interpolated across."""
    site: tuple[str, ...]
    """Whole-number columns of the shape."""
    axes: tuple[str, ...]
    """Whole-number columns of the load, in the order of a grid's axes."""

    @property
    def key(self) -> tuple[str, ...]:
        """All columns that tell one measurement from another."""
        return (*self.words, *self.exact, *self.site, *self.axes)

    @property
    def variant(self) -> tuple[str, ...]:
        """Columns that must match exactly."""
        return (*self.words, *self.exact)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Whole-number columns."""
        return (*self.exact, *self.site, *self.axes)


_ATTENTION = ("attention_dtype", "kv_dtype", "kernel")
_MODULE = ("dtype", "kv_dtype", "gemm_dtype", "kernel")
_EXPERTS = ("hidden", "intermediate", "top_k", "experts", "tp", "ep")

FAMILIES: Mapping[str, Family] = {
    each.name: each
    for each in (
        Family("gemm", ("dtype", "kernel"), (), ("n", "k"), ("rows",)),
        Family("quantise", ("dtype", "kernel"), (), ("k",), ("rows",)),
        Family(
            "context_attention",
            _ATTENTION,
            ("head_dim", "window_tokens"),
            ("heads", "kv_heads"),
            ("sequences", "new_tokens"),
        ),
        Family(
            "generation_attention",
            _ATTENTION,
            ("head_dim", "window_tokens"),
            ("heads", "kv_heads"),
            ("sequences", "context_tokens"),
        ),
        Family(
            "context_mla",
            ("dtype", "kv_dtype", "kernel"),
            (),
            ("heads",),
            ("sequences", "new_tokens"),
        ),
        Family(
            "generation_mla",
            ("dtype", "kv_dtype", "kernel"),
            (),
            ("heads",),
            ("sequences", "context_tokens"),
        ),
        Family("context_mla_module", _MODULE, (), ("heads",), ("sequences", "new_tokens")),
        Family("generation_mla_module", _MODULE, (), ("heads",), ("sequences", "context_tokens")),
        Family("moe", ("dtype", "kernel", "distribution"), (), _EXPERTS, ("tokens",)),
        Family(
            "wide_moe",
            ("dtype", "kernel", "distribution"),
            (),
            (*_EXPERTS, "slots"),
            ("tokens",),
        ),
        Family("collective", ("operation", "dtype", "kernel"), (), ("chips",), ("message_bytes",)),
        Family(
            "deepep_low_latency",
            ("operation", "kernel"),
            (),
            ("nodes", "hidden", "top_k", "experts"),
            ("tokens",),
        ),
        Family(
            "deepep_normal",
            ("operation", "kernel"),
            (),
            ("nodes", "hidden", "top_k", "experts", "cores"),
            ("tokens",),
        ),
        Family(
            "alltoall",
            ("operation", "dtype", "kernel"),
            (),
            ("hidden", "top_k", "experts", "ep"),
            ("tokens",),
        ),
        Family("layer", ("operation", "dtype", "kernel"), (), ("width", "tp"), ("tokens",)),
    )
}
"""Family by name.

``gemm``: ``rows x k`` activations times ``k x n`` weights; fp8, fp8_block and nvfp4 include the
quantisation of activations.  ``quantise``: that pass alone.  ``context_attention``: causal, no
cache before ``new_tokens``; ``window_tokens`` 0 is full attention.  ``generation_attention``: one
new token a sequence over ``context_tokens`` KV entries, itself included.  ``*_mla``: the kernel;
``*_mla_module``: with its projections.  ``moe``: routed experts of one rank, ``tokens`` being those
of all its ``ep`` ranks together; the rank is the busiest where ``distribution`` is a power law.
``wide_moe``: the same with copies of experts in ``slots``.  ``collective``: ``message_bytes`` as
nccl-tests has them.  ``deepep_*``: ``tokens`` of one rank; ``cores``: SMs given to the kernel.
``alltoall``: one-sided or two-sided exchange within an NVLink domain; ``tokens`` of one rank.
``layer``: small operators (norms, activations, rotary embedding) on ``width`` channels.
"""


def family(name: str) -> Family:
    """Return the family of that *name*; raises ``UnknownName``."""
    if name not in FAMILIES:
        raise unknown_name("family of operators", name, FAMILIES)
    return FAMILIES[name]
