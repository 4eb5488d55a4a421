"""Compiled functions: one decorator, and a cache on disk that an edit cannot make stale.

numba keeps machine code per file and looks only at that file's time stamp, so a function that calls
into another file would go on running that file's old code after an edit.  The cache therefore lies
in a folder named by a hash of the sources of every floor that may hold compiled code: any edit
there starts a new one.

The folder is ``jalapeno/<hash>-<numba>-<python>`` in ``NUMBA_CACHE_DIR`` if that is set, else in
``XDG_CACHE_HOME``, else in ``~/.cache``.  Where none can be written, compiled code is kept for
the one process only; results are the same, each start is some seconds slower, and the log says so.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba

__all__ = ["compiled", "inlined"]

P = ParamSpec("P")
R = TypeVar("R")

KEPT_FOLDERS = 4
"""Caches kept on disk: enough to go to and fro between a few branches."""

_LEAN: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}

_NEVER_COMPILED = ("analysis", "presentation", "silicon")

_OURS = re.compile(r"[0-9a-f]{16}-[^-]+-[^-]+")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` to machine code at its first call, and keep the code on disk.

    Division by zero gives inf or nan as in numpy.  Sums keep the order in which they are written
    (``fastmath`` is off): equal scenarios must give equal journals, byte for byte.

    Numba's runtime is left out (``_nrt=False``), so compiled code cannot allocate arrays, and a
    function that tries does not compile.  That keeps the simulator's loop free of allocation, and
    without the reference counts of two dozen arrays at every call it runs five times as fast.
    """
    dispatcher: Callable[P, R] = numba.njit(**_LEAN)(function)
    return dispatcher


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """As :func:`compiled`, but written into every compiled caller.

    For what a simulated step calls many times with whole tables in hand: passing those costs more
    than the work.  Pricing is a third faster so; everything inlined would be slower again.
    """
    dispatcher: Callable[P, R] = numba.njit(inline="always", **_LEAN)(function)
    return dispatcher


def source_hash(package: Path) -> str:
    """Sixteen hex digits that change when any ``*.py`` under ``package`` changes, moves or goes.

    The top floors hold no compiled code, and nothing compiled can import them: they are left out.
    """
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] in _NEVER_COMPILED:
            continue
        digest.update(f"{path.relative_to(package).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def cache_root(environment: Mapping[str, str]) -> Path:
    """Return the folder in which this user's caches lie; RuntimeError if there is no home."""
    asked = environment.get("NUMBA_CACHE_DIR")
    if asked:
        return Path(asked).absolute() / "jalapeno"
    xdg = Path(environment.get("XDG_CACHE_HOME", ""))
    # The XDG specification: a relative path is invalid and is to be ignored.
    return (xdg if xdg.is_absolute() else Path.home() / ".cache") / "jalapeno"


def prune(root: Path, keep: int) -> None:
    """Remove all but the ``keep`` newest cache folders in ``root``; touch nothing else there.

    Another process may remove, or still use, the same folders: what has gone is gone, and numba
    makes its folder again when it next writes to it.
    """
    aged: list[tuple[float, Path]] = []
    for path in root.iterdir():
        try:
            if _OURS.fullmatch(path.name):
                aged.append((path.stat().st_mtime, path))
        except FileNotFoundError:
            continue
    for _, path in sorted(aged, reverse=True)[keep:]:
        shutil.rmtree(path, ignore_errors=True)


def _kept_folder() -> Path:
    """Make this version's cache folder the newest and drop the old; OSError if it cannot."""
    root = cache_root(os.environ)
    key = f"{source_hash(Path(__file__).parent)}-{numba.__version__}-{platform.python_version()}"
    folder = root / key
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()  # a read-only folder may well exist
    os.utime(folder)
    prune(root, KEPT_FOLDERS)
    return folder


def _cache_folder() -> Path:
    try:
        return _kept_folder()
    except (OSError, RuntimeError) as reason:
        logging.getLogger(__name__).warning(
            "compiled code is not kept between runs (%s); NUMBA_CACHE_DIR may name a better folder",
            reason,
        )
        folder = Path(tempfile.mkdtemp(prefix="jalapeno-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return folder


numba.config.CACHE_DIR = str(_cache_folder())
