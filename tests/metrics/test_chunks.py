"""Gaps between chunks of a stream, against the token times of a step-by-step simulator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.analysis.references import scenario_for
from jalapeno.metrics import measure
from jalapeno.metrics.chunks import are_told, chunk_gaps, intervals
from jalapeno.metrics.report import Report
from jalapeno.simulation import Preemption, Role, Scenario, resolve, simulate
from tests.simulation.reference import Reference
from tests.simulation.reference_shapes import Request
from tests.simulation.scenes import Scene, closed, plan, scenes, speculation


class Listening(Reference):
    """Notes the instant at which each request has tokens, its first included."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self.heard: dict[int, list[int]] = {}

    def has_token(self, request: Request, step: int) -> None:
        super().has_token(request, step)
        self.heard.setdefault(request.number, []).append(self.now)


def streamed(scene: Scene, every: int) -> Scene:
    own = [(f"{site}engine.stream_interval", str(every)) for site in scene.sites()]
    return replace(scene, overrides=(*scene.overrides, *own), preemption=Preemption.NONE)


def expected(scenario: Scenario, every: int) -> list[int]:
    """Gaps between chunks as a client would time them."""
    slow = Listening(scenario)
    slow.run()
    gaps = []
    for request in slow.requests:
        times = [request.times["first"], *slow.heard.get(request.number, [])]
        sent = [
            time
            for iteration, time in enumerate(times, 1)
            if iteration == 1 or iteration % every == 0 or iteration == len(times)
        ]
        gaps += np.diff(sent).tolist()
    return sorted(gaps)


def listed(scenario: Scenario) -> list[int]:
    journal = simulate(scenario)
    return sorted(gap for batch in chunk_gaps(journal) for gap in batch.first.tolist())


@settings(max_examples=60)
@given(st.one_of(scenes(), scenes().flatmap(speculation)), st.sampled_from((1, 2, 3, 7, 20, 500)))
def test_chunks_are_those_that_a_client_would_get(scene: Scene, every: int) -> None:
    scenario = streamed(scene, every).scenario()
    assert listed(scenario) == expected(scenario, every)


@settings(max_examples=25)
@given(scenes(), st.sampled_from((2, 5)))
def test_the_report_has_their_percentiles_and_their_mean(scene: Scene, every: int) -> None:
    scenario = streamed(scene, every).scenario()
    gaps = np.array(expected(scenario, every)) / 1e9
    found = measure(simulate(scenario)).latency.token_gap_ms
    if not len(gaps):
        assert np.isnan(found.mean)
        return
    assert found.mean == pytest.approx(gaps.mean(), rel=1e-9)
    assert found.p99 == pytest.approx(np.percentile(gaps, 99), rel=1e-9)
    assert (found.min, found.max) == (gaps.min(), gaps.max())


def report_of(every: int) -> Report:
    scene = Scene(
        pools=((Role.UNIFIED, 1, plan("TP1", max_running=4)),), traffic=closed(20, 4, 60, 90)
    )
    return measure(simulate(streamed(scene, every).scenario()))


def test_only_gaps_change_with_the_interval() -> None:
    one, ten = report_of(1), report_of(10)
    for name in ("ttft_ms", "tpot_ms", "e2e_ms"):
        assert getattr(one.latency, name) == getattr(ten.latency, name)
    assert one.throughput == ten.throughput
    assert ten.latency.token_gap_ms.median > 5 * one.latency.token_gap_ms.median
    assert all(check.holds for check in ten.checks)


def test_a_gap_is_nearly_as_many_steps_as_the_interval() -> None:
    # 90 tokens: the first, then iterations 30, 60 and 90
    report = report_of(30)
    assert report.latency.token_gap_ms.mean == pytest.approx(
        report.latency.tpot_ms.mean * 89 / 3, rel=1e-9
    )


def test_the_measured_gaps_of_a_stream_are_some_twenty_tokens() -> None:
    # InferenceX run 20786863188: median ITL about 37 ms, TPOT 1.87 ms
    row = catalogue.row("gb200-gpt-oss-120b-c1-tp8")
    trees = resolve(row.system, row.model, row.engine, overrides={"engine.stream_interval": "20"})
    report = measure(simulate(scenario_for(row, trees)))
    assert report.latency.token_gap_ms.median == pytest.approx(37.0, rel=0.1)
    assert report.latency.tpot_ms.mean == pytest.approx(row.measured["mean_tpot_ms"], rel=0.1)


def test_chunks_of_sequences_that_gave_way_are_not_told() -> None:
    scene = Scene(
        pools=((Role.UNIFIED, 1, plan("TP1", max_running=6, max_tokens=64)),),
        traffic=closed(12, 6, 20, 100),
        block_tokens=4,
        blocks=40,
        preemption=Preemption.RECOMPUTE,
        overrides=(
            ("model.attention.window_layers", "0"),
            ("engine.stream_interval", "4"),
        ),
    )
    journal = simulate(scene.scenario())
    assert journal.requests["preempted"].sum() > 0
    assert not are_told(journal)
    assert np.isnan(measure(journal).latency.token_gap_ms.mean)


def test_each_worker_has_the_interval_of_its_site() -> None:
    here = plan("TP1")
    there = plan("TP1", system="gb300-nvl72")
    scene = Scene(
        pools=((Role.UNIFIED, 2, here), (Role.UNIFIED, 1, there)),
        traffic=closed(8, 4, 40, 12),
        west=(1,),
        overrides=(("others.west.engine.stream_interval", "5"),),
    )
    journal = simulate(scene.scenario())
    assert intervals(journal).tolist() == [1, 1, 5]
