"""One leaf of a tree becomes one :class:`Fact`.

A leaf is written in one of two ways::

    bandwidth = { value = "15.4 TB/s", kind = "published", source = "...", as_of = "2026-08-25",
                  low = "15 TB/s", high = "16 TB/s",
                  alternatives = [{ value = "14 TB/s", source = "..." }] }
    layers = 36          # where the table has a ``default = { kind = ..., source = ... }``
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from jalapeno.catalogue.schema import Alternative, Fact, Facts, Kind
from jalapeno.errors import BadFact, instead
from jalapeno.units import parse

Value = float | int | str | bool

DEFAULTS: tuple[str, ...] = ("kind", "source", "as_of")
"""What a ``default`` table may say for the leaves beside and below it."""

LEAST, MOST, MOST_WHOLE = 1e-30, 1e30, 10**15
"""Facts beyond are slips, and their products leave the floats."""

_KEYS = ("value", *DEFAULTS, "low", "high", "alternatives", "overridden")
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


def weakest(facts: Facts | Iterable[Fact]) -> Kind:
    """Return the weakest kind among *facts*: a sum is as weak as its weakest part.

    No facts at all are ``Kind.MEASURED``, as nothing was assumed.
    """
    each = facts.values() if isinstance(facts, Mapping) else facts
    return max((fact.kind for fact in each), default=Kind.MEASURED)


def fact(leaf: Any, unit: str | None, whole: bool, defaults: Mapping[str, str]) -> Fact:
    """Return the fact written in *leaf*, a number in *unit* (*whole*: an integer).

    With *unit* None the value is a word or a truth value.  *defaults* stand in for the keys that
    *leaf* does not have.  Raises :class:`BadFact`, without the place, for anything malformed.
    """
    table = dict(leaf) if isinstance(leaf, Mapping) else {"value": leaf}
    check_keys(table, _KEYS, required=("value",))
    # Evidence is taken whole: a leaf with a source of its own says its own kind and date too.
    said = table if "source" in table else {**defaults, **table}
    value = _value(table["value"], unit, whole)
    low, high = (_bound(table.get(end), unit, whole) for end in ("low", "high"))
    if isinstance(value, int | float) and not (low or 0.0) <= value <= _or_inf(high):
        raise BadFact(f"{table['value']!r} is outside its own range, low to high")
    return Fact(
        value=value,
        text=_text(table["value"]),
        unit=unit or "",
        kind=_kind(_word(said, "kind")),
        source=_word(said, "source"),
        as_of=_date(said.get("as_of", "")),
        low=low,
        high=high,
        alternatives=_alternatives(table.get("alternatives", ()), unit, whole),
        overridden=table.get("overridden", False) is True,
    )


def check_keys(table: Mapping[str, Any], known: Iterable[str], required: Iterable[str]) -> None:
    """Raise :class:`BadFact` where *table* has a key not *known*, or lacks a *required* one."""
    names = tuple(known)
    for key in table:
        if key not in names:
            raise BadFact(f"unknown key {key!r}{instead(key, names)}")
    missing = [key for key in required if key not in table]
    if missing:
        raise BadFact(f"missing {', '.join(map(repr, missing))}")


def _value(raw: Any, unit: str | None, whole: bool) -> Value:
    if unit is None:
        if isinstance(raw, str | bool):
            return raw
        raise BadFact(f"expected a word, got {raw!r}")
    return number(raw, unit, whole)


def number(raw: Any, unit: str, whole: bool) -> float | int:
    """Return a number of a tree in SI: text with its unit, or a bare number where *unit* is "".

    Raises :class:`BadFact` for a wrong unit, NaN, a negative, a fraction where *whole*, or what is
    too large or too small to reckon with.
    """
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        raw = repr(raw)
    if not isinstance(raw, str):
        wanted = f"text such as '1 {unit}'" if unit else "a number"
        raise BadFact(f"expected {wanted}, got {raw!r}")
    value = parse(raw, unit)
    if value and not LEAST <= value <= MOST:
        raise BadFact(f"expected 0, or from {LEAST:g} to {MOST:g} in SI, got {raw!r}")
    if not whole:
        return value
    if value != int(value):
        raise BadFact(f"expected a whole number, got {raw!r}")
    if value > MOST_WHOLE:
        raise BadFact(f"expected a whole number up to {MOST_WHOLE:,}, got {raw!r}")
    return int(value)


def _bound(raw: Any, unit: str | None, whole: bool) -> float | None:
    if raw is None:
        return None
    if unit is None:
        raise BadFact("a word has no low or high")
    return float(number(raw, unit, whole))


def _alternatives(raw: Any, unit: str | None, whole: bool) -> tuple[Alternative, ...]:
    if not isinstance(raw, list | tuple):
        raise BadFact(f"alternatives: expected a list, got {raw!r}")
    return tuple(_alternative(each, unit, whole) for each in raw)


def _alternative(raw: Any, unit: str | None, whole: bool) -> Alternative:
    if not isinstance(raw, Mapping):
        raise BadFact(f"an alternative is {{ value = ..., source = ... }}, not {raw!r}")
    check_keys(raw, ("value", "source"), required=("value", "source"))
    return Alternative(
        value=float(number(raw["value"], unit or "", whole)), source=_word(raw, "source")
    )


def _or_inf(high: float | None) -> float:
    return float("inf") if high is None else high


def _text(raw: Any) -> str:
    return str(raw).lower() if isinstance(raw, bool) else str(raw)


def _word(table: Mapping[str, Any], key: str) -> str:
    if key not in table:
        raise BadFact(f"missing {key!r}: every fact says its kind and its source")
    word = table[key]
    if not isinstance(word, str) or not word.strip():
        raise BadFact(f"{key}: expected words, got {word!r}")
    return word


def _kind(word: str) -> Kind:
    kinds = {kind.name.lower(): kind for kind in Kind}
    if word not in kinds:
        raise BadFact(f"no kind {word!r}{instead(word, kinds)}")
    return kinds[word]


def _date(word: Any) -> str:
    if not isinstance(word, str) or (word and not _DATE.fullmatch(word)):
        raise BadFact(f"as_of: expected a date such as '2026-08-25', got {word!r}")
    return word
