"""Finding tables: of the catalogue by name, or one's own by path, and the very ones meant.

A reference is ``place#sha256=digest``: what was meant when it was written must be what is there
when it is read, so that equal scenarios give equal journals.  A place is a folder of a profile as
LLMServingSim writes them, or a file as :mod:`.stored` writes it; where it begins with
``catalogue:`` it is in the catalogue.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path

from jalapeno.cost.tables.llmservingsim import FILES, read_profile
from jalapeno.cost.tables.stored import parse_tables
from jalapeno.cost.tables.table import StepTables
from jalapeno.errors import BadFact

OURS, MARK = "catalogue:", "#sha256="


@lru_cache(maxsize=64)
def find_tables(reference: str) -> StepTables:
    """The tables at *reference*; :class:`BadFact` where they are not there or not those meant."""
    place, mark, digest = reference.partition(MARK)
    if not mark:
        raise BadFact(
            f"tables {reference!r}: say which ones are meant, as in 'folder{MARK}...': they have "
            f"now {digest_of(place)}"
        )
    found = digest_of(place)
    if digest != found:
        raise BadFact(
            f"tables {place}: have changed: sha256 is {found}, and {digest} was meant; put the old "
            "ones back, or say the new digest"
        )
    contents = _contents(place)
    if set(contents) <= set(FILES):
        return read_profile(place, found, contents)
    ((name, content),) = contents.items()
    return parse_tables(name, found, content)


def reference_to(place: str) -> str:
    """What an engine writes to mean the tables that are at *place* now."""
    return f"{place}{MARK}{digest_of(place)}"


def digest_of(place: str) -> str:
    """SHA-256 over names and contents of the files at *place*, in hex."""
    digest = hashlib.sha256()
    for name, content in sorted(_contents(place).items()):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _contents(place: str) -> Mapping[str, bytes]:
    """The files at *place* by name: those of a profile that are there, or the file itself."""
    if place.startswith(OURS):
        inside = files("jalapeno.catalogue") / "data" / "measured"
        with as_file(inside) as folder:
            return _read(folder / place.removeprefix(OURS), place)
    return _read(Path(place), place)


def _read(path: Path, place: str) -> Mapping[str, bytes]:
    try:
        if not path.is_dir():
            return {path.name: path.read_bytes()}
        found = {name: (path / name).read_bytes() for name in FILES if (path / name).exists()}
    except OSError as error:
        raise BadFact(f"tables {place}: cannot be read: {error.strerror}") from error
    if not found:
        raise BadFact(
            f"tables {place}: a folder without any of {', '.join(FILES)}: name the folder of one "
            "tensor-parallel degree"
        )
    return found
