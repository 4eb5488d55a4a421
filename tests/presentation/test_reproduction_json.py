"""The reproduction as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jalapeno.analysis.reproduction import OBJECTIVES, UNITS
from jalapeno.presentation.console import to_json
from jalapeno.presentation.reproduction_json import reproduction_json
from tests.presentation.samples import outcomes, reproduction


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    made = reproduction()
    found: dict[str, Any] = json.loads(to_json(reproduction_json(made, outcomes(made).values())))
    return found


def test_every_part_is_there(data: dict[str, Any]) -> None:
    assert list(data) == [
        "version",
        "comparisons",
        "rows",
        "layouts",
        "mtp_rows",
        "curves",
        "left_out",
        "constants",
        "bands",
        "runs",
    ]
    assert (len(data["comparisons"]), len(data["rows"]), len(data["layouts"])) == (3, 23, 11)


def test_numbers_have_units_and_are_not_rounded(data: dict[str, Any]) -> None:
    for found, made in zip(data["comparisons"], reproduction().comparisons, strict=True):
        assert [n["objective"] for n in found["jalapeno"]] == list(OBJECTIVES)
        for number, original in zip(found["jalapeno"], made.jalapeno, strict=True):
            assert number["unit"] == UNITS[original.objective]
            assert number["published"] == original.published
            assert number["twin"] == original.twin
            assert number["residual"] == original.residual
            assert number["run"] in data["runs"]


def test_advantages_are_published_and_recomputed(data: dict[str, Any]) -> None:
    gpt = data["comparisons"][1]
    assert gpt["reference"] == "gb200-nvl72"
    assert gpt["advantages"]["peak"]["published"] == pytest.approx(85448 / 44960)
    assert gpt["advantages"]["min_e2e"]["published"] == pytest.approx(1.80 / 1.03)


def test_rows_name_their_run_and_errors(data: dict[str, Any]) -> None:
    row = data["rows"][0]
    assert row["row"]["name"] == row["run"] == "gb200-gpt-oss-120b-c1-tp8"
    assert row["errors"]["tput_per_gpu"] == pytest.approx(-0.04)
    assert row["row"]["decode"]["slots_kind"] == "little"


def test_every_run_has_its_whole_report(data: dict[str, Any]) -> None:
    assert set(data["runs"]) == set(outcomes(reproduction()))
    for run in data["runs"].values():
        assert {"latency", "throughput", "power", "attribution", "checks", "overridden"} <= set(run)


def test_what_was_left_out_has_a_unit(data: dict[str, Any]) -> None:
    assert data["left_out"][1]["unit"] == "s"
    assert data["constants"]["overlap"] == "0.5 (assumed)"
