"""Entries of the catalogue as lines to read."""

from __future__ import annotations

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import SHELVES, Fact, Kind
from jalapeno.errors import BadFact, UnknownName, UsageError
from jalapeno.presentation.entries import Entry, find, shelf_entries

EVERY = [(shelf, name) for shelf in SHELVES for name in catalogue.names(shelf)]


@pytest.fixture(scope="module")
def entries() -> dict[tuple[str, str], Entry]:
    return {(e.shelf, e.name): e for shelf in SHELVES for e in shelf_entries(shelf)}


# ---- every entry


def test_every_entry_is_listed_once(entries: dict[tuple[str, str], Entry]) -> None:
    assert list(entries) == EVERY


def test_every_fact_that_can_be_replaced_is_a_line(
    entries: dict[tuple[str, str], Entry],
) -> None:
    for (shelf, name), entry in entries.items():
        if shelf != "references":
            paths = set(catalogue.paths(catalogue.tree(shelf, name)))
            assert set(entry.lines) == paths - {"title", "source"}


def test_every_fact_has_a_source(entries: dict[tuple[str, str], Entry]) -> None:
    for entry in entries.values():
        assert all(fact.source for fact in entry.facts.values())


def test_every_entry_says_what_it_is(entries: dict[tuple[str, str], Entry]) -> None:
    assert all(entry.title.strip() for entry in entries.values())


def test_the_weakest_fact_speaks_for_the_entry() -> None:
    entry = find("jalapeno", "chips", {})
    assert entry.weakest is Kind.ASSUMED
    assert entry.facts["vector.peak"].kind is Kind.ASSUMED
    assert Entry("chips", "nothing", "", {"vendor": "nobody"}).weakest is None


def test_words_without_evidence_are_lines_too() -> None:
    lines = find("gpt-oss-120b", "models", {}).lines
    assert lines["weights.experts"] == "mxfp4"
    assert isinstance(lines["layers"], Fact)


def test_keys_that_hold_dots_are_found() -> None:
    lines = find("tensorrt-llm", None, {}).lines
    dotted = [path for path in lines if path.startswith("formats.kimi-k2.5/")]
    assert dotted
    assert all(isinstance(lines[path], str) for path in dotted)


@pytest.mark.parametrize(
    ("shelf", "name", "title"),
    [
        ("chips", "jalapeno", "OpenAI / Broadcom, stepping B0"),
        ("systems", "jalapeno-rack", "Jalapeño rack"),
        ("tariffs", "jalapeno", "power and price of a jalapeno"),
        ("claims", "gpt-oss-120b", "gpt-oss-120b: jalapeno-rack against gb200-nvl72"),
        ("references", "gb200-gpt-oss-120b-c1-tp8", "gpt-oss-120b on gb200-nvl72, 1 in flight"),
        (
            "references",
            "gb300-deepseek-r1-mtp-c5-4xtep8",
            "deepseek-r1 on gb300-nvl72, 5 in flight, multi-token prediction",
        ),
        (
            "references",
            "gb300-kimi-k2.5-c4-4xtep8",
            "kimi-k2.5 on gb300-nvl72, 4 in flight, no public measurement",
        ),
    ],
)
def test_titles_tell_entries_apart(shelf: str, name: str, title: str) -> None:
    assert find(name, shelf, {}).title == title


# ---- measured rows


def test_measured_figures_have_the_unit_of_their_name() -> None:
    facts = find("gb200-gpt-oss-120b-c1-tp8", None, {}).facts
    tpot = facts["measured.mean_tpot_ms"]
    assert tpot.value == pytest.approx(1.8682e-3)
    assert (tpot.unit, tpot.text) == ("s", "1.8682 ms")
    e2e = facts["measured.mean_e2e_s"]
    assert (e2e.value, e2e.unit, e2e.text) == (1.8014, "s", "1.8014 s")
    rate = facts["measured.tput_per_gpu"]
    assert (rate.value, rate.unit, rate.text) == (512.9867, "token/s", "512.9867 token/s/GPU")
    user = facts["measured.mean_tokens_per_s_per_user"]
    assert (user.unit, user.text) == ("token/s", "535.275 token/s/user")
    assert {facts[path].kind for path in facts if path.startswith("measured.")} == {Kind.MEASURED}


def test_every_measured_figure_of_every_row_has_a_unit(
    entries: dict[tuple[str, str], Entry],
) -> None:
    for (shelf, _), entry in entries.items():
        if shelf == "references":
            measured = {p: f for p, f in entry.facts.items() if p.startswith("measured.")}
            assert all(fact.unit for fact in measured.values())


def test_slots_say_how_they_are_known() -> None:
    facts = find("gb200-gpt-oss-120b-c1-tp8", None, {}).facts
    assert facts["decode.slots"].kind is Kind.DERIVED
    assert "Little" in facts["decode.slots"].source
    assert facts["prefill.slots"].kind is Kind.ASSUMED


def test_a_row_without_measurement_has_no_measured_line() -> None:
    entry = find("gb300-kimi-k2.5-c4-4xtep8", None, {})
    assert not [path for path in entry.lines if path.startswith("measured")]


def test_the_layout_of_a_row_is_plain_words() -> None:
    lines = find("gb200-gpt-oss-120b-c1-tp8", None, {}).lines
    assert lines["decode.tp"] == "8"
    assert lines["mtp"] == "false"


# ---- finding


def test_an_entry_is_found_on_whichever_shelf_has_it() -> None:
    assert find("jalapeno-rack", None, {}).shelf == "systems"
    assert find("gb200-gpt-oss-120b-c1-tp8", None, {}).shelf == "references"


def test_a_name_on_several_shelves_asks_which() -> None:
    with pytest.raises(UsageError) as caught:
        find("jalapeno", None, {})
    assert str(caught.value) == (
        "'jalapeno' is on 2 shelves: choose with --shelf chips or --shelf tariffs"
    )


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(
        UnknownName, match=r"^no entry 'jalapeno-rak'; did you mean 'jalapeno-rack'"
    ):
        find("jalapeno-rak", None, {})
    with pytest.raises(UnknownName, match=r"^no entry 'zzzz'\nsee jalapeno list$"):
        find("zzzz", None, {})


def test_an_unknown_name_of_a_shelf_gets_all_of_the_shelf() -> None:
    with pytest.raises(
        UnknownName, match=r"no chip 'jalapno'; did you mean 'jalapeno'\?\nknown: b"
    ):
        find("jalapno", "chips", {})


def test_an_unknown_shelf_gets_all_shelves() -> None:
    with pytest.raises(UnknownName, match=r"no shelf 'chip'; did you mean 'chips'\?\nknown: chips"):
        find("jalapeno", "chip", {})
    with pytest.raises(UnknownName, match="no shelf"):
        shelf_entries("shelves")


# ---- overriding


def test_a_replaced_fact_says_so() -> None:
    fact = find("jalapeno", "chips", {"hbm.bandwidth": "20 TB/s"}).facts["hbm.bandwidth"]
    assert fact.value == 20e12
    assert fact.overridden
    assert fact.kind is Kind.ASSUMED
    assert fact.alternatives[0].value == 15.4e12


@pytest.mark.parametrize(("shelf", "name"), [("chips", "jalapeno"), ("systems", "jalapeno-rack")])
def test_a_chip_s_path_is_the_same_alone_and_in_a_system(shelf: str, name: str) -> None:
    facts = find(name, shelf, {"chip.hbm.bandwidth": "20 TB/s"}).facts
    assert [path for path, fact in facts.items() if fact.overridden] == [
        "hbm.bandwidth" if shelf == "chips" else "chip.hbm.bandwidth"
    ]


def test_a_wrong_unit_is_refused_with_an_example() -> None:
    with pytest.raises(BadFact, match=r"hbm.bandwidth: expected a quantity in B/s, such as '15.4"):
        find("jalapeno", "chips", {"hbm.bandwidth": "20 W"})


def test_an_unknown_path_gets_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'hbm.bandwidth'"):
        find("jalapeno", "chips", {"hbm.bandwith": "20 TB/s"})


def test_a_measurement_cannot_be_replaced() -> None:
    with pytest.raises(UsageError, match=r"c1-tp8 is a measurement; only facts of the twin"):
        find("gb200-gpt-oss-120b-c1-tp8", None, {"measured.mean_tpot_ms": "1"})
