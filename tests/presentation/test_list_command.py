"""``jalapeno list``."""

from __future__ import annotations

import json

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import SHELVES
from tests.presentation.conftest import Call


def test_all_shelves_and_entries_are_listed(call: Call) -> None:
    called = call("list")
    assert (called.code, called.err) == (0, "")
    for shelf in SHELVES:
        assert f"\n{shelf}\n" in f"\n{called.out}"
        for name in catalogue.names(shelf):
            assert f" {name} " in called.out


def test_one_shelf_is_listed_alone(call: Call) -> None:
    called = call("list", "chips")
    assert called.out.startswith("chips\n")
    assert "OpenAI / Broadcom, stepping B0" in called.out
    assert "jalapeno-rack" not in called.out


def test_weak_evidence_is_marked_and_explained(call: Call) -> None:
    out = call("list", "chips").out
    assert "! assumed" in out
    assert "weak evidence" in out


def test_a_shelf_of_strong_evidence_needs_no_explanation(call: Call) -> None:
    assert "weak evidence:" not in call("list", "models").out


def test_json_has_counts_and_weakest_kinds(call: Call) -> None:
    called = call("list", "--json")
    data = json.loads(called.out)
    assert list(data) == list(SHELVES)
    (chip,) = (entry for entry in data["chips"] if entry["name"] == "jalapeno")
    assert chip["title"] == "OpenAI / Broadcom, stepping B0"
    assert chip["facts"] == len(catalogue.chip("jalapeno").facts)
    assert chip["weakest"] == "assumed"
    assert called.err == ""


def test_json_of_one_shelf(call: Call) -> None:
    data = json.loads(call("list", "tariffs", "--json").out)
    assert [entry["name"] for entry in data["tariffs"]] == list(catalogue.names("tariffs"))


@pytest.mark.parametrize("also", [(), ("--json",)])
def test_an_unknown_shelf_is_one_line_and_nothing_on_stdout(
    call: Call, also: tuple[str, ...]
) -> None:
    called = call("list", "chip", *also)
    assert (called.code, called.out) == (2, "")
    assert called.complaint == (
        f"no shelf 'chip'; did you mean 'chips'? known: {', '.join(SHELVES)}"
    )
