"""How the command begins and ends."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import pytest

from jalapeno.errors import DoesNotFit, JalapenoError, LawBroken, OutputError, UsageError
from jalapeno.presentation import cli
from tests.presentation.conftest import Call

PROGRAM = [sys.executable, "-m", "jalapeno.presentation.cli"]
COMMANDS = (
    *("list", "show", "scenario", "simulate", "explain", "sensitivity", "frontier", "compare"),
    *("size", "reproduce", "fit", "system", "model"),
)


def run(
    *arguments: str, environment: Mapping[str, str] | None = None, stdout: int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own."""
    return subprocess.run(
        [*PROGRAM, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, **(environment or {})},
    )


# ---- help


def test_the_version_is_that_of_the_package(call: Call) -> None:
    called = call("--version")
    assert (called.code, called.out) == (0, f"jalapeno {version('jalapeno-twin')}\n")


def test_help_names_every_command(call: Call) -> None:
    called = call("--help")
    assert called.code == 0
    for name in COMMANDS:
        assert f" {name} " in called.out


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_s_help_has_an_example(call: Call, name: str) -> None:
    called = call(name, "--help")
    assert called.code == 0
    assert f"Example: jalapeno {name}" in called.out


def test_without_a_command_there_is_help(call: Call) -> None:
    called = call()
    assert called.code == 2
    assert "Usage: jalapeno" in called.out + called.err


# ---- exit codes


@pytest.mark.parametrize(
    "arguments", [("bogus",), ("list", "--bogus"), ("show",), ("simulate", "a", "b")]
)
def test_a_call_that_typer_refuses_ends_with_2(call: Call, arguments: tuple[str, ...]) -> None:
    called = call(*arguments)
    assert (called.code, called.out) == (2, "")
    assert "Usage: jalapeno" in called.err
    assert "Traceback" not in called.err


def raising(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let ``jalapeno list`` raise *error*."""

    def fail(shelf: str) -> None:
        raise error

    monkeypatch.setattr("jalapeno.presentation.list_command.shelf_entries", fail)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("wrong"), 2),
        (JalapenoError("wrong"), 1),
        (DoesNotFit("wrong"), 1),
        (OutputError("wrong"), 1),
        (LawBroken("wrong"), 1),
    ],
)
def test_an_error_of_ours_ends_with_its_own_code(
    call: Call, monkeypatch: pytest.MonkeyPatch, error: JalapenoError, code: int
) -> None:
    raising(monkeypatch, error)
    called = call("list")
    assert (called.code, called.err) == (code, "jalapeno: wrong\n")


def test_an_interrupt_ends_with_130(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, KeyboardInterrupt())
    called = call("list")
    assert called.code == 130
    assert "Traceback" not in called.err


def test_what_no_one_foresaw_is_one_line_with_its_place(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(monkeypatch, ZeroDivisionError("by zero\nreally"))
    called = call("list")
    assert called.code == 1
    assert called.complaint.startswith(
        "a bug of ours, please report it: ZeroDivisionError: by zero; really ("
    )
    assert "test_cli.py:" in called.complaint


def test_too_little_memory_is_no_bug(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, MemoryError())
    called = call("list")
    assert called.code == 1
    assert called.complaint.startswith("not enough memory: ask for less")


def test_a_full_disk_that_a_library_wraps_is_recognised(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapped = RuntimeError("parquet: underlying IO error: No space left on device (os error 28)")
    raising(monkeypatch, wrapped)
    called = call("list")
    assert called.code == 1
    assert called.complaint.startswith("output: cannot be written: No space left on device; free")


def test_a_file_that_the_system_refuses_is_named(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(monkeypatch, OSError(errno.EIO, "Input/output error", "/some/file"))
    called = call("list")
    assert (called.code, called.complaint) == (1, "/some/file: Input/output error")


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("one", "one"),
        ("no shelf 'a'; did you mean 'b'?\nknown: b", "no shelf 'a'; did you mean 'b'? known: b"),
        ("no shelf 'a'\nknown: b, c", "no shelf 'a'; known: b, c"),
        ("  a \n\n  b  ", "a; b"),
        ("a:\nb", "a: b"),
    ],
)
def test_messages_become_one_line(message: str, line: str) -> None:
    assert cli.one_line(message) == line


# ---- as a process


def test_a_wrong_name_as_a_process() -> None:
    done = run("list", "chip")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("jalapeno: no shelf 'chip'; did you mean 'chips'? known: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("also", [(), ("--json",)])
def test_a_full_disk_behind_stdout_is_one_line(also: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = run("list", "chips", *also, stdout=full.fileno())
    assert done.returncode == 1
    assert done.stderr.startswith("jalapeno: output: cannot be written: No space left on device")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_leaves_early_is_no_error_to_talk_about() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = run("list", stdout=writing)
    os.close(writing)
    assert done.returncode == 1
    assert done.stderr == ""


def test_a_terminal_that_knows_only_ascii_still_gets_its_table() -> None:
    done = run("list", "systems", environment={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "Jalape?o rack" in done.stdout


def test_being_ended_removes_what_is_half_written(tmp_path: Path) -> None:
    code = (
        "import time, sys; sys.argv = ['jalapeno', 'list']\n"
        "from jalapeno.presentation import cli, list_command\n"
        "from jalapeno.presentation.files import atomic_folder\n"
        "from pathlib import Path\n"
        "def slow(shelf):\n"
        f"    with atomic_folder(Path({str(tmp_path / 'out')!r}), ()) as folder:\n"
        "        folder.write('half', 'x'); print('ready', file=sys.stderr, flush=True)\n"
        "        time.sleep(60)\n"
        "list_command.shelf_entries = slow\n"
        "cli.main()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        assert list(tmp_path.iterdir())
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 143
        assert process.stderr.read() == ""
    assert list(tmp_path.iterdir()) == []


def test_listing_does_not_wait_for_the_plots() -> None:
    code = "import sys, jalapeno.presentation.cli; print('altair' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
