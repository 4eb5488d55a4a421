"""A tree becomes a frozen entry: the dataclasses of :mod:`schema` say what each key must be.

The reader walks annotations and tree together, so a field added to the schema is demanded of every
file at once.  Unknown keys are errors with the nearest known one; nothing has a silent default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from jalapeno.catalogue.facts import DEFAULTS, check_keys, fact, number
from jalapeno.catalogue.schema import Fact, Row, Unit
from jalapeno.errors import BadFact, instead

Entry = TypeVar("Entry")

_TAG = "type"
"""Key that says which of several shapes a table is: ``type = "gqa"``."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """Where in an entry the reader stands, and what it has found."""

    where: str
    path: tuple[str, ...]
    defaults: Mapping[str, str]
    found: dict[str, Fact]
    plain: bool
    """True where numbers carry no evidence of their own: rows share one source."""

    def at(self, key: str) -> _Reader:
        return replace(self, path=(*self.path, key))

    @contextmanager
    def naming_the_place(self) -> Iterator[None]:
        """Put entry and path before the message of any malformed fact inside."""
        try:
            yield
        except BadFact as error:
            raise self.bad(str(error)) from error

    def bad(self, why: str) -> BadFact:
        place = ".".join(self.path)
        return BadFact(f"{self.where}: {place}: {why}" if place else f"{self.where}: {why}")


def build(entry: type[Entry], tree: Mapping[str, Any], where: str) -> Entry:
    """Return the *entry* written in *tree*; *where* (``"chips/b200"``) begins every message.

    Raises :class:`BadFact` for whatever the schema does not allow, with the path of the mistake.
    """
    reader = _Reader(where=where, path=(), defaults={}, found={}, plain=entry is Row)
    built: Entry = _table(entry, tree, reader)
    return built


def _table(shape: type[Any], raw: Any, reader: _Reader) -> Any:
    if not isinstance(raw, Mapping):
        raise reader.bad(f"expected a table, got {raw!r}")
    reader = _with_default(raw, reader)
    hints = _hints(shape)
    wanted = {f.name: f for f in fields(shape) if f.name != "facts"}
    needed = [name for name, field in wanted.items() if _is_needed(field)]
    given = {key: value for key, value in raw.items() if key not in ("default", _TAG)}
    with reader.naming_the_place():
        check_keys(given, wanted, needed)
    values = {
        name: _read(hints[name], given[name], reader.at(name)) for name in wanted if name in given
    }
    if "facts" in hints:
        values["facts"] = _below(reader)
    return shape(**values)


def _with_default(raw: Mapping[str, Any], reader: _Reader) -> _Reader:
    """The reader with this table's ``default`` in place of any further up."""
    if "default" not in raw:
        return reader
    said = raw["default"]
    if not isinstance(said, Mapping):
        raise reader.at("default").bad(f"expected a table, got {said!r}")
    with reader.at("default").naming_the_place():
        check_keys(said, DEFAULTS, required=())
    return replace(reader, defaults=dict(said))


def _is_needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _below(reader: _Reader) -> dict[str, Fact]:
    """Facts found at or below the reader's place, with paths that begin there."""
    start = "".join(f"{key}." for key in reader.path)
    return {path[len(start) :]: f for path, f in reader.found.items() if path.startswith(start)}


def _hints(shape: type[Any]) -> dict[str, Any]:
    return get_type_hints(shape, include_extras=True)


def _read(hint: Any, raw: Any, reader: _Reader) -> Any:
    origin = get_origin(hint)
    if origin is Annotated:
        kind, unit = get_args(hint)
        return _number(raw, unit, kind is int, reader)
    if origin in (Union, UnionType):
        shapes = tuple(shape for shape in get_args(hint) if shape is not type(None))
        if len(shapes) == 1:  # a table that may be left out
            return _table(shapes[0], raw, reader)
        return _tagged(shapes, raw, reader)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(get_args(hint)[1], raw, reader)
    if isinstance(hint, type) and is_dataclass(hint):
        return _table(hint, raw, reader)
    return _word(hint, raw, reader)


def _tagged(shapes: tuple[Any, ...], raw: Any, reader: _Reader) -> Any:
    by_tag = {shape.__name__.lower(): shape for shape in shapes}
    tag = raw.get(_TAG) if isinstance(raw, Mapping) else None
    if not isinstance(tag, str) or tag not in by_tag:
        raise reader.at(_TAG).bad(f"no such shape, {tag!r}{instead(str(tag), by_tag)}")
    return _table(by_tag[tag], raw, reader)


def _mapping(hint: Any, raw: Any, reader: _Reader) -> dict[str, Any]:
    if not isinstance(raw, Mapping):
        raise reader.bad(f"expected a table, got {raw!r}")
    reader = _with_default(raw, reader)
    return {
        key: _read(hint, value, reader.at(key)) for key, value in raw.items() if key != "default"
    }


def _number(raw: Any, unit: Unit, whole: bool, reader: _Reader) -> float | int:
    with reader.naming_the_place():
        if reader.plain:
            return number(raw, unit.si, whole)
        found = fact(raw, unit.si, whole, reader.defaults)
    reader.found[".".join(reader.path)] = found
    assert isinstance(found.value, int | float)  # fact() with a unit returns a number
    return found.value


def _word(hint: Any, raw: Any, reader: _Reader) -> Any:
    """A string, a truth value, or a bare number of a row; the first two may carry evidence."""
    if hint is float:
        return _number(raw, Unit(""), False, reader)
    value = raw
    if isinstance(raw, Mapping):
        with reader.naming_the_place():
            found = fact(raw, None, False, reader.defaults)
        reader.found[".".join(reader.path)] = found
        value = found.value
    if not isinstance(value, hint):
        wanted = "true or false" if hint is bool else "words"
        raise reader.bad(f"expected {wanted}, got {value!r}")
    return value
