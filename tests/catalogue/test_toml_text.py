"""What is written as TOML reads back as it was."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.catalogue import toml_text
from jalapeno.errors import BadFact

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SCALAR = st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXT | st.floats(allow_nan=False)
FINITE = SCALAR.filter(lambda value: value not in (float("inf"), float("-inf")))
LEAF = FINITE | st.fixed_dictionaries({"value": FINITE, "source": TEXT})
TREE = st.recursive(
    st.dictionaries(TEXT, LEAF, max_size=4),
    lambda inner: st.dictionaries(TEXT, LEAF | inner, max_size=4),
    max_leaves=6,
)


@given(TREE, TEXT)
def test_every_tree_reads_back(tree: dict[str, Any], remark: str) -> None:
    assert tomllib.loads(toml_text(tree, remark)) == tree


@given(TREE, TEXT)
def test_a_remark_changes_nothing_but_comments(tree: dict[str, Any], remark: str) -> None:
    assume(tree)
    bare = toml_text(tree)
    whole = toml_text(tree, remark)
    assert whole.endswith(bare)
    above = whole.removesuffix(bare).split("\n")[:-1]
    assert all(line.startswith("#") for line in above)


@pytest.mark.parametrize("shelf", ["models", "engines", "tariffs", "chips"])
def test_every_entry_of_the_catalogue_can_be_written(shelf: str) -> None:
    for name in catalogue.names(shelf):
        tree = {
            key: value
            for key, value in catalogue.tree(shelf, name).items()
            if "alternatives" not in str(value)
        }
        assert tomllib.loads(toml_text(tree)) == tree


def test_leaves_stand_before_tables_and_evidence_in_its_line() -> None:
    tree = {
        "name": "x",
        "moe": {"experts": 4, "deep": {"a b": True}},
        "count": {"value": 1.5, "kind": "derived", "source": 'a "friend"'},
    }
    assert toml_text(tree, "One.\nTwo.") == (
        "# One.\n"
        "# Two.\n"
        'name = "x"\n'
        'count = { value = 1.5, kind = "derived", source = "a \\"friend\\"" }\n'
        "\n"
        "[moe]\n"
        "experts = 4\n"
        "\n"
        "[moe.deep]\n"
        '"a b" = true\n'
    )


@pytest.mark.parametrize("text", ["\x7f", "\x00", "\n", "\\", "\u2028", '"""'])
def test_odd_characters_are_escaped_or_kept(text: str) -> None:
    assert tomllib.loads(toml_text({"name": text}, text))["name"] == text


def test_half_of_a_pair_becomes_a_question_mark() -> None:
    assert tomllib.loads(toml_text({"name": "\ud800"})) == {"name": "?"}


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), [1], object()])
def test_what_toml_cannot_say_here_is_refused(value: object) -> None:
    with pytest.raises(BadFact, match="cannot be written as TOML"):
        toml_text({"x": value})
