"""Traffic as a scenario file keeps it: a kind, its numbers, and for a trace where it lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from jalapeno.errors import BadScenario
from jalapeno.mapping import Plan
from jalapeno.simulation.arrivals import Arrivals, ClosedLoop, Gamma, Poisson, TraceTimes
from jalapeno.simulation.lengths import AnyLengths, Lengths, LogNormal, TraceLengths
from jalapeno.simulation.pools import Pool
from jalapeno.simulation.trace import Trace, trace_json, trace_of
from jalapeno.simulation.traffic import Traffic

LENGTHS: Mapping[str, type[AnyLengths]] = {
    "uniform": Lengths,
    "lognormal": LogNormal,
    "trace": TraceLengths,
}
ARRIVALS: Mapping[str, type[Arrivals]] = {
    "closed_loop": ClosedLoop,
    "poisson": Poisson,
    "gamma": Gamma,
    "trace": TraceTimes,
}
"""Kinds by the word of the file."""

TYPES: Mapping[str, tuple[type, ...]] = {
    "int": (int,),
    "int | None": (int, type(None)),
    "float": (int, float),
    "bool": (bool,),
}
"""What a file may hold for a field of that annotation: JSON has one sort of number for all."""


def traffic_json(traffic: Traffic, of_trace: Callable[[Trace], Any] = trace_json) -> dict[str, Any]:
    """The traffic as plain data; *of_trace* is what stands for a trace."""
    return {
        "lengths": _json(traffic.lengths, LENGTHS, of_trace),
        "arrivals": _json(traffic.arrivals, ARRIVALS, of_trace),
        "requests": traffic.requests,
    }


def _json(
    shape: AnyLengths | Arrivals, kinds: Mapping[str, type], of_trace: Callable[[Trace], Any]
) -> dict[str, Any]:
    (kind,) = (word for word, sort in kinds.items() if type(shape) is sort)
    values = {field.name: getattr(shape, field.name) for field in fields(shape)}
    return {
        "kind": kind,
        **{n: of_trace(v) if isinstance(v, Trace) else v for n, v in values.items()},
    }


def traffic_of(data: Mapping[str, Any], where: str, folder: Path) -> Traffic:
    """The traffic in *data*, of a file in *folder*; lengths without a kind are uniform (format 1).

    Raises :class:`BadScenario` for an unknown kind or a trace that has changed, and KeyError,
    TypeError or ValueError for entries that are missing, unknown or mistyped.
    """
    lengths = {"kind": "uniform", **data["lengths"]}
    found = Traffic(
        lengths=_shape(lengths, LENGTHS, f"{where}: lengths", folder),
        arrivals=_shape(dict(data["arrivals"]), ARRIVALS, f"{where}: arrivals", folder),
        requests=data["requests"],
    )
    for shape in (found, found.lengths, found.arrivals):
        check_types(shape)
    return found


def _shape(data: dict[str, Any], kinds: Mapping[str, type], where: str, folder: Path) -> Any:
    kind = data.pop("kind")
    if kind not in kinds:
        raise BadScenario(f"{where} of kind {kind!r}; there are {', '.join(kinds)}")
    if "trace" in data:
        data["trace"] = trace_of(data["trace"], folder)
    return kinds[kind](**data)


def check_types(shape: Traffic | AnyLengths | Arrivals | Pool | Plan) -> None:
    """Raise TypeError where *shape* holds what its annotation has no place for."""
    for field in fields(shape):
        allowed = TYPES.get(str(field.type))
        value = getattr(shape, field.name)
        if allowed and type(value) not in allowed:
            words = "a whole number" if int in allowed and float not in allowed else "a number"
            words = "true or false" if bool in allowed else words
            raise TypeError(f"{field.name} must be {words}, got {value!r}")
