"""Raw logs of a run: everything, readable, and the same bytes each time."""

from __future__ import annotations

import io
import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from jalapeno.metrics import measure
from jalapeno.presentation.files import Folder
from jalapeno.presentation.runs import RUN_FILES, parquet, run_json, write_run
from jalapeno.simulation import Journal, read_scenario
from jalapeno.simulation.journal import KeptSegments
from tests.metrics import journals
from tests.presentation.samples import journal, scenario


@pytest.fixture(scope="module")
def run() -> Journal:
    return journal(scenario(overrides={"chip.hbm.bandwidth": "20 TB/s"}))


def written(run: Journal, folder: Path, place: str = "") -> dict[str, bytes]:
    folder.mkdir()
    write_run(Folder(folder, folder), run, measure(run), place)
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_run_is_four_files(run: Journal, tmp_path: Path) -> None:
    assert set(written(run, tmp_path / "a")) == set(RUN_FILES)


def test_a_run_may_lie_deeper(run: Journal, tmp_path: Path) -> None:
    files = written(run, tmp_path / "a", "runs/rack/model/peak/")
    assert set(files) == {f"runs/rack/model/peak/{name}" for name in RUN_FILES}


def test_the_same_run_gives_the_same_bytes(run: Journal, tmp_path: Path) -> None:
    assert written(run, tmp_path / "a") == written(run, tmp_path / "b")


def test_the_scenario_can_be_read_back(run: Journal, tmp_path: Path) -> None:
    written(run, tmp_path / "a")
    again = read_scenario(tmp_path / "a" / "scenario.json")
    assert again == run.scenario
    assert again.digest == run.scenario.digest


def test_the_tables_can_be_read_back(run: Journal, tmp_path: Path) -> None:
    written(run, tmp_path / "a")
    assert_frame_equal(pl.read_parquet(tmp_path / "a" / "requests.parquet"), run.requests)
    assert_frame_equal(pl.read_parquet(tmp_path / "a" / "segments.parquet"), run.segment_table())


def test_batches_of_segments_become_one_file(run: Journal) -> None:
    whole = run.segment_table()
    parts = Journal(run.scenario, run.requests, KeptSegments([whole[:1], whole[1:]]), run.workers)
    assert parquet(parts.segment_table()) == parquet(whole)


def test_the_report_has_the_numbers_and_what_was_replaced(run: Journal, tmp_path: Path) -> None:
    report = measure(run)
    data = json.loads(written(run, tmp_path / "a")["report.json"])
    assert data["digest"] == run.scenario.digest
    assert data["latency"]["e2e_ms"]["mean"] == report.latency.e2e_ms.mean
    assert list(data["overridden"]) == ["chip.hbm.bandwidth"]
    assert data["overridden"]["chip.hbm.bandwidth"]["text"] == "20 TB/s"


def test_nothing_replaced_is_an_empty_table() -> None:
    plain = journals.two_requests()
    from_catalogue = journal(scenario())
    assert run_json(from_catalogue.scenario, measure(from_catalogue))["overridden"] == {}
    assert set(run_json(plain.scenario, measure(plain))["overridden"]) == {
        "chip.power.idle",
        "chip.power.cap",
    }


def test_parquet_is_made_in_memory() -> None:
    table = pl.DataFrame({"a": range(100_000)})
    assert_frame_equal(pl.read_parquet(io.BytesIO(parquet(table))), table)
