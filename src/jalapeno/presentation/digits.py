"""Numbers as people read them: as many digits as mean something, and the unit in the header."""

from __future__ import annotations

import math

UNDEFINED = "–"
"""What stands for a number that does not exist, such as the TBT of one-token answers."""

PLAIN = range(-4, 6)
"""Powers of ten written without an exponent."""


def number(value: float, digits: int = 3) -> str:
    """Return *value* with *digits* significant ones or more, never fewer: ``85,448``, ``0.690``.

    Trailing zeros stay, for they were computed.  What is not finite is "–".
    """
    if not math.isfinite(value):
        return UNDEFINED
    if value == 0:
        return "0"
    power = int(f"{value:.{digits - 1}e}".partition("e")[2])  # after rounding: 9.996 is 10.0
    if power < PLAIN.start:
        return f"{value:.{digits - 1}e}"
    return f"{value:,.{max(0, digits - 1 - power)}f}"


def as_published(value: float) -> str:
    """Return *value* with no more digits than were published: ``85,448``, ``0.69``, ``5.9``."""
    return f"{value:,.6g}" if math.isfinite(value) else UNDEFINED


def deviation(share: float) -> str:
    """Return a relative deviation in percent, sign first: ``+1.2``.  The unit is the header's."""
    return f"{100.0 * share:+.1f}" if math.isfinite(share) else UNDEFINED


def percent(share: float) -> str:
    """Return a share in percent: ``43.1``.  The unit is the header's."""
    return f"{100.0 * share:.1f}" if math.isfinite(share) else UNDEFINED


def times(ratio: float) -> str:
    """Return a ratio: ``1.90×``, ``104×``."""
    return f"{number(ratio)}×" if math.isfinite(ratio) else UNDEFINED


def counted(count: int, thing: str) -> str:
    """Return ``1 run`` or ``1,000 runs``."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
