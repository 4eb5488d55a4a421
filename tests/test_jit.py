"""The compiled functions and where their machine code is kept."""

from __future__ import annotations

import math
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import jit
from jalapeno.jit import KEPT_FOLDERS, cache_root, compiled, inlined, prune, source_hash

PRINT_FOLDER = "import numba, jalapeno.jit; print(numba.config.CACHE_DIR)"


@compiled
def total(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    result = 0.0
    for i in range(values.size):
        result += values[i]
    return result


@compiled
def quotient(a: float, b: float) -> float:
    return a / b


@given(st.lists(st.floats(-1e300, 1e300), max_size=50))
def test_a_compiled_sum_is_the_interpreted_sum_to_the_last_bit(values: list[float]) -> None:
    expected = 0.0
    for value in values:
        expected += value
    assert total(np.array(values, dtype=np.float64)) == expected


def test_sums_are_not_reordered() -> None:
    # In order, each one is lost against 1e16; vectorised, as fastmath allows, many survive.
    values = np.array([1e16, *[1.0] * 254, -1e16])
    assert total(values) == 0.0


def test_division_by_zero_is_infinite_as_in_numpy() -> None:
    assert quotient(1.0, 0.0) == math.inf
    assert math.isnan(quotient(0.0, 0.0))


@inlined
def share(part: float, whole: float) -> float:
    """A part of a whole."""
    return part / whole


@compiled
def twice_the_share(part: float, whole: float) -> float:
    return 2.0 * share(part, whole)


@given(st.floats(-1e9, 1e9), st.floats(0.5, 1e9))
def test_an_inlined_function_gives_its_caller_what_python_gives(part: float, whole: float) -> None:
    assert share(part, whole) == part / whole
    assert twice_the_share(part, whole) == 2.0 * (part / whole)


def test_a_compiled_function_keeps_its_name_and_text() -> None:
    assert quotient.__name__ == "quotient"


def test_the_python_text_of_a_compiled_function_remains_for_comparison() -> None:
    dispatcher: object = quotient
    assert isinstance(dispatcher, numba.core.registry.CPUDispatcher)
    assert dispatcher.py_func(6.0, 3.0) == quotient(6.0, 3.0) == 2.0


# ---- which folder


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    (folder / "floor").mkdir(parents=True)
    (folder / "a.py").write_text("A = 1\n")
    (folder / "floor" / "b.py").write_text("B = 2\n")
    return folder


def test_the_hash_is_the_same_wherever_the_package_lies(package: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(package, tmp_path / "elsewhere")
    assert source_hash(copy) == source_hash(package)


def test_the_hash_changes_with_an_edit_in_any_file(package: Path) -> None:
    before = source_hash(package)
    (package / "floor" / "b.py").write_text("B = 3\n")
    assert source_hash(package) != before


def test_the_hash_changes_when_a_file_moves(package: Path) -> None:
    before = source_hash(package)
    (package / "floor" / "b.py").rename(package / "floor" / "c.py")
    assert source_hash(package) != before


def test_the_hash_changes_when_a_file_goes(package: Path) -> None:
    before = source_hash(package)
    (package / "a.py").unlink()
    assert source_hash(package) != before


def test_the_hash_sees_sources_only(package: Path) -> None:
    before = source_hash(package)
    (package / "notes.txt").write_text("not compiled")
    assert source_hash(package) == before


def test_caches_lie_in_the_users_cache_folder() -> None:
    assert cache_root({}) == Path.home() / ".cache" / "jalapeno"
    assert cache_root({"XDG_CACHE_HOME": "/caches"}) == Path("/caches/jalapeno")


def test_a_relative_xdg_folder_is_ignored_as_the_specification_asks() -> None:
    assert cache_root({"XDG_CACHE_HOME": "caches"}) == Path.home() / ".cache" / "jalapeno"


def test_numbas_own_setting_comes_first() -> None:
    environment = {"NUMBA_CACHE_DIR": "/numba", "XDG_CACHE_HOME": "/caches"}
    assert cache_root(environment) == Path("/numba/jalapeno")


# ---- old folders


def make_folders(root: Path, count: int) -> list[Path]:
    """Return cache folders, oldest first, each a second older than the next."""
    folders = [root / f"{i:016x}-0.68.1-3.11.7" for i in range(count)]
    for age, folder in enumerate(reversed(folders)):
        folder.mkdir(parents=True)
        (folder / "code.nbc").write_bytes(b"code")
        os.utime(folder, (1e9 - age, 1e9 - age))
    return folders


@pytest.mark.parametrize("count", [0, 1, 4, 7])
def test_only_the_newest_folders_are_kept(tmp_path: Path, count: int) -> None:
    folders = make_folders(tmp_path, count)
    prune(tmp_path, 4)
    assert sorted(tmp_path.iterdir()) == sorted(folders[-4:])


def test_what_is_not_a_cache_is_never_removed(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "notes-of-2026.txt").write_text("precious")
    make_folders(tmp_path, 3)
    prune(tmp_path, 0)
    assert {path.name for path in tmp_path.iterdir()} == {"thesis", "notes-of-2026.txt"}


def test_a_folder_that_another_process_removed_meanwhile_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = make_folders(tmp_path, 6)
    listed = list(tmp_path.iterdir())
    shutil.rmtree(folders[0])
    monkeypatch.setattr(Path, "iterdir", lambda _: iter(listed))
    prune(tmp_path, 4)
    monkeypatch.undo()
    assert sorted(tmp_path.iterdir()) == sorted(folders[-4:])


# ---- a fresh process


def fresh(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``code`` in a new Python with only these variables about caches set."""
    kept = {k: v for k, v in os.environ.items() if k not in {"NUMBA_CACHE_DIR", "XDG_CACHE_HOME"}}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=kept | environment,
        capture_output=True,
        text=True,
        check=True,
    )


def test_the_folder_names_the_sources_numba_and_python(tmp_path: Path) -> None:
    folder = Path(fresh(PRINT_FOLDER, XDG_CACHE_HOME=str(tmp_path)).stdout.strip())
    sources = source_hash(Path(jit.__file__).parent)
    assert folder.parent == tmp_path / "jalapeno"
    assert folder.name == f"{sources}-{numba.__version__}-{platform.python_version()}"
    assert folder.is_dir()


def test_importing_prunes_but_never_the_folder_in_use(tmp_path: Path) -> None:
    folder = Path(fresh(PRINT_FOLDER, XDG_CACHE_HOME=str(tmp_path)).stdout.strip())
    os.utime(folder, (0, 0))  # made long ago; being used makes it the newest again
    make_folders(tmp_path / "jalapeno", KEPT_FOLDERS + 2)
    fresh(PRINT_FOLDER, XDG_CACHE_HOME=str(tmp_path))
    left = list((tmp_path / "jalapeno").iterdir())
    assert len(left) == KEPT_FOLDERS
    assert folder in left


def test_compiled_code_is_found_again_by_the_next_process(tmp_path: Path) -> None:
    module = tmp_path / "square.py"
    module.write_text(
        "from jalapeno.jit import compiled\n"
        "@compiled\n"
        "def square(x: float) -> float:\n"
        "    return x * x\n"
        "square(2.0)\n"
        "print(sum(square.stats.cache_hits.values()), sum(square.stats.cache_misses.values()))\n"
    )
    code = f"import runpy; runpy.run_path({str(module)!r})"
    cache = str(tmp_path / "cache")
    assert fresh(code, NUMBA_CACHE_DIR=cache).stdout.split() == ["0", "1"]
    assert fresh(code, NUMBA_CACHE_DIR=cache).stdout.split() == ["1", "0"]


def test_an_edited_callee_in_another_file_is_compiled_again(tmp_path: Path) -> None:
    package = tmp_path / "jalapeno"
    package.mkdir()
    (package / "__init__.py").write_text("")
    shutil.copy(jit.__file__, package / "jit.py")
    compiled_file = "from jalapeno.jit import compiled\n{imports}\n@compiled\ndef {function}\n"
    caller = compiled_file.format(
        imports="from jalapeno.callee import rate", function="twice(x): return 2 * rate(x)"
    )
    callee = compiled_file.format(imports="", function="rate(x): return {factor} * x")
    (package / "caller.py").write_text(caller)
    answers = []
    for factor in (3, 5):
        (package / "callee.py").write_text(callee.format(factor=factor))
        code = "from jalapeno.caller import twice; print(twice(7))"
        run = fresh(code, NUMBA_CACHE_DIR=str(tmp_path / "cache"), PYTHONPATH=str(tmp_path))
        answers.append(int(run.stdout))
    assert answers == [42, 70]


def test_an_unwritable_cache_is_said_and_does_not_stop_the_twin(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    result = fresh(PRINT_FOLDER, XDG_CACHE_HOME=str(blocked), TMPDIR=str(tmp_path))
    folder = Path(result.stdout.strip())
    assert folder.parent == tmp_path
    assert not folder.exists(), "the folder of one process goes with it"
    assert "compiled code is not kept between runs" in result.stderr
    assert "NUMBA_CACHE_DIR" in result.stderr
