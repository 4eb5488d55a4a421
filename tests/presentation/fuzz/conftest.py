"""The files that command lines name, made once, and the place where the program runs."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from tests.catalogue.configs import config
from tests.presentation.fuzz.program import empty_place, run

TINY = ("--isl", "64", "--osl", "8", "--requests", "4")
SCENARIOS = {
    "scenario.json": ("--tp", "2", "--closed", "2"),
    "open.json": ("--tp", "2", "--rate", "50", "--cv", "2"),
    "sites.json": (
        *("--site", "west=b200-hgx", "--pool", "unified:1:tp=2,running=2", "--closed", "4"),
        *("--pool", "unified:2:tp=1,site=west", "--router", "least_loaded", "--preemption", "swap"),
    ),
    "split.json": (*("--pool", "prefill:1:tp=1", "--pool", "decode:1:tp=2,ep=2", "--closed", "2"),),
}
"""Scenarios that are simulated in no time, by the name of their file."""
RUNS = {"scenario.json": "run", "sites.json": "sites"}
"""Folders of runs, by the scenario that they are of."""
TRACE = "time,prompt,output\n0,100,10\n0.5,200,5\n1.5,50,20\n"
JSONL = "".join(
    f'{{"timestamp": {100 * n}, "input_length": 50, "output_length": 5}}\n' for n in range(4)
)


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``inputs``; beside it is the place where the program runs."""
    around = tmp_path_factory.mktemp("fuzz")
    inputs = around / "inputs"
    inputs.mkdir()
    with empty_place(around / "work"):
        for name, options in SCENARIOS.items():
            made = run(["scenario", "gpt-oss-20b", "jalapeno-rack", *TINY, *options])
            assert made.code == 0, made.err
            (inputs / name).write_text(made.out)
        for name, folder in RUNS.items():
            made = run(["simulate", str(inputs / name), "--out", "runs"])
            assert made.code == 0, made.err
            (made_folder,) = Path("runs").iterdir()
            made_folder.rename(inputs / folder)
    for shelf, name in (
        *(("models", "gpt-oss-20b"), ("systems", "jalapeno-rack")),
        *(("engines", "jalapeno-engine"), ("chips", "b200")),
    ):
        text = (files("jalapeno.catalogue") / "data" / shelf / f"{name}.toml").read_text("utf-8")
        (inputs / f"{shelf.removesuffix('s')}.toml").write_text(text)
    (inputs / "config.json").write_text(json.dumps(config("gpt-oss-20b")))
    (inputs / "trace.csv").write_text(TRACE)
    (inputs / "trace.jsonl").write_text(JSONL)
    (inputs / "bad.json").write_text("{")
    return around
