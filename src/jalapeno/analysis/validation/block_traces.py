"""Traces of prefix blocks: shipped ones, and the files that Mooncake and kv-cache-tester publish.

A request is the list of ids of its blocks; ids are chained, so that equal ids mean equal prefixes.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from jalapeno.errors import UsageError, unknown_name

Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """The blocks of one request: those in common with the one before, then the others."""

    shared: int
    """Leading blocks of the request before in the same conversation."""
    rest: Ids

    @property
    def blocks(self) -> int:
        """How many there are."""
        return self.shared + len(self.rest)


Conversation = tuple[tuple[Request, ...], ...]
"""Threads with one space of ids: a session and its sub-agents, in the order of their start."""

MOONCAKE = ("conversation", "synthetic")
WEKA = "weka"
NAMES = (*(f"mooncake-{name}" for name in MOONCAKE), WEKA)


def trace(name: str, data: Path | None = None) -> tuple[Conversation, ...]:
    """Return the trace called *name* (of :data:`NAMES`): shipped, or from the folder *data*.

    There, Mooncake's are ``mooncake/conversation_trace.jsonl`` and ``synthetic_trace.jsonl``, and
    the sessions of kv-cache-tester ``agentic_weka/*.jsonl``, a session a line, or
    ``agentic_weka/trace_*.json``; a ``.gz`` at the end is read too.  Raises
    :class:`UsageError` where there is no such file, or it holds something else.
    """
    if name not in NAMES:
        raise unknown_name("trace of blocks", name, NAMES)
    try:
        if name == WEKA:
            return tuple(conversation(entry["requests"]) for entry in _sessions(data))
        which = name.removeprefix("mooncake-")
        listed = _shipped_mooncake(which) if data is None else _mooncake(data, which)
        return (whole(listed),)
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"the trace {name}: not what was expected: {error!r}") from error


def whole(requests: Iterable[Ids]) -> Conversation:
    """Requests of many users as one conversation, in which nothing is taken from the one before."""
    return (tuple(Request(0, ids) for ids in requests),)


def conversation(requests: Iterable[Mapping[str, Any]]) -> Conversation:
    """A session of kv-cache-tester, raw (``hash_ids``) or in runs (``pfx`` and ``new``)."""
    own: list[Request] = []
    threads: list[tuple[Request, ...]] = []
    before: Ids = ()
    for one in requests:
        if one.get("type") == "subagent":
            # what came before it is what its threads may find in the cache
            threads += [tuple(own), *conversation(one["requests"])]
            own = []
        elif "hash_ids" in one:
            ids = tuple(one["hash_ids"])
            own.append(_beside(before, ids))
            before = ids
        else:
            runs = (range(start, start + length) for start, length in one["new"])
            own.append(Request(one["pfx"], tuple(each for run in runs for each in run)))
    return tuple(thread for thread in (*threads, tuple(own)) if thread)


def _beside(before: Ids, ids: Ids) -> Request:
    """*ids* as what they share with the request *before*, and the rest."""
    shared = 0
    for one, other in zip(before, ids, strict=False):
        if one != other:
            break
        shared += 1
    return Request(shared, ids[shared:])


def _shipped_mooncake(which: str) -> Iterator[Ids]:
    known: list[Ids] = []
    fresh = 0
    for line in csv.DictReader(io.StringIO(_shipped(f"mooncake-{which}.csv.gz"))):
        like, shared, blocks = (int(line[key]) for key in ("like", "shared", "blocks"))
        new = blocks - shared
        ids = (*(known[like][:shared] if shared else ()), *range(fresh, fresh + new))
        fresh += new
        known.append(ids)
        yield ids


def _mooncake(data: Path, which: str) -> Iterator[Ids]:
    for entry in _lines(_only(data / "mooncake", f"{which}_trace.jsonl*")):
        yield tuple(entry["hash_ids"])


def _sessions(data: Path | None) -> Iterator[Mapping[str, Any]]:
    if data is None:
        yield from map(json.loads, _shipped("weka-agentic.jsonl.gz").splitlines())
        return
    folder = data / "agentic_weka"
    raw = sorted(folder.glob("trace_*.json*"))
    if raw:
        for path in raw:
            yield json.loads(_text(path))
    else:
        yield from _lines(_only(folder, "*.jsonl*"))


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise UsageError(f"no file {folder / pattern}: give the folder that holds it")
    return found[0]


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    yield from map(json.loads, _text(path).splitlines())


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
        return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    except (OSError, EOFError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error


def _shipped(name: str) -> str:
    raw = (files("jalapeno.catalogue") / "data" / "prefixes" / name).read_bytes()
    return gzip.decompress(raw).decode("utf-8")
