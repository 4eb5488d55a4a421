"""``jalapeno validate``: from a file of points to a folder with everything, or none."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from jalapeno.analysis.validation import suite
from jalapeno.analysis.validation.cleaned import ENGINES, MODELS, SYSTEMS
from jalapeno.analysis.validation.drift import read_record
from jalapeno.presentation import pictures
from jalapeno.presentation.validation.command import OURS
from tests.analysis.validation.points import grid
from tests.presentation.conftest import Call
from tests.presentation.validation.suites import twin

BACK = {new: old for names in (MODELS, SYSTEMS, ENGINES) for old, new in names.items()}


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The grid as a file in the cleaned schema."""
    path = tmp_path_factory.mktemp("points") / "points.csv"
    nothing = {
        f"{pool}_{name}": pl.lit(None, pl.Int64)
        for pool in ("prefill", "decode")
        for name in ("num_workers", "tp_size", "attention_dp_size", "moe_ep_size")
    }
    grid().select(
        "id",
        pl.col("source").alias("src"),
        pl.col("model").replace(BACK).alias("model_path"),
        pl.col("system").replace(BACK),
        pl.col("engine").replace(BACK).alias("backend"),
        "precision",
        pl.lit("agg").alias("mode"),
        "split",
        "isl",
        "osl",
        pl.col("concurrency").alias("conc"),
        "gpus",
        pl.col("decode_tp").alias("tp_size"),
        pl.col("decode_dp").alias("attention_dp_size"),
        pl.col("decode_ep").alias("moe_ep_size"),
        *(column.alias(name) for name, column in nothing.items()),
        pl.col("measured_ttft_ms").alias("silicon_ttft_ms"),
        pl.col("measured_tpot_ms").alias("silicon_tpot_ms"),
    ).write_csv(path)
    return path


@pytest.fixture
def with_twin(monkeypatch: pytest.MonkeyPatch, without_ours: None) -> None:
    """Let a twin play that is a fifth too slow."""
    monkeypatch.setattr(suite, "ours", lambda fitting: (twin(grid()),))


@pytest.fixture(autouse=True)
def without_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody play who takes longer than a moment."""
    monkeypatch.setattr(suite, "ours", lambda fitting: ())


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw nothing: each picture takes a second, and has tests of its own."""
    monkeypatch.setattr(pictures, "png", lambda chart: b"")
    monkeypatch.setattr(pictures, "svg", lambda chart: "")


CURVES = ("--tier", "T2", "--protocol", "curves")


@pytest.mark.usefixtures("with_twin")
def test_the_folder_holds_everything(call: Call, points: Path, tmp_path: Path) -> None:
    called = call("validate", *CURVES, "--data", points, "--out", tmp_path / "out")
    assert called.code == 0
    assert {entry.name for entry in (tmp_path / "out").iterdir()} == set(OURS)
    assert "MISSED" in called.out
    assert "points.csv" in called.out
    played = pl.read_parquet(tmp_path / "out" / "predictions.parquet")
    assert set(played["contender"]) == {"roofline", "affine", "linear", "twin"}
    report = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert report.startswith("# Validation\n")
    assert "20.0" in report


def test_json_is_only_json(call: Call, points: Path, tmp_path: Path) -> None:
    called = call("validate", *CURVES, "--data", points, "--out", tmp_path / "out", "--json")
    found = json.loads(called.out)
    assert found == json.loads((tmp_path / "out" / "validation.json").read_text("utf-8"))
    assert found["protocols"] == ["curves"]
    assert found["tiers"][0]["verdicts"] == []


@pytest.mark.usefixtures("with_twin")
def test_a_record_shows_no_drift_against_itself_and_some_against_another(
    call: Call, points: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, ask = tmp_path / "record.csv", ("validate", *CURVES, "--data", points)
    assert call(*ask, "--out", tmp_path / "out", "--record", record).code == 0
    assert len(read_record(record.read_bytes(), "record")) == 48
    same = call(*ask, "--out", tmp_path / "out", "--against", record)
    assert "0 moved by more than 2.0 %" in same.out
    monkeypatch.setattr(suite, "ours", lambda fitting: (twin(grid(), 1.1),))
    moved = call(*ask, "--out", tmp_path / "out", "--against", record)
    assert "48 moved by more than 2.0 %" in moved.out
    assert "was 20.0 % then and 10.0 % now" in moved.out


def test_nothing_to_record_is_said(call: Call, points: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.csv"
    ask = ("validate", *CURVES, "--data", points, "--out", tmp_path / "out", "--record", record)
    called = call(*ask)
    assert called.code == 2
    assert "the twin predicted nothing" in called.complaint
    assert not record.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--tier", "T22"), "no tier 'T22'; did you mean 'T2'?"),
        (("--protocol", "curve"), "no protocol 'curve'; did you mean 'curves'?"),
        (("--data", "nowhere.csv"), "nowhere.csv: cannot be read"),
        (("--against", "nowhere.csv"), "--against nowhere.csv: cannot be read"),
    ],
)
def test_what_is_wrong_is_one_line_and_leaves_nothing(
    call: Call, points: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    given = ("--data", points) if "--data" not in arguments else ()
    called = call("validate", *arguments, *given, "--out", tmp_path / "out")
    assert called.code == 2
    assert called.complaint.startswith(said)
    assert list(tmp_path.iterdir()) == []


def test_points_that_contradict_themselves_are_named(
    call: Call, points: Path, tmp_path: Path
) -> None:
    spoilt = tmp_path / "spoilt.csv"
    table = pl.read_csv(points)
    first = pl.col("id") == "point-000"
    table.with_columns(pl.when(first).then(99).otherwise("gpus").alias("gpus")).write_csv(spoilt)
    called = call("validate", *CURVES, "--data", spoilt, "--out", tmp_path / "out", "--json")
    found = json.loads(called.out)
    assert found["excluded"] == [
        {"id": "point-000", "reason": "its layout is incomplete, or of other GPUs than it names"}
    ]
    assert found["points"] == 47


def test_an_unwritable_page_is_known_before_the_work(call: Call, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    called = call("validate", "--docs", tmp_path / "file" / "page.md", "--out", tmp_path / "out")
    assert called.code == 1
    assert "page.md: cannot be written" in called.complaint
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_help_names_every_option_with_an_example(call: Call) -> None:
    called = call("validate", "--help")
    for option in ("--tier", "--protocol", "--data", "--docs", "--record", "--against", "--json"):
        assert option in called.out
    assert "Example: jalapeno validate" in called.out
