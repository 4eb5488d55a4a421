"""Entries of the catalogue as lines to read: path, value, evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jalapeno import catalogue
from jalapeno.catalogue import (
    Chip,
    Claim,
    Engine,
    Fact,
    Kind,
    Model,
    Row,
    System,
    Tariff,
    Workers,
    weakest,
)
from jalapeno.errors import UnknownName, UsageError, nearest

Shown = Chip | System | Model | Engine | Tariff | Claim | Row

_BUILD: Mapping[str, Callable[[Mapping[str, Any]], Shown]] = {
    "chips": catalogue.chip_of,
    "systems": catalogue.system_of,
    "models": catalogue.model_of,
    "engines": catalogue.engine_of,
    "tariffs": catalogue.tariff_of,
    "claims": catalogue.claim_of,
    "references": catalogue.row_of,
}

_SLOTS = {
    "recipe": (Kind.PUBLISHED, "the public recipe"),
    "little": (Kind.DERIVED, "Little's law from the measured rates, rounded up"),
    "assumed": (Kind.ASSUMED, "nobody published it"),
}
"""Evidence for the slots of a row's workers, by ``slots_kind``."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a shelf."""

    shelf: str
    name: str
    title: str
    lines: Mapping[str, Fact | str]
    """By path: facts with evidence, and words (names, formats) without."""
    source: str = ""
    """Of everything that names none, where an entry has such a source."""

    @property
    def facts(self) -> dict[str, Fact]:
        """The lines with evidence."""
        return {path: line for path, line in self.lines.items() if isinstance(line, Fact)}

    @property
    def weakest(self) -> Kind | None:
        """The weakest evidence among the facts; None where there is no fact."""
        return weakest(self.facts) if self.facts else None


def find(name: str, shelf: str | None, settings: Mapping[str, str]) -> Entry:
    """Return the entry *name*, of *shelf* or of whichever has it, with *settings* applied.

    Raises :class:`UnknownName` with the nearest, :class:`UsageError` where several shelves have
    it or a row's numbers are to be replaced, and :class:`BadFact` for a wrong unit.
    """
    if shelf is None:
        shelf = _shelf_of(name)
    tree: Mapping[str, Any] = catalogue.tree(shelf, name)
    if settings and shelf == "references":
        raise UsageError(f"--set: {name} is a measurement; only facts of the twin can be replaced")
    for path, text in settings.items():
        tree = catalogue.override(tree, _path_in(tree, shelf, path), text)
    return entry_of(shelf, tree)


def _path_in(tree: Mapping[str, Any], shelf: str, path: str) -> str:
    """*path* as the entry has it: ``chip.hbm.bandwidth`` works for the chip alone too."""
    shorter = path.removeprefix(f"{shelf.removesuffix('s')}.")
    return shorter if path not in catalogue.paths(tree) else path


def _shelf_of(name: str) -> str:
    if catalogue.is_file(name):
        raise UsageError(f"{name} is a file: say what it holds, as in --shelf models")
    every = {shelf: catalogue.names(shelf) for shelf in catalogue.SHELVES}
    having = [shelf for shelf, names in every.items() if name in names]
    if len(having) > 1:
        choices = " or ".join(f"--shelf {shelf}" for shelf in having)
        raise UsageError(f"{name!r} is on {len(having)} shelves: choose with {choices}")
    if not having:
        known = [known for names in every.values() for known in names]
        raise UnknownName(f"no entry {name!r}{nearest(name, known)}\nsee jalapeno list")
    return having[0]


def shelf_entries(shelf: str) -> tuple[Entry, ...]:
    """Return all entries of *shelf*; :class:`UnknownName` lists the shelves."""
    return tuple(entry_of(shelf, catalogue.tree(shelf, name)) for name in catalogue.names(shelf))


def entry_of(shelf: str, tree: Mapping[str, Any]) -> Entry:
    """Return the entry that *tree* holds; :class:`BadFact` names the place of any mistake."""
    shown = _BUILD[shelf](tree)
    if isinstance(shown, Row):
        return Entry(shelf, shown.name, _title(shown), _row_lines(shown, tree), shown.source)
    lines = {path: shown.facts.get(path, _written(tree, path)) for path in _paths(tree)}
    return Entry(shelf, shown.name, _title(shown), lines)


def _paths(tree: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(path for path in catalogue.paths(tree) if path not in ("title", "source"))


def _written(tree: Mapping[str, Any], path: str) -> str:
    """The words at *path*; keys may hold dots themselves (``kimi-k2.5/kv``)."""
    for key, value in tree.items():
        if key == path:
            return str(value).lower() if isinstance(value, bool) else str(value)
        if path.startswith(f"{key}.") and isinstance(value, Mapping):
            return _written(value, path.removeprefix(f"{key}."))
    raise KeyError(path)


def _title(shown: Shown) -> str:
    match shown:
        case Chip(vendor=vendor, stepping=stepping):
            return f"{vendor}, stepping {stepping}"
        case System(title=title) | Model(title=title):
            return title
        case Engine(title=title, version=version):
            return f"{title} {version}"
        case Tariff(system=system):
            return f"power and price of a {system}"
        case Claim(model=model, system=system, reference=reference):
            return f"{model}: {system} against {reference}"
        case Row():
            remark = ", multi-token prediction" if shown.mtp else ""
            remark += "" if shown.measured else ", no public measurement"
            return f"{shown.model} on {shown.system}, {shown.concurrency} in flight{remark}"


def _row_lines(row: Row, tree: Mapping[str, Any]) -> dict[str, Fact | str]:
    """Lines of a measured row: what was measured, how the slots are known, and the layout."""
    lines: dict[str, Fact | str] = {}
    for path in _paths(tree):
        table, _, name = path.partition(".")
        if table == "measured":
            lines[path] = _measured(name, row.measured[name], row.source)
        elif name == "slots":
            lines[path] = _slots(row.prefill if table == "prefill" else row.decode)
        elif name != "slots_kind":
            lines[path] = _written(tree, path)
    return lines


def _measured(name: str, value: float, source: str) -> Fact:
    """One measured figure: its unit is in its name."""
    if name.endswith("_ms"):
        return Fact(value * 1e-3, f"{value:.10g} ms", "s", Kind.MEASURED, source)
    suffixes = {"_s": ("s", "s"), "_gpu": ("token/s", "token/s/GPU")}
    suffixes |= {"_user": ("token/s", "token/s/user")}
    unit, written = next((u for end, u in suffixes.items() if name.endswith(end)), ("", ""))
    return Fact(value, f"{value:.10g} {written}".rstrip(), unit, Kind.MEASURED, source)


def _slots(workers: Workers) -> Fact:
    kind, source = _SLOTS[workers.slots_kind]
    return Fact(workers.slots, str(workers.slots), "", kind, source)
