"""What an answer rests on: never a number alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from jalapeno.catalogue import Kind


class Basis(IntEnum):
    """How an answer follows from the measurements, strongest first."""

    MEASURED = 0
    """The very shape and load were measured."""
    INTERPOLATED = 1
    """Between measured shapes or loads."""
    EDGE = 2
    """Beyond them: the calibrated roofline, scaled to meet the edge of what was measured."""

    @property
    def kind(self) -> Kind:
        """The evidence of such a number."""
        match self:
            case Basis.MEASURED:
                return Kind.MEASURED
            case Basis.INTERPOLATED:
                return Kind.DERIVED
            case Basis.EDGE:
                return Kind.ESTIMATED


@dataclass(frozen=True, slots=True)
class Answer:
    """Seconds of one operator, and why one may believe them."""

    seconds: float
    basis: Basis
    distance: float
    """How far from measurements: 0 at one.  The shape counts in lengths of correlation
    (:mod:`.coordinates`; for a GEMM one is a factor of 55 in n or k), the load in natural
    logarithms.  Beyond the edge: how far beyond."""
    source: str


def weakest(*bases: Basis) -> Basis:
    """The weakest of *bases*: an answer is as weak as its weakest part."""
    return max(bases)
