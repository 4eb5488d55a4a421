"""Data that come with the package: measured points, what a peer says of them, what was recorded."""

from __future__ import annotations

from importlib.resources import files

from jalapeno.errors import UsageError

ROWS = "measured/inferencex.csv"
PEER = "measured/peers/aiconfigurator-0.12.0.csv"
WATTS = "measured/power/mi355x.csv"
RECORDED = "recorded/predictions.csv"


def shipped(name: str) -> bytes | None:
    """The file *name* beside the catalogue, or None where this installation has none."""
    place = files("jalapeno.catalogue") / "data"
    for part in name.split("/"):
        place = place / part
    return place.read_bytes() if place.is_file() else None


def needed(name: str) -> bytes:
    """The same; :class:`UsageError` where it is not there."""
    found = shipped(name)
    if found is None:
        raise UsageError(f"this installation has no catalogue/data/{name}: name a file with --data")
    return found
