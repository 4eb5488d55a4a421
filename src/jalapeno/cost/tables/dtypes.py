"""Number formats of operator tables: bytes of weights and activations, the peak that they meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jalapeno.catalogue import FORMATS, Chip
from jalapeno.errors import BadTable, unknown_name


@dataclass(frozen=True, slots=True)
class Dtype:
    """What an operator of a table computes in."""

    weights: str
    """Stored format of weights, a name of ``catalogue.FORMATS``."""
    activations: str
    """Format that enters the matrix engine."""
    operands: str
    """Which peak of a chip it meets: 16x16, 8x8, 8x4 or 4x4."""
    quantises: bool
    """Whether times include the pass that turns BF16 activations into the format."""

    @property
    def weight_bytes(self) -> float:
        """Bytes a stored weight, scales included."""
        return FORMATS[self.weights][1] / 8.0

    @property
    def activation_bytes(self) -> float:
        """Bytes an activation as the matrix engine reads it, scales included."""
        return FORMATS[self.activations][1] / 8.0


DTYPES: Mapping[str, Dtype] = {
    "bf16": Dtype("bf16", "bf16", "16x16", False),
    "fp16": Dtype("bf16", "bf16", "16x16", False),
    "fp8": Dtype("fp8", "fp8", "8x8", True),
    "fp8_block": Dtype("fp8_block", "fp8", "8x8", True),
    "nvfp4": Dtype("nvfp4", "nvfp4", "4x4", True),
    "w4a16_mxfp4": Dtype("mxfp4", "bf16", "16x16", False),
    "w4a8_mxfp4_mxfp8": Dtype("mxfp4", "mxfp8", "8x4", True),
    "int4_wo": Dtype("int4", "bf16", "16x16", False),
}
"""Name in a table -> what it means.  ``fp16`` is as wide and as fast as bf16.  ``fp8``: one scale a
tensor, found at run time; ``fp8_block``: scales of 128 x 128 weights and of 1 x 128 activations
(DeepGEMM); ``wXaY``: weights of X bits, activations of Y."""

ELEMENT_BYTES: Mapping[str, float] = {"bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0}
"""Bytes an element of a KV cache or of a message."""


def dtype(name: str) -> Dtype:
    """Return the :class:`Dtype` of that *name*; raises ``UnknownName``."""
    if name not in DTYPES:
        raise unknown_name("dtype", name, DTYPES)
    return DTYPES[name]


def element_bytes(name: str) -> float:
    """Bytes an element of a KV cache or message of that dtype; raises ``UnknownName``."""
    if name not in ELEMENT_BYTES:
        raise unknown_name("dtype of a cache or message", name, ELEMENT_BYTES)
    return ELEMENT_BYTES[name]


@dataclass(frozen=True, slots=True)
class Peaks:
    """Datasheet of one chip: what a roofline is scaled with.  SI units, dense peaks."""

    matrix: Mapping[str, float]
    """FLOP/s by operand widths, activation x weight bits."""
    bandwidth: float
    """Bytes/s of memory."""
    cores: int
    link: float | None = None
    """Bytes/s that one chip sends within its nearest domain; None where no fabric is given."""

    def port(self) -> float:
        """:attr:`link`; raises ``BadTable`` where there is none."""
        if self.link is None:
            raise BadTable("times of collectives need a link rate: give Peaks a link")
        return self.link

    @classmethod
    def of(cls, chip: Chip, link: float | None = None) -> Peaks:
        """Those of a *chip* of the catalogue, at the speed of its stepping."""
        matrix = chip.matrix
        return cls(
            {
                "16x16": matrix.peak_16x16 * chip.speed,
                "8x8": matrix.peak_8x8 * chip.speed,
                "8x4": matrix.peak_8x4 * chip.speed,
                "4x4": matrix.peak_4x4 * chip.speed,
            },
            chip.hbm.bandwidth,
            chip.cores,
            link,
        )
