"""measure: pure, the same wherever segments lie, and honest about a run that was stopped."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from jalapeno.errors import UnknownName
from jalapeno.metrics import measure
from jalapeno.simulation import Journal, simulate, start
from tests.metrics import journals


def test_the_same_journal_gives_the_same_report(run: Journal) -> None:
    assert repr(measure(run)) == repr(measure(run))


def test_measuring_leaves_the_journal_as_it_was(run: Journal) -> None:
    requests, segments = run.requests.clone(), run.segment_table()
    measure(run)
    assert run.requests.equals(requests)
    assert run.segment_table().equals(segments)


def test_segments_on_disk_measure_as_those_in_memory(run: Journal, tmp_path: Path) -> None:
    stored = simulate(run.scenario, tmp_path)
    assert repr(measure(stored)) == repr(measure(run))


def test_all_requests_of_a_finished_run_count(run: Journal) -> None:
    report = measure(run)
    assert report.requests == report.requests_done == run.scenario.traffic.requests


def test_a_chip_without_a_tariff_is_asked_for_one() -> None:
    hand = journals.two_requests()
    chip = replace(hand.scenario.system.chip, name="habanero")
    system = replace(hand.scenario.system, chip=chip)
    other = replace(hand, scenario=replace(hand.scenario, system=system))
    with pytest.raises(UnknownName, match="habanero"):
        measure(other)


# ---- stopped runs


def test_a_stopped_run_is_measured_over_what_is_done(run: Journal) -> None:
    whole = measure(run)
    half = start(run.scenario)
    half.advance(int(whole.throughput.duration_s / 2 * 1e12))
    report = measure(half.journal())
    assert 0 < report.requests_done < report.requests
    assert report.attribution.requests == report.requests_done
    assert 0.0 < report.throughput.duration_s <= whole.throughput.duration_s / 2
    assert report.latency.tpot_ms.mean == pytest.approx(whole.latency.tpot_ms.mean, rel=0.5)


def test_a_stopped_run_says_that_it_is_not_whole(run: Journal) -> None:
    half = start(run.scenario)
    half.advance(int(measure(run).throughput.duration_s / 2 * 1e12))
    checks = {check.name: check for check in measure(half.journal()).checks}
    assert not checks["requests"].holds
    # what does not wait for the rest holds all the same
    for name in ("KV blocks", "order of times", "one segment at a time", "attribution", "joules"):
        assert checks[name].holds


def test_a_run_that_has_not_begun_has_no_numbers(run: Journal) -> None:
    report = measure(start(run.scenario).journal())
    assert report.requests_done == 0
    assert math.isnan(report.latency.ttft_ms.mean)
    assert math.isnan(report.latency.token_gap_ms.mean)
    assert math.isnan(report.throughput.tokens_per_s)
    assert math.isnan(report.power.package.watts_per_chip)
    assert math.isnan(report.utilisation.running)
    assert report.throughput.tokens == 0
