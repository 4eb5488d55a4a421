"""The page: verdicts first, everything that was compared, and what was left out."""

from __future__ import annotations

import re
from dataclasses import replace

from jalapeno.analysis.validation.tiers import Finding
from jalapeno.presentation.validation.as_json import validation_json
from jalapeno.presentation.validation.page import shown, validation_page, with_section
from tests.docs.pages import headings
from tests.presentation.validation.suites import data, drifted, end_to_end, side_by_side


def page() -> str:
    findings = [end_to_end(), side_by_side()]
    return validation_page(data(), findings, drifted(), ["predicted.png"])


def test_the_page_has_a_section_for_everything() -> None:
    found = headings(page())
    assert found[:2] == ("Validation", "Targets and what is reached")
    assert "T2: End to end: measured InferenceX points" in found
    assert "T4: Racks" in found
    assert "the 10 worst points of twin" in found
    assert found.index("Measurements that contradict themselves") < found.index("Drift")


def test_it_says_who_was_asked_what_and_how_many_targets_are_met() -> None:
    text = page()
    assert "48 points (made up)" in text
    assert "*linear*: linear model, nine constants an engine" in text
    assert "targets are met; misses come first" in text
    assert "liar" in text
    assert "](predicted.png)" in text


def test_every_line_of_a_table_has_as_many_cells() -> None:
    for block in re.split(r"\n\n", page()):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.replace("\\|", "").count("|") for line in lines}) <= 1


def test_no_verdict_and_nothing_left_out_are_said() -> None:
    lone = end_to_end(with_twin=False)
    clean = data()
    text = validation_page(clean, [lone], None, [])
    assert "None of the tiers that ran has a target." in text
    assert "## Drift" not in text


def test_the_best_baseline_stands_in_where_the_twin_did_not_play() -> None:
    drawn = shown(end_to_end(with_twin=False))
    assert drawn is not None
    assert drawn[0] in {"linear", "affine"}
    assert shown(side_by_side()) is None


def test_another_page_becomes_a_section() -> None:
    made = with_section("# One\n\nwords\n", "Two", "# Title\n\n## A\n\n```\n# no heading\n```\n")
    assert headings(made) == ("One", "Two", "A")
    assert "### A" in made
    assert "\n# no heading\n" in made
    assert "# Title" not in made


def test_the_data_hold_every_verdict_and_table() -> None:
    findings = [end_to_end(), side_by_side()]
    found = validation_json(data(), findings, drifted())
    assert found["points"] == 48
    assert [tier["tier"] for tier in found["tiers"]] == ["T2", "T4"]
    first = found["tiers"][0]
    assert len(first["verdicts"]) == len(end_to_end().verdicts)
    assert {row["contender"] for row in first["tables"]["by part"]} == {
        *("roofline", "affine", "linear", "twin")
    }
    assert found["drift"]["moved"] == 48
    assert found["excluded"][0]["id"] == "liar"


def test_a_finding_without_tables_is_no_error() -> None:
    bare = Finding(tier="T9", title="Nothing", frame=side_by_side().frame.clear(), verdicts=())
    assert "## T9: Nothing" in validation_page(data(), [bare], None, [])


def test_no_two_tiers_have_tables_under_one_heading() -> None:
    one = end_to_end()
    tiers = [one, replace(one, tier="T9")]
    made = headings(validation_page(data(), tiers, None, []))
    assert len(set(made)) == len(made) - 1  # the worst points, of the same rows
    assert {"T2, by part", "T9, by part"} <= set(made)
