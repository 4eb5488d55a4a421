"""StepTable: a grid, which numbers of a step its axes are, and which operators it stands for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from jalapeno.catalogue import Kind
from jalapeno.cost.tables.grid import Grid
from jalapeno.errors import BadFact


class Axis(IntEnum):
    """A number of a step that seconds depend on."""

    TOKENS = 0
    """Tokens that pass through a rank (or a worker, for what all its ranks do together)."""
    SEQUENCES = 1
    """Sequences that a token is sampled for, or that decode."""
    EXPERT_TOKENS = 2
    """Tokens of the worker over its expert-parallel ranks: a rank's share of the work."""
    EXPERTS = 3
    """Experts of a rank that those tokens reach, as expected of uniform routing."""
    PROMPT = 4
    """New tokens of a prompt in attention; of several prompts, see :mod:`jalapeno.mapping`."""
    CACHED = 5
    """Tokens of that prompt that are in the cache already."""
    DECODING = 6
    """Sequences that decode."""
    CONTEXT = 7
    """Mean tokens that a decoding sequence attends to."""


COUNTED = frozenset({Axis.TOKENS, Axis.SEQUENCES, Axis.EXPERT_TOKENS, Axis.EXPERTS})
ATTENDING = frozenset({Axis.PROMPT, Axis.CACHED, Axis.DECODING, Axis.CONTEXT})
"""Axes of what does not read the context, and of attention: a table has axes of one sort."""


@dataclass(frozen=True, slots=True)
class StepTable:
    """Seconds of one run of some operators, by the numbers of a step."""

    name: str
    axes: tuple[Axis, ...]
    grid: Grid
    stands_for: tuple[str, ...] = ()
    """Names of operators of the lowering: those the table is measured in place of.  Where there are
    none the seconds are of the step, once, and no roofline says what is beyond the grid."""

    def __post_init__(self) -> None:
        words = ", ".join(axis.name.lower() for axis in self.axes)
        if len(self.axes) != len(self.grid.axes) or len(set(self.axes)) != len(self.axes):
            raise BadFact(
                f"table {self.name}: axes {words} for a grid of {len(self.grid.axes)}: name each "
                "axis of the grid, once"
            )
        if not (set(self.axes) <= COUNTED or set(self.axes) <= ATTENDING):
            raise BadFact(
                f"table {self.name}: axes {words}: those of attention (prompt, cached, decoding, "
                "context) do not go together with others"
            )

    @property
    def attends(self) -> bool:
        """Whether it is of attention."""
        return self.axes[0] in ATTENDING

    @property
    def placed(self) -> tuple[int, int, int, int]:
        """The axes as numbers, in front of them -1 for those of four that it lacks."""
        lacking = 4 - len(self.axes)
        first, second, third, fourth = (*(-1,) * lacking, *(int(axis) for axis in self.axes))
        return first, second, third, fourth


@dataclass(frozen=True, slots=True)
class StepTables:
    """All tables of a model on a chip at one tensor-parallel degree."""

    name: str
    sha256: str
    """Of the files that they were read from."""
    tables: tuple[StepTable, ...]

    def __post_init__(self) -> None:
        taken = [name for table in self.tables for name in table.stands_for]
        twice = sorted({name for name in taken if taken.count(name) > 1})
        if twice or not self.tables:
            said = f"two tables stand for {', '.join(twice)}" if twice else "it has no table"
            raise BadFact(f"{self.name}: {said}: an operator is measured once")

    @property
    def kind(self) -> Kind:
        """The weakest evidence among the tables."""
        return weakest_of(self.tables)


def weakest_of(tables: Iterable[StepTable]) -> Kind:
    """The weakest evidence among *tables*; measured where there are none."""
    return max((table.grid.kind for table in tables), default=Kind.MEASURED)
