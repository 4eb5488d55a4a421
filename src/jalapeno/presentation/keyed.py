"""Small texts of options: ``decode:5:tp=4,ep=4`` and what is wrong with one."""

from __future__ import annotations

from collections.abc import Collection

from jalapeno.errors import UsageError, instead


def keyed(text: str, known: Collection[str], option: str) -> dict[str, str]:
    """Return ``{"tp": "4"}`` for ``tp=4``, comma after comma; *option* begins complaints.

    Raises :class:`UsageError` for what is no pair, unknown (with the nearest), or there twice.
    """
    found: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, sign, value = (each.strip() for each in part.partition("="))
        if not (key and sign and value):
            raise UsageError(f"{option}: {part!r} is not KEY=VALUE")
        if key not in known:
            raise UsageError(f"{option}: no key {key!r}{instead(key, known)}")
        if key in found:
            raise UsageError(f"{option}: {key} is given twice")
        found[key] = value
    return found


def whole(text: str, option: str) -> int:
    """Return the whole number in *text*; :class:`UsageError` where it is none."""
    try:
        return int(text)
    except ValueError as error:
        raise UsageError(f"{option}: {text!r} is not a whole number") from error


def decimal(text: str, option: str) -> float:
    """Return the number in *text*; :class:`UsageError` where it is none."""
    try:
        return float(text)
    except ValueError as error:
        raise UsageError(f"{option}: {text!r} is not a number") from error
