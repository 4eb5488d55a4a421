"""Chips have the rates that their makers state: typed here again, and against the facts."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import Kind

FACTS = Path(__file__).parents[2].parent / "shared" / "facts" / "hardware.csv"
SHARED = pytest.mark.skipif(not FACTS.exists(), reason=f"needs the collected facts, {FACTS}")

PEAKS: dict[str, tuple[float, float, float, float]] = {
    # PFLOP/s of FP4 x FP4, FP8 x FP4, FP8 and BF16, dense
    "jalapeno": (13.4, 6.7, 3.4, 0.835),
    "h100": (1.979, 1.979, 1.979, 0.989),
    "h200": (1.979, 1.979, 1.979, 0.989),
    "b200": (9, 4.5, 4.5, 2.25),
    "b300": (14, 4.5, 4.5, 2.25),
    "gb200": (10, 5, 5, 2.5),
    "gb300": (15, 5, 5, 2.5),
    "rubin": (35, 17.5, 17.5, 4),
    "mi300x": (2.6149, 2.6149, 2.6149, 1.3074),
    "mi325x": (2.6149, 2.6149, 2.6149, 1.3074),
    "mi355x": (10.066, 5.033, 5.033, 2.516),
    "tpu7x": (4.614, 4.614, 4.614, 2.307),
    "maia-200": (10.145, 5.072, 5.072, 1.268),
    "trainium3": (2.517, 2.517, 2.517, 0.671),
    "rtx-4090": (0.3303, 0.3303, 0.3303, 0.1652),
    "rtx-pro-6000": (2, 1, 1, 0.5),
}
MEMORY: dict[str, tuple[float, float]] = {
    # bytes, bytes a second
    "jalapeno": (216 * 2**30, 15.4e12),
    "h100": (80e9, 3.35e12),
    "h200": (141e9, 4.8e12),
    "b200": (180e9, 7.7e12),
    "b300": (288e9, 7.75e12),
    "gb200": (192e9, 8e12),
    "gb300": (288e9, 8e12),
    "rubin": (288e9, 22e12),
    "mi300x": (192e9, 5.3e12),
    "mi325x": (256e9, 6e12),
    "mi355x": (288e9, 8e12),
    "tpu7x": (192 * 2**30, 7.38e12),
    "maia-200": (216e9, 7e12),
    "trainium3": (144 * 2**30, 4.9e12),
    "rtx-4090": (25250627584, 1008e9),
    "rtx-pro-6000": (96e9, 1597e9),
}
NO_FP4 = ("h100", "h200", "mi300x", "mi325x", "tpu7x", "rtx-4090")
IN_THE_FACTS = {
    "H100 SXM": ("h100", {"peak fp8": "peak_8x8", "peak bf16": "peak_16x16"}),
    "H200 SXM": ("h200", {"peak fp8": "peak_8x8", "peak bf16": "peak_16x16"}),
    "B300 SXM": (
        "b300",
        {"peak nvfp4/fp4": "peak_4x4", "peak fp8": "peak_8x8", "peak bf16": "peak_16x16"},
    ),
    "MI355X": (
        "mi355x",
        {"peak mxfp4/mxfp6": "peak_4x4", "peak fp8": "peak_8x8", "peak bf16": "peak_16x16"},
    ),
    "Vera Rubin NVL72": (
        "rubin",
        {"peak nvfp4": "peak_4x4", "peak fp8": "peak_8x8", "peak bf16": "peak_16x16"},
    ),
    "TPU7x Ironwood": ("tpu7x", {"peak fp8": "peak_8x8", "peak bf16": "peak_16x16"}),
    "Maia 200": (
        "maia-200",
        {"peak fp4": "peak_4x4", "peak fp8": "peak_8x8", "peak bf16": "peak_16x16"},
    ),
    "Trainium3": ("trainium3", {"peak mxfp8/mxfp4": "peak_8x8", "peak bf16": "peak_16x16"}),
}
"""System of the collected facts: the chip, and which of its peaks an attribute is."""


def collected(system: str) -> dict[str, tuple[float, str]]:
    """Numbers of *system* with their units, by attribute; the first source of each counts."""
    found: dict[str, tuple[float, str]] = {}
    with FACTS.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["system"] == system and re.fullmatch(r"[\d.]+", row["value"]):
                found.setdefault(row["attribute"], (float(row["value"]), row["unit"]))
    return found


def test_every_chip_is_typed_here() -> None:
    assert set(PEAKS) == set(MEMORY) == set(catalogue.names("chips"))


@pytest.mark.parametrize("name", PEAKS)
def test_peaks_are_those_of_the_makers(name: str) -> None:
    matrix = catalogue.chip(name).matrix
    peaks = (matrix.peak_4x4, matrix.peak_8x4, matrix.peak_8x8, matrix.peak_16x16)
    assert peaks == pytest.approx([1e15 * peak for peak in PEAKS[name]])


@pytest.mark.parametrize("name", MEMORY)
def test_memory_is_that_of_the_makers(name: str) -> None:
    hbm = catalogue.chip(name).hbm
    assert (hbm.capacity, hbm.bandwidth) == pytest.approx(MEMORY[name])


@SHARED
@pytest.mark.parametrize("system", IN_THE_FACTS)
def test_peaks_are_those_of_the_collected_facts(system: str) -> None:
    name, attributes = IN_THE_FACTS[system]
    facts, matrix = collected(system), catalogue.chip(name).matrix
    for attribute, peak in attributes.items():
        assert facts[attribute][1] == "PFLOP/s"
        assert getattr(matrix, peak) == pytest.approx(1e15 * facts[attribute][0], rel=1e-3)


@SHARED
@pytest.mark.parametrize("system", IN_THE_FACTS)
def test_memory_is_that_of_the_collected_facts(system: str) -> None:
    hbm = catalogue.chip(IN_THE_FACTS[system][0]).hbm
    facts = collected(system)
    size, unit = facts.get("capacity") or facts["type/capacity"]
    assert hbm.capacity == pytest.approx(size * {"GB": 1e9, "GiB": 2**30}[unit])
    assert hbm.bandwidth == pytest.approx(1e12 * facts["bandwidth"][0])


@SHARED
@pytest.mark.parametrize(
    "system", [name for name in IN_THE_FACTS if name not in ("TPU7x Ironwood",)]
)
def test_power_is_that_of_the_collected_facts(system: str) -> None:
    facts = collected(system)
    (watts, _), *_ = (facts[key] for key in ("chip TDP", "TDP", "TBP", "chip") if key in facts)
    assert catalogue.chip(IN_THE_FACTS[system][0]).power.tdp == watts


# ---- what follows from what


@pytest.mark.parametrize("name", NO_FP4)
def test_a_chip_without_fp4_arithmetic_says_so_and_runs_at_the_fp8_rate(name: str) -> None:
    chip = catalogue.chip(name)
    assert chip.matrix.peak_4x4 == chip.matrix.peak_8x4 == chip.matrix.peak_8x8
    for path in ("matrix.peak_4x4", "matrix.peak_8x4"):
        assert chip.facts[path].kind is Kind.DERIVED
        assert "no FP4 arithmetic" in chip.facts[path].source


@pytest.mark.parametrize(
    "name", [n for n in PEAKS if n not in ("jalapeno", "rubin", "gb300", "b300")]
)
def test_full_rate_takes_the_same_power_in_every_width(name: str) -> None:
    chip = catalogue.chip(name)
    watts = [
        getattr(chip.matrix, f"peak_{width}") * getattr(chip.energy, f"per_flop_{width}")
        for width in ("4x4", "8x4", "8x8", "16x16")
    ]
    assert watts == pytest.approx([0.6 * chip.power.tdp] * 4, rel=0.01)


@pytest.mark.parametrize("name", PEAKS)
def test_a_host_is_slower_than_the_memory_beside_the_chip(name: str) -> None:
    chip = catalogue.chip(name)
    assert 32e9 <= chip.host.bandwidth < chip.hbm.bandwidth / 5


def test_the_second_memory_of_a_generation_is_on_the_same_dies() -> None:
    for old, new in (("h100", "h200"), ("mi300x", "mi325x")):
        before, after = catalogue.chip(old), catalogue.chip(new)
        assert before.matrix == after.matrix
        assert before.vector == after.vector
        assert before.cores == after.cores
        assert before.hbm.capacity < after.hbm.capacity
        assert before.hbm.bandwidth < after.hbm.bandwidth


def test_a_board_has_the_dies_of_a_rack_at_nine_tenths_of_their_rate() -> None:
    for board, rack in (("b200", "gb200"), ("b300", "gb300")):
        slow, fast = catalogue.chip(board).matrix, catalogue.chip(rack).matrix
        assert slow.peak_8x8 == 0.9 * fast.peak_8x8
        assert slow.peak_16x16 == 0.9 * fast.peak_16x16


def test_an_h200_was_seen_idle_at_80_watts() -> None:
    fact = catalogue.chip("h200").facts["power.idle"]
    assert (fact.value, fact.kind) == (80.0, Kind.PUBLISHED)


@pytest.mark.parametrize("name", ["rubin", "tpu7x", "maia-200", "trainium3"])
def test_an_exploratory_chip_says_that_it_is_one(name: str) -> None:
    folder = Path(catalogue.__file__).parent / "data"
    assert "For exploring" in (folder / "chips" / f"{name}.toml").read_text("utf-8")
    (system,) = (n for n in catalogue.names("systems") if catalogue.system(n).chip.name == name)
    text = (folder / "systems" / f"{system}.toml").read_text("utf-8")
    assert "the default engine's constants were not measured here" in text
