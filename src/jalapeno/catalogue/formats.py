"""Number formats: the width the matrix engine sees and the bits that memory holds."""

from __future__ import annotations

from collections.abc import Mapping

FORMATS: Mapping[str, tuple[int, float]] = {
    "mxfp4": (4, 4.25),
    "nvfp4": (4, 4.5),
    "int4": (4, 4.5),
    "mxfp6": (8, 6.25),
    "mxfp8": (8, 8.25),
    "fp8": (8, 8.0),
    "fp8_block": (8, 8.0 + 32.0 / (128 * 128)),
    "bf16": (16, 16.0),
    "fp32": (16, 32.0),
}
"""Format -> (width of the matrix engine's operand, stored bits an element with its scales).

MX: one E8M0 byte per 32 elements (OCP MX 1.0); NVFP4: one E4M3 byte per 16; int4 as in Kimi K2.5:
one BF16 scale per 32; fp8_block: one FP32 scale per 128 x 128 block (DeepSeek-V3).  FP6 is taken to
run at the FP8 rate, as it does everywhere but on CDNA4, where it runs at the FP4 rate; fp32 is how
recurrent states are stored, and enters a matrix engine as BF16.
"""
