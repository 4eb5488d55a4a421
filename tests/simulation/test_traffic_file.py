"""Traffic in a scenario file: every kind survives it, and what is wrong is named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.errors import BadScenario
from jalapeno.simulation import (
    AnyLengths,
    Arrivals,
    ClosedLoop,
    Gamma,
    Lengths,
    LogNormal,
    Poisson,
    Scenario,
    TraceLengths,
    TraceTimes,
    Traffic,
    dump_scenario,
    find_trace,
    read_scenario,
    read_trace,
)
from jalapeno.simulation.scenario_file import from_json, parse_scenario
from jalapeno.simulation.traffic_file import ARRIVALS, LENGTHS, traffic_json, traffic_of
from tests.simulation.scenes import plan, unified

REAL = find_trace("azure-2023-conv")
CHAT = LogNormal(
    prompt_mean=300.0,
    prompt_cv=1.0,
    output_mean=50.0,
    output_cv=0.5,
    prompt_max=4000,
    output_max=400,
    seed=3,
)
EVERY_LENGTHS = st.one_of(
    st.builds(Lengths, isl=st.integers(1, 99), osl=st.integers(1, 99), seed=st.integers(0, 9)),
    st.just(CHAT),
    st.builds(TraceLengths, trace=st.just(REAL), seed=st.one_of(st.none(), st.integers(0, 9))),
)
EVERY_ARRIVALS = st.one_of(
    st.builds(ClosedLoop, concurrency=st.integers(1, 99)),
    st.builds(Poisson, rate=st.floats(0.1, 9.0)),
    st.builds(Gamma, rate=st.floats(0.1, 9.0), cv=st.floats(0.0, 9.0)),
    st.builds(TraceTimes, trace=st.just(REAL), speed=st.floats(0.1, 9.0)),
)


def traffic(
    lengths: AnyLengths = CHAT, arrivals: Arrivals | None = None, requests: int = 3
) -> Traffic:
    return Traffic(
        lengths=lengths, arrivals=arrivals or ClosedLoop(concurrency=2), requests=requests
    )


@given(EVERY_LENGTHS, EVERY_ARRIVALS, st.integers(1, 2000))
def test_traffic_of_every_kind_survives_its_file(
    lengths: AnyLengths, arrivals: Arrivals, requests: int
) -> None:
    one = traffic(lengths, arrivals, requests)
    data = json.loads(json.dumps(traffic_json(one)))
    assert traffic_of(data, "x", Path()) == one


def test_every_kind_has_a_word() -> None:
    assert set(LENGTHS.values()) == {Lengths, LogNormal, TraceLengths}
    assert set(ARRIVALS.values()) == {ClosedLoop, Poisson, Gamma, TraceTimes}


def test_lengths_without_a_kind_are_uniform_as_format_1_had_them() -> None:
    data = traffic_json(traffic(Lengths(isl=70, osl=9)))
    del data["lengths"]["kind"]
    assert traffic_of(data, "x", Path()).lengths == Lengths(isl=70, osl=9)


@pytest.mark.parametrize(
    ("where", "change", "said"),
    [
        ("lengths", {"kind": "zipf"}, "^x: lengths of kind 'zipf'; there are uniform, lognormal"),
        ("arrivals", {"kind": "zipf"}, "^x: arrivals of kind 'zipf'; there are closed_loop, poi"),
    ],
)
def test_an_unknown_kind_names_those_there_are(
    where: str, change: dict[str, Any], said: str
) -> None:
    data = traffic_json(traffic())
    data[where] |= change
    with pytest.raises(BadScenario, match=said):
        traffic_of(data, "x", Path())


@pytest.mark.parametrize(
    ("where", "change"),
    [
        ("lengths", {"prompt_max": 4000.5}),
        ("lengths", {"prompt_max": "4000"}),
        ("lengths", {"prompt_mean": "300"}),
        ("lengths", {"prompt_cv": True}),
        ("lengths", {"seed": 1.0}),
        ("lengths", {"seed": None}),
        ("lengths", {"kind": "trace"}),
        ("lengths", {"kind": ["trace"]}),
        ("lengths", {"colour": 3}),
        ("arrivals", {"concurrency": 2.0}),
        ("arrivals", {"kind": "gamma"}),
    ],
)
def test_what_is_mistyped_is_refused(where: str, change: dict[str, Any]) -> None:
    data = traffic_json(traffic())
    data[where] |= change
    with pytest.raises((TypeError, KeyError)):
        traffic_of(data, "x", Path())


@pytest.mark.parametrize("speed", ["2", None, True, [2.0]])
def test_a_mistyped_speed_is_refused(speed: object) -> None:
    data = traffic_json(traffic(arrivals=TraceTimes(trace=REAL)))
    data["arrivals"]["speed"] = speed
    with pytest.raises(TypeError):
        traffic_of(data, "x", Path())


# ---- scenarios with a trace


def scenario(folder: Path) -> Scenario:
    (folder / "real.csv").write_text("time,prompt,output\n0,30,3\n1.5,40,4\n2.5,50,5\n")
    real = read_trace(folder / "real.csv")
    return unified(
        plan("TP2"),
        traffic(TraceLengths(trace=real), TraceTimes(trace=real, speed=2.0)),
    )


def test_a_scenario_and_its_trace_move_together(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    one = scenario(here)
    (here / "scenario.json").write_text(dump_scenario(one, here))
    here.rename(there)
    moved = read_scenario(there / "scenario.json")
    assert moved == one
    assert moved.digest == one.digest


def test_without_a_folder_paths_are_absolute(tmp_path: Path) -> None:
    one = scenario(tmp_path)
    assert parse_scenario(dump_scenario(one).encode(), "x", Path("/")) == one
    assert str((tmp_path / "real.csv").resolve()) in dump_scenario(one)


def test_the_digest_is_of_the_trace_s_text_and_not_of_its_place(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    assert scenario(one).digest == scenario(other).digest
    (other / "real.csv").write_text("time,prompt,output\n0,30,3\n1.5,40,4\n2.5,50,6\n")
    changed = read_trace(other / "real.csv")
    theirs = replace(
        scenario(one), traffic=traffic(TraceLengths(trace=changed), TraceTimes(trace=changed))
    )
    assert theirs.digest != scenario(one).digest


def test_a_changed_trace_stops_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "scenario.json").write_text(dump_scenario(scenario(tmp_path), tmp_path))
    (tmp_path / "real.csv").write_text("time,prompt,output\n0,30,3\n1.5,40,4\n2.5,50,6\n")
    with pytest.raises(BadScenario, match=r"^real\.csv: has changed since the scenario was made"):
        read_scenario(tmp_path / "scenario.json")


def test_half_a_trace_in_a_file_is_a_mistyped_entry(tmp_path: Path) -> None:
    data = json.loads(dump_scenario(scenario(tmp_path)))
    data["traffic"]["lengths"]["trace"] = {"path": "real.csv"}
    with pytest.raises(
        BadScenario, match=r"^scenario: missing, unknown or mistyped entry: 'sha256'"
    ):
        from_json(data)
