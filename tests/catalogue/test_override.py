"""Any fact may be replaced; the rest stays, and the new one says what it is."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.catalogue import (
    Kind,
    engine_of,
    model_of,
    override,
    override_all,
    paths,
    system_of,
)
from jalapeno.errors import BadFact, UnknownName
from jalapeno.units import render
from tests.catalogue import trees

BANDWIDTH = "chip.hbm.bandwidth"


def test_an_overridden_fact_has_the_new_value_and_says_so() -> None:
    system = system_of(override(catalogue.tree("systems", "jalapeno-rack"), BANDWIDTH, "20 TB/s"))
    fact = system.facts[BANDWIDTH]
    assert system.chip.hbm.bandwidth == fact.value == 20e12
    assert fact.overridden
    assert (fact.kind, fact.source, fact.text) == (Kind.ASSUMED, "override", "20 TB/s")


def test_an_overridden_fact_loses_its_range_and_date_and_keeps_what_was_there() -> None:
    tree = override(catalogue.tree("systems", "jalapeno-rack"), "chip.vector.peak", "80 TFLOP/s")
    fact = system_of(tree).facts["chip.vector.peak"]
    assert (fact.low, fact.high, fact.as_of) == (None, None, "")
    (before,) = fact.alternatives
    assert (before.value, before.source) == (56e12, "catalogue")


def test_the_chips_own_facts_know_of_the_override() -> None:
    system = system_of(override(trees.system(), BANDWIDTH, "1 GB/s"))
    assert system.chip.facts["hbm.bandwidth"].overridden


@given(st.floats(1.0, 1e15))
def test_everything_else_stays(value: float) -> None:
    before = system_of(trees.system())
    after = system_of(override(trees.system(), BANDWIDTH, render(value, "B/s", 15)))
    assert {path: fact for path, fact in after.facts.items() if path != BANDWIDTH} == {
        path: fact for path, fact in before.facts.items() if path != BANDWIDTH
    }


@given(st.sampled_from(paths(trees.system())))
def test_the_tree_given_is_left_alone(path: str) -> None:
    tree = trees.system()
    kept = copy.deepcopy(tree)
    override(tree, path, "true")
    assert tree == kept


def test_overriding_with_the_same_text_changes_the_evidence_only() -> None:
    plain = system_of(trees.system())
    again = system_of(override(trees.system(), BANDWIDTH, "100 GB/s"))
    assert again == plain  # facts do not take part in equality
    assert again.facts[BANDWIDTH] != plain.facts[BANDWIDTH]


def test_the_last_override_wins() -> None:
    tree = override(override(trees.system(), BANDWIDTH, "1 GB/s"), BANDWIDTH, "2 GB/s")
    assert system_of(tree).chip.hbm.bandwidth == 2e9


def test_a_count_from_a_default_can_be_overridden() -> None:
    model = model_of(override(catalogue.tree("models", "gpt-oss-120b"), "layers", "40"))
    assert model.layers == 40
    assert model.facts["layers"].overridden


def test_a_stepping_can_be_overridden() -> None:
    tree = override(catalogue.tree("systems", "jalapeno-rack"), "chip.stepping", "A0")
    system = system_of(tree)
    assert system.chip.speed == 0.8
    assert system.facts["chip.stepping"].overridden


def test_a_truth_value_can_be_overridden() -> None:
    path = "fabric.local.reduces"
    system = system_of(override(catalogue.tree("systems", "jalapeno-rack"), path, "true"))
    assert system.fabric["local"].reduces
    assert system.facts[path].overridden


def test_a_format_of_a_model_with_a_dot_in_its_name_can_be_overridden() -> None:
    path = "formats.kimi-k2.5/core"
    engine = engine_of(override(catalogue.tree("engines", "tensorrt-llm"), path, "bf16"))
    assert engine.formats["kimi-k2.5/core"] == "bf16"
    assert engine.facts[path].overridden


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("chip.hbm.bandwith", BANDWIDTH),
        ("hbm.bandwidth", BANDWIDTH),
        ("fabric.near.latncy", "fabric.near.latency"),
    ],
)
def test_an_unknown_path_is_answered_with_the_nearest_and_all(path: str, nearest: str) -> None:
    with pytest.raises(UnknownName, match=f"^no fact '{path}'; did you mean '{nearest}'") as caught:
        override(trees.system(), path, "1 GB/s")
    assert all(known in str(caught.value) for known in paths(trees.system()))


@pytest.mark.parametrize("path", ["chip", "chip.hbm", "name", "chip.name", "default.kind"])
def test_tables_names_and_defaults_are_no_facts(path: str) -> None:
    with pytest.raises(UnknownName, match=f"^no fact '{path}'"):
        override(trees.system(), path, "1")


def test_the_type_of_an_attention_is_no_fact() -> None:
    with pytest.raises(UnknownName, match=r"^no fact 'attention.type'"):
        override(trees.model(), "attention.type", "mla")


@pytest.mark.parametrize("text", ["yes", "1", "True", ""])
def test_a_truth_value_is_spelt_true_or_false(text: str) -> None:
    with pytest.raises(
        BadFact, match=f"^fabric.near.reduces: expected true or false, got '{text}'$"
    ):
        override(trees.system(), "fabric.near.reduces", text)


def test_a_wrong_unit_is_found_when_the_tree_is_built() -> None:
    tree = override(trees.system(), BANDWIDTH, "20 GB")
    with pytest.raises(BadFact, match=r"^systems/toys: chip\.hbm\.bandwidth: .* 'GB' is not B/s$"):
        system_of(tree)


@pytest.mark.parametrize("shelf", ["chips", "systems", "models", "engines", "tariffs", "claims"])
def test_every_fact_of_the_catalogue_has_a_path(shelf: str) -> None:
    for name in catalogue.names(shelf):
        entry = getattr(catalogue, shelf.removesuffix("s"))(name)
        assert set(entry.facts) <= set(paths(catalogue.tree(shelf, name)))


def test_several_leaves_are_replaced_as_one_after_the_other() -> None:
    plain = catalogue.tree("engines", "jalapeno-engine")
    texts = {"overlap": "0.25", "maturity.kimi-k2.5": "0.5", "host_step": "3 us"}
    one_by_one = plain
    for path, text in texts.items():
        one_by_one = override(one_by_one, path, text)
    assert override_all(plain, texts) == one_by_one
    assert override_all(plain, {}) == plain
    with pytest.raises(UnknownName, match="did you mean 'overlap'"):
        override_all(plain, {"overlap": "0.25", "overlp": "0.5"})
