"""Whatever stands in a config, the answer is an entry or one of our errors."""

from __future__ import annotations

import json
import tomllib
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from jalapeno.catalogue import Gqa, Model, model_of, read_config, toml_text
from jalapeno.errors import BadFact, JalapenoError
from tests.catalogue.configs import NAMES, config, tree

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 300)
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["full_attention", "linear_attention", "fp8", "re:(", "bfloat16", "Linear"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a tree of JSON, lists up to their second item."""
    found = [above] if above else []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += places(inner, (*above, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value[:2]):
            found += places(inner, (*above, at))
    return found


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """A config in which a few places hold anything, or nothing."""
    said = config(draw(st.sampled_from(NAMES)))
    for _ in range(draw(st.integers(1, 3))):
        *above, last = draw(st.sampled_from(places(said)))
        table: Any = said
        for key in above:
            table = table[key]
        if draw(st.booleans()):
            table[last] = draw(ANYTHING)
        elif isinstance(table, dict):
            del table[last]
    return said


def check(model: Model) -> None:
    """What holds of every model that can be simulated."""
    assert 0 <= model.dense_layers <= model.layers
    assert model.moe.top_k <= model.moe.experts
    assert set(model.weights) >= {"attention", "head"}
    if isinstance(model.attention, Gqa):
        assert model.attention.heads % model.attention.kv_heads == 0
    elif model.attention.index:
        assert 1 <= model.attention.index.layers <= model.layers


def outcome(said: dict[str, Any]) -> dict[str, Any] | str:
    """The tree, or the error of ours; anything else is a failure."""
    try:
        return tree(said)
    except JalapenoError as error:
        return str(error)


@settings(max_examples=300)
@given(damaged())
def test_a_damaged_config_is_an_entry_or_an_error_of_ours(said: dict[str, Any]) -> None:
    found = outcome(said)
    if isinstance(found, str):
        assert len(found.splitlines()) <= 2
    else:
        check(model_of(found))
        assert tomllib.loads(toml_text(found)) == found


@settings(max_examples=200)
@given(damaged())
def test_a_config_means_the_same_through_its_file(said: dict[str, Any]) -> None:
    assert outcome(read_config(json.dumps(said), "mine.json")) == outcome(said)


@settings(max_examples=200)
@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda data: data.decode("latin-1")))
def test_any_text_is_a_config_or_an_error_of_ours(text: str) -> None:
    with suppress(BadFact):
        assert isinstance(read_config(text, "mine.json"), dict)
