"""Collectives: laws of both, and all-reduce beside what was measured."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.cost.formulas import all_reduce_seconds, all_to_all_seconds
from tests.cost.operators import FEW, magnitudes

MEASURED = Path(__file__).parents[3] / "shared" / "facts" / "data_allreduce_us.csv"
"""All-reduce times by system, software, chips and bytes, microseconds; not part of the project."""

SIZES = magnitudes(1.0, 1e10)
GROUPS = st.integers(2, 2048).map(float)
LATENCIES = magnitudes(1e-7, 1e-4)
RATES = magnitudes(1e9, 1e13)
FUSED = st.sampled_from([0.0, 1.0])


def one_shot(size: float, group: float, latency: float, rate: float) -> float:
    """Everyone sends everything to everyone."""
    return latency + (group - 1) * size / rate


def two_shot(size: float, group: float, latency: float, rate: float) -> float:
    """Reduce-scatter, then all-gather."""
    return 2 * (latency + (group - 1) / group * size / rate)


# ---- all-reduce


@FEW
@given(SIZES, LATENCIES, RATES, FUSED)
def test_one_chip_needs_no_collective(
    size: float, latency: float, rate: float, fused: float
) -> None:
    assert all_reduce_seconds(size, 1.0, latency, rate, fused) == 0.0
    assert all_to_all_seconds(size, 1.0, latency, rate) == 0.0


@FEW
@given(GROUPS, LATENCIES, RATES, FUSED)
def test_nothing_to_say_takes_no_time(
    group: float, latency: float, rate: float, fused: float
) -> None:
    assert all_reduce_seconds(0.0, group, latency, rate, fused) == 0.0
    assert all_to_all_seconds(0.0, group, latency, rate) == 0.0


@FEW
@given(SIZES, GROUPS, LATENCIES, RATES, FUSED)
def test_an_all_reduce_never_beats_a_phase_and_the_bytes_over_the_rate(
    size: float, group: float, latency: float, rate: float, fused: float
) -> None:
    seconds = all_reduce_seconds(size, group, latency, rate, fused)
    assert seconds >= (latency + size / rate) * (1 - 1e-12)


@FEW
@given(SIZES, GROUPS, LATENCIES, RATES)
def test_the_best_algorithm_is_chosen(
    size: float, group: float, latency: float, rate: float
) -> None:
    best = min(one_shot(size, group, latency, rate), two_shot(size, group, latency, rate))
    assert all_reduce_seconds(size, group, latency, rate, 0.0) == pytest.approx(best, rel=1e-12)


@FEW
@given(SIZES, GROUPS, LATENCIES, RATES)
def test_a_switch_that_sums_never_makes_it_slower(
    size: float, group: float, latency: float, rate: float
) -> None:
    fused = all_reduce_seconds(size, group, latency, rate, 1.0)
    assert fused <= all_reduce_seconds(size, group, latency, rate, 0.0)
    assert fused == pytest.approx(latency + size / rate)


@FEW
@given(GROUPS.filter(lambda group: group > 2), LATENCIES, RATES)
def test_small_ones_go_in_one_shot_and_big_ones_in_two(
    group: float, latency: float, rate: float
) -> None:
    # one-shot pays (n-1) (1 - 2/n) S / r more than two-shot and one phase less
    even = latency * rate / ((group - 1) * (1 - 2 / group))
    small, big = even / 10, even * 10
    assert all_reduce_seconds(small, group, latency, rate, 0.0) == pytest.approx(
        one_shot(small, group, latency, rate)
    )
    assert all_reduce_seconds(big, group, latency, rate, 0.0) == pytest.approx(
        two_shot(big, group, latency, rate)
    )


@FEW
@given(SIZES, LATENCIES, RATES)
def test_two_chips_exchange_in_one_shot_whatever_the_size(
    size: float, latency: float, rate: float
) -> None:
    assert all_reduce_seconds(size, 2.0, latency, rate, 0.0) == pytest.approx(latency + size / rate)


@FEW
@given(SIZES, SIZES, GROUPS, LATENCIES, RATES, FUSED)
def test_more_bytes_never_take_less(
    size: float, more: float, group: float, latency: float, rate: float, fused: float
) -> None:
    one = all_reduce_seconds(size, group, latency, rate, fused)
    assert all_reduce_seconds(size + more, group, latency, rate, fused) >= one
    one = all_to_all_seconds(size, group, latency, rate)
    assert all_to_all_seconds(size + more, group, latency, rate) >= one


@FEW
@given(SIZES, GROUPS, LATENCIES, RATES, FUSED, st.floats(1.0, 100.0))
def test_a_faster_link_never_takes_longer(
    size: float, group: float, latency: float, rate: float, fused: float, faster: float
) -> None:
    slow = all_reduce_seconds(size, group, latency, rate, fused)
    assert all_reduce_seconds(size, group, latency, rate * faster, fused) <= slow
    assert all_reduce_seconds(size, group, latency / faster, rate, fused) <= slow
    slow = all_to_all_seconds(size, group, latency, rate)
    assert all_to_all_seconds(size, group, latency, rate * faster) <= slow
    assert all_to_all_seconds(size, group, latency / faster, rate) <= slow


@FEW
@given(SIZES, GROUPS, LATENCIES, RATES, FUSED)
def test_one_more_chip_never_makes_it_shorter(
    size: float, group: float, latency: float, rate: float, fused: float
) -> None:
    one = all_reduce_seconds(size, group, latency, rate, fused)
    assert all_reduce_seconds(size, group + 1, latency, rate, fused) >= one


# ---- all-to-all


@FEW
@given(SIZES, GROUPS, LATENCIES, RATES)
def test_an_all_to_all_is_a_phase_and_the_busiest_port(
    size: float, group: float, latency: float, rate: float
) -> None:
    assert all_to_all_seconds(size, group, latency, rate) == latency + size / rate


# ---- measured


def measured() -> list[tuple[str, int, float, float]]:
    """(system, chips, bytes, seconds) of TensorRT-LLM on the NVL72 racks."""
    if not MEASURED.is_file():
        pytest.skip("the measured table is not part of the project: shared/facts is not beside it")
    found = []
    with MEASURED.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            if line["fw"] == "trtllm" and line["sys"] in ("gb200", "gb300"):
                for name, microseconds in line.items():
                    if name.endswith("K"):
                        size = 1024.0 * int(name[:-1])
                        found.append(
                            (line["sys"], int(line["n"]), size, float(microseconds) * 1e-6)
                        )
    return found


def modelled(system: str, chips: int, size: float) -> float:
    """What the catalogue's link and engine make of it."""
    engine = catalogue.engine("tensorrt-llm")
    level = catalogue.system(f"{system}-nvl72").level(chips)
    return all_reduce_seconds(
        size,
        float(chips),
        engine.all_reduce_latency + level.latency,
        level.bandwidth * engine.link_efficiency,
        float(level.reduces),
    )


def test_small_all_reduces_take_what_was_measured_within_two_fifths() -> None:
    small = [row for row in measured() if row[2] <= 65536.0]
    assert len(small) >= 16
    for system, chips, size, seconds in small:
        assert modelled(system, chips, size) == pytest.approx(seconds, rel=0.4)


def test_no_measured_all_reduce_beats_the_wire() -> None:
    for system, chips, size, seconds in measured():
        assert seconds > size / catalogue.system(f"{system}-nvl72").level(chips).bandwidth
