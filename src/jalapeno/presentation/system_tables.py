"""Chips and systems as short tables: what one compares them by."""

from __future__ import annotations

import math
from collections.abc import Mapping

from jalapeno.catalogue import Chip, System
from jalapeno.presentation.digits import UNDEFINED, counted, number
from jalapeno.presentation.tables import Table, kind_word
from jalapeno.units import render

WIDTHS: Mapping[str, str] = {
    "4x4": "FP4",
    "8x4": "FP8 x FP4",
    "8x8": "FP8",
    "16x16": "BF16",
}
"""Operand widths of the matrix engine, and what they are called."""


def chip_table(chip: Chip, title: str) -> Table:
    """Peaks with their balance, memory and power of one chip."""
    rows = []
    for width, name in WIDTHS.items():
        peak = chip.speed * getattr(chip.matrix, f"peak_{width}")
        balance = f"{number(peak / chip.hbm.bandwidth)} FLOP/byte of HBM"
        rows.append(
            (f"{name} peak", quantity(peak, "FLOP/s"), _kind(chip, f"matrix.peak_{width}"), balance)
        )
    plain = {
        "SIMD peak": (chip.speed * chip.vector.peak, "FLOP/s", "vector.peak"),
        "HBM": (chip.hbm.capacity, "B", "hbm.capacity"),
        "HBM bandwidth": (chip.hbm.bandwidth, "B/s", "hbm.bandwidth"),
        "host memory": (chip.host.capacity, "B", "host.capacity"),
        "host link": (chip.host.bandwidth, "B/s", "host.bandwidth"),
        "TDP": (chip.power.tdp, "W", "power.tdp"),
        "static draw": (chip.power.static, "W", "power.static"),
    }
    for name, (value, unit, path) in plain.items():
        rows.append((name, quantity(value, unit), _kind(chip, path), ""))
    return Table(
        title=title,
        headers=("what", "value", "evidence", "balance"),
        align="krkl",
        rows=tuple(rows),
    )


def system_table(system: System, title: str) -> Table:
    """How many chips a system has, how they are housed, and what they come to."""
    chip, chips = system.chip, system.chips
    racks = counted(math.ceil(chips / system.chips_per_rack), "rack")
    power = quantity(chips * chip.power.tdp, "W")
    rows = (
        ("chips", f"{chips:,} {chip.name}, {system.chips_per_tray:,} a tray, in {racks}"),
        (
            "matrix peaks",
            ", ".join(
                f"{name} {quantity(chips * chip.speed * getattr(chip.matrix, peak), 'FLOP/s')}"
                for name, peak in (("FP4", "peak_4x4"), ("FP8", "peak_8x8"), ("BF16", "peak_16x16"))
            ),
        ),
        (
            "HBM",
            f"{quantity(chips * chip.hbm.capacity, 'B')} at "
            f"{quantity(chips * chip.hbm.bandwidth, 'B/s')}",
        ),
        ("TDP", f"{power}, the chips alone"),
        ("default engine", system.engine),
    )
    return Table(title=title, headers=("what", "in all"), align="kl", rows=rows)


def fabric_table(system: System) -> Table:
    """The levels of the fabric, nearest first."""
    rows = tuple(
        (
            name,
            f"{level.reach:,}",
            quantity(level.bandwidth, "B/s"),
            quantity(level.latency, "s"),
            "yes" if level.reduces else "no",
            f"{level.rails:,}",
        )
        for name, level in system.fabric.items()
    )
    return Table(
        title="fabric",
        headers=("level", "joins", "one way, a chip", "latency", "sums", "rails"),
        align="krrrkr",
        rows=rows,
    )


def quantity(value: float, unit: str) -> str:
    """*value* (SI) with a prefix; what is too large for a float is "–"."""
    return render(value, unit) if math.isfinite(value) else UNDEFINED


def _kind(chip: Chip, path: str) -> str:
    return kind_word(chip.facts[path].kind)
