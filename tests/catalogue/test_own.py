"""Files of one's own: the shelf is told from the keys, and a chip may be named."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.catalogue import SHELVES, parse_toml, shelf_of, whole
from jalapeno.errors import BadFact, UnknownName
from tests.catalogue import trees

OWN = ("chips", "systems", "models", "engines", "tariffs")


@pytest.mark.parametrize(
    ("shelf", "name"), [(shelf, name) for shelf in OWN for name in catalogue.names(shelf)]
)
def test_every_entry_of_the_catalogue_is_told_from_its_keys(shelf: str, name: str) -> None:
    assert shelf_of(catalogue.tree(shelf, name)) == shelf


@pytest.mark.parametrize(
    ("shelf", "tree"),
    [("chips", trees.chip()), ("systems", trees.system()), ("models", trees.model())],
)
@given(data=st.data())
def test_an_entry_is_told_from_half_of_its_telling_keys(
    shelf: str, tree: dict[str, Any], data: st.DataObject
) -> None:
    telling = {
        "chips": ["vendor", "stepping", "cores", "matrix", "hbm", "energy", "power"],
        "systems": ["chip", "chips", "chips_per_tray", "chips_per_rack", "fabric"],
        "models": ["layers", "hidden", "vocab", "attention", "moe", "weights"],
    }[shelf]
    kept = data.draw(st.sets(st.sampled_from(telling), min_size=1))
    assert shelf_of({key: tree[key] for key in kept} | {"name": "x"}) == shelf


@pytest.mark.parametrize(
    "tree",
    [
        {},
        {"name": "x", "title": "y"},
        {"colour": "red"},
        {"tdp": "1 W", "layers": 3},  # a key of a tariff, and one of a model
    ],
)
def test_what_could_be_anything_is_refused_with_how_one_tells(tree: dict[str, Any]) -> None:
    with pytest.raises(BadFact, match=r"^cannot tell what this is; one knows a chip by 'matrix'"):
        shelf_of(tree)


def test_measurements_are_not_for_ones_own() -> None:
    assert set(SHELVES) - set(OWN) == {"claims", "references"}


def test_a_named_chip_takes_its_place() -> None:
    tree = trees.system() | {"chip": "b200"}
    found = whole("systems", tree)
    assert found["chip"] == catalogue.tree("chips", "b200")
    assert tree["chip"] == "b200"
    assert catalogue.system_of(found).chip == catalogue.chip("b200")


def test_a_chip_of_ones_own_stays() -> None:
    assert whole("systems", trees.system()) == trees.system()


@pytest.mark.parametrize("shelf", ["chips", "models"])
def test_other_entries_are_whole_already(shelf: str) -> None:
    assert whole(shelf, {"chip": "b200"}) == {"chip": "b200"}


def test_a_misspelt_chip_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"^no chip 'b2000'; did you mean 'b200'"):
        whole("systems", trees.system() | {"chip": "b2000"})


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a = " + "9" * 5000, "a =", "a = 1\na = 2"])
def test_what_is_no_toml_is_one_error(text: str) -> None:
    with pytest.raises(BadFact, match=r"^here: not TOML: "):
        parse_toml(text, "here")
