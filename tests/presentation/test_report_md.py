"""The report: what was run, every table, how to run it again."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.metadata import version

import pytest

from jalapeno.analysis.reproduction import Outcome, Reproduction
from jalapeno.metrics import Check
from jalapeno.presentation.digits import as_published
from jalapeno.presentation.report_md import docs_section, report_page, runs_table
from tests.presentation.samples import outcomes, reproduction, scenario, small


@pytest.fixture(scope="module")
def runs() -> list[Outcome]:
    return list(outcomes(reproduction()).values())


@pytest.fixture(scope="module")
def page(runs: list[Outcome]) -> str:
    return report_page(reproduction(), runs)


def section(page: str, heading: str) -> str:
    """What stands under a heading of the second level."""
    (found,) = re.findall(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    return str(found)


def cells(text: str) -> set[str]:
    """Every cell of every table in *text*."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return {cell.strip() for line in lines for cell in line.strip("|").split("|")}


# ---- the numbers


def test_every_published_number_stands_in_its_table(page: str) -> None:
    found = section(page, "The published numbers")
    blocks = re.split(r"^### ", found, flags=re.M)[1:]
    for comparison, block in zip(reproduction().comparisons, blocks, strict=True):
        assert block.startswith(f"{comparison.claim.model}: ")
        for number in (*comparison.jalapeno, *comparison.reference):
            assert as_published(number.published) in cells(block)


def test_published_numbers_are_those_of_the_claims_to_the_digit(page: str) -> None:
    found = cells(section(page, "The published numbers"))
    for number in ("85,448", "1.03", "0.69", "22,935", "44,960", "1.8", "1.87", "427"):
        assert number in found, number
    for number in ("19,641", "1.65", "1.43", "12,258", "11,781", "5.99", "5.9", "118"):
        assert number in found, number
    for number in ("18,195", "1.56", "1.44", "6,744", "11,862", "5.31", "5.48", "120"):
        assert number in found, number


def test_ratios_are_published_and_recomputed(page: str) -> None:
    found = section(page, "The published numbers")
    assert "advantage, published" in found
    assert "advantage, twin" in found
    assert {"1.90×", "1.67×", "1.53×"} <= cells(found)


def test_the_plan_that_won_is_there_with_its_load(page: str) -> None:
    found = section(page, "The published numbers")
    for words in ("requests in flight", "budget, tokens a step", "where the mean E2E goes"):
        assert words in found


def test_every_measured_row_is_there_with_its_errors(page: str) -> None:
    found = section(page, "Measured rows of InferenceX")
    for result in reproduction().rows:
        assert f"| {result.row.name}" in found
    assert "all 23 rows" in found
    assert "largest" in found
    assert "†" in found


def test_layouts_nobody_measured_say_so(page: str) -> None:
    found = section(page, "Public layouts without a public measurement")
    assert "There is no public measurement of these layouts (kimi-k2.5)" in found
    for result in reproduction().layouts:
        assert result.row.name in found


def test_rows_with_multi_token_prediction_say_whose_acceptance_was_taken(page: str) -> None:
    found = section(page, "Measured with multi-token prediction")
    for result in reproduction().mtp_rows:
        assert result.row.name in found
    assert "No constant was fitted to these rows" in found
    assert "`tensorrt-llm-1k-2k`" in found
    assert "largest" in found


def test_all_four_denominators_are_there(page: str) -> None:
    found = section(page, "Four denominators")
    for word in ("package TDP", "modelled draw", "all-in IT power", "facility"):
        assert word in found


def test_the_fit_is_owned_up_to(page: str) -> None:
    found = section(page, "What was fitted, and what that is worth")
    assert "it explains, it hardly predicts" in found
    assert "this one left out" in found
    assert "no first-token delay" in found
    assert "`matrix_efficiency`" in found


# ---- around them


def test_it_says_what_was_run(page: str, runs: list[Outcome]) -> None:
    assert f"jalapeno {version('jalapeno-twin')} played out {len(runs)} runs" in page
    assert "23 measured rows" in page
    assert "8,192" in page
    assert "Sources: InferenceX by SemiAnalysis; OpenAI, 25 August 2026." in page


def test_it_says_how_to_run_any_run_again(page: str) -> None:
    found = section(page, "Run any of it again")
    assert "jalapeno simulate runs/<run>/scenario.json" in found
    for name, run in outcomes(reproduction()).items():
        assert f"`{name}`" in found
        assert run.report.digest in found


def test_the_laws_of_every_run_are_there(page: str, runs: list[Outcome]) -> None:
    assert section(page, "Run any of it again").count("10 of 10 laws") == len(runs)


def test_a_broken_law_is_named() -> None:
    run = next(iter(outcomes(small()).values()))
    checks = (*run.report.checks, Check("joules", False, "minus one"))
    (row,) = runs_table([replace(run, report=replace(run.report, checks=checks))]).rows
    assert row[4] == "10 of 11 laws; BROKEN: joules"


def test_replaced_facts_of_a_run_are_named() -> None:
    run = next(iter(outcomes(small()).values()))
    rows = runs_table([run, replace(run, scenario=scenario())]).rows
    assert [row[5] for row in rows] == ["chip.stepping = A0", ""]


def test_the_pictures_are_beside_it(page: str) -> None:
    assert re.findall(r"\]\((\S+)\)", page) == ["frontier.svg", "attribution.svg"]


def test_every_table_has_as_many_cells_in_every_line(page: str) -> None:
    for block in re.split(r"\n\n", page):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.replace("\\|", "").count("|") for line in lines}) <= 1


def test_the_same_reproduction_gives_the_same_page(page: str, runs: list[Outcome]) -> None:
    assert report_page(reproduction(), runs) == page


# ---- the page of the documentation


def test_the_section_of_the_docs_has_the_same_tables(page: str, runs: list[Outcome]) -> None:
    docs = docs_section(reproduction(), runs)
    for text in (page, docs):
        assert text.startswith("# The published comparison, recomputed\n")
    tables = [line for line in page.splitlines() if line.startswith("|")]
    assert [line for line in docs.splitlines() if line.startswith("|")] == tables


def test_the_docs_show_the_pictures_beside_them_and_say_how_they_are_made(
    runs: list[Outcome],
) -> None:
    docs = docs_section(reproduction(), runs)
    assert "](frontier.png)" in docs
    assert "](attribution.png)" in docs
    assert "`jalapeno reproduce` gives the same tables" in docs


def test_what_is_not_there_is_said_to_be_none() -> None:
    bare = Reproduction(
        comparisons=(), rows=(), layouts=(), mtp_rows=(), curves=(), left_out=(), constants={}
    )
    page = report_page(bare, [])
    assert section(page, "Measured rows of InferenceX").strip() == "None."
    assert "None." in section(page, "Public layouts without a public measurement")
