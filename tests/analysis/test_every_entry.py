"""Every model on every system: it fits where it is known to fit, and serves 8K/1K."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from jalapeno import catalogue
from jalapeno.analysis.subject import Subject, subject
from jalapeno.mapping import StepPrice
from jalapeno.mapping.search import compiled_plans
from jalapeno.metrics import measure, require
from jalapeno.simulation import ClosedLoop, Pool, Role, Traffic, scenario_of, simulate

SIZES = (1, 2, 4, 8, 16, 32, 64)
"""Chips of a worker that are tried, the fewest first."""

LONGEST = 8192 + 1024

SERVERS = [name for name in catalogue.names("systems") if catalogue.system(name).chips > 2]
"""All but the cards that are there for measured tables, which hold a few models."""


@cache
def smallest(model: str, system: str) -> tuple[Subject, StepPrice]:
    """The smallest worker that holds a request of 8K/1K, and the first of its size."""
    about = subject(model, system)
    for size in SIZES:
        if size > about.system.chips:
            break
        found = compiled_plans(about.model, about.system, about.engine, about.precision, (size,))
        for price in found:
            if price.room.blocks >= price.room.blocks_for(LONGEST):
                return about, price
    raise AssertionError(f"{model} fits nowhere on {system}")


@pytest.mark.parametrize("system", SERVERS)
@pytest.mark.parametrize("model", catalogue.names("models"))
def test_every_system_serves_every_model(model: str, system: str) -> None:
    about, price = smallest(model, system)
    ranks = price.plan.ranks
    held = min(2, price.room.blocks // price.room.blocks_for(LONGEST))
    plan = replace(price.plan, max_running=held, max_tokens=8192)
    scenario = scenario_of(
        about.trees,
        (Pool(role=Role.UNIFIED, plan=plan, replicas=1),),
        Traffic(
            lengths=about.lengths,
            arrivals=ClosedLoop(concurrency=held * ranks),
            requests=4 * held * ranks,
        ),
    )
    report = measure(simulate(scenario))
    require(report.checks)
    assert report.requests_done == 4 * held * ranks
    speed = 1000.0 / report.latency.tpot_ms.mean
    # slower than a reader, or faster than memory, would be a mistake in an entry
    floor = price.room.weight_bytes / about.system.chip.hbm.bandwidth
    active = about.model.published_active / about.model.published_parameters
    assert 5.0 < speed < 1.0 / (0.3 * active * floor)


@pytest.mark.parametrize(
    ("model", "system", "chips"),
    [
        ("gpt-oss-120b", "h100-hgx", 1),  # OpenAI: fits on a single 80 GB GPU
        ("gpt-oss-20b", "h100-hgx", 1),
        ("deepseek-r1", "h200-hgx", 8),  # DeepSeek's own deployment: one node of H200
        ("deepseek-r1", "h100-hgx", 16),  # and two of H100
        ("kimi-k2", "h200-hgx", 16),  # Moonshot's guide: the smallest unit is 16 H200
        ("llama-3.1-405b", "h100-hgx", 16),  # Meta: two nodes in BF16
        ("llama-3.1-8b", "h100-hgx", 1),
        ("qwen3-235b-a22b", "h100-hgx", 8),
    ],
)
def test_it_fits_where_it_is_known_to_fit(model: str, system: str, chips: int) -> None:
    _, price = smallest(model, system)
    assert price.plan.chips == chips
