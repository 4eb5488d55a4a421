"""Files: whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from jalapeno.errors import OutputError
from jalapeno.presentation.files import (
    MENDS,
    atomic_folder,
    check_file,
    unwritable,
    write_file,
    writing,
)

OURS = ("report.md", "runs")


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def fill(target: Path, content: str, ours: Iterable[str] = OURS) -> None:
    with atomic_folder(target, tuple(ours)) as folder:
        folder.write("report.md", content)
        folder.write("runs/a/b/log.bin", content.encode())


# ---- whole


def test_a_folder_holds_what_was_written(tmp_path: Path) -> None:
    fill(tmp_path / "deep" / "out", "first")
    assert files(tmp_path / "deep" / "out") == {
        "report.md": b"first",
        "runs/a/b/log.bin": b"first",
    }


def test_nothing_is_seen_before_all_is_written(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with atomic_folder(target, OURS) as folder:
        folder.write("report.md", "x")
        assert not target.exists()
    assert target.exists()


def test_a_folder_of_ours_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "out"
    fill(target, "first")
    with atomic_folder(target, OURS) as folder:
        folder.write("report.md", "second")
    assert files(target) == {"report.md": b"second"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_an_empty_folder_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    fill(tmp_path / "out", "x")
    assert (tmp_path / "out" / "report.md").read_text() == "x"


def test_a_folder_behind_a_link_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    fill(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "report.md").read_text() == "x"


def test_others_may_read_the_folder_as_they_may_any_new_one(tmp_path: Path) -> None:
    (tmp_path / "usual").mkdir()
    fill(tmp_path / "out", "x")
    usual, made = (stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "out"))
    assert made == usual


# ---- or not at all


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_nothing(tmp_path: Path, failure: type[BaseException]) -> None:
    def fail() -> None:
        with atomic_folder(tmp_path / "out", OURS) as folder:
            folder.write("report.md", "half")
            raise failure

    with pytest.raises(failure):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "out"
    fill(target, "first")
    before = files(target)

    def fail() -> None:
        with atomic_folder(target, OURS) as folder:
            folder.write("report.md", "half")
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        fail()
    assert files(target) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_failed_renaming_puts_the_old_folder_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    fill(target, "first")
    rename = Path.rename

    def fails_for_the_new(self: Path, to: Path) -> Path:
        if self.name == "new":
            raise OSError(errno.EIO, "Input/output error")
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", fails_for_the_new)
    with pytest.raises(OutputError, match=r"out: cannot be written: Input/output error$"):
        fill(target, "second")
    assert files(target)["report.md"] == b"first"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(
        OutputError,
        match=r"out/report\.md: cannot be written: No space left on device; free some space",
    ):
        fill(tmp_path / "out", "x")
    assert list(tmp_path.iterdir()) == []


# ---- someone else's work


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    (tmp_path / "report.md").write_text("perhaps mine")
    with pytest.raises(
        OutputError, match=r"holds 'thesis.tex', which this command does not write: choose another"
    ):
        fill(tmp_path, "x")
    assert (tmp_path / "thesis.tex").read_text() == "mine"
    assert (tmp_path / "report.md").read_text() == "perhaps mine"


def test_that_is_said_before_the_work_begins(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")

    def begin() -> None:
        with atomic_folder(tmp_path, OURS):
            pytest.fail("began")

    with pytest.raises(OutputError):
        begin()


def test_what_appears_in_the_meantime_is_not_lost(tmp_path: Path) -> None:
    target = tmp_path / "out"

    def write() -> None:
        with atomic_folder(target, OURS) as folder:
            folder.write("report.md", "x")
            target.mkdir()
            (target / "notes.txt").write_text("mine")

    with pytest.raises(OutputError, match=r"holds 'notes.txt'"):
        write()
    assert files(target) == {"notes.txt": b"mine"}


@pytest.mark.parametrize("below", ["", "out", "out/deeper"])
def test_a_file_in_the_way_is_named(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match=r"a file is where a folder should be"):
        fill(tmp_path / "file" / below, "x")
    assert files(tmp_path) == {"file": b"mine"}


# ---- one file


def test_one_file_is_written_with_its_folder(tmp_path: Path) -> None:
    write_file(tmp_path / "docs" / "page.md", "ñ")
    assert (tmp_path / "docs" / "page.md").read_text("utf-8") == "ñ"
    assert [entry.name for entry in (tmp_path / "docs").iterdir()] == ["page.md"]


def test_one_file_is_replaced_or_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    write_file(page, "first")
    write_file(page, "second")
    assert page.read_text() == "second"

    def full(self: Path, *_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OutputError, match=r"page\.md: cannot be written: No space left"):
        write_file(page, "third")
    assert page.read_text() == "second"
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.md"]


def test_a_folder_in_the_way_of_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"a folder is where a file should be"):
        write_file(tmp_path, "x")


def test_a_file_can_be_checked_before_it_is_written(tmp_path: Path) -> None:
    check_file(tmp_path / "docs" / "page.md")
    assert list((tmp_path / "docs").iterdir()) == []
    with pytest.raises(OutputError, match=r"a folder is where a file should be"):
        check_file(tmp_path)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match=r"a file is where a folder should be"):
        check_file(tmp_path / "file" / "page.md")


@pytest.mark.parametrize("write", [check_file, lambda path: write_file(path, "x")])
def test_what_is_no_file_is_not_replaced_by_one(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OutputError, match=r"pipe: is a device or a pipe, no file: choose another"):
        write(pipe)
    assert pipe.is_fifo()


@pytest.mark.parametrize("below", ["", "out"])
def test_a_link_in_a_circle_is_named(tmp_path: Path, below: str) -> None:
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    with pytest.raises(OutputError, match=r"circle.*: cannot be written"):
        fill(circle / below, "x")
    assert circle.is_symlink()


# ---- what the system says


@pytest.mark.parametrize("number", sorted(MENDS))
def test_each_known_complaint_comes_with_a_mend(number: int) -> None:
    error = unwritable(OSError(number, os.strerror(number)), "out")
    assert str(error) == f"out: cannot be written: {os.strerror(number)}; {MENDS[number]}"


def test_an_unknown_complaint_is_passed_on() -> None:
    assert str(unwritable(OSError(errno.EIO, "broken"), "o")) == "o: cannot be written: broken"
    assert str(unwritable(OSError(), "o")) == "o: cannot be written: OSError"


def test_only_the_system_s_complaints_are_translated() -> None:
    def fail(error: Exception) -> None:
        with writing("out"):
            raise error

    with pytest.raises(KeyError):
        fail(KeyError("a bug"))
    with pytest.raises(OutputError, match=r"^out: cannot be written: no$") as caught:
        fail(PermissionError("no"))
    assert isinstance(caught.value.__cause__, PermissionError)
