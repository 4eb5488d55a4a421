"""``jalapeno show``."""

from __future__ import annotations

import json

import pytest

from jalapeno.catalogue import Alternative, Fact, Kind
from jalapeno.presentation.entries import Entry
from jalapeno.presentation.show_command import bounds, entry_table, shown
from tests.presentation.conftest import Call


def fact(value: float, text: str, unit: str, **rest: object) -> Fact:
    return Fact(value, text, unit, Kind.PUBLISHED, "someone", **rest)  # type: ignore[arg-type]


# ---- one fact


@pytest.mark.parametrize(
    ("value", "text", "unit", "seen"),
    [
        (15.4e12, "15.4 TB/s", "B/s", "15.4 TB/s"),
        (216 * 2**30, "216 GiB", "B", "231.9 GB (216 GiB)"),
        (0.69e-3, "0.69 ms", "s", "690 us (0.69 ms)"),
        (1125.0, "1.125 kW", "W", "1.125 kW"),
        (3.9e-12 * 8, "3.9 pJ/bit", "J/B", "31.2 pJ/B (3.9 pJ/bit)"),
        (1.1, "1.1", "", "1.1"),
        (36, "36", "", "36"),
        (85448.0, "85448 token/s/kW", "token/s/kW", "85448 token/s/kW"),
        (1.56, "1.56 $/h", "$/h", "1.56 $/h"),
    ],
)
def test_a_value_is_shown_with_its_unit_and_as_written_where_that_differs(
    value: float, text: str, unit: str, seen: str
) -> None:
    assert shown(fact(value, text, unit)) == seen


def test_words_and_truth_values_are_shown_as_written() -> None:
    assert shown(Fact(False, "false", "", Kind.ASSUMED, "nobody")) == "false"
    assert shown(Fact("A0", "A0", "", Kind.ASSUMED, "nobody")) == "A0"


def test_a_range_has_units_too() -> None:
    assert bounds(fact(1.0, "1 us", "s", low=0.25e-6, high=1.5e-6)) == "range 250 ns to 1.5 us"
    assert bounds(fact(1.0, "1", "", low=0.5)) == "range 0.5 to ?"
    assert bounds(fact(1.0, "1", "", high=2.0)) == "range ? to 2"
    assert bounds(fact(1.0, "1", "")) == ""


def test_a_line_has_value_range_evidence_date_source_and_what_others_say() -> None:
    known = fact(
        15.4e12,
        "15.4 TB/s",
        "B/s",
        as_of="2026-08-25",
        low=15e12,
        high=16e12,
        alternatives=(Alternative(14e12, "someone else"),),
        overridden=True,
    )
    (row,) = entry_table(Entry("chips", "x", "y", {"hbm.bandwidth": known})).rows
    assert row == (
        "hbm.bandwidth",
        "15.4 TB/s\nrange 15 TB/s to 16 TB/s",
        "published\n2026-08-25\noverridden",
        "someone\nalso 14 TB/s: someone else",
    )


def test_a_source_that_all_share_is_said_once() -> None:
    known = fact(1.0, "1 s", "s")
    table = entry_table(Entry("references", "x", "y", {"measured.mean_e2e_s": known}, "someone"))
    assert table.rows[0][-1] == ""
    assert table.note == "source of the row: someone"


# ---- the command


def test_every_number_of_a_chip_is_shown_with_its_unit(call: Call) -> None:
    called = call("show", "jalapeno", "--shelf", "chips")
    assert (called.code, called.err) == (0, "")
    for words in (
        "hbm.bandwidth",
        "15.4 TB/s",
        "231.9 GB (216 GiB)",
        "13.4 PFLOP/s",
        "700 W",
        "31.2 pJ/B (3.9 pJ/bit)",
        "also 13.18 PFLOP/s",
        "range 245 W to 280 W",
        "2026-08-25",
        "OpenAI, Hot Chips 2026",
    ):
        assert words in called.out, words


def test_weak_evidence_is_marked(call: Call) -> None:
    out = call("show", "jalapeno", "--shelf", "chips").out
    assert "~ estimated" in out
    assert "! assumed" in out
    assert "nobody published or measured the number" in out


def test_a_system_shows_its_chip_and_fabric(call: Call) -> None:
    out = call("show", "jalapeno-rack").out
    assert "chip.hbm.bandwidth" in out
    assert "fabric.local.latency" in out
    assert "800 ns (0.8 us)" in out


def test_a_measured_row_shows_its_figures_and_source(call: Call) -> None:
    out = call("show", "gb200-gpt-oss-120b-c1-tp8").out
    for words in ("1.868 ms (1.8682 ms)", "512.9867 token/s/GPU", "run 20786863188", "measured"):
        assert words in out, words


def test_a_replaced_fact_is_said_to_be(call: Call) -> None:
    called = call("show", "jalapeno-rack", "--set", "chip.hbm.bandwidth=20 TB/s")
    assert called.err == "overridden: chip.hbm.bandwidth = 20 TB/s\n"
    assert "20 TB/s" in called.out
    assert "overridden" in called.out
    assert "also 15.4 TB/s: catalogue" in called.out


def test_json_is_in_si_with_the_unit_beside(call: Call) -> None:
    called = call("show", "jalapeno-rack", "--set", "chip.hbm.bandwidth=20 TB/s", "--json")
    assert called.err == ""
    data = json.loads(called.out)
    assert (data["shelf"], data["name"], data["title"]) == (
        "systems",
        "jalapeno-rack",
        "Jalapeño rack",
    )
    assert data["facts"]["chip.hbm.bandwidth"] == {
        "value": 20e12,
        "unit": "B/s",
        "text": "20 TB/s",
        "kind": "assumed",
        "source": "override",
        "as_of": None,
        "low": None,
        "high": None,
        "alternatives": [{"value": 15.4e12, "source": "catalogue"}],
        "overridden": True,
    }
    latency = data["facts"]["fabric.local.latency"]
    assert (latency["low"], latency["high"]) == (0.25e-6, 1.5e-6)
    assert data["words"]["chip.vendor"] == "OpenAI / Broadcom"


@pytest.mark.parametrize("also", [(), ("--json",)])
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ("jalapno",),
            "no entry 'jalapno'; did you mean 'jalapeno'? see jalapeno list",
        ),
        (
            ("jalapeno",),
            "'jalapeno' is on 2 shelves: choose with --shelf chips or --shelf tariffs",
        ),
        (
            ("jalapeno", "--shelf", "chip"),
            "no shelf 'chip'; did you mean 'chips'? known: chips, systems, models, engines, "
            "tariffs, claims, references",
        ),
        (
            ("jalapeno-rack", "--set", "chip.hbm.bandwidth=20 W"),
            "systems/jalapeno-rack: chip.hbm.bandwidth: expected a quantity in B/s, such as "
            "'15.4 TB/s', got '20 W': 'W' is not B/s",
        ),
        (
            ("jalapeno-rack", "--set", "chip.hbm.bandwidth=-1 TB/s"),
            "systems/jalapeno-rack: chip.hbm.bandwidth: expected a quantity in B/s, such as "
            "'15.4 TB/s', got '-1 TB/s': it is negative",
        ),
        (
            ("jalapeno-rack", "--set", "chip.hbm.bandwidth"),
            "--set chip.hbm.bandwidth: write path=value, as in --set chip.hbm.bandwidth='20 TB/s'",
        ),
    ],
)
def test_a_wrong_call_is_one_line_with_the_mend(
    call: Call, arguments: tuple[str, ...], also: tuple[str, ...], complaint: str
) -> None:
    called = call("show", *arguments, *also)
    assert (called.code, called.out) == (2, "")
    assert called.complaint == complaint


def test_a_misspelt_fact_gets_the_nearest(call: Call) -> None:
    called = call("show", "jalapeno-rack", "--set", "chip.hbm.bandwith=20 TB/s")
    assert called.code == 2
    assert called.complaint.startswith(
        "no fact 'chip.hbm.bandwith'; did you mean 'chip.hbm.bandwidth'? known: "
    )
