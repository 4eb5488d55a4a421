"""Good files, damaged: here and there anything else stands, or nothing, or the text is torn."""

from __future__ import annotations

import copy
import json
import random
import re
from typing import Any

import polars as pl
from hypothesis import strategies as st

BYTES = st.SearchStrategy[bytes]

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from((0, 1, 2, 3, -1, 0.5, -0.0, 7, 64, 10**6, 10**9, 2**31, 2**63, 10**30)),
    st.sampled_from((1e-300, 1e300, 1e30, 1e-30, float("nan"), float("inf"), -float("inf"))),
    st.integers(),
    st.floats(),
    st.text(max_size=6),
    st.sampled_from(("", "nan", "1e400", "20 TB/s", "1 B/s", "1e30 W", "0", "bf16", "fp8", "gqa")),
    st.sampled_from(("[/b]", "a\nb", "\x1b[31m", "\u2028", "none", "swap", "decode", "x" * 300)),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=4,
)


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a tree of JSON."""
    found = [above] if above else []
    if isinstance(value, dict):
        pairs: Any = value.items()
    else:
        pairs = enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        found += places(inner, (*above, key))
    return found


@st.composite
def damaged(draw: st.DrawFn, good: Any) -> Any:
    """*good* with one to three places changed; those near the root as often as all below."""
    tree = copy.deepcopy(good)
    for _ in range(draw(st.integers(1, 3))):
        everywhere = places(tree)
        deep = draw(st.integers(1, 6))
        near = [place for place in everywhere if len(place) <= deep] or everywhere
        if not near:
            break
        *above, last = draw(st.sampled_from(near))
        table = tree
        for key in above:
            table = table[key]
        how = draw(st.sampled_from(("set", "set", "delete", "rename", "swap")))
        if how == "delete":
            del table[last]
        elif how == "rename" and isinstance(table, dict):
            table[draw(st.text(max_size=6))] = table.pop(last)
        elif how == "swap":
            *path, end = draw(st.sampled_from(everywhere))
            table[last] = copy.deepcopy(_at(good, (*path, end)))
        else:
            table[last] = draw(ANYTHING)
    return tree


def _at(tree: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        try:
            tree = tree[key]
        except (KeyError, IndexError, TypeError):  # it was changed already
            return None
    return tree


WORDS = (
    *("shared", "round_robin", "least_loaded", "none", "recompute", "swap", "unified", "prefill"),
    *("decode", "bf16", "fp8", "mxfp4", "uniform", "closed_loop", "poisson", "true", "main"),
)


@st.composite
def nudged(draw: st.DrawFn, good: Any) -> Any:
    """*good* with one to four numbers or words changed into others that might well be meant."""
    tree = copy.deepcopy(good)
    leaves = [place for place in places(tree) if not isinstance(_at(tree, place), dict | list)]
    facts = [place for place in leaves if place[-1] not in ("kind", "source", "as_of", "text")]
    outside = [place for place in facts if place[0] not in ("model", "system", "engine")]
    for _ in range(draw(st.integers(1, 4))):
        *above, last = draw(st.sampled_from(draw(st.sampled_from((facts, outside or facts)))))
        table = _at(tree, tuple(above))
        if isinstance(table, dict):
            for end in ("low", "high"):
                table.pop(end, None)
        if last in table or isinstance(table, list):
            table[last] = draw(_like(table[last]))
    return tree


def _like(leaf: Any) -> st.SearchStrategy[Any]:
    """Values of the sort of *leaf*."""
    factor = st.sampled_from((0, 1e-30, 1e-9, 1e-3, 0.5, 2, 3, 10, 1e3, 1e9, 1e15, 1e30))
    if leaf is None or isinstance(leaf, bool):
        return st.sampled_from((True, False, None, 0, 1))
    if isinstance(leaf, int):
        near = st.sampled_from((0, 1, 2, 3, 4, 8, 64, leaf - 1, leaf + 1, 2 * leaf, 10**6))
        return near | st.sampled_from((10**9, 10**12, 10**15, 2**31 - 1, 2**53, 2**62))
    if isinstance(leaf, float):
        return factor.map(lambda times: leaf * times)
    number = re.match(r"[0-9.]+", leaf)
    if number is None:
        return st.sampled_from(WORDS)
    rest = leaf[number.end() :]
    return factor.map(lambda times: f"{float(number[0]) * times:g}{rest}")


@st.composite
def torn(draw: st.DrawFn, good: bytes) -> bytes:
    """*good* as a file that a disk, an editor or a wrong programme spoilt."""
    at = draw(st.integers(0, len(good)))
    how = draw(st.integers(0, 9))
    if how < 3:
        return good[:at]
    if how < 6:
        junk = draw(st.binary(min_size=1, max_size=4) | st.sampled_from((b"\xff", b"\0", b'"')))
        return good[:at] + junk + good[at + draw(st.integers(0, 3)) :]
    if how == 6:
        return good + good
    if how == 7:
        return draw(
            st.sampled_from((b"\xef\xbb\xbf" + good, good.decode("latin-1").encode("utf-16")))
        )
    return draw(
        st.sampled_from(
            (b"", b"\n", b"null", b"[]", b"{}", b"[" * 20_000, b'{"a":' * 20_000, b"\x1f\x8b", b"9")
        )
    )


def damaged_json(good: Any) -> BYTES:
    """The text of a damaged tree, with NaN and Infinity as Python writes them, or a torn text."""
    text = json.dumps(good).encode()
    return st.one_of(
        nudged(good).map(lambda tree: json.dumps(tree).encode()),
        nudged(good).map(lambda tree: json.dumps(tree).encode()),
        damaged(good).map(lambda tree: json.dumps(tree).encode()),
        torn(text) | st.integers(1, 40).map(lambda count: _doubled(text, count)),
    )


def _doubled(text: bytes, count: int) -> bytes:
    """*text* with a key of an object there twice."""
    parts = text.split(b", ")
    return b", ".join([*parts[:count], *parts[max(0, count - 1) :]])


TOML_VALUES = st.sampled_from(
    (
        *('""', '"x"', '"1e400 TB/s"', '"20 TB/s"', '"-1 W"', "0", "1", "-1", "nan", "inf", "1e30"),
        *("true", "[]", "{}", "[1, [2]]", "1979-05-27", "99999999999999999999", '"""', "'", "0.5"),
        *('{ value = "1 B", kind = "assumed", source = "x" }', "{ value = {} }", '"[/b]"', '"a.b"'),
        *('"\\u0000"', '"\\uD800"', '"../inputs/chip.toml"', '"b200"', "1e-300", '"\\u001b[31m"'),
    )
)
TOML_LINES = st.sampled_from(
    (
        "[",
        "[x]",
        "[chip.hbm]",
        "x = 1",
        "a.b.c = 2",
        '"" = 1',
        "x",
        "[[rows]]",
        "default = 1",
        "é=1",
    )
)


@st.composite
def damaged_toml(draw: st.DrawFn, good: str) -> bytes:
    """The lines of *good*, some of them changed, lost, doubled or new; or a torn text."""
    if draw(st.integers(0, 5)) == 0:
        return draw(torn(good.encode()))
    lines = good.splitlines()
    for _ in range(draw(st.integers(1, 3))):
        if not lines:
            break
        at = draw(st.integers(0, len(lines) - 1))
        key, sign, _ = lines[at].partition(" = ")
        how = draw(st.integers(0, 7))
        if how == 0:
            del lines[at]
        elif how == 1:
            lines.insert(at, lines[at])
        elif how == 2:
            lines.insert(at, draw(TOML_LINES))
        elif how == 3:
            lines[at] = f"{key}x{sign}1"
        elif sign and how < 6:
            number = draw(st.sampled_from(("0", "1", "3", "1e-9", "1e6", "1e15", "1e30", "0.5")))
            rest = re.sub(r"[0-9.]+", number, lines[at][len(key) :], count=1)
            lines[at] = f"{key}{rest}"
        elif sign:
            lines[at] = f"{key} = {draw(TOML_VALUES)}"
    return "\n".join(lines).encode()


@st.composite
def damaged_trace(draw: st.DrawFn, good: str) -> bytes:
    """A trace in which some words or lines are others; or a torn text."""
    if draw(st.integers(0, 5)) == 0:
        return draw(torn(good.encode()))
    lines = good.splitlines()
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        words = re.findall(r"[\w.]+|[^\w.]+", lines[at])
        which = draw(st.integers(0, len(words) - 1))
        words[which] = draw(
            st.sampled_from(
                (
                    *("", " ", "nan", "inf", "-1", "1e300", "1e9", "1e30", "0", "x", '"', "1;2"),
                    *("2023-11-16 18:15:46.68", "9999-12-31 23:59:59", "0000-00-00", "99999999999"),
                    *(
                        "0.1",
                        "1",
                        "7",
                        "1.5",
                        "131072",
                        "1e5",
                        "1000000",
                        "999999999",
                        "3e6",
                        "2e7",
                    ),
                    *("prompt", "output", "TIMESTAMP", "{", "\r", "\x85", "1e-320", '{"time": 1}'),
                )
            )
        )
        lines[at] = "".join(words)
        if draw(st.integers(0, 4)) == 0:
            lines.insert(draw(st.integers(0, len(lines))), lines[at])
    return "\n".join(lines).encode()


@st.composite
def damaged_table(draw: st.DrawFn, good: pl.DataFrame) -> pl.DataFrame:
    """A table of a run with a column or rows that somebody changed."""
    name = draw(st.sampled_from(good.columns))
    column = good[name]
    how = draw(st.integers(0, 8))
    if how == 0:
        return good.drop(name)
    if how == 1:
        return good.rename({name: f"{name}_"})
    if how == 2:
        kind = draw(st.sampled_from((pl.String, pl.Float64, pl.Int64)))
        return good.with_columns(column.cast(pl.String).cast(kind, strict=False))
    if how == 3:
        return good.head(draw(st.integers(0, len(good))))
    if how == 4:
        rows = list(range(len(good)))
        random.Random(draw(st.integers(0, 9))).shuffle(rows)
        return good[rows]
    if how == 5:
        return pl.concat([good, good])
    if how == 6:
        return good.with_columns(pl.lit(None, dtype=column.dtype).alias(name))
    if not column.dtype.is_numeric():
        return good.with_columns(pl.lit("done").cast(column.dtype).alias(name))
    number = draw(st.sampled_from((0, 1, -1, 3, 10**6, 2**62, -(2**63), 2**63 - 1)))
    changed = column.to_list()
    changed[draw(st.integers(0, len(changed) - 1))] = number
    return good.with_columns(pl.Series(name, changed, dtype=column.dtype, strict=False))
