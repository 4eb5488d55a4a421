"""A fitted engine as an entry of the catalogue: TOML that reads back as the same engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jalapeno import catalogue
from jalapeno.analysis.calibration.certainty import is_time
from jalapeno.analysis.calibration.constants import FACTORS, LAYER, Constant
from jalapeno.analysis.calibration.fit import Fit
from jalapeno.analysis.calibration.residuals import Floats
from jalapeno.catalogue import engine_of, toml_text
from jalapeno.units import render

DIGITS = 6
"""Significant digits of values: what is written predicts what was fitted to a part in a million."""

ENDS = 3
"""Significant digits of the ends of intervals."""

NO_LAYER = (
    "left at nothing in the fit: what a layer costs beside its phases cannot be told from "
    "issue_phase, which holds both"
)


def entry_tree(
    fit: Fit, ends: tuple[Floats, Floats], base: str, named: Mapping[str, str]
) -> dict[str, Any]:
    """The tree of *fit*'s engine: fitted facts with their *ends*, all else as *base* has it.

    *named* has ``name``, ``version``, ``source`` and ``as_of``.  Every fitted constant is a fact of
    kind ``fitted``, factors are in the tables they belong to, and no other factor is left in them.
    Raises :class:`BadFact` where that would be no engine.
    """
    tree: dict[str, Any] = dict(catalogue.tree("engines", base))
    tree |= {
        "name": named["name"],
        "title": f"{tree['title']}, fitted",
        "version": named["version"],
    }
    evidence = {"kind": "fitted", "source": named["source"], "as_of": named["as_of"]}
    tables: dict[str, dict[str, Any]] = {table: {} for table, _ in FACTORS}
    for place, constant in enumerate(fit.problem.constants):
        value, low, high = _texts(constant, fit, ends, place)
        leaf = {"value": value, "low": low, "high": high, **evidence}
        if constant.table:
            tables[constant.table][constant.key] = leaf
        else:
            tree[constant.path] = leaf
    for path in LAYER:
        tree[path] = {"value": "0 s", **evidence, "source": NO_LAYER}
    tree |= {table: leaves for table, leaves in tables.items() if leaves}
    for table, leaves in tables.items():
        if not leaves:
            tree.pop(table, None)
    engine_of(tree)
    return tree


def entry_text(tree: Mapping[str, Any], remark: str = "") -> str:
    """*tree* as TOML: as :func:`toml_text`, which writes no lists, with facts' alternatives."""
    above = toml_text({}, remark).rstrip("\n")
    leaves = {key: value for key, value in tree.items() if not _is_table(value)}
    lines = [above] if above else []
    lines += [_line(key, value) for key, value in leaves.items()]
    for key, value in tree.items():
        if key not in leaves:
            lines += ["", toml_text({key: {}}).strip()]
            lines += [_line(inner, leaf) for inner, leaf in value.items()]
    return "\n".join(lines) + "\n"


def _texts(
    constant: Constant, fit: Fit, ends: tuple[Floats, Floats], place: int
) -> tuple[Any, Any, Any]:
    """Value and ends as a file has them, the ends on either side of the value."""
    unit = "s" if is_time(constant) else ""
    value = float(fit.values[place])
    low, high = (float(end[place]) for end in ends)
    texts = [render(each, unit, digits) for each, digits in _digits(value, low, high)]
    if unit:
        return texts[0], texts[1], texts[2]
    number, least, most = (float(text) for text in texts)
    return number, min(least, number), max(most, number)


def _digits(value: float, low: float, high: float) -> list[tuple[float, int]]:
    """Each with its digits: ends in few, unless rounding would take them past the value."""
    ends = [(end, ENDS) for end in (low, high)]
    rounded = [float(f"{end:.{ENDS}g}") for end in (low, high)]
    if not rounded[0] <= value <= rounded[1]:
        ends = [(end, DIGITS) for end in (min(low, value), max(high, value))]
    return [(value, DIGITS), *ends]


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) and not {"value", "source"} & set(value)


def _line(key: str, leaf: Any) -> str:
    others = leaf.get("alternatives") if isinstance(leaf, Mapping) else None
    if not others:
        return toml_text({key: leaf}).rstrip("\n")
    bare = toml_text({key: {name: each for name, each in leaf.items() if name != "alternatives"}})
    inside = ", ".join(toml_text({"x": each}).rstrip("\n").removeprefix("x = ") for each in others)
    return bare.rstrip("\n").removesuffix(" }") + f", alternatives = [{inside}] }}"
