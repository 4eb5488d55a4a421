"""``jalapeno system check``: a chip or system of one's own, read with all checks and summed up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from jalapeno import catalogue
from jalapeno.catalogue import Chip, Kind, System
from jalapeno.errors import UsageError, nearest
from jalapeno.presentation.arguments import Json
from jalapeno.presentation.console import remark, show, show_json
from jalapeno.presentation.entries import Entry, entry_of
from jalapeno.presentation.show_command import entry_table
from jalapeno.presentation.system_tables import WIDTHS, chip_table, fabric_table, system_table
from jalapeno.presentation.tables import MARKS, WEAK, Table, kind_word

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A TOML file of a chip, a system, an engine, a model or a tariff. A system holds its "
        "chip as a table, or names one of the catalogue.",
    ),
]


def system_check_command(file: File, as_json: Json = False) -> None:
    """Check a chip or system of your own: read FILE, build it, and say what it is."""
    shelf, tree = read_entry(file)
    with naming(file):
        entry = entry_of(shelf, tree)
        hardware = _hardware(shelf, tree)
    for doubt in doubts(hardware):
        remark(doubt)
    if as_json:
        show_json(checked_json(entry, hardware))
    else:
        show(checked_tables(entry, hardware))


def read_entry(file: Path) -> tuple[str, Mapping[str, Any]]:
    """Return the shelf and the tree of the entry in *file*, its chip in place of a chip's name.

    Raises :class:`UsageError` (exit code 2) where the file cannot be read, is not TOML, or is of
    no shelf.
    """
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{file}: not text: {error}") from error
    tree = catalogue.parse_toml(text, str(file))
    with naming(file):
        shelf = catalogue.shelf_of(tree)
        return shelf, catalogue.whole(shelf, tree)


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Put the name of *file* before the message of whatever is wrong in it."""
    try:
        yield
    except UsageError as error:
        raise type(error)(f"{file}: {error}") from error


def _hardware(shelf: str, tree: Mapping[str, Any]) -> Chip | System | None:
    if shelf == "chips":
        return catalogue.chip_of(tree)
    return catalogue.system_of(tree) if shelf == "systems" else None


def doubts(hardware: Chip | System | None) -> list[str]:
    """What is no mistake in the file, but will be missed later: engines and tariffs by name."""
    found = []
    if isinstance(hardware, System) and hardware.engine not in catalogue.names("engines"):
        near = nearest(hardware.engine, catalogue.names("engines"))
        found.append(
            f"the catalogue has no engine {hardware.engine!r}: name one when you run{near}"
        )
    chip = hardware.chip if isinstance(hardware, System) else hardware
    if chip is not None and chip.name not in catalogue.names("tariffs"):
        found.append(
            f"the catalogue has no tariff for {chip.name!r}: all-in power and price need one"
        )
    return found


def checked_tables(entry: Entry, hardware: Chip | System | None) -> list[Table]:
    """The summary of a chip or system and its weak facts; of what is neither, its facts."""
    if hardware is None:
        return [entry_table(entry)]
    head = f"{entry.name} ({entry.shelf}): {entry.title}"
    if isinstance(hardware, Chip):
        tables = [chip_table(hardware, head)]
    else:
        tables = [
            system_table(hardware, head),
            chip_table(hardware.chip, f"chip: {hardware.chip.name}"),
            fabric_table(hardware),
        ]
    return [*tables, weak_table(entry)]


def weak_paths(entry: Entry) -> dict[Kind, list[str]]:
    """Paths of the facts that nobody published or measured, by kind, weakest first."""
    kinds = sorted(WEAK, reverse=True)
    return {kind: [p for p, fact in entry.facts.items() if fact.kind is kind] for kind in kinds}


def weak_table(entry: Entry) -> Table:
    """Which facts are weak: a line a kind."""
    weak = weak_paths(entry)
    count = sum(map(len, weak.values()))
    return Table(
        title=f"{count} of {len(entry.facts)} facts are weak",
        headers=("evidence", "facts"),
        align="kl",
        rows=tuple((kind_word(kind), ", ".join(paths)) for kind, paths in weak.items() if paths),
        note=MARKS if count else "",
    )


def checked_json(entry: Entry, hardware: Chip | System | None) -> dict[str, Any]:
    """What was checked as JSON: numbers in SI, units in the names."""
    data: dict[str, Any] = {
        "shelf": entry.shelf,
        "name": entry.name,
        "title": entry.title,
        "facts": len(entry.facts),
        "weak": {kind.name.lower(): paths for kind, paths in weak_paths(entry).items()},
    }
    if isinstance(hardware, System):
        data["system"] = _system_json(hardware)
    chip = hardware.chip if isinstance(hardware, System) else hardware
    if chip is not None:
        data["chip"] = _chip_json(chip)
    return data


def _system_json(system: System) -> dict[str, Any]:
    return {
        "engine": system.engine,
        "chips": system.chips,
        "chips_per_tray": system.chips_per_tray,
        "chips_per_rack": system.chips_per_rack,
        "fabric": {
            name: {
                "reach": level.reach,
                "bandwidth_bytes_per_s": level.bandwidth,
                "latency_s": level.latency,
                "reduces": level.reduces,
                "rails": level.rails,
            }
            for name, level in system.fabric.items()
        },
    }


def _chip_json(chip: Chip) -> dict[str, Any]:
    peaks = {name: chip.speed * getattr(chip.matrix, f"peak_{name}") for name in WIDTHS}
    return {
        "name": chip.name,
        "stepping": chip.stepping,
        "peak_flop_per_s": peaks,
        "balance_flop_per_byte": {name: peak / chip.hbm.bandwidth for name, peak in peaks.items()},
        "hbm_bytes": chip.hbm.capacity,
        "hbm_bytes_per_s": chip.hbm.bandwidth,
        "tdp_w": chip.power.tdp,
    }
