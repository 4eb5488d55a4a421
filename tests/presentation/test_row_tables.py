"""Measured rows as tables."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from jalapeno import catalogue
from jalapeno.analysis.reproduction import Reproduction, RowResult
from jalapeno.presentation import row_tables as made
from jalapeno.presentation.tables import Table
from tests.presentation.samples import reproduction, row_result


@pytest.fixture(scope="module")
def every() -> Reproduction:
    return reproduction()


def result(name: str, **errors: float) -> RowResult:
    """The row *name* with these errors."""
    return replace(row_result(catalogue.row(name)), errors=errors)


def cells(table: Table, name: str) -> tuple[str, ...]:
    (found,) = (row for row in table.rows if row[0].startswith(name))
    return found


# ---- rows


def test_every_measured_row_is_beside_the_twin(every: Reproduction) -> None:
    table = made.rows_table(every.rows)
    assert len(table.rows) == 23
    assert cells(table, "gb200-gpt-oss-120b-c1-tp8") == (
        "gb200-gpt-oss-120b-c1-tp8 †",
        "P 1xTP1 + D 1xTP8",
        "1",
        *("513.0", "492.5", "-4.0"),
        *("1.868", "1.793", "-4.0"),
        *("107.0", "102.7", "-4.0"),
    )


def test_units_are_in_the_headers(every: Reproduction) -> None:
    headers = " ".join(made.rows_table(every.rows).headers)
    for unit in ("tokens/s/GPU", "TPOT ms", "TTFT ms", "error, %"):
        assert unit in headers


def test_rows_whose_slots_follow_from_little_s_law_are_marked(every: Reproduction) -> None:
    table = made.rows_table(every.rows)
    marked = {row[0].removesuffix(" †") for row in table.rows if row[0].endswith("†")}
    little = {
        row.name
        for row in catalogue.rows()
        if row.measured and not row.mtp and "little" in (row.decode.slots_kind,)
    }
    assert marked == little
    assert marked
    assert "Little's law" in table.note


def test_a_median_stands_where_no_mean_was_published(every: Reproduction) -> None:
    found = cells(made.rows_table(every.rows), "gb300-deepseek-r1-c5-4xtep8")
    row = catalogue.row("gb300-deepseek-r1-c5-4xtep8")
    assert "mean_ttft_ms" not in row.measured
    assert found[9] == "616.3 *(median)*"
    median = next(r for r in every.rows if r.row.name == row.name).outcome.report.latency.ttft_ms
    assert found[10] == f"{median.median:.1f}"


def test_a_mean_is_preferred_to_a_median() -> None:
    assert made.ttft_figure(catalogue.row("gb200-gpt-oss-120b-c1-tp8")) == "mean_ttft_ms"


def test_what_was_not_measured_has_no_error() -> None:
    bare = result("gb200-gpt-oss-120b-c1-tp8")
    bare = replace(bare, row=replace(bare.row, measured={"tput_per_gpu": 512.0}))
    (row,) = made.rows_table([bare]).rows
    assert row[6:9] == ("–", "1.962", "–")


# ---- errors


def test_errors_have_median_and_largest_without_sign() -> None:
    results = [
        result("gb200-gpt-oss-120b-c1-tp8", tput_per_gpu=-0.10, mean_tpot_ms=0.01),
        result("gb200-gpt-oss-120b-c2-tp4", tput_per_gpu=0.02, mean_tpot_ms=-0.03),
        result("gb300-deepseek-r1-c5-4xtep8", tput_per_gpu=0.04, median_ttft_ms=0.5),
    ]
    table = made.errors_table(results)
    assert cells(table, "all 3 rows") == (
        *("all 3 rows", "3"),
        *("4.0", "10.0"),
        *("2.0", "3.0"),
        *("50.0", "50.0"),
    )
    assert cells(table, "gpt-oss-120b")[1:] == ("2", "6.0", "10.0", "2.0", "3.0", "–", "–")
    assert cells(table, "† slots by Little's law")[1] == "2"
    assert cells(table, "slots in the public recipe")[1] == "1"


def test_the_groups_cover_all_rows(every: Reproduction) -> None:
    table = made.errors_table(every.rows)
    counts = {row[0]: int(row[1]) for row in table.rows}
    assert counts["all 23 rows"] == 23
    assert counts["gpt-oss-120b"] + counts["deepseek-r1"] == 23
    assert counts["slots in the public recipe"] + counts["† slots by Little's law"] == 23


def test_an_empty_group_is_not_shown() -> None:
    only = [result("gb200-gpt-oss-120b-c1-tp8", tput_per_gpu=0.1)]
    names = [row[0] for row in made.errors_table(only).rows]
    assert "slots in the public recipe" not in names


def test_an_error_that_nobody_has_is_not_a_number() -> None:
    found = result("gb200-gpt-oss-120b-c1-tp8", mean_ttft_ms=-0.2)
    assert made.absolute_error(found, made.TTFT) == 0.2
    assert math.isnan(made.absolute_error(found, ("tput_per_gpu",)))


# ---- layouts and multi-token prediction


def test_layouts_without_measurement_have_the_twin_alone(every: Reproduction) -> None:
    table = made.layouts_table(every.layouts)
    assert len(table.rows) == len(every.layouts) == 11
    row = cells(table, "gb300-kimi-k2.5-c30-5xtep4")
    assert row[1:4] == ("P 1xDEP4 + D 5xTEP4", "30", "8,448 + 8")
    assert "measured" not in " ".join(table.headers)
    assert "token/s/kW of TDP" in table.headers


def test_rows_with_multi_token_prediction_say_how_many_are_drafted(every: Reproduction) -> None:
    table = made.rows_table(every.mtp_rows)
    assert len(table.rows) == len(every.mtp_rows) == 9
    found = cells(table, "gb300-deepseek-r1-mtp-c2253-dep8")
    assert found[1] == "P 10xDEP2 MTP1 + D 1xDEP8 MTP1"
    assert (found[3], found[6]) == ("18,132", "32.70")
    errors = made.errors_table(every.mtp_rows)
    assert [row[0] for row in errors.rows][-1] == "slots in the public recipe"
