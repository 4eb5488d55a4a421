"""``jalapeno reproduce``: a folder with everything, or none."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

from jalapeno.analysis.reproduction import Outcome, Reproduction
from jalapeno.errors import DoesNotFit
from jalapeno.metrics import measure
from jalapeno.presentation import pictures
from jalapeno.presentation.reproduce_command import OURS
from jalapeno.presentation.runs import RUN_FILES
from jalapeno.simulation import Journal, read_scenario
from tests.presentation.conftest import Call, Called
from tests.presentation.samples import journal, outcomes, reproduction, small

Reproduce = Callable[..., Reproduction]


def playing(made: Reproduction, also: tuple[Outcome, ...] = ()) -> Reproduce:
    """A function that hands out journals made by hand and returns *made*."""

    def reproduce(
        on_run: Callable[[Outcome, Journal], None], on_progress: Callable[[str, int, int], None]
    ) -> Reproduction:
        runs = [*outcomes(made).values(), *also]
        for done, run in enumerate(runs):
            on_progress("runs", done, len(runs))
            on_run(run, journal(run.scenario))
        return made

    return reproduce


Install = Callable[[Reproduce], None]


def module(reproduce: Reproduce) -> ModuleType:
    """The module of that name, with this function."""
    found = ModuleType("jalapeno.analysis.reproduce")
    found.reproduce = reproduce  # type: ignore[attr-defined]
    return found


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Let the command call this function in place of the real one, and draw nothing."""
    for name in ("html", "svg", "png"):
        drawn = b"" if name == "png" else ""
        monkeypatch.setattr(pictures, name, lambda *_, drawn=drawn: drawn)

    def put(reproduce: Reproduce) -> None:
        monkeypatch.setitem(sys.modules, "jalapeno.analysis.reproduce", module(reproduce))

    return put


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the whole sample was written, once for all who only look."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "jalapeno.analysis.reproduce", module(playing(reproduction())))
        patch.setattr(sys, "argv", ["jalapeno", "reproduce", "--out", str(folder / "out")])
        from jalapeno.presentation.reproduce_command import reproduce_command

        reproduce_command(folder / "out")
    return folder


def small_run(call: Call, install: Install, tmp_path: Path, *also: object) -> Called:
    install(playing(small()))
    return call("reproduce", "--out", tmp_path / "out", *also)


# ---- what it writes


def test_the_folder_holds_report_pictures_and_runs(whole: Path) -> None:
    assert {entry.name for entry in (whole / "out").iterdir()} == set(OURS)
    assert [entry.name for entry in whole.iterdir() if entry.name.startswith(".")] == []


def test_every_run_has_its_raw_logs(whole: Path) -> None:
    for name, run in outcomes(reproduction()).items():
        folder = whole / "out" / "runs" / name
        assert {entry.name for entry in folder.iterdir()} == set(RUN_FILES)
        assert read_scenario(folder / "scenario.json").digest == run.report.digest
        assert len(pl.read_parquet(folder / "requests.parquet")) > 0


def test_the_report_has_every_published_number(whole: Path) -> None:
    page = (whole / "out" / "report.md").read_text("utf-8")
    for number in ("85,448", "0.69", "22,935", "19,641", "12,258", "18,195", "6,744", "11,781"):
        assert f"| {number} |" in page


def test_the_report_links_only_to_what_is_there(whole: Path) -> None:
    page = (whole / "out" / "report.md").read_text("utf-8")
    for target in re.findall(r"\]\((\S+)\)", page):
        assert (whole / "out" / target).is_file()


def test_the_web_page_loads_nothing(whole: Path) -> None:
    page = (whole / "out" / "frontier.html").read_text("utf-8")
    assert not re.search(r"<(?:script|link)\b[^>]*\b(?:src|href)\s*=", page)
    assert "cdn" not in page.lower()
    assert "measured, MTP" in page


def test_pictures_are_pictures(whole: Path) -> None:
    for name in ("frontier", "attribution"):
        assert (whole / "out" / f"{name}.svg").read_text("utf-8").startswith("<svg")
        assert (whole / "out" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_the_data_are_json(whole: Path) -> None:
    data = json.loads((whole / "out" / "report.json").read_text())
    assert len(data["comparisons"]) == 3
    assert set(data["runs"]) == set(outcomes(reproduction()))


def test_runs_that_are_only_drawn_are_kept_too(
    call: Call, install: Install, tmp_path: Path
) -> None:
    run = next(iter(outcomes(small()).values()))
    also = replace(run, name="jalapeno-rack/gpt-oss-120b/frontier-1")
    install(playing(small(), (also,)))
    assert call("reproduce", "--out", tmp_path / "out").code == 0
    assert (tmp_path / "out" / "runs" / also.name / "report.json").is_file()
    assert also.name in (tmp_path / "out" / "report.md").read_text()


# ---- what it prints


def test_a_compact_table_and_where_the_files_are(
    call: Call, install: Install, tmp_path: Path
) -> None:
    called = small_run(call, install, tmp_path)
    assert called.code == 0
    for words in ("gpt-oss-120b", "85,448", "token/s/kW", "1.90×", "advantage"):
        assert words in called.out, words
    out = tmp_path / "out"
    assert f"report: {out / 'report.md'}\n" in called.err
    assert f"raw logs: {out / 'runs'}\n" in called.err
    assert f"again: jalapeno simulate {out / 'runs'}/<run>/scenario.json\n" in called.err


def test_progress_goes_to_stderr(call: Call, install: Install, tmp_path: Path) -> None:
    called = small_run(call, install, tmp_path)
    assert "runs: " in called.err
    assert "to do" not in called.out


def test_json_is_the_file_and_only_that(call: Call, install: Install, tmp_path: Path) -> None:
    called = small_run(call, install, tmp_path, "--json")
    assert called.code == 0
    assert called.out == (tmp_path / "out" / "report.json").read_text()
    assert json.loads(called.out)["comparisons"][0]["model"] == "gpt-oss-120b"


def test_the_same_reproduction_gives_the_same_bytes(
    call: Call, install: Install, tmp_path: Path
) -> None:
    found = []
    for name in ("a", "b"):
        install(playing(small()))
        assert call("reproduce", "--out", tmp_path / name).code == 0
        files = (path for path in (tmp_path / name).rglob("*") if path.is_file())
        found.append({path.relative_to(tmp_path / name): path.read_bytes() for path in files})
    assert found[0] == found[1]


def test_a_second_reproduction_replaces_the_first(
    call: Call, install: Install, tmp_path: Path
) -> None:
    assert small_run(call, install, tmp_path).code == 0
    (tmp_path / "out" / "runs" / "stale").mkdir()
    assert small_run(call, install, tmp_path).code == 0
    assert not (tmp_path / "out" / "runs" / "stale").exists()


# ---- what goes wrong


def test_an_error_half_way_leaves_nothing(call: Call, install: Install, tmp_path: Path) -> None:
    def reproduce(on_run: Callable[[Outcome, Journal], None], on_progress: object) -> Reproduction:
        run = next(iter(outcomes(small()).values()))
        on_run(run, journal(run.scenario))
        assert list(tmp_path.rglob("requests.parquet"))
        raise DoesNotFit("kimi-k2.5 needs 600 GB, there are 216: more chips")

    install(reproduce)
    called = call("reproduce", "--out", tmp_path / "out")
    assert (called.code, called.out) == (1, "")
    assert called.complaint == "kimi-k2.5 needs 600 GB, there are 216: more chips"
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_half_way_leaves_what_was_there(
    call: Call, install: Install, tmp_path: Path
) -> None:
    assert small_run(call, install, tmp_path).code == 0
    before = (tmp_path / "out" / "report.md").read_bytes()

    def reproduce(on_run: Callable[[Outcome, Journal], None], on_progress: object) -> Reproduction:
        run = next(iter(outcomes(small()).values()))
        on_run(run, journal(run.scenario))
        raise KeyboardInterrupt

    install(reproduce)
    called = call("reproduce", "--out", tmp_path / "out")
    assert (called.code, called.out) == (130, "")
    assert (tmp_path / "out" / "report.md").read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_full_disk_leaves_nothing(
    call: Call, install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        if self.name == "frontier.png":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(self, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    called = small_run(call, install, tmp_path)
    assert (called.code, called.out) == (1, "")
    assert called.complaint == (
        f"{tmp_path / 'out' / 'frontier.png'}: cannot be written: No space left on device; "
        "free some space, or choose a place on another disk"
    )
    assert list(tmp_path.iterdir()) == []


def never(on_run: object, on_progress: object) -> Reproduction:
    pytest.fail("simulated before it was known that the results can be kept")


@pytest.mark.parametrize("also", [(), ("--json",)])
def test_an_unwritable_place_is_known_before_the_simulation(
    call: Call, install: Install, tmp_path: Path, also: tuple[str, ...]
) -> None:
    install(never)
    (tmp_path / "file").write_text("mine")
    called = call("reproduce", "--out", tmp_path / "file" / "out", *also)
    assert (called.code, called.out) == (1, "")
    assert called.complaint.endswith("a file is where a folder should be: choose another place")
    assert (tmp_path / "file").read_text() == "mine"


def test_someone_else_s_folder_is_not_replaced(
    call: Call, install: Install, tmp_path: Path
) -> None:
    install(never)
    (tmp_path / "thesis.tex").write_text("mine")
    called = call("reproduce", "--out", tmp_path)
    assert called.code == 1
    assert called.complaint.startswith(f"{tmp_path}: holds 'thesis.tex', which this command does")


def test_raw_logs_of_another_scenario_are_a_bug_of_ours(
    call: Call, install: Install, tmp_path: Path
) -> None:
    made = small()

    def reproduce(on_run: Callable[[Outcome, Journal], None], on_progress: object) -> Reproduction:
        first, second, *rest = outcomes(made).values()
        on_run(first, journal(second.scenario))
        for run in (second, *rest):
            on_run(run, journal(run.scenario))
        return made

    install(reproduce)
    called = call("reproduce", "--out", tmp_path / "out")
    assert called.code == 1
    assert called.complaint == (
        "the raw logs of 'jalapeno-rack/gpt-oss-120b/peak' are missing or of another scenario"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_broken_law_is_shown_kept_and_ends_with_1(
    call: Call, install: Install, tmp_path: Path
) -> None:
    made = small()

    def reproduce(on_run: Callable[[Outcome, Journal], None], on_progress: object) -> Reproduction:
        for run in outcomes(made).values():
            log = journal(run.scenario)
            log = replace(log, requests=log.requests.with_columns(pl.col("output") + 1))
            on_run(Outcome(run.name, run.scenario, measure(log)), log)
        return made

    install(reproduce)
    called = call("reproduce", "--out", tmp_path / "out")
    assert called.code == 1
    assert called.complaint.startswith("the journal breaks a law: output tokens")
    assert "BROKEN: output tokens" in (tmp_path / "out" / "report.md").read_text()
