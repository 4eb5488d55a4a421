"""SI inside, words at the border: ``"15.4 TB/s"`` is ``15.4e12`` bytes a second.

Text is a number, a prefix and a unit.  Prefixes are decimal (a to E); bytes also take binary ones
(Ki to Pi), because HBM is sold in GiB and moves in GB/s.  Picojoules per bit are read as joules
per byte, and a dollar sign may stand before the number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal

from jalapeno.errors import BadFact

_EXAMPLES: Mapping[str, str] = {
    "": "0.8",
    "s": "4 us",
    "B": "216 GiB",
    "B/s": "15.4 TB/s",
    "FLOP": "10.2 GFLOP",
    "FLOP/s": "13.4 PFLOP/s",
    "W": "550 W",
    "J": "40 mJ",
    "J/FLOP": "0.12 pJ/FLOP",
    "J/B": "31.2 pJ/B",
    "$/h": "1.56 $/h",
    "token/s": "96000 token/s",
    "token/s/kW": "85448 token/s/kW",
}
UNITS: tuple[str, ...] = tuple(_EXAMPLES)
"""Every unit that :func:`parse` and :func:`render` know; ``""`` is a plain number."""

_BARE = ("", "$/h", "token/s", "token/s/kW")
"""Units that nobody writes with a prefix."""

# Decimals, so that "0.12 pJ" is the float nearest to 0.12e-12 and not a rounding away from it.
_POWERS = {"a": -18, "f": -15, "p": -12, "n": -9, "u": -6, "m": -3, "": 0}
_POWERS |= {"k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL: Mapping[str, Decimal] = {p: Decimal(10) ** power for p, power in _POWERS.items()}
_READ: Mapping[str, Decimal] = {**_DECIMAL, "\u00b5": _DECIMAL["u"], "\u03bc": _DECIMAL["u"]}
_BINARY: Mapping[str, Decimal] = {
    f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTP", start=1)
}
_SPELLINGS: Mapping[str, Mapping[str, int]] = {"J/B": {"J/B": 1, "J/bit": 8}}

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:nan|inf(?:inity)?)", re.I)
_DOLLARS = re.compile(r"^\$\s*([^/\s]+)\s*/\s*")


def parse(text: str, unit: str) -> float:
    """Return *text* in the SI unit *unit*: ``parse("15.4 TB/s", "B/s")`` is ``15.4e12``.

    Raises :class:`BadFact`, with an example of what was expected, for anything that is not a
    finite, non-negative quantity of that unit, and ``ValueError`` for a unit not in ``UNITS``.
    """
    _check_unit(unit)
    clean = _DOLLARS.sub(r"\1 $/", text.strip())
    match = _NUMBER.match(clean)
    if match is None:
        raise _bad(text, unit, "it does not begin with a number")
    word = clean[match.end() :].strip()
    factor = _factor(word, unit)
    if factor is None:
        raise _bad(
            text, unit, f"{word!r} is not {unit or 'part of it'}" if word else "it has no unit"
        )
    number = float(match[0])
    if not math.isfinite(number) or not math.isfinite(number * float(factor)):
        raise _bad(text, unit, "it is not finite")
    if number < 0.0:
        raise _bad(text, unit, "it is negative")
    return abs(float(Decimal(match[0]) * factor))  # abs: "-0 s" is no time, not less than none


def render(value: float, unit: str, digits: int = 4) -> str:
    """Return *value* (SI) as short text with a prefix: ``render(15.4e12, "B/s")`` is "15.4 TB/s".

    *digits* are significant ones; whole numbers of a unit without prefix are written in full.
    Reading the text back gives *value* to that precision.  Raises :class:`BadFact` for what
    :func:`parse` would refuse, and ``ValueError`` for a unit not in ``UNITS``.
    """
    _check_unit(unit)
    if not math.isfinite(value) or value < 0.0:
        raise BadFact(f"cannot write {value!r} as {_wanted(unit)}: it is negative or not finite")
    if unit in _BARE:
        return f"{_plain(value, digits)} {unit}".rstrip()
    rounded = Decimal(f"{value:.{digits}g}")  # round first: 999.96 kB is 1 MB, not 1000 kB
    fitting = [prefix for prefix, size in _DECIMAL.items() if size <= rounded]
    prefix = (fitting[-1] if fitting else next(iter(_DECIMAL))) if rounded else ""
    return f"{float(rounded / _DECIMAL[prefix]):.{digits}g} {prefix}{unit}"


def _plain(value: float, digits: int) -> str:
    rounded = value if value == int(value) else float(f"{value:.{digits}g}")
    return str(int(rounded)) if rounded == int(rounded) < 1e15 else f"{rounded:.{digits}g}"


def _factor(word: str, unit: str) -> Decimal | None:
    """Size of the prefixed unit *word* in *unit*, or None where it is not one."""
    prefixes = _READ
    if unit in ("", "$/h"):
        prefixes = {"": Decimal(1)}
    elif unit in ("B", "B/s"):
        prefixes = {**_READ, **_BINARY}
    for spelling, size in _SPELLINGS.get(unit, {unit: 1}).items():
        prefix = word[: len(word) - len(spelling)]
        if word.endswith(spelling) and prefix in prefixes:
            return prefixes[prefix] * size
    return None


def _check_unit(unit: str) -> None:
    if unit not in _EXAMPLES:
        raise ValueError(f"no unit {unit!r}; there are {', '.join(UNITS)}")


def _wanted(unit: str) -> str:
    return f"a quantity in {unit}" if unit else "a plain number"


def _bad(text: str, unit: str, why: str) -> BadFact:
    return BadFact(f"expected {_wanted(unit)}, such as '{_EXAMPLES[unit]}', got {text!r}: {why}")
