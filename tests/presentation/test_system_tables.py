"""Chips and systems as short tables."""

from __future__ import annotations

import pytest

from jalapeno import catalogue
from jalapeno.presentation.system_tables import chip_table, fabric_table, quantity, system_table
from jalapeno.presentation.tables import Table


def cells(table: Table) -> dict[str, tuple[str, ...]]:
    """Rows by their first cell."""
    return {row[0]: row[1:] for row in table.rows}


def test_a_chip_is_compared_by_its_peaks_and_their_balance() -> None:
    rows = cells(chip_table(catalogue.chip("gb300"), "x"))
    assert rows["FP4 peak"] == ("15 PFLOP/s", "published", "1,875 FLOP/byte of HBM")
    assert rows["FP8 x FP4 peak"] == ("5 PFLOP/s", "derived", "625 FLOP/byte of HBM")
    assert rows["BF16 peak"][0] == "2.5 PFLOP/s"
    assert rows["HBM bandwidth"] == ("8 TB/s", "published", "")
    assert rows["static draw"] == ("420 W", "~ estimated", "")


def test_peaks_are_those_of_the_installed_stepping() -> None:
    tree = catalogue.override(catalogue.tree("chips", "jalapeno"), "stepping", "A0")
    rows = cells(chip_table(catalogue.chip_of(tree), "x"))
    assert rows["FP4 peak"][0] == "10.72 PFLOP/s"
    assert rows["SIMD peak"][0] == "44.8 TFLOP/s"


def test_a_system_is_the_sum_of_its_chips() -> None:
    rows = cells(system_table(catalogue.system("vera-rubin-nvl72"), "x"))
    assert rows["chips"] == ("72 rubin, 4 a tray, in 1 rack",)
    assert rows["matrix peaks"] == ("FP4 2.52 EFLOP/s, FP8 1.26 EFLOP/s, BF16 288 PFLOP/s",)
    assert rows["HBM"] == ("20.74 TB at 1.584 PB/s",)
    assert rows["TDP"] == ("129.6 kW, the chips alone",)
    assert rows["default engine"] == ("vllm",)


def test_a_system_of_several_racks_says_how_many() -> None:
    rows = cells(system_table(catalogue.system("h100-hgx"), "x"))
    assert rows["chips"] == ("256 h100, 8 a tray, in 8 racks",)


def test_levels_are_listed_nearest_first() -> None:
    assert fabric_table(catalogue.system("jalapeno-pod")).rows == (
        ("local", "128", "600 GB/s", "800 ns", "no", "1"),
        ("global", "2,048", "200 GB/s", "1.6 us", "no", "8"),
    )


@pytest.mark.parametrize(
    ("value", "unit", "seen"), [(15e15, "FLOP/s", "15 PFLOP/s"), (float("inf"), "W", "–")]
)
def test_what_no_float_holds_is_a_dash(value: float, unit: str, seen: str) -> None:
    assert quantity(value, unit) == seen
