"""Precision for comparisons: one for all engines, or one format for everything.

An engine has a kernel for a format where it says what meets weights of it, or where that format is
what meets them.  Attention, its cache and the head are kept at eight bits or more: no engine here
serves them in less.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jalapeno.catalogue import FORMATS, Chip, Engine
from jalapeno.errors import BadPlan, UnknownName, unknown_name
from jalapeno.mapping import Precision
from jalapeno.mapping.precision import operand_bits, stored_bytes

AS_SHIPPED, EQUAL = "as-shipped", "equal"
OPERANDS = ("core", "kv")
"""Keys of an engine's activations that are no format of weights."""
WIDE = 8
"""Bits of an operand that attention and head keep at least."""


@dataclass(frozen=True, slots=True)
class Stack:
    """An engine on a chip."""

    engine: Engine
    chip: Chip

    def meets(self, weights: str) -> str | None:
        """The format that meets *weights* in a GEMM; None where there is no kernel of that name."""
        said = self.engine.activations
        return said.get(f"{self.chip.name}/{weights}", said.get(weights))

    @property
    def kernels(self) -> frozenset[str]:
        """Formats that the engine has kernels for on this chip."""
        bare = {key.rpartition("/")[2] for key in self.engine.activations} - set(OPERANDS)
        met = {found for key in bare if (found := self.meets(key)) is not None}
        return frozenset(bare | met)

    @property
    def name(self) -> str:
        """Engine and chip, for messages."""
        return f"{self.engine.name} on {self.chip.name}"


def format_named(name: str) -> str:
    """Check the *name* of a format; :class:`UnknownName` with the nearest."""
    if name not in FORMATS:
        error: UnknownName = unknown_name("format", name, (AS_SHIPPED, EQUAL, *FORMATS))
        raise error
    return name


def equal(stacks: Sequence[Stack]) -> Precision:
    """The narrowest precision that all *stacks* have kernels for.

    Experts take the narrowest common weights; all else the narrowest of eight bits or more.
    Activations are the widest of what the engines let meet the weights, and the cache is the
    widest of theirs.  Raises :class:`BadPlan` where they have no format in common.
    """
    common = frozenset.intersection(*(stack.kernels for stack in stacks))
    wide = [name for name in common if operand_bits(name) >= WIDE]
    if not wide:
        each = "; ".join(f"{one.name} has {', '.join(_sorted(one.kernels))}" for one in stacks)
        raise BadPlan(
            f"no format of {WIDE} bits or more has kernels in all engines ({each}): compare as "
            "shipped, or name one format with --precision"
        )
    return _precision(_sorted(common)[0], _sorted(wide)[0], stacks)


def uniform(weights: str, stacks: Sequence[Stack]) -> Precision:
    """All weights in the format called *weights*.

    Raises :class:`UnknownName` for no format, and :class:`BadPlan` where an engine has no kernel
    of that width.
    """
    bits = operand_bits(format_named(weights))
    for stack in stacks:
        widths = {operand_bits(name) for name in stack.kernels}
        if bits not in widths:
            raise BadPlan(
                f"{stack.name} has no kernel for {bits}-bit weights such as {weights}; it has them "
                f"for {', '.join(_sorted(stack.kernels))}: name one of those, or another engine"
            )
    wide = weights if bits >= WIDE else _eight(stacks)
    return _precision(weights, weights, stacks, core=wide)


def _eight(stacks: Sequence[Stack]) -> str:
    """The narrowest format of eight bits or more of any of *stacks*."""
    every = frozenset.union(*(stack.kernels for stack in stacks))
    return next((name for name in _sorted(every) if operand_bits(name) >= WIDE), "bf16")


def _precision(
    experts: str, others: str, stacks: Sequence[Stack], core: str | None = None
) -> Precision:
    met = {weights: _met(weights, stacks) for weights in (experts, others)}
    return Precision(
        experts=experts,
        experts_act=met[experts],
        shared=others,
        shared_act=met[others],
        dense=others,
        dense_act=met[others],
        attention=others,
        attention_act=met[others],
        core=core or others,
        kv=_widest(stack.engine.activations.get("kv", "bf16") for stack in stacks),
        head=others,
    )


def _met(weights: str, stacks: Sequence[Stack]) -> str:
    """The widest of what meets *weights*; the weights' own format where nobody says."""
    return _widest([weights, *(found for one in stacks if (found := one.meets(weights)))])


def _widest(names: Iterable[str]) -> str:
    return max(names, key=lambda name: (operand_bits(name), stored_bytes(name)))


def _sorted(names: Iterable[str]) -> list[str]:
    """Narrowest first."""
    return sorted(names, key=lambda name: (stored_bytes(name), name))
