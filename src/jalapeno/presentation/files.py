"""Files: whole or not at all, and one clear line where the disk says no."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jalapeno.errors import OutputError

MENDS = {
    errno.ENOSPC: "free some space, or choose a place on another disk",
    errno.EDQUOT: "free some space, or choose a place on another disk",
    errno.EACCES: "choose a place that you may write to",
    errno.EPERM: "choose a place that you may write to",
    errno.EROFS: "choose a place that you may write to",
    errno.ENOTDIR: "a file is where a folder should be: choose another place",
    errno.EEXIST: "a file is where a folder should be: choose another place",
    errno.EISDIR: "a folder is where a file should be: choose another place",
    errno.ENAMETOOLONG: "choose a shorter name",
}
"""What to do about what the system says."""


def unwritable(error: OSError, path: Path | str) -> OutputError:
    """Return the error for *path*, with what the system says and how to mend it."""
    said = error.strerror or str(error) or type(error).__name__
    mend = MENDS.get(error.errno or 0)
    return OutputError(f"{path}: cannot be written: {said}" + (f"; {mend}" if mend else ""))


@contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Turn what the system says of *path* into an :class:`OutputError`."""
    try:
        yield
    except OSError as error:
        raise unwritable(error, path) from error


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder in the making."""

    place: Path
    """Where it is made."""
    target: Path
    """Where it will be."""

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file of the folder; *name* may have folders of its own."""
        data = content.encode() if isinstance(content, str) else content
        with writing(self.target / name):
            path = self.place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


@contextmanager
def atomic_folder(target: Path, ours: Collection[str]) -> Iterator[Folder]:
    """Make the folder *target*: all of it once the block ends, none of it where it fails.

    It is made in a hidden sibling and renamed.  A folder that is there already is replaced if it
    holds only *ours* (names that this command writes); anything else may be someone's work and
    raises :class:`OutputError`, before the block begins.  On any failure, an interrupt included,
    what was there before is there still.
    """
    target = Path(os.path.realpath(target))  # resolve() of a link in a circle is no OSError
    with writing(target):
        _check_replaceable(target, ours)
        target.parent.mkdir(parents=True, exist_ok=True)
        sibling = tempfile.mkdtemp(prefix=f".{target.name}-", suffix=".partial", dir=target.parent)
        hidden = Path(sibling)
    try:
        with writing(target):
            (hidden / "new").mkdir()  # inside, for mkdtemp's own folder is nobody else's to read
        yield Folder(hidden / "new", target)
        with writing(target):
            _check_replaceable(target, ours)
            _swap(hidden, target)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _check_replaceable(target: Path, ours: Collection[str]) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "it is a file")
    foreign = sorted({entry.name for entry in target.iterdir()} - set(ours))
    if foreign:
        raise OutputError(
            f"{target}: holds {foreign[0]!r}, which this command does not write: "
            "choose another folder, for it would be replaced as a whole"
        )


def _swap(hidden: Path, target: Path) -> None:
    if not target.exists():
        (hidden / "new").rename(target)
        return
    target.rename(hidden / "old")
    try:
        (hidden / "new").rename(target)
    except BaseException:
        (hidden / "old").rename(target)
        raise


def check_file(path: Path) -> None:
    """Raise :class:`OutputError` where *path* could not be written: before long work, not after."""
    with writing(path):
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        _check_regular(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent).close()


def check_own(path: Path, ours: Callable[[str], bool]) -> None:
    """:func:`check_file`, and raise where a file lies there whose text is not *ours* to replace."""
    check_file(path)
    try:
        replaceable = not path.exists() or ours(path.read_text("utf-8", "replace"))
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error.strerror}") from error
    if not replaceable:
        raise OutputError(
            f"{path}: there is a file that this command did not write: choose another name"
        )


def _check_regular(path: Path) -> None:
    """Raise where *path* is a device or a pipe: a file that comes whole would take its place."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OutputError(f"{path}: is a device or a pipe, no file: choose another name")


def write_file(path: Path, content: str | bytes) -> None:
    """Write one file, whole or not at all; its folder is made if need be."""
    with writing(path):
        _check_regular(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=f".{path.name}-", suffix=".partial", dir=path.parent
        ) as hidden:
            new = Path(hidden) / path.name
            new.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
            new.replace(path)
