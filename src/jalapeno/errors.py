"""Every error raised on purpose; each message says what was asked, what there is, how to mend it.

JalapenoError
├── UsageError            what the user typed is wrong
│   ├── UnknownName       no such entry; lists the nearest and all
│   ├── BadFact           a fact is malformed: missing key, wrong unit, NaN, negative
│   ├── BadTable          a measured table is malformed, or has nothing on what is asked
│   ├── MissingExtra      an optional package is not installed; says which extra brings it
│   ├── BadPlan           the plan does not divide the model or the system
│   └── BadScenario       the scenario file is unreadable, wrong or of a newer format
├── DoesNotFit            model or request does not fit the memory
├── OutOfReach            no plan does what was asked; says the best that one does
├── OutputError           folder not writable, disk full
└── LawBroken             a conservation law failed in a run: a bug of ours
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class JalapenoError(Exception):
    """Base of every error raised on purpose."""

    exit_code = 1
    """What the command returns to the shell."""


class UsageError(JalapenoError):
    """What the user typed is wrong."""

    exit_code = 2


class UnknownName(UsageError):
    """No entry, key or path of that name."""


class BadFact(UsageError):
    """A fact is malformed: missing or unknown key, wrong unit, not finite, out of range."""


class BadTable(UsageError):
    """A table of measurements is malformed, or has nothing on what is asked."""


class MissingExtra(UsageError):
    """An optional package is not installed; says which extra of this package brings it."""


class BadPlan(UsageError):
    """The plan does not divide the model or the system."""


class BadScenario(UsageError):
    """The scenario is unreadable, wrong, or of a newer format."""


class DoesNotFit(JalapenoError):
    """Model or request does not fit the memory; says what is needed and what there is."""


class OutOfReach(JalapenoError):
    """No plan keeps the limits, or none is as fast; says the best that is reached."""


class OutputError(JalapenoError):
    """The results cannot be written."""


class LawBroken(JalapenoError):
    """A conservation law failed in a run: a bug of ours."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the *known* name closest to *name*, or ``""``."""
    close = get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def instead(name: str, known: Iterable[str]) -> str:
    """Return the nearest of the *known* names and, on a line of its own, all: ends a message."""
    names = tuple(known)
    return f"{nearest(name, names)}\nknown: {', '.join(names) if names else 'none'}"


def unknown_name(what: str, name: str, known: Iterable[str]) -> UnknownName:
    """Return the error for a *name* that is not among the *known* ones of a sort (*what*).

    The message holds the nearest name and all names, sorted as given.
    """
    return UnknownName(f"no {what} {name!r}{instead(name, known)}")
