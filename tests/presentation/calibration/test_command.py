"""``jalapeno calibrate``: from files of points to tables, JSON and an entry."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from jalapeno import catalogue
from jalapeno.analysis.calibration import calibrate as module
from jalapeno.presentation.calibration import tables
from jalapeno.presentation.calibration.command import OURS
from tests.analysis.calibration.small import CONSTANTS as SMALL
from tests.presentation.calibration.files import table
from tests.presentation.conftest import Call


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small points as a file."""
    path = tmp_path_factory.mktemp("points") / "points.csv"
    table().write_csv(path)
    return path


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few unknowns, so that a fit takes a second."""
    monkeypatch.setattr(module, "CONSTANTS", SMALL)
    monkeypatch.setattr(module, "factors", lambda rows: [])


QUICK = ("--bootstrap", 5, "--rounds", 4)


def test_tables_say_constants_errors_and_misses(call: Call, points: Path) -> None:
    called = call("calibrate", points, *QUICK)
    assert called.code == 0
    assert "vllm, fitted to 13 points on 7 curves" in called.out
    for constant in SMALL:
        assert constant.path in called.out
    assert "errors by model: vllm before, fitted after" in called.out
    assert "errors by system" in called.out
    assert "largest misses" in called.out
    assert "vllm: 13 points on 7 curves" in called.err
    assert "derivatives, round 1" in called.err


def test_json_is_json_alone_and_has_every_point(call: Call, points: Path) -> None:
    called = call("calibrate", points, *QUICK, "--json")
    found = json.loads(called.out)
    assert (found["engine"], found["base"]) == ("vllm", "vllm")
    assert (found["points"], found["curves"], found["medians"]) == (13, 7, 0)
    assert [each["path"] for each in found["constants"]] == [one.path for one in SMALL]
    for each in found["constants"]:
        assert each["low"] <= each["value"] <= each["high"]
    assert len(found["predictions"]) == 13
    assert set(found["errors"]) == {"before", "after"}
    assert catalogue.engine_of(found["entry"]).name == "vllm-fitted"


def test_the_entry_that_is_written_stands_wherever_a_name_may(
    call: Call, points: Path, tmp_path: Path
) -> None:
    out = tmp_path / "mine.toml"
    assert call("calibrate", points, *QUICK, "--out", out).code == 0
    assert out.read_text().startswith(OURS)
    assert tomllib.loads(out.read_text())["name"] == "mine"
    assert catalogue.engine(str(out)).name == "mine"
    assert call("system", "check", out).code == 0
    again = call("calibrate", points, *QUICK, "--base", out, "--out", out)
    assert again.code == 0


def test_what_it_did_not_write_it_does_not_replace(
    call: Call, points: Path, tmp_path: Path
) -> None:
    out = tmp_path / "mine.toml"
    out.write_text("# mine\n")
    called = call("calibrate", points, *QUICK, "--out", out)
    assert called.code == 1
    assert "did not write" in called.complaint
    assert out.read_text() == "# mine\n"


def test_the_same_seed_gives_the_same_numbers(call: Call, points: Path) -> None:
    one, two = (call("calibrate", points, *QUICK, "--json", "--seed", 3).out for _ in range(2))
    assert one == two


def test_points_may_be_narrowed(call: Call, points: Path) -> None:
    called = call("calibrate", points, *QUICK, "--only-system", "h100-hgx", "--json")
    assert json.loads(called.out)["points"] == 8
    called = call("calibrate", points, "--only-model", "glm-5")
    assert called.code == 2
    assert "no such points; there are gpt-oss-120b, llama-3.3-70b" in called.complaint


def test_what_is_left_out_is_named_and_counted(call: Call, tmp_path: Path) -> None:
    import polars as pl

    path = tmp_path / "points.csv"
    drafts = pl.when(pl.col("id") == "point-003").then(pl.lit("mtp")).otherwise(pl.lit("no"))
    table().with_columns(drafts.alias("spec_decode")).write_csv(path)
    called = call("calibrate", path, *QUICK)
    assert "left out: point-003: speculative decoding" in called.err
    assert "left out: 1 row" in called.err


def test_medians_are_taken_and_counted(call: Call, tmp_path: Path) -> None:
    import polars as pl

    path = tmp_path / "points.csv"
    table().with_columns(pl.lit("median").alias("statistic")).write_csv(path)
    called = call("calibrate", path, *QUICK)
    assert "13 of which state medians alone" in called.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--engine", "vlm"), "did you mean 'vllm'"),
        (("--engine", "atom"), "no points of atom"),
        (("--base", "none.toml"), "none.toml"),
        (("--system", "h100"), "no system 'h100'"),
        (("--tp", "0"), "--tp 0: at least 1"),
        (("--rounds", "0"), "rounds"),
    ],
)
def test_wrong_uses_are_one_line(
    call: Call, points: Path, arguments: tuple[str, ...], said: str
) -> None:
    called = call("calibrate", points, *arguments)
    assert called.code == 2
    assert said in called.err


def test_a_missing_file_is_named(call: Call) -> None:
    called = call("calibrate", "nowhere.csv")
    assert called.code == 2
    assert "nowhere.csv: cannot be read" in called.complaint


def test_fewer_points_than_constants_names_both(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    table(2).write_csv(path)
    called = call("calibrate", path, "--bootstrap", "0")
    assert called.code == 2
    assert "2 points cannot tell 3 constants" in called.complaint


def test_words_on_how_well_a_constant_is_known_end_where_they_should() -> None:
    assert 0.0 < tables.PARTLY < tables.WELL < 1.0
