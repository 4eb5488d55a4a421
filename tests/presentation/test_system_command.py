"""``jalapeno system check``: files of one's own, sound or not."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.errors import UsageError
from jalapeno.presentation.entries import entry_of
from jalapeno.presentation.system_command import (
    checked_json,
    checked_tables,
    doubts,
    naming,
    read_entry,
)
from tests.presentation.conftest import Call

BOARD = """
name = "my-board"
title = "My board"
chip = "b200"
engine = "vllm"
default = { kind = "assumed", source = "made up for tests" }
chips = 16
chips_per_tray = 8
chips_per_rack = 16
[fabric.near]
reach = 8
bandwidth = "900 GB/s"
latency = "0.5 us"
reduces = false
[fabric.far]
reach = 16
bandwidth = "100 GB/s"
latency = "5 us"
reduces = false
"""


def toml(tree: Mapping[str, Any]) -> str:
    """*tree* as TOML: inline tables all the way down, which TOML allows."""

    def value(item: object) -> str:
        match item:
            case Mapping():
                return (
                    "{" + ", ".join(f"{json.dumps(k)} = {value(v)}" for k, v in item.items()) + "}"
                )
            case list():
                return "[" + ", ".join(map(value, item)) + "]"
            case _:
                return json.dumps(item, ensure_ascii=False)

    return "".join(f"{json.dumps(key)} = {value(item)}\n" for key, item in tree.items())


def board(tmp_path: Path, text: str = BOARD) -> Path:
    file = tmp_path / "board.toml"
    file.write_text(text, "utf-8")
    return file


# ---- what is sound


def test_a_board_that_names_a_chip_is_summed_up(call: Call, tmp_path: Path) -> None:
    called = call("system", "check", board(tmp_path))
    assert (called.code, called.err) == (0, "")
    for words in (
        "my-board (systems): My board",
        "16 b200, 8 a tray, in 1 rack",
        "FP4 144 PFLOP/s, FP8 72 PFLOP/s, BF16 36 PFLOP/s",
        "chip: b200",
        "1,169 FLOP/byte of HBM",
        "900 GB/s",
        "facts are weak",
        "! assumed",
        "fabric.near.latency",
        "nobody published or measured the number",
    ):
        assert words in called.out, words


def test_the_summary_is_one_screen(call: Call, tmp_path: Path) -> None:
    assert len(call("system", "check", board(tmp_path)).out.splitlines()) < 48


def test_a_board_may_hold_a_chip_of_its_own(call: Call, tmp_path: Path) -> None:
    chip = catalogue.tree("chips", "b200")
    chip["name"] = "b200-fast"
    chip["hbm"]["bandwidth"] = {"value": "10 TB/s", "kind": "assumed", "source": "what if"}
    tree = tomllib.loads(BOARD) | {"chip": chip}
    called = call("system", "check", board(tmp_path, toml(tree)))
    assert called.code == 0
    assert "10 TB/s   ! assumed" in re.sub(r" {3,}", "   ", called.out)
    assert called.err == (
        "the catalogue has no tariff for 'b200-fast': all-in power and price need one\n"
    )


@pytest.mark.parametrize("name", catalogue.names("systems"))
def test_every_system_of_the_catalogue_passes_as_a_file(tmp_path: Path, name: str) -> None:
    file = board(tmp_path, toml(catalogue.tree("systems", name)))
    shelf, tree = read_entry(file)
    assert shelf == "systems"
    assert catalogue.system_of(tree) == catalogue.system(name)


@pytest.mark.parametrize("name", catalogue.names("chips"))
def test_every_chip_of_the_catalogue_is_summed_up(call: Call, tmp_path: Path, name: str) -> None:
    called = call("system", "check", board(tmp_path, toml(catalogue.tree("chips", name))))
    assert (called.code, called.err) == (0, "")
    assert f"{name} (chips): " in called.out
    assert "FLOP/byte of HBM" in called.out


@pytest.mark.parametrize(
    ("shelf", "name", "words"),
    [
        ("engines", "vllm", "all_reduce_latency"),
        ("tariffs", "h100", "1.37 kW"),
        ("models", "gpt-oss-120b", "attention.kv_heads"),
    ],
)
def test_what_is_no_hardware_is_shown_fact_by_fact(
    call: Call, tmp_path: Path, shelf: str, name: str, words: str
) -> None:
    called = call("system", "check", board(tmp_path, toml(catalogue.tree(shelf, name))))
    assert (called.code, called.err) == (0, "")
    assert f"{name} ({shelf}): " in called.out
    assert words in called.out


def test_an_engine_that_the_catalogue_has_not_is_a_doubt_and_no_mistake(
    call: Call, tmp_path: Path
) -> None:
    called = call("system", "check", board(tmp_path, BOARD.replace("vllm", "vlm")))
    assert called.code == 0
    assert called.err == (
        "the catalogue has no engine 'vlm': name one when you run; did you mean 'vllm'?\n"
    )


def test_of_what_is_no_hardware_there_is_no_doubt() -> None:
    assert doubts(None) == []


def test_json_is_in_si(call: Call, tmp_path: Path) -> None:
    called = call("system", "check", board(tmp_path), "--json")
    assert (called.code, called.err) == (0, "")
    data = json.loads(called.out)
    assert (data["shelf"], data["name"], data["title"]) == ("systems", "my-board", "My board")
    assert data["system"]["chips"] == 16
    assert data["system"]["fabric"]["far"] == {
        "reach": 16,
        "bandwidth_bytes_per_s": 100e9,
        "latency_s": 5e-6,
        "reduces": False,
        "rails": 1,
    }
    assert data["chip"]["peak_flop_per_s"]["8x8"] == 4.5e15
    assert data["chip"]["balance_flop_per_byte"]["16x16"] == pytest.approx(2.25e15 / 7.7e12)
    assert "fabric.near.latency" in data["weak"]["assumed"]
    assert "chip.power.static" in data["weak"]["estimated"]


def test_json_of_a_tariff_has_no_chip(call: Call, tmp_path: Path) -> None:
    file = board(tmp_path, toml(catalogue.tree("tariffs", "maia-200")))
    data = json.loads(call("system", "check", file, "--json").out)
    assert set(data) == {"shelf", "name", "title", "facts", "weak"}
    assert data["weak"]["assumed"] == ["all_in", "price"]


# ---- what is not


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"900 GB/s"', '"900"', "systems/my-board: fabric.near.bandwidth: expected a quantity in "
         "B/s, such as '15.4 TB/s', got '900': it has no unit"),
        ("reach = 16", "reach = 12", "systems/my-board: fabric: the last level reaches 12 of 16 "
         "chips"),
        ('"b200"', '"b20"', "no chip 'b20'; did you mean 'b200'? known: b200, "),
        ("chips_per_rack", "chips_per_rak", "systems/my-board: unknown key 'chips_per_rak'; did "
         "you mean 'chips_per_rack'?"),
        ("chip = ", "tip = ", "systems/my-board: unknown key 'tip'"),
        ('chip = "b200"', "chip = 5", "systems/my-board: chip: expected a table, got 5"),
        ('name = "my-board"', "name = 5", "systems/5: name: expected words, got 5"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_its_place(
    call: Call, tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    file = board(tmp_path, BOARD.replace(old, new))
    called = call("system", "check", file)
    assert (called.code, called.out) == (2, "")
    assert called.complaint.startswith(f"{file}: {complaint}")


def test_what_is_no_toml_is_one_line(call: Call, tmp_path: Path) -> None:
    file = board(tmp_path, "name = ")
    called = call("system", "check", file, "--json")
    assert (called.code, called.out) == (2, "")
    assert called.complaint.startswith(f"{file}: not TOML: ")


def test_what_could_be_anything_is_refused(call: Call, tmp_path: Path) -> None:
    called = call("system", "check", board(tmp_path, 'colour = "red"'))
    assert called.code == 2
    assert "cannot tell what this is; one knows a chip by 'matrix' and 'hbm'" in called.complaint


def test_a_file_that_is_not_there_is_one_line(call: Call, tmp_path: Path) -> None:
    called = call("system", "check", tmp_path / "none.toml")
    assert called.code == 2
    assert called.complaint == f"{tmp_path}/none.toml: cannot be read: No such file or directory"


def test_a_folder_is_no_file(call: Call, tmp_path: Path) -> None:
    called = call("system", "check", tmp_path)
    assert called.code == 2
    assert called.complaint == f"{tmp_path}: cannot be read: Is a directory"


def test_what_is_no_text_is_one_line(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "board.toml"
    file.write_bytes(b"\xff\xfe\x00")
    called = call("system", "check", file)
    assert called.code == 2
    assert called.complaint.startswith(f"{file}: not text: ")


def test_the_file_is_named_once() -> None:
    with pytest.raises(UsageError, match=r"^f\.toml: broken$"), naming(Path("f.toml")):
        raise UsageError("broken")


# ---- whatever is in the file


SCALARS = st.one_of(
    st.none().map(lambda _: ""),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["1 W", "0 B", "8 TB/s", "1e400 s", "-1 us", "nan", "1 $/h", "b200", "fp8"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["value", "kind", "source", "low", "x"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
ENTRIES = [("chips", "b200"), ("systems", "h100-hgx"), ("engines", "vllm"), ("tariffs", "b200")]


def places(tree: Mapping[str, Any], above: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every key of *tree*, tables and leaves."""
    found = []
    for key, item in tree.items():
        found.append((*above, key))
        if isinstance(item, Mapping):
            found += places(item, (*above, key))
    return found


def outcome(file: Path) -> str:
    """``"sound"``, or the one complaint; anything else that is raised fails the test."""
    try:
        shelf, tree = read_entry(file)
        with naming(file):
            entry = entry_of(shelf, tree)
        system = catalogue.system_of(tree) if shelf == "systems" else None
        chip = catalogue.chip_of(tree) if shelf == "chips" else None
        json.dumps(checked_json(entry, system or chip))
        checked_tables(entry, system or chip)
    except UsageError as error:
        return str(error)
    return "sound"


MANY = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


@MANY
@given(entry=st.sampled_from(ENTRIES), data=st.data())
def test_any_value_anywhere_is_read_or_refused(
    tmp_path: Path, entry: tuple[str, str], data: st.DataObject
) -> None:
    tree = catalogue.tree(*entry)
    for place in data.draw(st.lists(st.sampled_from(places(tree)), min_size=1, max_size=3)):
        table: Any = tree
        for key in place[:-1]:
            table = table.get(key, {}) if isinstance(table, dict) else {}
        if isinstance(table, dict):
            table[place[-1]] = data.draw(VALUES)
    text = toml(tree).replace("Infinity", "inf").replace("NaN", "nan")
    said = outcome(board(tmp_path, text))
    assert said == "sound" or said.startswith(str(tmp_path))


@MANY
@given(
    start=st.integers(0, len(BOARD)),
    length=st.integers(0, 40),
    put=st.text(alphabet=st.sampled_from("abe019 .=\"[]{},\n#_-'\\"), max_size=12),
)
def test_any_damage_to_the_text_is_read_or_refused(
    tmp_path: Path, start: int, length: int, put: str
) -> None:
    said = outcome(board(tmp_path, BOARD[:start] + put + BOARD[start + length :]))
    assert said == "sound" or said.startswith(str(tmp_path))


@MANY
@given(text=st.text())
def test_any_text_is_read_or_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "any.toml"
    file.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    assert outcome(file).startswith(str(file))
