"""The glossary: sorted, short, and with the words that the other pages use."""

from __future__ import annotations

import re

import pytest

from jalapeno.catalogue import Kind
from jalapeno.cost import PARTS
from tests.docs.pages import DOCS, prose, read

TEXT = prose(read(DOCS / "glossary.md"))
ENTRY = re.compile(r"\*\*(?P<term>[^*]+)\*\*: (?P<words>\S.*)", re.DOTALL)
PARAGRAPHS = [" ".join(text.split()) for text in TEXT.split("\n\n") if text.strip()][2:]

ENTRIES = {found["term"]: found["words"] for text in PARAGRAPHS if (found := ENTRY.match(text))}

EXPECTED = (
    *("TTFT", "TBT", "TPOT", "ITL", "ISL, OSL", "E2E", "TP", "EP", "DP", "TEP", "DEP", "MTP"),
    *("KV block", "MLA", "GQA", "MoE", "goodput", "frontier", "mixed TPS/kW", "interactivity"),
    *("A0, B0", "kinds of evidence", "segment", "knot", "slot", "token budget", "TDP", "PUE"),
)


def test_every_paragraph_is_an_entry() -> None:
    assert len(ENTRIES) == len(PARAGRAPHS)


def test_entries_are_in_alphabetical_order() -> None:
    terms = [term.lower() for term in ENTRIES]
    assert terms == sorted(terms)


def test_an_entry_has_one_to_three_sentences() -> None:
    for term, words in ENTRIES.items():
        assert words.endswith("."), term
        assert 1 <= len(re.findall(r"\.(?=\s|$)", words)) <= 3, term


@pytest.mark.parametrize("term", EXPECTED)
def test_the_terms_of_the_field_are_there(term: str) -> None:
    assert term.lower() in {known.lower() for known in ENTRIES}


def test_kinds_of_evidence_are_in_the_order_of_their_strength() -> None:
    kinds = ", ".join(kind.name.lower() for kind in Kind)
    assert kinds in ENTRIES["Kinds of evidence"]


def test_parts_are_those_of_a_cost() -> None:
    assert ", ".join(PARTS) in ENTRIES["Part"]
