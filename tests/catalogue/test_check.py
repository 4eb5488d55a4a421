"""What units cannot say is checked too: zeros, shares, parts and wholes, names of formats."""

from __future__ import annotations

import re
from typing import Any

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import Engine, chip_of, engine_of, model_of, row_of, system_of, tariff_of
from jalapeno.errors import BadFact
from tests.catalogue import trees


def refused(message: str) -> Any:
    return pytest.raises(BadFact, match=f"^{re.escape(message)}$")


# ---- numbers


@pytest.mark.parametrize(
    ("table", "key", "zero"),
    [
        ("hbm", "bandwidth", "0 B/s"),
        ("hbm", "capacity", "0 B"),
        ("matrix", "peak_8x4", "0 FLOP/s"),
        ("matrix", "tile_rows", "0"),
        ("vector", "peak", "0 FLOP/s"),
        ("power", "tdp", "0 W"),
        ("steppings", "half", "0"),
    ],
)
def test_what_is_divided_by_must_not_be_zero(table: str, key: str, zero: str) -> None:
    tree = trees.chip()
    tree[table][key] = zero
    with refused(f"chips/toy: {table}.{key}: must be more than zero, got '{zero}'"):
        chip_of(tree)


@pytest.mark.parametrize(("table", "key"), [("power", "idle"), ("power", "static")])
def test_what_is_only_added_may_be_zero(table: str, key: str) -> None:
    tree = trees.chip()
    tree[table][key] = "0 W"
    assert chip_of(tree).facts[f"{table}.{key}"].value == 0.0


def test_a_zero_inside_a_system_is_named_with_its_chip() -> None:
    tree = trees.system()
    tree["chip"]["hbm"]["bandwidth"] = "0 B/s"
    with refused("systems/toys: chip.hbm.bandwidth: must be more than zero, got '0 B/s'"):
        system_of(tree)


@pytest.mark.parametrize("key", ["overlap", "memory_efficiency", "link_efficiency"])
def test_a_share_is_at_most_one(key: str) -> None:
    tree = catalogue.override(catalogue.tree("engines", "jalapeno-engine"), key, "1.2")
    with refused(f"engines/jalapeno-engine: {key}: is a share, at most 1, got '1.2'"):
        engine_of(tree)


def test_imbalance_is_at_least_one() -> None:
    tree = catalogue.override(catalogue.tree("engines", "tensorrt-llm"), "imbalance", "0.9")
    with refused("engines/tensorrt-llm: imbalance: is at least 1, got '0.9'"):
        engine_of(tree)


def test_a_hall_uses_at_least_what_its_racks_use() -> None:
    tree = catalogue.override(catalogue.tree("tariffs", "gb200"), "pue", "0.95")
    with refused("tariffs/gb200: pue: is at least 1, got '0.95'"):
        tariff_of(tree)


def engine_of_layers(rest: str, load: str) -> Engine:
    tree = catalogue.tree("engines", "tensorrt-llm")
    for key, text in (("issue_layer_rest", rest), ("issue_layer_load", load)):
        tree = catalogue.override(tree, key, text)
    return engine_of(tree)


def test_a_layer_may_cost_the_same_at_rest_and_under_load() -> None:
    engine = engine_of_layers("10 us", "10 us")
    assert engine.issue_layer_load == engine.issue_layer_rest


def test_a_loaded_layer_costs_no_less_than_one_at_rest() -> None:
    with refused(
        "engines/tensorrt-llm: issue_layer_load must be at least issue_layer_rest: a loaded layer "
        "costs no less than one at rest"
    ):
        engine_of_layers("10 us", "9.9 us")


@pytest.mark.parametrize("cap", ["2 W", "1.5 W"])
def test_a_power_cap_leaves_something_above_the_static_draw(cap: str) -> None:
    tree = trees.chip()
    tree["power"]["cap"] = cap
    with refused(f"chips/toy: power.cap, {cap}, must exceed power.static, 2 W: nothing could run"):
        chip_of(tree)


def test_a_cap_just_above_the_static_draw_will_do() -> None:
    tree = trees.chip()
    tree["power"]["cap"] = "2.1 W"
    assert chip_of(tree).power.cap == 2.1


def test_the_power_cap_of_a_systems_chip_is_checked_too() -> None:
    tree = trees.system()
    tree["chip"]["power"]["cap"] = "1 W"
    with refused(
        "systems/toys: chip: power.cap, 1 W, must exceed power.static, 2 W: nothing could run"
    ):
        system_of(tree)


# ---- parts and wholes


def test_the_installed_stepping_is_one_of_the_steppings() -> None:
    tree = trees.chip()
    tree["stepping"] = "halve"
    with refused(
        "chips/toy: stepping: no stepping 'halve'; did you mean 'half'?\nknown: one, half"
    ):
        chip_of(tree)


def test_a_chip_of_no_steppings_says_so() -> None:
    tree = trees.chip()
    tree["steppings"] = {}
    with refused("chips/toy: stepping: no stepping 'one'\nknown: none"):
        chip_of(tree)


def test_the_stepping_of_a_systems_chip_is_checked_too() -> None:
    tree = trees.system()
    tree["chip"]["stepping"] = "two"
    with pytest.raises(BadFact, match=r"^systems/toys: chip: stepping: no stepping 'two'"):
        system_of(tree)


@pytest.mark.parametrize("reach", [4, 5])
def test_each_level_reaches_further(reach: int) -> None:
    tree = trees.system()
    tree["fabric"]["near"]["reach"] = reach
    with refused("systems/toys: fabric: each level must reach further than the one before"):
        system_of(tree)


def test_a_system_has_a_fabric() -> None:
    tree = trees.system()
    tree["fabric"] = {}
    with refused("systems/toys: fabric: each level must reach further than the one before"):
        system_of(tree)


def test_the_last_level_reaches_every_chip() -> None:
    tree = trees.system()
    tree["chips"] = 8
    with refused("systems/toys: fabric: the last level reaches 4 of 8 chips"):
        system_of(tree)


def test_rails_divide_what_the_level_below_joins() -> None:
    tree = trees.system()
    tree["fabric"]["far"]["rails"] = 2
    assert system_of(tree).fabric["far"].rails == 2
    tree["fabric"]["far"]["rails"] = 3
    with refused(
        "systems/toys: fabric.far.rails: 3 rails must divide what the level below joins, 2"
    ):
        system_of(tree)


def test_the_nearest_level_has_no_rails() -> None:
    tree = trees.system()
    tree["fabric"]["near"]["rails"] = 2
    with refused(
        "systems/toys: fabric.near.rails: 2 rails must divide what the level below joins, 1"
    ):
        system_of(tree)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("dense_layers",), 5, "dense_layers is 5, more than layers, 4"),
        (("moe", "top_k"), 9, "moe.top_k is 9, more than moe.experts, 8"),
        (("attention", "kv_heads"), 8, "attention.kv_heads is 8, more than attention.heads, 4"),
        (
            ("attention", "window_layers"),
            5,
            "attention.window_layers is 5, more than cached layers, 4",
        ),
    ],
)
def test_a_part_is_no_larger_than_its_whole(
    path: tuple[str, ...], value: int, message: str
) -> None:
    tree = trees.model()
    table = tree
    for key in path[:-1]:
        table = table[key]
    table[path[-1]] = value
    with refused(f"models/toy-moe: {message}"):
        model_of(tree)


# ---- formats


def test_a_misspelt_format_is_answered_with_the_nearest() -> None:
    tree = trees.model()
    tree["weights"]["experts"] = "mxfp5"
    with pytest.raises(BadFact, match=r"^models/toy-moe: weights: no format 'mxfp5'; did you mean"):
        model_of(tree)


def test_a_misspelt_tensor_class_is_answered_with_the_nearest() -> None:
    tree = trees.model()
    tree["weights"]["expert"] = "mxfp4"
    with refused(
        "models/toy-moe: weights: no tensor class 'expert'; did you mean 'experts'?\n"
        "known: experts, shared, dense, attention, head"
    ):
        model_of(tree)


def test_every_tensor_class_needs_a_format() -> None:
    tree = trees.model()
    del tree["weights"]["head"]
    with refused("models/toy-moe: weights: missing 'head'"):
        model_of(tree)


def engine_with(key: str, word: str) -> dict[str, Any]:
    tree = catalogue.tree("engines", "tensorrt-llm")
    tree["formats"][key] = word
    return tree


def test_the_precision_of_an_engine_is_of_a_model_and_a_class() -> None:
    with refused("engines/tensorrt-llm: formats: expected 'model/class', got 'experts'"):
        engine_of(engine_with("experts", "mxfp4"))


def test_an_engine_may_serve_models_that_the_catalogue_has_not() -> None:
    engine = engine_of(engine_with("my-model/experts", "mxfp4"))
    assert engine.formats["my-model/experts"] == "mxfp4"


def test_a_format_of_an_engine_is_known() -> None:
    with pytest.raises(
        BadFact,
        match=r"^engines/tensorrt-llm: formats: gpt-oss-120b: no format 'fp9'; did you mean",
    ):
        engine_of(engine_with("gpt-oss-120b/kv", "fp9"))


def test_a_class_of_an_engine_is_known() -> None:
    with pytest.raises(
        BadFact, match=r"^engines/tensorrt-llm: formats: gpt-oss-120b: no tensor class 'kvs'"
    ):
        engine_of(engine_with("gpt-oss-120b/kvs", "fp8"))


# ---- rows


def test_the_slots_of_a_row_are_known_somehow() -> None:
    tree = trees.row()
    tree["decode"]["slots_kind"] = "guess"
    with refused(
        "references/toy-row: decode.slots_kind: no kind 'guess'\nknown: recipe, little, assumed"
    ):
        row_of(tree)
