"""Traces that come with the catalogue: real requests, by name."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jalapeno.errors import unknown_name

SUFFIX = ".csv"


@cache
def trace_names() -> tuple[str, ...]:
    """Return the names of the traces, sorted."""
    found = (item.name for item in (files("jalapeno.catalogue") / "data" / "traces").iterdir())
    return tuple(sorted(name.removesuffix(SUFFIX) for name in found if name.endswith(SUFFIX)))


def trace_bytes(name: str) -> bytes:
    """Return the file of the trace *name*; :class:`UnknownName` where there is none."""
    if name not in trace_names():
        raise unknown_name("trace", name, trace_names())
    return (files("jalapeno.catalogue") / "data" / "traces" / f"{name}{SUFFIX}").read_bytes()
