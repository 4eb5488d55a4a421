"""``jalapeno audit``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jalapeno.analysis.claims import audit
from jalapeno.presentation.audit.chart import DRAWN, audit_chart
from jalapeno.presentation.audit.command import PICTURE
from jalapeno.presentation.audit.page import audit_page
from jalapeno.presentation.audit.tables import (
    MARKS,
    audit_tables,
    ratio_cell,
    sentence_lines,
)
from jalapeno.presentation.audit.to_json import audit_json
from tests.presentation.charts import mark_type, marks, rows, titles
from tests.presentation.conftest import Call

FOUND = audit()


def test_it_prints_what_was_said_and_every_denominator(call: Call) -> None:
    called = call("audit", "deepseek-r1")
    assert called.code == 0
    words = " ".join(called.out.split())
    for text in ("what was said", "per kW of TDP", "per kW drawn", "per dollar", "GB300 NVL72"):
        assert text in words
    assert "gpt-oss-120b: peak" not in words


def test_json_has_every_finding_with_range_verdict_and_sources(call: Call) -> None:
    called = call("audit", "--json")
    data = json.loads(called.out)
    assert len(data["findings"]) == len(FOUND.findings)
    for finding in data["findings"]:
        assert finding["ratio"]["low"] <= finding["ratio"]["value"] <= finding["ratio"]["high"]
        assert finding["verdict"] in ("supported", "not supported", "undecided")
        assert finding["sources"]
    assert data["missing"]


def test_sentences_say_verdict_first_and_sources_below(call: Call) -> None:
    called = call("audit", "kimi-k2.5", "--sentences")
    lines = called.out.splitlines()
    assert len(lines) == 2 * sum(f.model == "kimi-k2.5" for f in FOUND.findings)
    assert any(
        line.startswith("NOT SUPPORTED: Moonshot Kimi K2.5: At its peak Jalapeño serves more per")
        for line in lines
    )
    assert all("weakest evidence" in line for line in lines[1::2])


def test_a_model_outside_of_the_comparison_is_named_with_those_inside(call: Call) -> None:
    called = call("audit", "deepseek-r2")
    assert called.code == 2
    assert "did you mean 'deepseek-r1'" in called.complaint
    assert "gpt-oss-120b" in called.complaint


def test_a_page_comes_with_its_picture(call: Call, tmp_path: Path) -> None:
    called = call("audit", "--docs", tmp_path / "audit.md")
    assert called.code == 0
    page = (tmp_path / "audit.md").read_text("utf-8")
    assert page == audit_page(FOUND)
    assert f"({PICTURE})" in page
    assert (tmp_path / PICTURE).read_bytes().startswith(b"\x89PNG")


def test_a_picture_is_asked_for_by_its_ending(call: Call, tmp_path: Path) -> None:
    assert call("audit", "--out", tmp_path / "a.svg").code == 0
    assert "<svg" in (tmp_path / "a.svg").read_text("utf-8")
    assert call("audit", "--out", tmp_path / "a.gif").code == 2


def test_every_finding_is_in_a_table_and_in_the_sources() -> None:
    cells = {cell.strip() for table in audit_tables(FOUND) for row in table.rows for cell in row}
    assert all(ratio_cell(f) in cells for f in FOUND.findings)
    page = audit_page(FOUND)
    assert all(source in page for f in FOUND.findings for source in f.sources)


def test_a_lower_bound_shows_as_one() -> None:
    least = next(f for f in FOUND.findings if f.least)
    assert ratio_cell(least).startswith(f"{MARKS[least.verdict]} ≥ ")
    assert any("at least" in line for line in sentence_lines(FOUND))


def test_marks_tell_verdicts_without_colour() -> None:
    assert len(set(MARKS.values())) == len(MARKS) == 3


def test_the_numbers_of_json_are_those_of_the_findings() -> None:
    data = audit_json(FOUND)
    for told, finding in zip(data["findings"], FOUND.findings, strict=True):
        assert told["ratio"]["value"] == finding.ratio.value
        assert told["kind"] == finding.kind.name.lower()


# ---- the picture


@pytest.fixture(scope="module")
def spec() -> dict[str, object]:
    drawn = audit_chart(FOUND).to_dict()
    assert isinstance(drawn, dict)
    return drawn


def test_the_picture_has_a_panel_a_model_and_units(spec: dict[str, object]) -> None:
    panels = spec["hconcat"]
    assert isinstance(panels, list)
    assert [panel["title"] for panel in panels] == [
        "DeepSeek-R1",
        "OpenAI gpt-oss-120b",
        "Moonshot Kimi K2.5",
    ]
    assert titles(spec, "x") == {"Jalapeño over the other"}


def test_the_picture_tells_baselines_by_shape_and_filling(spec: dict[str, object]) -> None:
    layer = next(one for one in marks(spec) if mark_type(one) == "point")
    shapes = layer["encoding"]["shape"]["scale"]["range"]
    fills = layer["encoding"]["fill"]["scale"]["range"]
    looks = set(zip(shapes, (fill == "#ffffff" for fill in fills), strict=True))
    assert len(looks) == len(shapes) == 2 * len(DRAWN)


def test_every_mark_lies_inside_of_the_picture_with_all_of_its_bar(
    spec: dict[str, object],
) -> None:
    for layer in marks(spec):
        if mark_type(layer) != "point":
            continue
        low, high = layer["encoding"]["x"]["scale"]["domain"]
        for each in rows(spec, layer):
            assert low <= each["low"] <= each["ratio"] <= each["high"] <= high
