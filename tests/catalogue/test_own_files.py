"""A TOML file of one's own may stand where the name of an entry does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import toml_text
from jalapeno.errors import BadFact, UnknownName
from tests.catalogue.configs import config
from tests.catalogue.configs import tree as imported

LOADERS = {
    "models": catalogue.model,
    "engines": catalogue.engine,
    "tariffs": catalogue.tariff,
    "chips": catalogue.chip,
}
ENTRIES = {
    "models": "qwen3-8b",
    "engines": "jalapeno-engine",
    "tariffs": "jalapeno",
    "chips": "b200",
}
DATA = Path(catalogue.__file__).parent / "data"


def copied(shelf: str, name: str, to: Path) -> Path:
    """The file of an entry, elsewhere."""
    to.write_bytes((DATA / shelf / f"{name}.toml").read_bytes())
    return to


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that one is in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---- what is a file


@pytest.mark.parametrize(
    ("name", "is_file"),
    [
        ("./mine.toml", True),
        ("folder/mine.toml", True),
        ("/mine.toml", True),
        ("mine.toml", False),
        ("mine", False),
        ("./mine", False),
        ("toml", False),
        ("", False),
    ],
)
@pytest.mark.usefixtures("here")
def test_a_file_ends_in_toml_and_has_a_folder(name: str, is_file: bool) -> None:
    assert catalogue.is_file(name) is is_file


def test_or_it_is_there(here: Path) -> None:
    copied("models", "qwen3-8b", here / "mine.toml")
    assert catalogue.is_file("mine.toml")
    assert catalogue.model("mine.toml") == catalogue.model("qwen3-8b")


def test_no_entry_of_the_catalogue_is_taken_for_a_file() -> None:
    for shelf in catalogue.SHELVES:
        assert not any(catalogue.is_file(name) for name in catalogue.names(shelf))


# ---- entries


@pytest.mark.parametrize(("shelf", "name"), ENTRIES.items())
def test_a_copy_is_as_good_as_the_entry(shelf: str, name: str, tmp_path: Path) -> None:
    path = str(copied(shelf, name, tmp_path / "any-name.toml"))
    assert catalogue.tree(shelf, path) == catalogue.tree(shelf, name)
    assert LOADERS[shelf](path) == LOADERS[shelf](name)


def test_an_imported_model_is_as_good_as_the_entry(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(toml_text(imported(config("glm-5"))), "utf-8")
    assert catalogue.model(str(path)).attention == catalogue.model("glm-5").attention


def test_a_file_that_changes_is_read_anew(tmp_path: Path) -> None:
    path = copied("models", "qwen3-8b", tmp_path / "mine.toml")
    assert catalogue.model(str(path)).layers == 36
    path.write_text(path.read_text("utf-8").replace("layers = 36", "layers = 40"), "utf-8")
    assert catalogue.model(str(path)).layers == 40


def test_names_do_not_grow_by_files(here: Path) -> None:
    before = catalogue.names("models")
    copied("models", "qwen3-8b", here / "mine.toml")
    catalogue.model("./mine.toml")
    assert catalogue.names("models") == before


# ---- systems and what they name


def system_file(to: Path, chip: str, engine: str = '"tensorrt-llm"') -> str:
    """The board of eight B200 with another chip and engine."""
    text = (DATA / "systems" / "b200-hgx.toml").read_text("utf-8")
    text = text.replace('chip = "b200"', f"chip = {chip}")
    text = text.replace('engine = "tensorrt-llm"', f"engine = {engine}")
    to.write_text(text, "utf-8")
    return str(to)


def test_a_system_file_names_a_chip_of_the_catalogue(tmp_path: Path) -> None:
    path = system_file(tmp_path / "board.toml", '"gb300"')
    assert catalogue.system(path).chip == catalogue.chip("gb300")


@pytest.mark.parametrize("name", ["./my-chip.toml", "my-chip.toml", "../chips/my-chip.toml"])
def test_a_chip_file_is_beside_the_system_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("chips", "systems", "elsewhere"):
        (tmp_path / folder).mkdir()
    place = tmp_path / ("chips" if "chips" in name else "systems")
    chip = copied("chips", "b200", place / "my-chip.toml")
    chip.write_text(chip.read_text("utf-8").replace('name = "b200"', 'name = "mine"'), "utf-8")
    system_file(tmp_path / "systems" / "board.toml", f'"{name}"')
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert catalogue.system("../systems/board.toml").chip.name == "mine"


def test_a_chip_may_stand_in_the_system_file(tmp_path: Path) -> None:
    chip = '{ name = "mine", vendor = "nobody" }'
    with pytest.raises(BadFact, match=r"^systems/b200-hgx: chip: missing 'stepping'"):
        catalogue.system(system_file(tmp_path / "board.toml", chip))
    tree = catalogue.tree("systems", "b200-hgx")
    assert catalogue.system_of(tree).chip == catalogue.chip("b200")


def test_an_engine_file_is_beside_the_system_file(tmp_path: Path) -> None:
    copied("engines", "jalapeno-engine", tmp_path / "mine.toml")
    system = catalogue.system(system_file(tmp_path / "board.toml", '"b200"', '"mine.toml"'))
    assert catalogue.engine(system.engine) == catalogue.engine("jalapeno-engine")


def test_an_engine_of_the_catalogue_stays_a_name(tmp_path: Path) -> None:
    path = system_file(tmp_path / "board.toml", '"b200"')
    assert catalogue.system(path) == catalogue.system("b200-hgx")


@pytest.mark.parametrize(
    ("chip", "error", "message"),
    [
        ('"b400"', UnknownName, r"^no chip 'b400'; did you mean"),
        ('"./b400.toml"', UnknownName, r"^no file .*b400.toml; chips without a file are b200"),
        ("3", BadFact, r"chip: expected a table, got 3"),
    ],
)
def test_a_chip_that_is_not_there_is_named(
    chip: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        catalogue.system(system_file(tmp_path / "board.toml", chip))


# ---- mistakes


def written(path: Path, content: str | bytes) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


@pytest.mark.parametrize("shelf", ["models", "systems", "engines", "tariffs", "chips"])
def test_a_file_that_is_not_there_is_named_with_what_is(shelf: str, tmp_path: Path) -> None:
    with pytest.raises(
        UnknownName, match=f"^no file .*/mine.toml; {shelf} without a file"
    ) as caught:
        catalogue.tree(shelf, str(tmp_path / "mine.toml"))
    assert all(name in str(caught.value) for name in catalogue.names(shelf))


@pytest.mark.usefixtures("here")
def test_without_a_folder_it_is_a_name_that_is_not_there() -> None:
    with pytest.raises(UnknownName, match=r"^no model 'qwen3-8b.toml'; did you mean 'qwen3-8b'"):
        catalogue.model("qwen3-8b.toml")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("layers", r"mine.toml: not TOML: "),
        (b"\xff\xfe", r"mine.toml: cannot be read: 'utf-8' codec"),
        ("layers = 3", r"^models/\?: missing 'name', 'title', 'dense_layers'"),
        ('name = "x"\nlayer = 3', r"^models/x: unknown key 'layer'; did you mean 'layers'"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_as_of_an_entry(
    content: str | bytes, message: str, tmp_path: Path
) -> None:
    with pytest.raises(BadFact, match=message):
        catalogue.model(written(tmp_path / "mine.toml", content))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").mkdir()
    with pytest.raises(BadFact, match=r"mine.toml: cannot be read: Is a directory"):
        catalogue.model(str(tmp_path / "mine.toml"))


def test_a_name_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(BadFact, match="cannot be read: embedded null"):
        catalogue.model("./a\0b.toml")


@pytest.mark.parametrize("load", [catalogue.claim, catalogue.row])
def test_claims_and_measurements_are_of_the_catalogue_only(load: Any, tmp_path: Path) -> None:
    with pytest.raises(UnknownName):
        load(written(tmp_path / "mine.toml", ""))
