"""A report as tables: every number that people quote, with its unit."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from jalapeno.catalogue import Alternative, Fact, Kind
from jalapeno.metrics import CAUSES, PARTS_AND_WAITS, Check, Report, measure
from jalapeno.presentation import report_tables as made
from jalapeno.presentation.tables import Table
from tests.metrics.test_sites import mixed
from tests.presentation.samples import journal, report, row_result, scenario
from tests.presentation.samples import reproduction as every


@pytest.fixture(scope="module")
def plain() -> Report:
    """One pool, numbers made by hand."""
    return report(scenario(), per_kw=85448.0, e2e_s=1.03, tbt_ms=0.69, ttft_ms=61.5)


@pytest.fixture(scope="module")
def split() -> Report:
    """A prefill and a decode pool."""
    return every().rows[0].outcome.report


def row(table: Table, name: str) -> dict[str, str]:
    (found,) = (cells for cells in table.rows if cells[0] == name)
    return dict(zip(table.headers, found, strict=True))


def number(text: str) -> float:
    return float(text.replace(",", ""))


# ---- latency


def test_latency_has_mean_and_percentiles_in_ms(plain: Report) -> None:
    table = made.latency_table(plain)
    assert table.title == "1xTP2: latency, ms"
    assert table.headers[1:] == ("mean", "median", "P90", "P95", "P99", "P99.9")
    e2e = row(table, "end to end (E2E)")
    assert e2e["mean"] == "1,030"
    assert number(e2e["P99.9"]) == pytest.approx(1030 * 2.1, rel=1e-3)
    assert row(table, "time between tokens (TBT, TPOT)")["mean"] == "0.6900"
    assert row(table, "time to first token (TTFT)")["median"] == "59.66"


def test_ttft_is_split_and_the_split_adds_up(plain: Report) -> None:
    whole = measure(journal(scenario()))
    table = made.latency_table(whole)
    parts = [number(cells[1]) for cells in table.rows if cells[0].startswith("· ")]
    assert len(parts) == 4
    assert sum(parts) == pytest.approx(whole.latency.ttft_ms.mean)


# ---- throughput


def test_throughput_has_a_unit_on_every_rate(plain: Report) -> None:
    table = made.throughput_table(plain)
    units = {cells[0]: cells[2] for cells in table.rows}
    assert units["mixed tokens a chip"] == "token/s/chip"
    assert units["a user, mean"] == "token/s/user"
    assert units["duration"] == "s"
    assert row(table, "requests done")["value"] == "40 of 40"
    assert row(table, "a user, mean")["value"] == "1,449"


# ---- power


def test_power_has_all_four_denominators(plain: Report) -> None:
    table = made.power_table(plain)
    assert [cells[0] for cells in table.rows] == list(made.DENOMINATORS.values())
    tdp = row(table, "package TDP (as published)")
    assert (tdp["W/chip"], tdp["mixed token/s/kW"]) == ("700.0", "85,448")
    assert tdp["weakest evidence"] == "published"
    assert row(table, "facility (all-in × PUE)")["weakest evidence"] == "~ estimated"
    assert "mixed tokens are prompt and output together" in table.note.lower()


def test_joules_are_for_a_million_tokens_mixed_and_output(plain: Report) -> None:
    all_in = row(made.power_table(plain), "all-in IT power")
    found = plain.power.all_in
    for sort, value in (
        ("mixed", found.joules_per_million_tokens),
        ("output", found.joules_per_million_output_tokens),
    ):
        assert number(all_in[f"J a million {sort} tokens"]) == pytest.approx(value, rel=5e-3)


def test_dollars_are_for_a_million_tokens_mixed_and_output_with_their_range() -> None:
    found = replace(
        measure(journal(scenario())).power,
        dollars_per_million_tokens=0.25,
        low_dollars_per_million_tokens=0.2,
        high_dollars_per_million_tokens=math.nan,
        dollars_per_million_output_tokens=2.0,
    )
    table = made.cost_table(replace(measure(journal(scenario())), power=found))
    assert row(table, "a million mixed tokens") == {
        "for": "a million mixed tokens",
        "$": "0.250",
        "$, low": "0.200",
        "$, high": "–",
        "weakest evidence": "published",
    }
    assert row(table, "a million output tokens")["$"] == "2.00"


def test_sites_are_shown_apart_where_there_are_two(plain: Report) -> None:
    two = measure(mixed())
    assert [cells[:3] for cells in made.sites_table(two).rows] == [
        ("main", "jalapeno", "1"),
        ("west", "gb300", "2"),
    ]
    titles = [table.title for table in made.report_tables(two, {})]
    assert "sites: watts a chip, and dollars" in titles
    assert len(titles) == len(made.report_tables(plain, {})) + 1


def test_what_an_open_loop_offered_is_beside_what_was_completed(plain: Report) -> None:
    table = made.throughput_table(plain)
    assert row(table, "requests offered (open loop)")["value"] == "–"
    assert table.note == "Load: closed loop, 4 in flight."
    rates = replace(plain.throughput, offered_requests_per_s=12.5)
    table = made.throughput_table(replace(plain, throughput=rates))
    assert row(table, "requests offered (open loop)")["value"] == "12.50"
    assert row(table, "requests completed")["unit"] == "1/s"


def test_the_denominators_are_those_of_the_report(plain: Report) -> None:
    found = made.denominators(plain)
    assert found["all-in IT power"] is plain.power.all_in
    assert len(found) == 4


# ---- use


def test_pools_are_shown_apart_where_there_are_two(plain: Report, split: Report) -> None:
    assert [cells[0] for cells in made.use_table(plain).rows] == ["all"]
    assert [cells[0] for cells in made.use_table(split).rows] == [
        "all",
        "P 1xTP1",
        "D 1xTP8",
    ]


# ---- attribution


@pytest.mark.parametrize("by", ["cause", "part"])
def test_the_labels_add_up_to_the_sum(plain: Report, by: str) -> None:
    table = made.attribution_table(plain.attribution, by)
    *labels, total = table.rows
    for column, whole in ((1, 1030.0), (2, 100.0), (3, 61.5)):
        summed = sum(number(cells[column]) for cells in labels if cells[column] != "–")
        assert summed == pytest.approx(whole, rel=2e-3)
        assert number(total[column]) == pytest.approx(whole, rel=1e-3)


def test_what_took_no_time_is_left_out(plain: Report) -> None:
    named = {cells[0] for cells in made.attribution_table(plain.attribution, "part").rows}
    assert "KV transfer" not in named
    assert {"memory", "matrix", "power cap", "sum"} <= named


def test_decode_has_no_share_of_the_first_token(plain: Report) -> None:
    table = made.attribution_table(plain.attribution, "cause")
    assert row(table, "decode")["TTFT, ms"] == "–"
    assert row(table, "own prefill")["TTFT, ms"] != "–"


def test_every_label_has_words() -> None:
    words = [made.label_word(label) for label in (*CAUSES, *PARTS_AND_WAITS)]
    assert not [word for word in words if "_" in word]


def test_an_attribution_of_nobody_is_undefined_and_not_zero(plain: Report) -> None:
    nobody = replace(
        plain.attribution,
        requests=0,
        e2e_by_part_ms=dict.fromkeys(PARTS_AND_WAITS, math.nan),
        ttft_by_part_ms=dict.fromkeys(PARTS_AND_WAITS, math.nan),
    )
    table = made.attribution_table(nobody, "part")
    assert {cells[1] for cells in table.rows} == {"–"}


# ---- laws and overrides


def test_a_broken_law_cannot_be_overlooked() -> None:
    checks = (Check("requests", True, "2 of 2"), Check("joules", False, "minus one"))
    assert made.laws_table(checks).rows == (
        ("requests", "yes", "2 of 2"),
        ("joules", "NO", "minus one"),
    )


def test_every_law_of_a_run_is_listed(plain: Report) -> None:
    assert len(made.laws_table(plain.checks).rows) == len(plain.checks) == 10


def test_replaced_facts_come_first_with_what_the_catalogue_says(plain: Report) -> None:
    fact = Fact(
        20e12,
        "20 TB/s",
        "B/s",
        Kind.ASSUMED,
        "override",
        alternatives=(Alternative(15.4e12, "catalogue"),),
        overridden=True,
    )
    word = Fact("A0", "A0", "", Kind.ASSUMED, "override", overridden=True)
    first, *rest = made.report_tables(plain, {"chip.hbm.bandwidth": fact, "chip.stepping": word})
    assert first.rows == (
        ("chip.hbm.bandwidth", "20 TB/s", "15.4 TB/s"),
        ("chip.stepping", "A0", "–"),
    )
    assert "not the catalogue" in first.title
    assert len(rest) == 8


def test_without_replaced_facts_there_is_no_such_table(plain: Report) -> None:
    titles = [table.title for table in made.report_tables(plain, {})]
    assert len(titles) == 8
    assert titles[0].endswith("latency, ms")


def test_every_row_of_the_catalogue_can_be_shown() -> None:
    found = row_result(every().layouts[0].row)
    assert len(made.report_tables(found.outcome.report, {})) == 8
