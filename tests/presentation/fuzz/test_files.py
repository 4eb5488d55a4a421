"""Thousands of damaged files through the commands that read them: a message, never a traceback."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.presentation.runs import parquet
from tests.catalogue.configs import NAMES, config
from tests.presentation.fuzz.conftest import JSONL, RUNS, SCENARIOS, TRACE
from tests.presentation.fuzz.damage import (
    BYTES,
    damaged_json,
    damaged_table,
    damaged_toml,
    damaged_trace,
    torn,
)
from tests.presentation.fuzz.program import draws, empty_place, judge, run

Files = Mapping[str, bytes]
"""What lies where the program runs, by name."""

TOML = {
    "models": "qwen3.5-397b-a17b",
    "systems": "gb200-nvl72",
    "engines": "jalapeno-engine",
    "chips": "jalapeno",
    "tariffs": "b200",
}
NAMED = {"models": "qwen3-8b", "systems": "gb200-nvl72", "engines": "jalapeno-engine"}
"""What each of three shelves is asked for where no file stands for it."""
TRACES = {"csv": TRACE, "jsonl": JSONL}
ONE_FACT = ("--samples", "0", "--facts", "chip.hbm.bandwidth")

EXAMPLES = {
    "scenario": 400,
    "sensitivity": 150,
    "check": 250,
    "name": 250,
    "config": 80,
    "trace": 350,
    "run": 200,
}
"""Files for each test and case of it."""


def hold(
    case: st.SearchStrategy[tuple[list[str], Files]],
    kind: str,
    world: Path,
    *,
    forged: bool = False,
) -> None:
    """Run the command of each *case* beside its files, and judge how it ends."""
    seen = 0

    @draws(EXAMPLES[kind])
    @given(case)
    def holds(drawn: tuple[list[str], Files]) -> None:
        nonlocal seen
        arguments, there = drawn
        place = world / "work"
        with empty_place(place):
            for name, content in there.items():
                Path(name).parent.mkdir(parents=True, exist_ok=True)
                Path(name).write_bytes(content)
            ended = run(arguments, next(iter(there.values())))
            for name, content in there.items():
                assert Path(name).read_bytes() == content
                Path(name).unlink()
            shutil.rmtree("run", ignore_errors=True)
        judge(arguments, ended, place, forged=forged)
        seen += 1

    holds()
    assert seen >= EXAMPLES[kind]


def test_there_are_four_thousand_files() -> None:
    cases = {"scenario": len(SCENARIOS), "check": len(TOML), "name": len(NAMED)}
    cases |= {"config": len(NAMES), "trace": len(TRACES), "run": len(RUNS)}
    assert sum(EXAMPLES[kind] * count for kind, count in cases.items()) >= 4_000


def beside(
    name: str, content: BYTES, *lines: list[str]
) -> st.SearchStrategy[tuple[list[str], Files]]:
    """One of the command *lines*, beside a file called *name* with that *content*."""
    return st.tuples(st.sampled_from(lines), content.map(lambda text: {name: text}))


def toml(shelf: str) -> str:
    path = files("jalapeno.catalogue") / "data" / shelf / f"{TOML[shelf]}.toml"
    return path.read_text("utf-8")


@pytest.mark.parametrize("name", SCENARIOS)
def test_damaged_scenarios_end_well(name: str, world: Path) -> None:
    good = json.loads((world / "inputs" / name).read_text())
    simulate = [["simulate", "a.json"], ["simulate", "--json", "a.json"], ["simulate", "-"]]
    hold(beside("a.json", damaged_json(good), *simulate), "scenario", world)


def test_damaged_scenarios_have_no_sensitivity(world: Path) -> None:
    good = json.loads((world / "inputs" / "scenario.json").read_text())
    line = ["sensitivity", "--json", "a.json", *ONE_FACT]
    hold(beside("a.json", damaged_json(good), line), "sensitivity", world)


@pytest.mark.parametrize("shelf", TOML)
def test_damaged_entries_are_checked_well(shelf: str, world: Path) -> None:
    lines = [["system", "check", "a.toml"], ["system", "check", "--json", "a.toml"]]
    hold(beside("a.toml", damaged_toml(toml(shelf)), *lines), "check", world)


@pytest.mark.parametrize("shelf", NAMED)
def test_damaged_entries_stand_for_names(shelf: str, world: Path) -> None:
    names = {**NAMED, shelf: "./a.toml"}
    one = ["scenario", "--closed", "4", "--tp", "4", "--json"]
    one += [names["models"], names["systems"], "--engine", names["engines"]]
    shown = ["show", "./a.toml", "--shelf", shelf]
    hold(beside("a.toml", damaged_toml(toml(shelf)), one, one, shown), "name", world)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_configs_are_imported_or_refused(name: str, world: Path) -> None:
    lines = [["model", "import", "config.json"], ["model", "import", "--json", "config.json"]]
    hold(beside("config.json", damaged_json(config(name)), *lines), "config", world)


@pytest.mark.parametrize("form", TRACES)
def test_damaged_traces_are_read_or_refused(form: str, world: Path) -> None:
    line = ["scenario", "gpt-oss-20b", "jalapeno-rack", "--tp", "2", "--json", "--trace", "t.csv"]
    lines = [line, [*line, "--rate", "1"], [*line, "--speed", "1e-9"]]
    hold(beside("t.csv", damaged_trace(TRACES[form]), *lines), "trace", world)


@st.composite
def runs(draw: st.DrawFn, folder: Path) -> tuple[list[str], Files]:
    """A command that reads a run, and a run of which one file is damaged."""
    line = ["explain", *draw(st.sampled_from(((), ("--json",)))), "run"]
    line += draw(st.sampled_from(((), ("--request", "3"), ("--metric", "tbt"))))
    there = {path.name: path.read_bytes() for path in folder.iterdir()}
    name = draw(st.sampled_from(sorted(there)))
    if draw(st.integers(0, 9)) == 0:
        there[name] = draw(torn(there[name]))
    elif name.endswith(".parquet"):
        there[name] = parquet(draw(damaged_table(pl.read_parquet(io.BytesIO(there[name])))))
    else:
        there[name] = draw(damaged_json(json.loads(there[name])))
    return line, {f"run/{name}": content for name, content in there.items()}


@pytest.mark.parametrize("folder", RUNS.values())
def test_damaged_runs_are_explained_or_refused(folder: str, world: Path) -> None:
    hold(runs(world / "inputs" / folder), "run", world, forged=True)
