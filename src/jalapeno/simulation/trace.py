"""Trace: when real requests came and how long they and their answers were, from a file."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from jalapeno.catalogue.traces import trace_bytes, trace_names
from jalapeno.errors import BadScenario, nearest
from jalapeno.simulation.trace_table import Columns, trace_columns

Integers = npt.NDArray[np.int64]

GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Requests that were: traces of equal content are equal, wherever they lie."""

    name: str = field(compare=False)
    """For people: of the catalogue, or of the file."""
    path: Path | None = field(compare=False, default=None)
    """Of the file, absolute; None for a trace of the catalogue."""
    sha256: str
    """Of the text, unpacked."""
    times: Integers = field(compare=False, repr=False)
    """When each request came, ps after the first one."""
    prompts: Integers = field(compare=False, repr=False)
    """Tokens."""
    outputs: Integers = field(compare=False, repr=False)
    """Tokens."""
    cached: Integers = field(compare=False, repr=False)
    """Tokens of each prompt that are in the cache when it comes; none where the file has no such
    column."""

    def __post_init__(self) -> None:
        for column in (self.times, self.prompts, self.outputs, self.cached):
            column.setflags(write=False)

    def __len__(self) -> int:
        return len(self.times)

    @property
    def span_s(self) -> float:
        """From the first request to the last, s."""
        return float(self.times[-1]) / 1e12

    @property
    def requests_per_s(self) -> float:
        """Requests a second between the first and the last; NaN where all came at once."""
        return (len(self) - 1) / self.span_s if self.span_s else float("nan")


def read_trace(path: Path | str) -> Trace:
    """Read a trace from a CSV or JSONL file, plain or gzip; see :mod:`.trace_table` for columns.

    Raises :class:`BadScenario` with the line and the value of whatever is not understood.
    """
    place = Path(path)
    try:
        data = place.read_bytes()
    except OSError as error:
        raise BadScenario(f"{place}: cannot be read: {error.strerror}") from error
    except ValueError as error:  # a NUL in a path
        raise BadScenario(f"{str(place)!r}: cannot be read: {error}") from error
    return _trace(data, place.name, place.resolve(), str(place))


def find_trace(name: str) -> Trace:
    """The catalogue's trace of that *name*, or the file at that path."""
    if name in trace_names():
        return _trace(trace_bytes(name), name, None, name)
    if not Path(name).exists():
        known = trace_names()
        raise BadScenario(
            f"{name}: no such file, nor a trace of the catalogue{nearest(name, known)}; "
            f"it has {', '.join(known)}"
        )
    return read_trace(name)


def trace_in(text: bytes, name: str) -> Trace:
    """The trace in *text*, CSV or JSONL, that no file holds: a scenario file cannot keep it."""
    return _trace(text, name, None, name)


def _trace(data: bytes, name: str, path: Path | None, where: str) -> Trace:
    text = _unpacked(data, where)
    columns: Columns = trace_columns(text, where)
    return Trace(
        name=name,
        path=path,
        sha256=hashlib.sha256(text).hexdigest(),
        times=columns.times,
        prompts=columns.prompts,
        outputs=columns.outputs,
        cached=columns.cached,
    )


def _unpacked(data: bytes, where: str) -> bytes:
    if not data.startswith(GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise BadScenario(f"{where}: not a whole gzip file: {error}") from error


def trace_json(trace: Trace, folder: Path | None = None) -> dict[str, str]:
    """What a scenario file keeps of a *trace*: where it is, and what it was.

    A path is relative where the trace lies in or below *folder*, the scenario file's.
    """
    if trace.path is None:
        return {"name": trace.name, "sha256": trace.sha256}
    path = trace.path
    if folder is not None and path.is_relative_to(folder.resolve()):
        path = path.relative_to(folder.resolve())
    return {"path": path.as_posix(), "sha256": trace.sha256}


def trace_of(data: Mapping[str, Any], folder: Path) -> Trace:
    """The trace that a scenario file in *folder* keeps; refused where it is another one by now."""
    known = dict(data)
    sha256, path, name = known.pop("sha256"), known.pop("path", None), known.pop("name", None)
    if known or (path is None) == (name is None) or not isinstance(path or name, str):
        raise TypeError(f"a trace has a sha256 and either a path or a name, got {dict(data)!r}")
    found = find_trace(name) if path is None else read_trace(folder / path)
    if found.sha256 != sha256:
        raise BadScenario(
            f"{path or name}: has changed since the scenario was made: sha256 is "
            f"{found.sha256[:16]}…, it was {str(sha256)[:16]}…; put the old one back, or make the "
            "scenario again"
        )
    return found
