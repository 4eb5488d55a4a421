"""A run read back from its folder is the run that was written, or it is refused in one line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from jalapeno.errors import UsageError
from jalapeno.metrics import measure
from jalapeno.presentation.console import to_json
from jalapeno.presentation.files import Folder
from jalapeno.presentation.runs import run_json, write_run
from jalapeno.simulation import Journal, Role, dump_scenario, read_journal, simulate
from jalapeno.simulation.journal import PAUSE_SCHEMA, KeptSegments
from tests.metrics import journals

POOLS = {"unified": journals.unified(replicas=2), "split": journals.split(2, 2)}


@pytest.fixture(scope="module", params=POOLS)
def run(request: pytest.FixtureRequest) -> Journal:
    return simulate(journals.scenario(POOLS[request.param], requests=20))


@pytest.fixture
def folder(run: Journal, tmp_path: Path) -> Path:
    write_run(Folder(tmp_path, tmp_path), run, measure(run))
    return tmp_path


def test_measured_again_it_gives_the_stored_report_to_the_last_bit(folder: Path) -> None:
    journal = read_journal(folder)
    again = to_json(run_json(journal.scenario, measure(journal)))
    assert again == (folder / "report.json").read_text()


def test_all_of_the_journal_is_there_again(run: Journal, folder: Path) -> None:
    journal = read_journal(folder)
    assert journal.scenario == run.scenario
    assert_frame_equal(journal.requests, run.requests)
    assert_frame_equal(journal.segment_table(), run.segment_table())
    assert_frame_equal(journal.workers, run.workers)


def test_segments_come_in_the_batches_of_the_run(
    run: Journal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = sys.modules[read_journal.__module__]
    monkeypatch.setattr(reader, "BUFFER_SEGMENTS", 7)
    table = run.segment_table()
    batches = [len(batch) for batch in read_journal(folder).segments.batches()]
    assert sum(batches) == len(table)
    assert set(batches[:-1]) == {7}
    assert 0 < batches[-1] <= 7
    parts = KeptSegments(list(table.iter_slices(7)))
    assert measure(read_journal(folder)) == measure(replace(run, segments=parts))


def test_a_run_without_a_report_can_be_read(folder: Path) -> None:
    (folder / "report.json").unlink()
    assert len(read_journal(folder).requests) == 20


# ---- what is no run


def refusal(folder: Path) -> str:
    with pytest.raises(UsageError) as caught:
        read_journal(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_place_where_nothing_is_is_refused(tmp_path: Path) -> None:
    assert "is not there: name the folder of a run" in refusal(tmp_path / "nowhere")


def test_a_file_is_refused(folder: Path) -> None:
    assert "is a file: name the folder of a run" in refusal(folder / "scenario.json")


@pytest.mark.parametrize("name", ["scenario.json", "requests.parquet", "segments.parquet"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert f"it lacks {name}; jalapeno simulate FILE writes one" in refusal(folder)


@pytest.mark.parametrize("name", ["requests.parquet", "segments.parquet"])
def test_what_is_not_parquet_is_refused(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"not a table")
    assert f"{name}: cannot be read" in refusal(folder)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "nonsense", pytest.param("[" * 100_000, id="a deep nest")]
)
def test_what_is_not_a_report_is_refused(folder: Path, text: str) -> None:
    (folder / "report.json").write_text(text)
    assert "is not a report" in refusal(folder)


def test_a_scenario_changed_afterwards_is_refused(run: Journal, folder: Path) -> None:
    (folder / "scenario.json").write_text(dump_scenario(replace(run.scenario, seed=7)))
    said = refusal(folder)
    assert "one of them was changed" in said
    assert "run it again: jalapeno simulate scenario.json" in said


FORGED = "is no segment of a run: it was changed; run it again"
ZERO = 0 * pl.col("steps")
Change = Callable[[pl.DataFrame], pl.DataFrame]

CHANGES: dict[str, tuple[str, Change, str]] = {
    "lost column": ("requests", lambda t: t.drop("end"), "column 'end' is missing"),
    "foreign column": (
        "segments",
        lambda t: t.with_columns(pl.lit(1).alias("x")),
        "column 'x' is unknown",
    ),
    "floats": (
        "segments",
        lambda t: t.with_columns(pl.col("start").cast(pl.Float64)),
        "column 'start' is Float64, expected Int64",
    ),
    "gaps": (
        "requests",
        lambda t: t.with_columns(
            pl.when(pl.col("end") > 10**9).then(None).otherwise(1).alias("end").cast(pl.Int64)
        ),
        "with gaps",
    ),
    "lost rows": ("requests", lambda t: t[:-1], "are not those of scenario.json"),
    "other prompts": (
        "requests",
        lambda t: t.with_columns(pl.col("prompt") + 1),
        "are not those of scenario.json",
    ),
    "foreign worker": (
        "segments",
        lambda t: t.with_columns(pl.col("worker") + 4),
        "names a worker that scenario.json beside it does not have",
    ),
    "foreign rank": (
        "requests",
        lambda t: t.with_columns(pl.col("rank") - 9),
        "names a rank that scenario.json beside it does not have",
    ),
    "no steps": ("segments", lambda t: t.with_columns(steps=0 * pl.col("steps")), FORGED),
    "less than nobody": (
        "segments",
        lambda t: t.with_columns(decoding=-1 - pl.col("decoding")),
        FORGED,
    ),
    "a part before its beginning": (
        "segments",
        lambda t: t.with_columns(memory_first=-1 + ZERO),
        FORGED,
    ),
    "a step without end": ("segments", lambda t: t.with_columns(memory_first=2**62 + ZERO), FORGED),
    "growth without end": (
        "segments",
        lambda t: t.with_columns(memory_growth=2**63 - 1 + ZERO),
        FORGED,
    ),
    "growth backwards": (
        "segments",
        lambda t: t.with_columns(memory_growth=-(2**61) + ZERO),
        FORGED,
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_table_that_is_not_of_this_run_is_refused(folder: Path, name: str) -> None:
    which, change, said = CHANGES[name]
    path = folder / f"{which}.parquet"
    change(pl.read_parquet(path)).write_parquet(path)
    assert said in refusal(folder)


@pytest.mark.parametrize("pause", [(20, 1, 1), (-1, 1, 1), (0, -1, 1), (0, 1, -1), (0, 2**62, 0)])
def test_a_pause_that_no_run_has_is_refused(folder: Path, pause: tuple[int, ...]) -> None:
    rows = pl.DataFrame([(0, 5, 0), pause], schema=PAUSE_SCHEMA, orient="row")
    rows[:1].write_parquet(folder / "pauses.parquet")
    assert len(read_journal(folder).pauses) == 1
    rows.write_parquet(folder / "pauses.parquet")
    assert "pauses.parquet: row 1 is no pause of a run: it was changed" in refusal(folder)


def test_tables_of_another_run_are_refused(folder: Path, run: Journal, tmp_path: Path) -> None:
    lengths = replace(run.scenario.traffic.lengths, seed=5)
    traffic = replace(run.scenario.traffic, lengths=lengths)
    other = simulate(replace(run.scenario, traffic=traffic))
    other.requests.write_parquet(folder / "requests.parquet")
    assert "its requests are not those of scenario.json" in refusal(folder)


def test_a_run_without_a_segment_is_read(tmp_path: Path) -> None:
    """Such as one that was stopped before its first step ended."""
    hand = journals.two_requests()
    assert hand.scenario.pools[0].role is Role.UNIFIED
    drawn = hand.scenario.traffic.lengths.draw(hand.scenario.traffic.requests)
    rows = [
        journals.request(
            prompt=int(p), output=int(o), arrival=0, admitted=0, prefilled=0, first=0, end=0
        )
        for p, o in zip(*drawn, strict=True)
    ]
    (tmp_path / "scenario.json").write_text(dump_scenario(hand.scenario))
    journals.request_table(rows).write_parquet(tmp_path / "requests.parquet")
    journals.segment_table([]).write_parquet(tmp_path / "segments.parquet")
    assert len(read_journal(tmp_path).segment_table()) == 0


def test_the_digest_is_what_the_report_has(folder: Path) -> None:
    said = json.loads((folder / "report.json").read_text())["digest"]
    assert read_journal(folder).scenario.digest == said
