"""A tree becomes the text of a TOML file, as :mod:`shelf` reads it back."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from jalapeno.errors import BadFact

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(tree: Mapping[str, Any], remark: str = "") -> str:
    """Return *tree* as TOML: leaves in the order given, then its tables; *remark* stands above.

    A leaf is text, a number, a truth value, or a table with a ``value`` or ``source`` (evidence),
    which is written in one line.  Raises :class:`BadFact` for anything else.
    """
    lines = [f"# {line}".rstrip() for line in _one_paragraph(remark)]
    return "\n".join((*lines, *_table(tree, ()))) + "\n"


def _one_paragraph(remark: str) -> list[str]:
    """Lines of a comment, in which control characters may not stand."""
    return ["".join(c if c.isprintable() else "?" for c in line) for line in remark.splitlines()]


def _table(table: Mapping[str, Any], above: tuple[str, ...]) -> list[str]:
    tables = {key: value for key, value in table.items() if _is_table(value)}
    lines = [f"{_key(k)} = {_value(v)}" for k, v in table.items() if k not in tables]
    for key, value in tables.items():
        place = (*above, key)
        lines += ["", f"[{'.'.join(map(_key, place))}]", *_table(value, place)]
    return lines


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) and not {"value", "source"} & set(value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float() if math.isfinite(value):
            return repr(value)
        case str():
            return _text(value)
        case Mapping():
            inside = ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items())
            return f"{{ {inside} }}"
        case _:
            raise BadFact(f"cannot be written as TOML: {value!r}")


def _text(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, which also wants DEL and no half of a pair."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(whole, ensure_ascii=False).replace("\x7f", "\\u007F")
