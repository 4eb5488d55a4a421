"""``jalapeno simulate``."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from jalapeno import simulation
from jalapeno.presentation.runs import RUN_FILES
from jalapeno.presentation.simulate_command import describe
from jalapeno.simulation import Journal, Scenario, dump_scenario
from tests.metrics import journals
from tests.presentation.conftest import Call
from tests.presentation.samples import journal, scenario


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.json"
    path.write_text(dump_scenario(scenario()))
    return path


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[Scenario]:
    """Journals made by hand in place of simulations; what was asked for."""
    asked: list[Scenario] = []

    def simulate(of: Scenario) -> Journal:
        asked.append(of)
        return journal(of)

    monkeypatch.setattr(simulation, "simulate", simulate)
    return asked


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# ---- what it writes


def test_a_run_is_kept_under_its_digest(
    call: Call, file: Path, tmp_path: Path, quick: list[Scenario]
) -> None:
    called = call("simulate", file, "--out", tmp_path / "out")
    assert called.code == 0
    (asked,) = quick
    folder = tmp_path / "out" / asked.digest
    assert set(files(folder)) == set(RUN_FILES)
    assert called.err.splitlines()[-1] == f"files: {folder}"


def test_the_kept_scenario_is_the_file_that_was_given(
    call: Call, file: Path, tmp_path: Path, quick: list[Scenario]
) -> None:
    call("simulate", file, "--out", tmp_path / "out")
    (folder,) = (tmp_path / "out").iterdir()
    assert (folder / "scenario.json").read_text() == file.read_text()


def test_the_same_file_gives_the_same_bytes(
    call: Call, file: Path, tmp_path: Path, quick: list[Scenario]
) -> None:
    outs = [call("simulate", file, "--out", tmp_path / name).out for name in ("a", "b")]
    (a,), (b,) = (list((tmp_path / name).iterdir()) for name in ("a", "b"))
    assert a.name == b.name
    assert files(a) == files(b)
    assert outs[0] == outs[1]


def test_a_second_run_replaces_the_first(
    call: Call, file: Path, tmp_path: Path, quick: list[Scenario]
) -> None:
    for _ in range(2):
        assert call("simulate", file, "--out", tmp_path / "out").code == 0
    (folder,) = (tmp_path / "out").iterdir()
    assert set(files(folder)) == set(RUN_FILES)


def test_a_real_run_is_kept_whole_and_the_same_twice(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "scenario.json"
    file.write_text(dump_scenario(journals.scenario(journals.unified(), requests=6)))
    results = [call("simulate", file, "--out", tmp_path / name) for name in ("a", "b")]
    assert [called.code for called in results] == [0, 0]
    (a,), (b,) = (list((tmp_path / name).iterdir()) for name in ("a", "b"))
    assert files(a) == files(b)
    assert len(pl.read_parquet(a / "requests.parquet")) == 6
    assert json.loads((a / "report.json").read_text())["requests_done"] == 6


# ---- what it prints


def test_the_report_has_everything_that_is_quoted(
    call: Call, file: Path, tmp_path: Path, quick: list[Scenario]
) -> None:
    out = call("simulate", file, "--out", tmp_path / "out").out
    for words in (
        "1xTP2: latency, ms",
        "P99.9",
        "time to first token (TTFT)",
        "token/s/chip",
        "package TDP (as published)",
        "facility (all-in × PUE)",
        "whose work it was",
        "what bound the step, and waits",
        "conservation laws",
        "one segment at a time",
    ):
        assert words in out, words


def test_json_is_the_report_that_is_kept(
    call: Call, file: Path, tmp_path: Path, quick: list[Scenario]
) -> None:
    called = call("simulate", file, "--out", tmp_path / "out", "--json")
    (folder,) = (tmp_path / "out").iterdir()
    assert json.loads(called.out) == json.loads((folder / "report.json").read_text())
    assert called.out == (folder / "report.json").read_text()


def test_a_scenario_in_one_line() -> None:
    assert describe(scenario()) == "gpt-oss-120b on jalapeno-rack, 1xTP2, 2 requests"


# ---- overrides


def test_a_replaced_fact_is_simulated_said_and_kept(
    call: Call, file: Path, tmp_path: Path, quick: list[Scenario]
) -> None:
    out = tmp_path / "out"
    called = call("simulate", file, "--out", out, "--set", "chip.hbm.bandwidth=20 TB/s")
    assert called.code == 0
    (asked,) = quick
    assert asked.system.chip.hbm.bandwidth == 20e12
    assert asked.digest != scenario().digest
    assert "overridden: chip.hbm.bandwidth = 20 TB/s\n" in called.err
    assert "overridden facts: this is not the catalogue's system" in called.out
    data = json.loads((out / asked.digest / "report.json").read_text())
    assert list(data["overridden"]) == ["chip.hbm.bandwidth"]


def test_several_facts_may_be_replaced(
    call: Call, file: Path, tmp_path: Path, quick: list[Scenario]
) -> None:
    sets = ("--set", "chip.cores=32", "--set", "engine.overlap=0.5")
    assert call("simulate", file, "--out", tmp_path / "out", *sets).code == 0
    assert (quick[0].system.chip.cores, quick[0].engine.overlap) == (32, 0.5)


def test_a_file_that_was_overridden_says_so_when_it_runs_again(
    call: Call, file: Path, tmp_path: Path, quick: list[Scenario]
) -> None:
    file.write_text(dump_scenario(scenario(overrides={"chip.stepping": "A0"})))
    called = call("simulate", file, "--out", tmp_path / "out")
    assert "overridden: chip.stepping = A0\n" in called.err


# ---- wrong files


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "not JSON: "),
        ("{", "not JSON: "),
        ("[]", "not a scenario: it has no 'format'"),
        ("{}", "not a scenario: it has no 'format'"),
        ('{"format": 1}', "missing, unknown or mistyped entry: 'pools'"),
        ('{"format": 99}', "format 99; this version reads formats 1 to 3: upgrade jalapeno"),
    ],
)
@pytest.mark.parametrize("also", [(), ("--json",)])
def test_a_broken_or_newer_file_is_one_line(
    call: Call, tmp_path: Path, content: str, complaint: str, also: tuple[str, ...]
) -> None:
    file = tmp_path / "broken.json"
    file.write_text(content)
    called = call("simulate", file, "--out", tmp_path / "out", *also)
    assert (called.code, called.out) == (2, "")
    assert called.complaint.startswith(f"{file}: {complaint}")
    assert [path.name for path in tmp_path.iterdir()] == ["broken.json"]


def test_a_file_that_is_no_text_is_one_line(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "binary.json"
    file.write_bytes(b"\xff\xfe\x00")
    called = call("simulate", file)
    assert (called.code, called.out) == (2, "")
    assert called.complaint.startswith(f"{file}: not JSON: ")


@pytest.mark.parametrize(
    ("name", "why"), [("absent.json", "No such file or directory"), ("", "Is a directory")]
)
def test_a_file_that_cannot_be_read_is_one_line(
    call: Call, tmp_path: Path, name: str, why: str
) -> None:
    called = call("simulate", tmp_path / name)
    assert (called.code, called.out) == (2, "")
    assert called.complaint == f"{tmp_path / name}: cannot be read: {why}"


def edited(file: Path, change: Callable[[dict[str, object]], None]) -> None:
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))


def test_a_plan_that_does_not_divide_is_one_line(call: Call, file: Path, tmp_path: Path) -> None:
    def change(data: dict[str, object]) -> None:
        data["pools"][0]["plan"]["tp"] = 7  # type: ignore[index]

    edited(file, change)
    called = call("simulate", file, "--out", tmp_path / "out")
    assert called.code == 2
    assert "plan.tp=7 does not divide" in called.complaint
    assert list((tmp_path / "out").iterdir()) == []


def test_a_misspelt_fact_in_the_file_is_one_line(call: Call, file: Path) -> None:
    def change(data: dict[str, object]) -> None:
        chip = data["system"]["chip"]  # type: ignore[index]
        chip["hbm"]["bandwith"] = chip["hbm"].pop("bandwidth")

    edited(file, change)
    called = call("simulate", file)
    assert called.code == 2
    assert "did you mean 'bandwidth'" in called.complaint


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("chip.hbm.bandwith=20 TB/s", "no fact 'chip.hbm.bandwith'; did you mean 'chip.hbm.band"),
        ("hbm.bandwidth=20 TB/s", "--set hbm.bandwidth: begin with one of chip, system, model"),
        ("chip.hbm.bandwidth", "--set chip.hbm.bandwidth: write path=value, as in"),
        ("chip.hbm.bandwidth=20 W", "systems/jalapeno-rack: chip.hbm.bandwidth: expected a quan"),
        ("engine.overlap=1.5", "engines/jalapeno-engine: overlap: is a share, at most 1"),
    ],
)
def test_a_wrong_setting_is_one_line(
    call: Call, file: Path, tmp_path: Path, setting: str, complaint: str
) -> None:
    called = call("simulate", file, "--out", tmp_path / "out", "--set", setting)
    assert (called.code, called.out) == (2, "")
    assert called.complaint.startswith(complaint)
    assert not (tmp_path / "out").exists()


# ---- wrong places


def test_an_unwritable_place_is_known_before_the_simulation(
    call: Call, file: Path, quick: list[Scenario]
) -> None:
    called = call("simulate", file, "--out", file / "out")
    assert (called.code, called.out) == (1, "")
    assert "cannot be written" in called.complaint
    assert "a file is where a folder should be: choose another place" in called.complaint
    assert quick == []


def test_a_full_disk_leaves_no_folder(
    call: Call,
    file: Path,
    tmp_path: Path,
    quick: list[Scenario],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        if self.name == "segments.parquet":
            write(self, data[:100])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(self, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    called = call("simulate", file, "--out", tmp_path / "out")
    assert (called.code, called.out) == (1, "")
    assert "segments.parquet: cannot be written: No space left on device; free some space" in (
        called.complaint
    )
    assert list((tmp_path / "out").iterdir()) == []


def test_an_interrupt_leaves_no_folder(
    call: Call, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(of: Scenario) -> Journal:
        raise KeyboardInterrupt

    monkeypatch.setattr(simulation, "simulate", interrupted)
    called = call("simulate", file, "--out", tmp_path / "out")
    assert (called.code, called.out) == (130, "")
    assert "Traceback" not in called.err
    assert list((tmp_path / "out").iterdir()) == []


# ---- broken laws


def test_a_broken_law_is_shown_kept_and_ends_with_1(
    call: Call, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(of: Scenario) -> Journal:
        run = journal(of)
        return replace(run, requests=run.requests.with_columns(pl.col("output") + 1))

    monkeypatch.setattr(simulation, "simulate", wrong)
    called = call("simulate", file, "--out", tmp_path / "out")
    assert called.code == 1
    assert called.complaint.startswith("the journal breaks a law: output tokens: ")
    assert "NO" in called.out
    (folder,) = (tmp_path / "out").iterdir()
    assert set(files(folder)) == set(RUN_FILES)
