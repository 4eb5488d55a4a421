"""Every code block of the documentation does what the page says, warnings as errors."""

from __future__ import annotations

import shlex
import signal
import sys
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from jalapeno import catalogue
from jalapeno.presentation.cli import main
from tests.docs.pages import WRITTEN, Block, blocks, commands, read

Tree = Mapping[str, Any]


def system_of(tree: Tree) -> object:
    """A system as its file has it: the chip by name."""
    return catalogue.system_of({**tree, "chip": catalogue.tree("chips", tree["chip"])})


ENTRIES: Mapping[str, Callable[[Tree], object]] = {
    "chips": catalogue.chip_of,
    "systems": system_of,
    "models": catalogue.model_of,
    "engines": catalogue.engine_of,
    "tariffs": catalogue.tariff_of,
}
MARKS = ("", "run", "run: exit 2", "printed", *(f"entry: {shelf}" for shelf in ENTRIES))

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.chdir(tmp_path)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
@pytest.mark.usefixtures("_empty_folder")
def test_the_blocks_of_a_page_run_in_order(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    names: dict[str, object] = {}
    printed = ""
    for block in blocks(read(page)):
        if block.language == "python":
            run_python(page, block, names)
            printed = capsys.readouterr().out
        elif block.mark.startswith("run"):
            for command, below in commands(block):
                said = run_command(command, code_of(block), monkeypatch, capsys)
                assert not below or said.strip() == below, f"{page.name}:{block.line}"
        elif block.mark == "printed":
            assert printed.strip() == block.text, f"{page.name}:{block.line}"


def run_python(page: Path, block: Block, names: dict[str, object]) -> None:
    """Run the block in *names*; a traceback has the line of the page."""
    text = "\n" * (block.line - 1) + block.text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(text, str(page), "exec"), names)


def run_command(command: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> str:
    """Call the command line in this process; returns what it prints."""
    words = shlex.split(command, comments=True)
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as end:
        main()
    out, err = capsys.readouterr()
    assert end.value.code == code, f"{command}: {err}"
    return out + err


def code_of(block: Block) -> int:
    _, _, code = block.mark.partition(": exit ")
    return int(code or 0)


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_every_mark_is_one_of_the_known(page: Path) -> None:
    for block in blocks(read(page)):
        assert block.mark in MARKS, f"{page.name}:{block.line}"


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_what_is_run_is_a_console_block_of_the_command(page: Path) -> None:
    for block in blocks(read(page)):
        if block.mark.startswith("run"):
            assert block.language == "console"
            assert commands(block)
            assert all(command.startswith("jalapeno ") for command, _ in commands(block))


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_printed_text_stands_right_after_python(page: Path) -> None:
    found = blocks(read(page))
    for before, block in zip((None, *found), found, strict=False):
        if block.mark == "printed":
            assert before is not None
            assert before.language == "python", f"{page.name}:{block.line}"


def entries() -> list[tuple[str, Block]]:
    found = [block for page in WRITTEN for block in blocks(read(page))]
    marked = [(block.mark.partition("entry: ")[2], block) for block in found]
    return [(shelf, block) for shelf, block in marked if shelf]


@pytest.mark.parametrize(("shelf", "block"), entries(), ids=str)
def test_an_example_of_an_entry_is_one(shelf: str, block: Block) -> None:
    assert block.language == "toml"
    assert ENTRIES[shelf](tomllib.loads(block.text))


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_every_block_of_toml_is_toml(page: Path) -> None:
    for block in blocks(read(page)):
        if block.language == "toml":
            assert tomllib.loads(block.text)


# ---- the measuring sticks themselves


def test_a_warning_in_a_block_is_an_error() -> None:
    block = Block(1, "python", "", "import warnings\nwarnings.warn('old', stacklevel=1)")
    with pytest.raises(UserWarning, match="old"):
        run_python(Path("page.md"), block, {})


def test_an_error_in_a_block_has_the_line_of_the_page() -> None:
    with pytest.raises(ZeroDivisionError) as error:
        run_python(Path("page.md"), Block(41, "python", "", "x = 1\ny = x / 0"), {})
    assert error.traceback[-1].lineno == 41  # counted from zero: the 42nd line


def test_the_code_of_a_command_is_in_its_mark() -> None:
    assert code_of(Block(1, "console", "run", "")) == 0
    assert code_of(Block(1, "console", "run: exit 2", "")) == 2
