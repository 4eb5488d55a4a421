"""Any fact may be replaced, and says so ever after."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from jalapeno.catalogue.shelf import Tree
from jalapeno.errors import BadFact, unknown_name

_WORDS = {"true": True, "false": False}
_IDENTITY = ("name", "type")
"""Leaves that say what an entry is: with another one it would be another entry."""


def override(tree: Mapping[str, Any], path: str, text: str) -> Tree:
    """Return a copy of *tree* in which the leaf at *path* is *text*: ``"chip.hbm.bandwidth"``.

    The new fact is marked ``overridden``, of kind assumed, without a range, and keeps what the
    catalogue said as its alternative.  Its unit and range are checked when the tree is built.
    Raises :class:`UnknownName` (nearest and all) for a path that is not there, and
    :class:`BadFact` where the leaf is a truth value and *text* is not "true" or "false".
    """
    return override_all(tree, {path: text})


def override_all(tree: Mapping[str, Any], texts: Mapping[str, str]) -> Tree:
    """Return a copy of *tree* in which each path of *texts* is its text: see :func:`override`."""
    leaves = {".".join(place): place for place in _leaves(tree, ())}
    changed: Tree = copy.deepcopy(dict(tree))
    for path, text in texts.items():
        if path not in leaves:
            raise unknown_name("fact", path, leaves)
        table: Any = changed
        *above, last = leaves[path]
        for key in above:
            table = table[key]
        table[last] = _leaf(table[last], path, text)
    return changed


def paths(tree: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the dotted paths of *tree* that :func:`override` takes."""
    return tuple(".".join(place) for place in _leaves(tree, ()))


def _leaf(old: Any, path: str, text: str) -> Tree:
    before = old["value"] if isinstance(old, Mapping) else old
    new: Any = text
    if isinstance(before, bool):
        if text not in _WORDS:
            raise BadFact(f"{path}: expected true or false, got {text!r}")
        new = _WORDS[text]
    leaf: Tree = {"value": new, "kind": "assumed", "source": "override", "overridden": True}
    is_word = isinstance(before, bool) or (isinstance(before, str) and not before[:1].isdigit())
    if not is_word:
        leaf["alternatives"] = [{"value": before, "source": "catalogue"}]
    return leaf


def _leaves(tree: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for key, value in tree.items():
        if key == "default" or key in _IDENTITY:
            continue
        if isinstance(value, Mapping) and "value" not in value:
            yield from _leaves(value, (*above, key))
        else:
            yield (*above, key)
