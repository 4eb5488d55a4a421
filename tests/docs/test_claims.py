"""What the pages say of the code is what the code says of itself."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from jalapeno import catalogue
from jalapeno.analysis import inverse
from jalapeno.catalogue import CLASSES, FORMATS, SHELVES, Engine, Kind
from jalapeno.cost import PARTS
from jalapeno.errors import JalapenoError, UsageError
from jalapeno.mapping import Plan
from jalapeno.mapping.outputs import FOREVER
from jalapeno.metrics import Report
from jalapeno.presentation.cli import INTERRUPTED, TERMINATED
from jalapeno.presentation.runs import RUN_FILES
from tests.docs.pages import DOCS, prose, read

NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


def section(page: Path, heading: str) -> str:
    """The prose below *heading*, up to the next of its kind."""
    return prose(read(page).partition(f"## {heading}\n")[2].partition("\n## ")[0]).strip()


def paragraph(text: str, begin: str) -> str:
    """The paragraph that begins so, on one line."""
    (found,) = (part for part in text.split("\n\n") if part.startswith(begin))
    return " ".join(found.split())


def code(text: str) -> list[str]:
    """What stands in backquotes."""
    return re.findall(r"`([^`]+)`", text)


def fitted(engine: str) -> set[str]:
    facts = catalogue.engine(engine).facts
    return {path for path, fact in facts.items() if fact.kind == Kind.FITTED}


# ---- physics.md


def test_the_fitted_facts_of_tensorrt_llm_are_those_of_the_catalogue() -> None:
    text = paragraph(section(DOCS / "physics.md", "What is fitted"), "**TensorRT-LLM**")
    assert set(code(text)) == fitted("tensorrt-llm")
    assert f"{NUMBERS[len(fitted('tensorrt-llm'))]} facts" in text


def test_the_two_constants_of_a_layer_are_one() -> None:
    engine = catalogue.engine("tensorrt-llm")
    assert engine.issue_layer_rest == engine.issue_layer_load


def test_the_rows_of_the_fit_are_counted_right() -> None:
    rows = [row for row in catalogue.rows() if row.measured and not row.mtp]
    text = paragraph(section(DOCS / "physics.md", "What is fitted"), "**TensorRT-LLM**")
    assert f"mean TTFT of {len(rows)} measured rows" in text
    assert {row.model for row in rows} == {"gpt-oss-120b", "deepseek-r1"}


def test_slots_of_the_rows_are_known_as_the_page_says() -> None:
    rows = [row for row in catalogue.rows() if row.measured and not row.mtp]
    kinds = {(row.system, row.decode.slots_kind) for row in rows}
    assert kinds == {("gb200-nvl72", "little"), ("gb300-nvl72", "recipe")}


def test_the_fitted_constants_of_jalapeno_are_those_of_the_fit() -> None:
    text = paragraph(section(DOCS / "physics.md", "What is fitted"), "**Jalapeño's engine**")
    paths = [constant.path for constant in inverse.CONSTANTS]
    first, second = text.split("were fitted to")
    assert code(first) == paths
    assert f"{NUMBERS[len(paths)].capitalize()} constants" in first
    assert set(inverse.CHOSEN) <= set(code(second))
    assert f"{NUMBERS[len(paths) + len(inverse.CHOSEN)]} choices" in second


def test_what_is_fitted_or_tied_to_what_is_fitted_is_named() -> None:
    text = paragraph(section(DOCS / "physics.md", "What is fitted"), "**Jalapeño's engine**")
    assert fitted("jalapeno-engine") == {c.path for c in inverse.CONSTANTS} | {"kv_efficiency"}
    assert "`kv_efficiency` is tied to `memory_efficiency`" in text


def test_the_efficiency_of_the_attention_kernel_is_published() -> None:
    fact = catalogue.engine("jalapeno-engine").facts["decode_attention_efficiency"]
    assert fact.kind == Kind.PUBLISHED


@pytest.mark.parametrize("name", catalogue.names("chips"))
def test_no_energy_of_a_chip_is_better_than_estimated(name: str) -> None:
    facts = catalogue.chip(name).facts
    assert all(facts[path].kind >= Kind.ESTIMATED for path in facts if path.startswith("energy."))
    assert facts["energy.per_flop_8x8"].low is not None


def test_a_rate_of_mixed_widths_is_what_the_page_says() -> None:
    ours, theirs = catalogue.chip("jalapeno").matrix, catalogue.chip("gb300").matrix
    assert ours.peak_8x4 / ours.peak_8x8 == pytest.approx(2.0, rel=0.02)
    assert theirs.peak_8x4 == theirs.peak_8x8


def test_the_longest_segment_is_what_the_page_says() -> None:
    assert f"at most {FOREVER:,} steps" in " ".join(section(DOCS / "physics.md", "Serving").split())


def test_the_parts_of_a_step_are_listed() -> None:
    assert f"*{', '.join(PARTS)}*" in section(DOCS / "physics.md", "A step")


def test_the_kinds_of_evidence_are_listed_in_order() -> None:
    kinds = ", ".join(kind.name.lower() for kind in Kind)
    assert kinds in section(DOCS / "physics.md", "Kinds of evidence")


# ---- adding-facts.md


def test_every_key_of_an_engine_is_explained() -> None:
    rows = re.findall(
        r"^\| (`.+?) \|", section(DOCS / "adding-facts.md", "An engine"), re.MULTILINE
    )
    named = [name for row in rows for name in code(row)]
    assert named == [field.name for field in fields(Engine) if field.name != "facts"]


def test_every_class_of_tensors_and_every_format_is_named() -> None:
    assert set(CLASSES) <= set(code(section(DOCS / "adding-facts.md", "An engine")))
    assert set(FORMATS) <= set(code(section(DOCS / "adding-facts.md", "A model")))


@pytest.mark.parametrize("page", ["guide.md", "adding-facts.md"])
def test_every_shelf_is_named(page: str) -> None:
    assert all(shelf in read(DOCS / page) for shelf in SHELVES)


# ---- guide.md


def first_cells(text: str) -> list[str]:
    return re.findall(r"^\| (.+?) +\|", text, re.MULTILINE)


def test_every_field_of_a_plan_is_explained() -> None:
    cells = first_cells(section(DOCS / "guide.md", "Plan, and price a batch"))
    assert cells[1:] == [f"`{field.name}`" for field in fields(Plan)]


def test_every_part_of_a_report_with_numbers_is_explained() -> None:
    cells = " ".join(first_cells(section(DOCS / "guide.md", "Simulate, and measure")))
    words = {"layout", "load", "digest", "kind", "tables_kind", "requests", "requests_done"}
    assert set(code(cells)) == {field.name for field in fields(Report)} - words


def test_every_file_of_a_run_is_explained() -> None:
    cells = " ".join(first_cells(section(DOCS / "guide.md", "Keep a scenario in a file")))
    assert set(code(cells)) == set(RUN_FILES)


def test_exit_codes_are_those_of_the_command() -> None:
    text = section(DOCS / "guide.md", "How commands end")
    assert f"| {JalapenoError.exit_code} |" in text
    assert f"| {UsageError.exit_code} |" in text
    assert f"| {INTERRUPTED}, {TERMINATED} |" in text
