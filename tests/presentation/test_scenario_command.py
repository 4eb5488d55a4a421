"""``jalapeno scenario``: deployments and traffic become files that simulate takes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from jalapeno import simulation
from jalapeno.simulation import (
    ClosedLoop,
    Journal,
    Preemption,
    Role,
    Router,
    Scenario,
    TraceTimes,
    parse_scenario,
    read_scenario,
)
from tests.presentation.conftest import Call
from tests.presentation.samples import journal

GPT = ("scenario", "gpt-oss-120b", "jalapeno-rack")
LOOP = ("--closed", "4")


def made(text: str) -> Scenario:
    return parse_scenario(text.encode(), "stdout", Path())


# ---- pools


def test_one_pool_is_said_in_options(call: Call) -> None:
    called = call(*GPT, "--tp", 2, "--replicas", 3, "--running", 8, "--tokens", 512, *LOOP)
    assert called.code == 0
    scenario = made(called.out)
    assert (scenario.label, scenario.model.name) == ("3xTP2", "gpt-oss-120b")
    assert (scenario.system.name, scenario.engine.name) == ("jalapeno-rack", "jalapeno-engine")
    plan = scenario.pools[0].plan
    assert (plan.max_running, plan.max_tokens) == (8, 512)
    assert scenario.traffic.arrivals == ClosedLoop(concurrency=4)


def test_attention_ranks_spread_experts_over_all_chips_unless_told(call: Call) -> None:
    assert made(call(*GPT, "--dp", 4, *LOOP).out).label == "1xDEP4"
    called = call(*GPT, "--dp", 4, "--ep", 2, *LOOP)
    assert called.code == 2
    assert "plan.ep must be 4, not 2" in called.complaint


def test_split_pools_stand_where_they_are_told_to(call: Call) -> None:
    called = call(
        *GPT,
        *("--site", "west=gb300-nvl72", "--site", "east=gb200-nvl72/tensorrt-llm"),
        *("--pool", "prefill:2:tp=1,tokens=4096"),
        *("--pool", "decode:1:tp=4,ep=4,running=64,site=west,preemption=swap"),
        *("--pool", "decode:3:tp=2,site=east"),
        *("--router", "least_loaded", "--preemption", "recompute"),
        *LOOP,
    )
    assert called.code == 0, called.err
    scenario = made(called.out)
    assert scenario.label == "P 2xTP1 + D 1xTEP4@west + D 3xTP2@east"
    assert scenario.router is Router.LEAST_LOADED
    assert [pool.preemption for pool in scenario.pools] == [
        Preemption.NONE,  # prompts do not grow
        Preemption.SWAP,
        Preemption.RECOMPUTE,
    ]
    prefill, west, east = scenario.pools
    assert prefill.role is Role.PREFILL
    assert (prefill.plan.max_tokens, west.plan.max_running) == (4096, 64)
    assert scenario.site(west).system.name == "gb300-nvl72"
    assert scenario.site(east).engine.name == "tensorrt-llm"
    # each is served in the formats of its own engine and chip
    assert prefill.plan.precision != west.plan.precision


def test_facts_may_be_replaced_at_every_site(call: Call) -> None:
    called = call(
        *GPT,
        *("--site", "west=gb300-nvl72", "--pool", "prefill:1:tp=1", "--pool"),
        *("decode:1:tp=2,site=west", "--set", "chip.hbm.bandwidth=20 TB/s"),
        *("--set", "others.west.chip.hbm.bandwidth=9 TB/s", *LOOP),
    )
    assert called.code == 0, called.err
    scenario = made(called.out)
    assert scenario.system.chip.hbm.bandwidth == 20e12
    assert scenario.others["west"].system.chip.hbm.bandwidth == 9e12


# ---- traffic


def test_a_trace_comes_by_name_and_is_kept_by_its_digest(call: Call) -> None:
    called = call(*GPT, "--tp", 1, "--trace", "azure-2023-conv", "--requests", 50, "--speed", 4)
    scenario = made(called.out)
    assert isinstance(scenario.traffic.arrivals, TraceTimes)
    assert scenario.traffic.arrivals.speed == 4.0
    data = json.loads(called.out)["traffic"]
    assert data["lengths"]["trace"] == data["arrivals"]["trace"]
    assert set(data["lengths"]["trace"]) == {"name", "sha256"}


def test_a_trace_beside_the_scenario_is_named_from_there(call: Call, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("time,prompt,output\n0,30,3\n1.5,40,4\n")
    file = tmp_path / "a.json"
    called = call(*GPT, "--trace", tmp_path / "own.csv", "--out", file)
    assert called.code == 0, called.err
    data = json.loads(file.read_text())["traffic"]["lengths"]["trace"]
    assert data["path"] == "own.csv"
    assert len(read_scenario(file).traffic.lengths.draw(2)[0]) == 2


def test_lengths_that_begin_again_are_said_to(call: Call) -> None:
    called = call(*GPT, "--trace", "azure-2023-conv", "--closed", 4, "--requests", 2001)
    assert called.code == 0
    assert called.err == (
        "azure-2023-conv has 2,000 requests; its lengths begin again to make 2,001\n"
    )


def test_the_seed_is_of_everything_drawn(call: Call) -> None:
    one, other = (made(call(*GPT, "--rate", 5, "--seed", seed).out) for seed in (0, 7))
    assert (other.seed, other.traffic.lengths.seed) == (7, 7)
    assert one.digest != other.digest


# ---- where it goes


def test_a_file_is_written_and_shown_in_short(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "new" / "a.json"
    called = call(*GPT, "--tp", 2, *LOOP, "--out", file)
    assert called.code == 0
    assert called.err == f"file: {file}\n"
    scenario = read_scenario(file)
    for words in ("1xTP2", "closed loop, 4 in flight", scenario.digest, "gpt-oss-120b"):
        assert words in called.out
    assert file.read_text() == call(*GPT, "--tp", 2, *LOOP).out


def test_json_says_what_was_written(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    data = json.loads(call(*GPT, "--tp", 2, *LOOP, "--out", file, "--json").out)
    assert (data["file"], data["layout"], data["chips"]) == (str(file), "1xTP2", 2)
    assert data["digest"] == read_scenario(file).digest
    assert data["mean_prompt_tokens"] == 7372.5
    # without a file JSON is what there is anyway
    assert made(call(*GPT, "--tp", 2, *LOOP, "--json").out).label == "1xTP2"


def test_a_scenario_may_be_piped_into_simulate(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = call(*GPT, "--tp", 2, *LOOP).out
    asked: list[Scenario] = []

    def simulate(of: Scenario) -> Journal:
        asked.append(of)
        return journal(of)

    monkeypatch.setattr(simulation, "simulate", simulate)
    for seed in ((), ("--seed", "9")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        called = call("simulate", "-", "--out", tmp_path / "out", *seed)
        assert called.code == 0, called.err
    same, reseeded = asked
    assert same == made(text)
    assert (reseeded.seed, reseeded.traffic.lengths.seed) == (9, 9)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {same.digest, reseeded.digest}


def test_a_pipe_without_a_scenario_is_one_line(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    called = call("simulate", "-")
    assert (called.code, called.out) == (2, "")
    assert called.complaint.startswith("stdin: not JSON: ")


# ---- what cannot be


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--closed", "4", "--tp", "7"), 2, "plan.tp=7 does not divide"),
        ((), 2, "how do requests come? --closed N in flight"),
        (("--closed", "4", "--isl", "900000"), 1, "a request of "),
        ((*LOOP, "--tp", "2", "--pool", "unified:1:tp=2"), 2, "--tp with --pool: say it in the"),
        ((*LOOP, "--replicas", "2", "--pool", "unified:1:tp=2"), 2, "--replicas with --pool: say"),
        ((*LOOP, "--pool", "unify:1:tp=2"), 2, "no role (in --pool unify:1:tp=2) 'unify'; did you"),
        ((*LOOP, "--pool", "unified"), 2, "--pool unified: replicas: '' is not a whole number"),
        ((*LOOP, "--pool", "unified:1:pt=2"), 2, "--pool unified:1:pt=2: no key 'pt'; known: tp"),
        ((*LOOP, "--pool", "unified:1:tp=x"), 2, "--pool unified:1:tp=x: tp: 'x' is not a whole"),
        ((*LOOP, "--pool", "unified:0:tp=2"), 2, "a pool needs at least one replica, got 0"),
        ((*LOOP, "--pool", "decode:1:tp=2"), 2, "pools must be one or more unified, or"),
        ((*LOOP, "--pool", "unified:1:site=moon"), 2, "no site 'moon'"),
        ((*LOOP, "--site", "west"), 2, "--site west: write NAME=SYSTEM"),
        ((*LOOP, "--site", "west=marsh"), 2, "no system 'marsh'"),
        ((*LOOP, "--site", "a=gb300-nvl72", "--site", "a=gb200-nvl72"), 2, "--site: a name twice"),
        ((*LOOP, "--site", "main=gb300-nvl72"), 2, "a site beside 'main' needs a name of its own"),
        ((*LOOP, "--router", "robin"), 2, "no router (in --router) 'robin'; did you mean"),
        ((*LOOP, "--preemption", "swop"), 2, "no preemption (in --preemption) 'swop'; did you"),
        ((*LOOP, "--engine", "tensor"), 2, "no engine 'tensor'"),
        (
            (*LOOP, "--running", "9000"),
            2,
            "plan.max_tokens=8192 is less than plan.max_running=9000",
        ),
        ((*LOOP, "--set", "chip.hbm.bandwith=1"), 2, "no fact 'chip.hbm.bandwith'"),
    ],
)
def test_what_cannot_be_deployed_is_one_line(
    call: Call, tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    called = call(*GPT, *words, "--out", tmp_path / "a.json")
    assert (called.code, called.out) == (code, "")
    assert called.complaint.startswith(said)
    assert not (tmp_path / "a.json").exists()


def test_a_model_that_does_not_fit_is_refused_before_it_is_run(call: Call) -> None:
    called = call("scenario", "deepseek-r1", "jalapeno-rack", *LOOP)
    assert (called.code, called.out) == (1, "")
    assert "raise plan.tp, plan.ep or plan.pp" in called.complaint


def test_an_unwritable_place_is_one_line(call: Call, tmp_path: Path) -> None:
    called = call(*GPT, *LOOP, "--out", tmp_path)
    assert (called.code, called.out) == (1, "")
    assert "cannot be written: Is a directory" in called.complaint


# ---- what lies there already


@pytest.mark.parametrize("text", ["notes of mine", "{}", '{"format": 3}', "[1]", "[" * 100_000])
def test_what_is_no_scenario_is_not_replaced(call: Call, tmp_path: Path, text: str) -> None:
    place = tmp_path / "mine.txt"
    place.write_text(text)
    called = call("scenario", "gpt-oss-120b", "b200-hgx", "--closed", "1", "--out", place)
    assert called.code == 1
    assert "this command did not write" in called.complaint
    assert place.read_text() == text


def test_a_scenario_is_replaced_by_a_newer_one(call: Call, tmp_path: Path) -> None:
    place = tmp_path / "a.json"
    for load in ("1", "2"):
        ask = ("scenario", "gpt-oss-120b", "b200-hgx", "--closed", load, "--out", place)
        assert call(*ask).code == 0
    assert json.loads(place.read_text())["traffic"]["arrivals"]["concurrency"] == 2
