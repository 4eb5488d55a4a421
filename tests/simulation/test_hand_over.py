"""Buffers that are handed over before they are full: no row of them is made up."""

from __future__ import annotations

import pytest

from jalapeno import catalogue
from jalapeno.mapping import Plan, Precision
from jalapeno.metrics import measure, require
from jalapeno.simulation import (
    ClosedLoop,
    Journal,
    Lengths,
    Pool,
    Preemption,
    Role,
    Traffic,
    resolve,
    scenario_of,
    simulate,
)
from jalapeno.simulation.state import BUFFER_PAUSES, BUFFER_SEGMENTS


@pytest.fixture(scope="module")
def crowded() -> Journal:
    """A cache so small that far more sequences give way than the buffer of pauses holds."""
    model, system, engine = "llama-3.1-8b", "h100-hgx", "tensorrt-llm"
    precision = Precision.as_served(
        catalogue.engine(engine), catalogue.model(model), catalogue.chip("h100")
    )
    plan = Plan(max_running=256, max_tokens=2048, precision=precision)
    pool = Pool(role=Role.UNIFIED, plan=plan, replicas=1, preemption=Preemption.RECOMPUTE)
    traffic = Traffic(
        lengths=Lengths(isl=128, osl=1000, ratio=0.5),
        arrivals=ClosedLoop(concurrency=2000),
        requests=2000,
    )
    trees = resolve(system, model, engine, {"chip.hbm.capacity": "24 GB"})
    return simulate(scenario_of(trees, (pool,), traffic))


def test_full_pauses_hand_over_no_more_segments_than_were_written(crowded: Journal) -> None:
    assert len(crowded.pauses) > BUFFER_PAUSES
    segments = crowded.segment_table()
    assert len(segments) < BUFFER_SEGMENTS  # the segments alone would not have been handed over
    assert (segments["steps"] > 0).all()
    assert segments["start"].is_sorted()


def test_the_laws_hold_however_often_sequences_give_way(crowded: Journal) -> None:
    require(measure(crowded).checks)
    assert set(crowded.requests["status"]) == {"done"}
