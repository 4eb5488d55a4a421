"""The shelves: names, trees that stand alone, and files that are what they say."""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files
from typing import Any

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import shelf as shelves
from jalapeno.errors import BadFact, UnknownName

ALL = [(shelf, name) for shelf in catalogue.SHELVES for name in catalogue.names(shelf)]


# ---- names


@pytest.mark.parametrize("shelf", [s for s in catalogue.SHELVES if s != "references"])
def test_names_are_sorted(shelf: str) -> None:
    assert list(catalogue.names(shelf)) == sorted(catalogue.names(shelf))


@pytest.mark.parametrize("shelf", catalogue.SHELVES)
def test_names_are_lower_case_and_differ(shelf: str) -> None:
    names = catalogue.names(shelf)
    assert len(set(names)) == len(names)
    assert all(name == name.lower() for name in names)


def test_rows_are_named_in_the_order_of_their_tables() -> None:
    by_table = [name for table in catalogue.tables() for name in catalogue.row_names(table)]
    assert list(catalogue.names("references")) == by_table


def test_a_misspelt_shelf_is_answered_with_the_nearest_and_all() -> None:
    with pytest.raises(UnknownName, match=r"^no shelf 'chip'; did you mean 'chips'") as caught:
        catalogue.names("chip")
    assert all(shelf in str(caught.value) for shelf in catalogue.SHELVES)


def test_a_misspelt_entry_is_called_what_it_is() -> None:
    with pytest.raises(UnknownName, match=r"^no system 'gb200'; did you mean 'gb200-nvl72'"):
        catalogue.tree("systems", "gb200")


def test_a_misspelt_row_is_called_what_it_is() -> None:
    with pytest.raises(UnknownName, match=r"^no reference row 'gb200-gpt-oss-120b-c3-tp4'"):
        catalogue.tree("references", "gb200-gpt-oss-120b-c3-tp4")


# ---- trees


@pytest.mark.parametrize("name", catalogue.names("systems"))
def test_the_tree_of_a_system_holds_that_of_its_chip(name: str) -> None:
    tree = catalogue.tree("systems", name)
    assert tree["chip"] == catalogue.tree("chips", tree["chip"]["name"])


@pytest.mark.parametrize(("shelf", "name"), ALL)
def test_a_tree_can_be_stored_as_json(shelf: str, name: str) -> None:
    tree = catalogue.tree(shelf, name)
    assert json.loads(json.dumps(tree)) == tree


def test_a_tree_is_a_copy() -> None:
    catalogue.tree("chips", "b200")["hbm"]["bandwidth"]["value"] = "1 B/s"
    assert catalogue.tree("chips", "b200")["hbm"]["bandwidth"]["value"] == "7.7 TB/s"


def test_a_row_has_what_stands_above_its_table() -> None:
    tree = catalogue.tree("references", "gb300-deepseek-r1-c666-dep32")
    assert tree["model"] == "deepseek-r1"
    assert tree["requests_per_slot"] == 10
    assert tree["concurrency"] == 666
    assert "rows" not in tree


# ---- files


def data() -> list[tuple[str, str]]:
    folder = files("jalapeno.catalogue") / "data"
    found = [
        (f"{shelf.name}/{file.name}", file.read_text("utf-8"))
        for shelf in folder.iterdir()
        if shelf.name in (*catalogue.SHELVES, "posterior")  # the rest are requests and points
        for file in shelf.iterdir()
    ]
    return sorted(found)


DATA = pytest.mark.parametrize(("path", "text"), data(), ids=[path for path, _ in data()])


@DATA
def test_every_file_is_toml_and_says_what_it_is_about(path: str, text: str) -> None:
    assert path.endswith(".toml")
    assert tomllib.loads(text)
    assert text.startswith("# ")


@DATA
def test_no_file_says_where_it_was_written(path: str, text: str) -> None:
    assert "/work" not in text, path
    assert "hardware.md" not in text, path


@DATA
def test_measured_rows_are_credited(path: str, text: str) -> None:
    if path.startswith("references/"):
        assert text.startswith("# InferenceX by SemiAnalysis (https://github.com/SemiAnalysisAI/")
        assert "Apache-2.0" in text.splitlines()[0]


@DATA
def test_what_is_in_the_files_is_on_the_shelves(path: str, text: str) -> None:
    shelf, stem = path.removesuffix(".toml").split("/")
    if shelf == "posterior":  # priors and draws, which are of no entry
        return
    known = catalogue.tables() if shelf == "references" else catalogue.names(shelf)
    assert stem in known
    assert text


def test_what_is_not_toml_is_refused_with_the_place() -> None:
    with pytest.raises(BadFact, match=r"^chips/mine: not TOML: .*line 2, column"):
        shelves.parse_toml('name = "mine"\ncores = = 4\n', "chips/mine")


def test_a_key_said_twice_is_refused() -> None:
    with pytest.raises(BadFact, match=r"^chips/mine: not TOML: "):
        shelves.parse_toml("cores = 4\ncores = 5\n", "chips/mine")


def test_what_is_toml_is_read() -> None:
    assert shelves.parse_toml("cores = 4", "chips/mine") == {"cores": 4}


# ---- tables of rows


def test_a_row_may_say_otherwise_than_its_table() -> None:
    table: dict[str, Any] = {"mtp": False, "rows": [{"name": "a"}, {"name": "b", "mtp": True}]}
    assert shelves._rows(table, "references/mine") == {
        "a": {"name": "a", "mtp": False},
        "b": {"name": "b", "mtp": True},
    }


@pytest.mark.parametrize("rows", [[{"name": "a"}, {"name": "a"}], [{}], [{"name": 3}]])
def test_every_row_has_a_name_of_its_own(rows: list[dict[str, Any]]) -> None:
    with pytest.raises(BadFact, match=r"^references/mine: every row needs a name of its own, got"):
        shelves._rows({"rows": rows}, "references/mine")


def test_an_entry_is_named_as_its_file() -> None:
    with pytest.raises(
        BadFact, match=r"^chips/mine: name: expected 'mine', the file's, not 'yours'$"
    ):
        shelves._named({"name": "yours"}, "chips", "mine")
