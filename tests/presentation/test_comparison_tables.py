"""The published comparison as tables."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from jalapeno.analysis.reproduction import OBJECTIVES, Reproduction
from jalapeno.presentation import comparison_tables as made
from jalapeno.presentation.digits import as_published
from jalapeno.presentation.names import OBJECTIVES as WORDS
from jalapeno.presentation.names import SHORT
from jalapeno.presentation.tables import to_rich
from tests.presentation.samples import reproduction, small


@pytest.fixture(scope="module")
def every() -> Reproduction:
    return reproduction()


# ---- the numbers


def test_a_comparison_has_published_twin_and_residual_of_both(every: Reproduction) -> None:
    (gpt,) = (c for c in every.comparisons if c.claim.model == "gpt-oss-120b")
    table = made.comparison_table(gpt)
    assert table.title == "gpt-oss-120b: Jalapeño rack against NVIDIA GB200 NVL72"
    assert table.rows[0] == (
        "highest mixed throughput",
        "token/s/kW",
        *("85,448", "88,011", "+3.0"),
        *("44,960", "43,611", "-3.0"),
        *("1.90×", "2.02×"),
    )
    assert table.rows[1][:5] == ("lowest mean end-to-end latency", "s", "1.03", "1.06", "+3.0")
    assert table.rows[2][:5] == ("lowest mean TBT", "ms", "0.69", "0.711", "+3.0")


def test_units_are_in_the_table_and_not_in_the_cells(every: Reproduction) -> None:
    for comparison in every.comparisons:
        units = [row[1] for row in made.comparison_table(comparison).rows]
        assert units == ["token/s/kW", "s", "ms", "token/s/kW"]


def test_latency_is_an_advantage_where_it_is_lower(every: Reproduction) -> None:
    for comparison in every.comparisons:
        for row in made.comparison_table(comparison).rows:
            assert float(row[-2].rstrip("×")) > 1.0


def test_the_summary_has_every_model_and_number(every: Reproduction) -> None:
    (table,) = made.summary_tables(every.comparisons, made.SUMMARY_WIDTH)
    assert len(table.rows) == 12
    assert {row[0] for row in table.rows} == {"deepseek-r1", "gpt-oss-120b", "kimi-k2.5"}
    assert [row[1] for row in table.rows[:4]] == list(SHORT.values())
    shown = {cell for row in table.rows for cell in row}
    for comparison in every.comparisons:
        for found in (*comparison.jalapeno, *comparison.reference):
            assert as_published(found.published) in shown


def test_a_narrow_terminal_gets_the_summary_in_three_tables(every: Reproduction) -> None:
    (whole,) = made.summary_tables(every.comparisons, made.SUMMARY_WIDTH)
    ours, theirs, advantage = made.summary_tables(every.comparisons, made.SUMMARY_WIDTH - 1)
    for table in (ours, theirs, advantage):
        assert [row[:3] for row in table.rows] == [row[:3] for row in whole.rows]
    for row, *parts in zip(whole.rows, ours.rows, theirs.rows, advantage.rows, strict=True):
        assert row[3:] == tuple(cell for part in parts for cell in part[3:])


@pytest.mark.parametrize("width", [80, 139, 140])
def test_the_summary_fits_the_terminal_without_folding(every: Reproduction, width: int) -> None:
    page = io.StringIO()
    console = Console(file=page, width=width)
    for table in made.summary_tables(every.comparisons, width):
        console.print(to_rich(table))
    for words in ("gpt-oss-120b", "at reference TBT", "token/s/kW", "85,448", "residual %"):
        assert words in page.getvalue(), words


# ---- the plans


def test_each_plan_has_layout_load_budget_and_run(every: Reproduction) -> None:
    (gpt,) = (c for c in every.comparisons if c.claim.model == "gpt-oss-120b")
    ours, theirs, *_ = made.plans_table(gpt).rows
    assert ours[:5] == ("peak", "Jalapeño rack", "1xTP1", "4", "4,096")
    assert ours[-2].startswith("memory 31.0 %")
    assert ours[-1] == "`jalapeno-rack/gpt-oss-120b/peak`"
    assert theirs[1] == "NVIDIA GB200 NVL72"
    assert theirs[2].startswith("P ")
    assert " + " in theirs[4]


def test_both_systems_have_a_plan_for_each_number(every: Reproduction) -> None:
    for comparison in every.comparisons:
        numbers = [row[0] for row in made.plans_table(comparison).rows]
        assert numbers == [SHORT[o] for o in OBJECTIVES for _ in range(2)]


# ---- denominators


def test_every_quoted_run_is_under_all_four_denominators(every: Reproduction) -> None:
    table = made.denominators_table(every.comparisons)
    assert len(table.rows) == 24
    assert table.headers[3:7] == (
        "package TDP (as published)",
        "package, modelled draw",
        "all-in IT power",
        "facility (all-in × PUE)",
    )
    assert "token/s/kW" in table.title
    power = every.comparisons[0].jalapeno[0].outcome.report.power
    assert table.rows[0][3] == f"{power.package_tdp.tokens_per_s_per_kw:,.0f}"
    assert table.rows[0][6] == f"{power.facility.tokens_per_s_per_kw:,.0f}"
    assert table.headers[8:] == (
        *("all-in J a million mixed tokens", "all-in J a million output tokens"),
        *("$ a million mixed tokens", "$ a million output tokens"),
    )
    joules = float(table.rows[0][8].replace(",", ""))
    assert joules == pytest.approx(power.all_in.joules_per_million_tokens, rel=5e-3)
    assert float(table.rows[0][11]) == pytest.approx(
        power.dollars_per_million_output_tokens, rel=5e-3
    )


def test_the_watts_behind_them_are_named_once_a_system(every: Reproduction) -> None:
    rows = made.watts_table(every.comparisons).rows
    assert len(rows) == 9
    assert rows[0] == ("Jalapeño rack", "package TDP (as published)", "700.0", "published")
    assert rows[2][-1] == "~ estimated"


# ---- the fit


def test_leaving_one_out_is_beside_the_fit_and_the_fit_without_delay() -> None:
    table = made.left_out_table(small().left_out)
    assert table.rows[0] == (
        *("gpt-oss-120b", WORDS["peak"], "token/s/kW", "85,448"),
        *("86,302", "+1.0", "106,810", "+25.0", "68,358", "-20.0"),
    )
    assert "first-token delay" in " ".join(table.headers)


def test_the_degrees_of_freedom_are_counted_and_owned_up_to() -> None:
    constants = {f"constant {number}": "1 (fitted)" for number in range(9)}
    numbers = small().left_out * 3
    whole = Reproduction(
        comparisons=(),
        rows=(),
        layouts=(),
        mtp_rows=(),
        curves=(),
        left_out=numbers,
        constants=constants,
    )
    assert made.freedom(whole) == (
        "These are about nine constants for twelve numbers: it explains, it hardly predicts."
    )


def test_constants_are_listed_with_their_evidence(every: Reproduction) -> None:
    assert made.constants_table(every).rows == (
        ("`matrix_efficiency`", "0.62 (fitted)"),
        ("`overlap`", "0.5 (assumed)"),
    )
