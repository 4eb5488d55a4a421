"""Report: the numbers people quote, units in the names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from jalapeno.catalogue import Kind
from jalapeno.metrics.attribution import Attribution
from jalapeno.metrics.audit import Check
from jalapeno.metrics.latency import Latency
from jalapeno.metrics.power import Power
from jalapeno.metrics.saturation import Saturation
from jalapeno.metrics.throughput import Throughput
from jalapeno.metrics.utilisation import Utilisation


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a journal says.  A number that is undefined, such as the TPOT of one token, is NaN."""

    layout: str
    """Pools in short: ``P 1xTP1 + D 5xTEP4``."""
    load: str
    """How requests were sent: ``closed loop, 64 in flight``, or an open loop at which rate."""
    digest: str
    """Of the scenario."""
    kind: Kind
    """The weakest evidence among the facts of the scenario."""
    tables_kind: Kind | None
    """The weakest evidence among the tables that say what operators take; None without tables."""
    requests: int
    requests_done: int
    """What latency, throughput and attribution are over."""
    latency: Latency
    throughput: Throughput
    saturation: Saturation | None
    """Whether an open loop was kept up with; None for a closed one."""
    power: Power
    utilisation: Utilisation
    pools: tuple[Utilisation, ...]
    """Of each pool by itself, in the order of the scenario."""
    attribution: Attribution
    checks: tuple[Check, ...]

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON takes it: plain numbers and words, None where undefined."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


def _plain(value: Any) -> Any:
    match value:
        case Kind():
            return value.name.lower()
        case None | bool() | int() | str():
            return value
        case float():
            return float(value) if math.isfinite(value) else None
        case tuple():
            return [_plain(item) for item in value]
        case Mapping():
            return {name: _plain(item) for name, item in value.items()}
        case _ if is_dataclass(value):
            return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        case _:
            raise TypeError(f"a report does not hold {type(value).__name__}")
