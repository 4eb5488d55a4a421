"""The program in this process, and what must hold however it ends."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest.mock import patch

import typer
from hypothesis import HealthCheck, settings

from jalapeno.presentation import cli

FOREIGN, FOLDER, LOOP = "mine.txt", "folder", "loop"
"""What lies in the place where the program runs, beside nothing: it must be there still after."""


@dataclass(frozen=True)
class Ended:
    """How the program ended."""

    code: int
    out: str
    err: str


@cache
def command() -> Callable[..., object]:
    """The application as a click command, built once: that takes longer than most calls."""
    return typer.main.get_command(cli.app)


def run(arguments: Sequence[str], stdin: bytes = b"") -> Ended:
    """Run ``jalapeno`` with these *arguments*, through ``main()``; streams are as a shell's."""
    into = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    err = io.TextIOWrapper(
        io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True
    )
    before = signal.getsignal(signal.SIGTERM)
    with (
        patch.multiple(sys, argv=["jalapeno", *arguments], stdin=into, stdout=out, stderr=err),
        patch.object(cli, "app", command()),
    ):
        try:
            cli.main()
        except SystemExit as end:
            code = end.code
        finally:
            signal.signal(signal.SIGTERM, before)
    assert isinstance(code, int)
    return Ended(code, _text(out), _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    written = stream.buffer
    assert isinstance(written, io.BytesIO)
    return written.getvalue().decode("utf-8")


def draws(count: int) -> settings:
    """So many examples, however long they are or take to draw."""
    return settings(max_examples=count, suppress_health_check=list(HealthCheck))


@contextmanager
def empty_place(place: Path) -> Iterator[None]:
    """Work in *place*, which holds a file and a folder of somebody else, and a link in a circle."""
    shutil.rmtree(place, ignore_errors=True)
    (place / FOLDER).mkdir(parents=True)
    for foreign in (place / FOREIGN, place / FOLDER / FOREIGN):
        foreign.write_text(FOREIGN)
    (place / LOOP).symlink_to(LOOP)
    before = Path.cwd()
    os.chdir(place)
    try:
        yield
    finally:
        os.chdir(before)


def judge(arguments: Sequence[str], ended: Ended, place: Path, *, forged: bool = False) -> None:
    """Assert what must hold of every end: no traceback, a message, whole files or none.

    Only a journal that somebody *forged* may break a law.
    """
    said = f"{ended.out}\n{ended.err}"
    assert ended.code in (0, 1, 2)
    assert "Traceback" not in said
    assert "a bug of ours" not in said
    assert forged or "breaks a law" not in said
    complaints = [line for line in ended.err.splitlines() if line.startswith("jalapeno: ")]
    usage = "Usage: jalapeno" in said or "─ Error ─" in ended.err
    if ended.code:
        assert usage or (len(complaints) == 1 and len(complaints[0]) > len("jalapeno: x"))
        assert usage or ended.err.endswith(f"{complaints[0]}\n")
    else:
        assert not complaints
    if "--json" in arguments and not usage:
        assert ended.out == "" or json.loads(ended.out, parse_constant=_no_json) is not None
    _judge_files(ended, place)


def _no_json(word: str) -> None:
    raise AssertionError(f"{word} is not JSON")


def _judge_files(ended: Ended, place: Path) -> None:
    """Assert that no file is half-written, and none but whole ones of a success are new."""
    for foreign in (place / FOREIGN, place / FOLDER / FOREIGN):
        assert foreign.read_text() == FOREIGN
    known = {FOREIGN, f"{FOLDER}/{FOREIGN}", LOOP}
    found = {
        str((Path(above) / name).relative_to(place))
        for above, _, names in os.walk(place)
        for name in names
    }
    assert not [name for name in found if ".partial" in name]
    assert known <= found
    assert ended.code == 0 or found == known
