"""``jalapeno sensitivity``."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from jalapeno import simulation
from jalapeno.analysis import sensitivity_answers
from jalapeno.errors import UsageError
from jalapeno.metrics import measure
from jalapeno.presentation.files import Folder
from jalapeno.presentation.runs import write_run
from jalapeno.presentation.sensitivity_command import shape_of, step_of
from jalapeno.simulation import Journal, Poisson, Scenario, dump_scenario, simulate
from tests.metrics import journals
from tests.presentation.conftest import Call

QUICK = ("--facts", "engine.issue_*", "--facts", "chip.matrix.*", "--facts", "tariff.*")


@pytest.fixture(scope="module")
def journal() -> Journal:
    return simulate(journals.scenario(journals.unified(tp=2), requests=24))


@pytest.fixture
def file(journal: Journal, tmp_path: Path) -> Path:
    path = tmp_path / "scenario.json"
    path.write_text(dump_scenario(journal.scenario))
    return path


@pytest.fixture
def played(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> list[Scenario]:
    """What is simulated; every time the same journal comes back."""
    asked: list[Scenario] = []

    def again(of: Scenario) -> Journal:
        asked.append(of)
        return replace(journal, scenario=of)

    monkeypatch.setattr(simulation, "simulate", again)
    monkeypatch.setattr(sensitivity_answers, "simulate", again)
    return asked


# ---- by the closed form


def test_it_says_how_far_the_closed_form_is_from_one_simulation(
    call: Call, file: Path, played: list[Scenario], journal: Journal
) -> None:
    called = call("sensitivity", file, "--answer", "mean_tbt_ms", *QUICK, "--samples", 0)
    assert called.code == 0, called.err
    first, second, *_ = called.out.splitlines()
    assert re.match(r"mean_tbt_ms = [\d.]+ ms \(closed form\): for 1 % more of a fact, ", first)
    mean = measure(journal).latency.tpot_ms.mean
    assert f"the simulation says {mean:.3f} ms; this is " in second
    assert len(played) == 1


def test_of_a_run_nothing_is_simulated(
    call: Call, journal: Journal, tmp_path: Path, played: list[Scenario]
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    write_run(Folder(folder, folder), journal, measure(journal))
    called = call("sensitivity", folder, *QUICK, "--samples", 0)
    assert called.code == 0
    assert played == []


def test_tables_show_the_tops_and_count_the_rest(
    call: Call, file: Path, played: list[Scenario]
) -> None:
    out = call("sensitivity", file, *QUICK, "--samples", 20, "--top", 2).out
    assert re.search(r"\d+ more facts of less effect; \d+ facts? without effect, tried one", out)
    assert re.search(r"facts? with a range that changes nothing", out)
    assert re.search(r"facts? without a range, of which no swing is known", out)
    assert "refused" in out
    assert "issue_layer_load must be at least issue_layer_rest" in out
    assert "triangular between low and high, 20 samples of a Latin hypercube, seed 0" in out
    assert "zero here: relative change on the way to 2 us" in out
    assert "in nine of ten draws" in out


def test_weak_evidence_is_marked(call: Call, file: Path, played: list[Scenario]) -> None:
    out = call("sensitivity", file, *QUICK, "--samples", 0).out
    assert "~ estimated" in out
    assert "! assumed" in out


def test_json_is_all_of_it(call: Call, file: Path, played: list[Scenario]) -> None:
    called = call("sensitivity", file, *QUICK, "--samples", 12, "--json")
    found = json.loads(called.out)
    assert (found["by"], found["unit"]) == ("closed form", "token/s/chip")
    assert {each["kind"] for each in found["elasticities"]} > {"fitted", "published"}
    widths = [each["swing"] for each in found["tornado"]]
    assert widths == sorted(widths, reverse=True)
    assert found["combined"]["samples"] == 12
    assert {"tariff.pue", "tariff.price"} <= set(found["without_effect"])
    assert set(found["without_range"]) >= {"tariff.price"}
    (refused,) = [each for each in found["tornado"] if each["fact"] == "engine.issue_layer_load"]
    assert refused["at_low"] is None
    assert "at_low" in refused["refused"]


def test_a_seed_gives_the_same_draws(call: Call, file: Path, played: list[Scenario]) -> None:
    def range_of(seed: int, draw: str) -> object:
        given = ("--samples", 8, "--seed", seed, "--draw", draw, "--json")
        return json.loads(call("sensitivity", file, *QUICK, *given).out)["combined"]

    assert range_of(1, "triangular") == range_of(1, "triangular")
    assert range_of(1, "triangular") != range_of(2, "triangular")
    assert range_of(1, "triangular") != range_of(1, "uniform")


# ---- by simulation


def test_percentiles_are_simulated_and_it_says_why(
    call: Call, file: Path, played: list[Scenario]
) -> None:
    facts = ("--facts", "chip.hbm.bandwidth")
    called = call("sensitivity", file, "--answer", "p99_ttft_ms", *facts)
    assert called.code == 0, called.err
    assert "p99_ttft_ms = " in called.out
    assert "(simulation): no fact changes it" in called.out
    assert "simulated, for the closed form has means and rates, not p99_ttft_ms" in called.out
    assert "nine of ten" not in called.out
    assert len(played) == 1 + 2


def test_an_open_stream_is_simulated(call: Call, tmp_path: Path, played: list[Scenario]) -> None:
    plain = journals.scenario(journals.unified(tp=2), requests=24)
    traffic = replace(plain.traffic, arrivals=Poisson(rate=5.0))
    path = tmp_path / "open.json"
    path.write_text(dump_scenario(replace(plain, traffic=traffic)))
    called = call("sensitivity", path, "--facts", "chip.hbm.capacity")
    assert "these requests arrive by themselves" in called.out


def test_simulation_may_be_asked_for(call: Call, file: Path, journal: Journal) -> None:
    called = call(
        "sensitivity",
        file,
        "--simulate",
        "--answer",
        "mean_tbt_ms",
        "--json",
        "--facts",
        "engine.issue_layer_load",
        "--samples",
        4,
    )
    found = json.loads(called.out)
    assert (found["by"], found["simulated"], found["why_simulated"]) == ("simulation", None, None)
    assert found["base"] == pytest.approx(measure(journal).latency.tpot_ms.mean)
    assert found["elasticities"][0]["elasticity"] > 0.0
    assert found["combined"]["samples"] == 4


def test_simulated_and_closed_form_elasticities_agree(call: Call, tmp_path: Path) -> None:
    """A lone request leaves nothing to the order of events."""
    alone = journals.scenario(journals.unified(tp=2), requests=4, concurrency=1)
    file = tmp_path / "alone.json"
    file.write_text(dump_scenario(alone))

    def slope(*more: str) -> float:
        called = call(
            "sensitivity",
            file,
            "--answer",
            "mean_tbt_ms",
            "--facts",
            "chip.steppings.B0",
            "--samples",
            0,
            "--step",
            "5%",
            "--json",
            *more,
        )
        return float(json.loads(called.out)["elasticities"][0]["elasticity"])

    assert slope() == pytest.approx(slope("--simulate"), abs=0.02)


# ---- the picture


def test_a_tornado_is_drawn_beside(
    call: Call, file: Path, tmp_path: Path, played: list[Scenario]
) -> None:
    picture = tmp_path / "tornado.svg"
    called = call("sensitivity", file, *QUICK, "--samples", 0, "--out", picture)
    assert called.err.splitlines()[-1] == f"picture: {picture}"
    assert "chip.matrix.tile_rows = 32" in picture.read_text()


# ---- refusals


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--answer", "tbt"), "no answer 'tbt'"),
        (("--facts", "chip.hbm.speed"), "--facts chip.hbm.speed: no number of this scenario"),
        (("--step", "little"), "--step little: write a share"),
        (("--step", "0"), "a relative step is more than 0"),
        (("--draw", "normal"), "no shape 'normal'"),
        (("--out", "tornado"), "a picture's name ends in"),
        (("--facts", "chip.hbm.*", "--samples", "1"), "at least 2 samples"),
        (("--facts", "chip.hbm.*"), "nothing can be drawn"),
        (("--facts", "chip.hbm.*", "--samples", "0", "--out", "x.svg"), "nothing to draw"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_line(
    call: Call,
    file: Path,
    played: list[Scenario],
    arguments: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    called = call("sensitivity", file, *arguments)
    assert called.code == 2
    assert called.out == ""
    assert said in called.complaint


def test_a_file_that_is_no_scenario_is_refused(call: Call, tmp_path: Path) -> None:
    assert call("sensitivity", tmp_path / "none.json").code == 2
    assert "it lacks scenario.json" in call("sensitivity", tmp_path).complaint


@pytest.mark.parametrize(("word", "share"), [("1%", 0.01), ("0.01", 0.01), (" 5 % ", 0.05)])
def test_steps_may_be_percent(word: str, share: float) -> None:
    assert step_of(word) == pytest.approx(share)


def test_shapes_have_names() -> None:
    assert shape_of("uniform").value == "uniform"
    with pytest.raises(UsageError, match="known: triangular, uniform"):
        shape_of("flat")
