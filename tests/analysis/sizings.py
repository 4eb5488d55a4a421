"""Sizings that the tests share: the real thing, on a small model and short requests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from jalapeno.analysis.demand import Demand
from jalapeno.analysis.size import Sizing, size
from jalapeno.analysis.slo import Limit, Metric, Slo
from jalapeno.analysis.subject import Subject, subject
from jalapeno.simulation import Lengths

SHORT = Lengths(isl=1024, osl=128)
CHIPS = (1, 2, 4)


def slo(percentile: float = 95.0, **milliseconds: float) -> Slo:
    """Limits by metric in lower case: ``slo(ttft=500, tbt=8)``."""
    return Slo(
        limits=tuple(
            Limit(metric=Metric[name.upper()], seconds=value / 1e3, percentile=percentile)
            for name, value in milliseconds.items()
        )
    )


@cache
def small(system: str = "jalapeno-rack", **overrides: str) -> Subject:
    """gpt-oss-120b and short requests."""
    paths: Mapping[str, str] = {name.replace("__", "."): text for name, text in overrides.items()}
    return subject("gpt-oss-120b", system, lengths=SHORT, overrides=paths)


@cache
def sized(
    rate: float = 300.0,
    ttft: float = 1000.0,
    tbt: float = 8.0,
    *,
    spare: int = 0,
    burst: float = 1.0,
    system: str = "jalapeno-rack",
) -> Sizing:
    """A sizing of :func:`small`, made once."""
    demand = Demand(rate=rate, spare=spare, burst=burst)
    return size(small(system), demand, slo(ttft=ttft, tbt=tbt), chips=CHIPS)
