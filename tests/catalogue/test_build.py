"""The strict reader: what a file must say, and what it is told when it does not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.catalogue import Gqa, Kind, Mla, chip_of, model_of, row_of, system_of
from jalapeno.errors import BadFact
from tests.catalogue import trees


def refused(message: str) -> Any:
    """The block inside must raise a BadFact of exactly this message."""
    return pytest.raises(BadFact, match=f"^{re.escape(message)}$")


# ---- what it reads


def test_numbers_become_si() -> None:
    chip = chip_of(trees.chip())
    assert chip.hbm.capacity == 2**30
    assert chip.hbm.bandwidth == 100e9
    assert chip.matrix.peak_4x4 == 8e12
    assert chip.cores == 4
    assert isinstance(chip.cores, int)


def test_a_default_gives_evidence_to_every_leaf_below_it() -> None:
    facts = chip_of(trees.chip()).facts
    assert {fact.source for fact in facts.values()} == {"made up for tests"}
    assert {fact.kind for fact in facts.values()} == {Kind.ASSUMED}


def test_a_nearer_default_stands_in_place_of_a_further_one() -> None:
    tree = trees.chip()
    tree["hbm"]["default"] = {"kind": "published", "source": "a data sheet"}
    facts = chip_of(tree).facts
    assert facts["hbm.bandwidth"].source == "a data sheet"
    assert facts["hbm.bandwidth"].kind is Kind.PUBLISHED
    assert facts["power.tdp"].source == "made up for tests"


def test_a_leaf_with_a_source_of_its_own_borrows_nothing() -> None:
    tree = trees.chip()
    tree["default"] = {**trees.SAID, "as_of": "2026-08-25"}
    tree["hbm"]["bandwidth"] = {"value": "1 GB/s", "kind": "measured", "source": "a stopwatch"}
    fact = chip_of(tree).facts["hbm.bandwidth"]
    assert (fact.kind, fact.source, fact.as_of) == (Kind.MEASURED, "a stopwatch", "")


def test_a_leaf_without_a_source_of_its_own_may_still_have_a_range() -> None:
    tree = trees.chip()
    tree["hbm"]["bandwidth"] = {"value": "2 GB/s", "low": "1 GB/s", "high": "4 GB/s"}
    fact = chip_of(tree).facts["hbm.bandwidth"]
    assert (fact.value, fact.low, fact.high) == (2e9, 1e9, 4e9)
    assert fact.source == "made up for tests"


def test_the_chip_of_a_system_brings_its_own_evidence() -> None:
    tree = trees.system()
    tree["chip"]["default"] = {"kind": "published", "source": "a data sheet"}
    facts = system_of(tree).facts
    assert facts["chip.hbm.bandwidth"].source == "a data sheet"
    assert facts["fabric.near.bandwidth"].source == "made up for tests"


def test_facts_keep_the_text_as_it_was_written() -> None:
    assert chip_of(trees.chip()).facts["hbm.capacity"].text == "1 GiB"


def test_a_truth_value_may_carry_evidence() -> None:
    tree = trees.system()
    tree["fabric"]["near"]["reduces"] = trees.said(True)
    system = system_of(tree)
    assert system.fabric["near"].reduces is True
    assert system.facts["fabric.near.reduces"].text == "true"
    assert "fabric.far.reduces" not in system.facts


def test_a_word_may_carry_evidence() -> None:
    tree = trees.chip()
    tree["stepping"] = trees.said("half")
    chip = chip_of(tree)
    assert chip.speed == 0.5
    assert chip.facts["stepping"].value == "half"


def test_levels_keep_the_order_of_the_file() -> None:
    assert list(system_of(trees.system()).fabric) == ["near", "far"]


def test_the_type_says_which_attention_a_model_has() -> None:
    tree = trees.model()
    assert isinstance(model_of(tree).attention, Gqa)
    tree["attention"] = {
        "type": "mla",
        "heads": 4,
        "q_rank": 32,
        "kv_rank": 16,
        "nope_dim": 8,
        "rope_dim": 4,
        "value_dim": 8,
    }
    assert isinstance(model_of(tree).attention, Mla)


def test_a_row_has_plain_numbers_and_one_source() -> None:
    row = row_of(trees.row())
    assert row.measured == {"tput_per_gpu": 100.5, "mean_tpot_ms": 2.0}
    assert row.decode.slots == 4
    assert row.source == "made up for tests"


@given(st.floats(1.0, 1e6), st.just(0.0) | st.floats(1e-20, 1.0), st.floats(0.0, 1e6))
def test_a_value_inside_its_range_is_read(value: float, share: float, above: float) -> None:
    tree = trees.chip()
    low, high = value * share, value + above
    tree["hbm"]["bandwidth"] = trees.said(
        f"{value!r} B/s", low=f"{low!r} B/s", high=f"{high!r} B/s"
    )
    fact = chip_of(tree).facts["hbm.bandwidth"]
    assert (fact.low, fact.value, fact.high) == (low, value, high)


@given(st.floats(1.0, 1e6), st.floats(1.001, 100.0))
def test_a_value_outside_its_range_is_refused(value: float, factor: float) -> None:
    for end in ({"low": f"{value * factor!r} B/s"}, {"high": f"{value / factor!r} B/s"}):
        tree = trees.chip()
        tree["hbm"]["bandwidth"] = trees.said(f"{value!r} B/s", **end)
        with refused(
            f"chips/toy: hbm.bandwidth: '{value!r} B/s' is outside its own range, low to high"
        ):
            chip_of(tree)


# ---- keys


def test_a_missing_key_is_named() -> None:
    tree = trees.chip()
    del tree["hbm"]["bandwidth"]
    with refused("chips/toy: hbm: missing 'bandwidth'"):
        chip_of(tree)


def test_all_missing_keys_are_named_at_once() -> None:
    tree = trees.chip()
    tree["hbm"] = {}
    with refused("chips/toy: hbm: missing 'capacity', 'bandwidth'"):
        chip_of(tree)


def test_an_unknown_key_is_answered_with_the_nearest() -> None:
    tree = trees.chip()
    tree["hbm"]["bandwith"] = tree["hbm"].pop("bandwidth")
    with refused(
        "chips/toy: hbm: unknown key 'bandwith'; did you mean 'bandwidth'?\n"
        "known: capacity, bandwidth"
    ):
        chip_of(tree)


def test_a_table_where_a_table_must_be() -> None:
    tree = trees.chip()
    tree["hbm"] = "fast"
    with refused("chips/toy: hbm: expected a table, got 'fast'"):
        chip_of(tree)


def test_levels_are_a_table_too() -> None:
    tree = trees.system()
    tree["fabric"] = ["near", "far"]
    with refused("systems/toys: fabric: expected a table, got ['near', 'far']"):
        system_of(tree)


def test_facts_are_not_written_but_found() -> None:
    tree = trees.chip()
    tree["facts"] = {}
    with pytest.raises(BadFact, match=r"^chips/toy: unknown key 'facts'"):
        chip_of(tree)


@pytest.mark.parametrize("text", ["1e-31 B/s", "1e31 B/s", "1e300 B/s", "1e20 EB/s"])
def test_a_number_beyond_this_world_is_refused(text: str) -> None:
    tree = trees.chip()
    tree["hbm"]["bandwidth"] = text
    with pytest.raises(BadFact, match=r"hbm\.bandwidth: expected 0, or from 1e-30 to 1e\+30 in SI"):
        chip_of(tree)


def test_nothing_is_counted_beyond_what_is_exact() -> None:
    tree = trees.chip()
    tree["cores"] = 10**15
    assert chip_of(tree).cores == 10**15
    tree["cores"] = 10**15 + 1
    with pytest.raises(
        BadFact, match=r"cores: expected a whole number up to 1,000,000,000,000,000"
    ):
        chip_of(tree)


@pytest.mark.parametrize("tag", ["ggqa", None, ["gqa"], {"gqa": 1}, 3])
def test_an_unknown_attention_is_answered_with_those_there_are(tag: object) -> None:
    tree = trees.model()
    tree["attention"]["type"] = tag
    with pytest.raises(
        BadFact, match=r"^models/toy-moe: attention\.type: no such shape, .*\nknown: gqa, mla$"
    ):
        model_of(tree)


def test_attention_must_be_a_table() -> None:
    tree = trees.model()
    tree["attention"] = "gqa"
    with pytest.raises(BadFact, match=r"attention\.type: no such shape, None\nknown: gqa, mla$"):
        model_of(tree)


def test_a_default_holds_evidence_only() -> None:
    tree = trees.chip()
    tree["default"] = {"kind": "assumed", "value": 3}
    with refused("chips/toy: default: unknown key 'value'\nknown: kind, source, as_of"):
        chip_of(tree)


def test_a_default_is_a_table() -> None:
    tree = trees.chip()
    tree["default"] = "assumed"
    with refused("chips/toy: default: expected a table, got 'assumed'"):
        chip_of(tree)


def test_an_entry_without_a_name_is_still_told_where() -> None:
    tree = trees.chip()
    del tree["name"]
    with refused("chips/?: missing 'name'"):
        chip_of(tree)


# ---- values


def test_a_wrong_unit_is_answered_with_an_example() -> None:
    tree = trees.chip()
    tree["hbm"]["bandwidth"] = "100 GB"
    with refused(
        "chips/toy: hbm.bandwidth: expected a quantity in B/s, such as '15.4 TB/s', "
        "got '100 GB': 'GB' is not B/s"
    ):
        chip_of(tree)


@pytest.mark.parametrize(
    ("text", "why"),
    [("nan W", "it is not finite"), ("inf W", "it is not finite"), ("-10 W", "it is negative")],
)
def test_what_is_no_number_of_watts_is_refused(text: str, why: str) -> None:
    tree = trees.chip()
    tree["power"]["tdp"] = text
    with refused(
        f"chips/toy: power.tdp: expected a quantity in W, such as '550 W', got '{text}': {why}"
    ):
        chip_of(tree)


@pytest.mark.parametrize("raw", [float("nan"), float("inf"), -1.0, -1])
def test_bare_numbers_are_checked_as_text_is(raw: float) -> None:
    tree = trees.chip()
    tree["steppings"]["one"] = raw
    with pytest.raises(BadFact, match=r"^chips/toy: steppings\.one: expected a plain number"):
        chip_of(tree)


def test_a_bare_number_has_no_unit_to_guess() -> None:
    tree = trees.chip()
    tree["power"]["tdp"] = 10
    with pytest.raises(BadFact, match=r"^chips/toy: power\.tdp: .* got '10': it has no unit$"):
        chip_of(tree)


@pytest.mark.parametrize("raw", [True, [1], None])
def test_what_is_no_number_at_all_is_refused(raw: object) -> None:
    tree = trees.chip()
    tree["cores"] = raw
    with refused(f"chips/toy: cores: expected a number, got {raw!r}"):
        chip_of(tree)


def test_a_list_is_no_quantity() -> None:
    tree = trees.chip()
    tree["power"]["tdp"] = [10]
    with refused("chips/toy: power.tdp: expected text such as '1 W', got [10]"):
        chip_of(tree)


@pytest.mark.parametrize("raw", [4.5, "4.5"])
def test_a_count_is_whole(raw: object) -> None:
    tree = trees.chip()
    tree["cores"] = raw
    with refused("chips/toy: cores: expected a whole number, got '4.5'"):
        chip_of(tree)


@pytest.mark.parametrize("raw", [64, 64.0, "64", "6.4e1"])
def test_a_count_may_be_written_in_any_way_that_is_whole(raw: object) -> None:
    tree = trees.chip()
    tree["cores"] = raw
    assert chip_of(tree).cores == 64


@pytest.mark.parametrize("raw", ["yes", 1, "true"])
def test_a_truth_value_is_true_or_false(raw: object) -> None:
    tree = trees.system()
    tree["fabric"]["near"]["reduces"] = raw
    with refused(f"systems/toys: fabric.near.reduces: expected true or false, got {raw!r}"):
        system_of(tree)


def test_a_title_is_words() -> None:
    tree = trees.system()
    tree["title"] = 72
    with refused("systems/toys: title: expected words, got 72"):
        system_of(tree)


# ---- evidence


def test_a_number_without_evidence_is_refused() -> None:
    tree = trees.chip()
    del tree["default"]
    with refused(
        "chips/toy: steppings.one: missing 'kind': every fact says its kind and its source"
    ):
        chip_of(tree)


@pytest.mark.parametrize("key", ["kind", "source"])
def test_evidence_is_kind_and_source(key: str) -> None:
    tree = trees.chip()
    del tree["default"]
    tree["steppings"] = {"one": {"value": 1.0, **trees.SAID}}
    del tree["steppings"]["one"][key]
    with refused(
        f"chips/toy: steppings.one: missing {key!r}: every fact says its kind and its source"
    ):
        chip_of(tree)


def test_a_source_of_no_words_is_none() -> None:
    tree = trees.chip()
    tree["cores"] = trees.said(4, source="  ")
    with refused("chips/toy: cores: source: expected words, got '  '"):
        chip_of(tree)


def test_a_kind_that_we_do_not_know_is_answered_with_those_we_do() -> None:
    tree = trees.chip()
    tree["cores"] = trees.said(4, kind="mesured")
    with refused(
        "chips/toy: cores: no kind 'mesured'; did you mean 'measured'?\nknown: measured, "
        "published, derived, fitted, emulated, estimated, assumed"
    ):
        chip_of(tree)


@pytest.mark.parametrize("date", ["yesterday", "25.8.2026", 2026])
def test_a_date_is_a_date(date: object) -> None:
    tree = trees.chip()
    tree["cores"] = trees.said(4, as_of=date)
    with refused(f"chips/toy: cores: as_of: expected a date such as '2026-08-25', got {date!r}"):
        chip_of(tree)


@pytest.mark.parametrize("date", ["2026", "2026-08", "2026-08-25"])
def test_a_date_may_be_a_year_a_month_or_a_day(date: str) -> None:
    tree = trees.chip()
    tree["cores"] = trees.said(4, as_of=date)
    assert chip_of(tree).facts["cores"].as_of == date


def test_a_fact_has_no_other_keys() -> None:
    tree = trees.chip()
    tree["cores"] = trees.said(4, sauce="hot")
    with pytest.raises(BadFact, match="unknown key 'sauce'; did you mean 'source'"):
        chip_of(tree)


def test_a_range_has_the_unit_of_its_value() -> None:
    tree = trees.chip()
    tree["power"]["tdp"] = trees.said("10 W", low="5 J")
    with pytest.raises(BadFact, match=r"^chips/toy: power\.tdp: .* 'J' is not W$"):
        chip_of(tree)


def test_a_word_has_no_range() -> None:
    tree = trees.chip()
    tree["stepping"] = trees.said("one", low="half")
    with refused("chips/toy: stepping: a word has no low or high"):
        chip_of(tree)


def test_a_word_with_evidence_is_a_word() -> None:
    tree = trees.chip()
    tree["stepping"] = trees.said(1)
    with refused("chips/toy: stepping: expected a word, got 1"):
        chip_of(tree)


def test_alternatives_have_a_value_and_a_source() -> None:
    tree = trees.chip()
    other = {"value": "12 W", "source": "another data sheet"}
    tree["power"]["tdp"] = trees.said("10 W", alternatives=[other])
    (alternative,) = chip_of(tree).facts["power.tdp"].alternatives
    assert (alternative.value, alternative.source) == (12.0, "another data sheet")


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"value": "12 W"}, "missing 'source'"),
        ({"source": "another data sheet"}, "missing 'value'"),
        ("12 W", "an alternative is { value = ..., source = ... }, not '12 W'"),
    ],
)
def test_an_alternative_without_a_source_is_hearsay(other: object, why: str) -> None:
    tree = trees.chip()
    tree["power"]["tdp"] = trees.said("10 W", alternatives=[other])
    with refused(f"chips/toy: power.tdp: {why}"):
        chip_of(tree)


@pytest.mark.parametrize("others", [5, True, "12 W", {"value": "12 W"}])
def test_alternatives_are_a_list(others: object) -> None:
    tree = trees.chip()
    tree["power"]["tdp"] = trees.said("10 W", alternatives=others)
    with refused(f"chips/toy: power.tdp: alternatives: expected a list, got {others!r}"):
        chip_of(tree)


# ---- rows


def test_a_measured_figure_is_a_number() -> None:
    tree = trees.row()
    tree["measured"]["mean_tpot_ms"] = float("nan")
    with pytest.raises(
        BadFact, match=r"^references/toy-row: measured\.mean_tpot_ms: .* it is not finite$"
    ):
        row_of(tree)


def test_a_row_carries_no_evidence_a_number() -> None:
    tree = trees.row()
    tree["concurrency"] = trees.said(4)
    with pytest.raises(BadFact, match=r"^references/toy-row: concurrency: expected a number, got"):
        row_of(tree)
