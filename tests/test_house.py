"""The house itself: small files, short functions, plain names, every package on its floor."""

from __future__ import annotations

import ast
import re
import statistics
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "jalapeno"

MAX_FILE_LINES = 500
MAX_MEDIAN_FILE_LINES = 150
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 8

VAGUE_CLASS = re.compile(r"(Manager|Helper|Base|Util|Utils)$|^Base[A-Z]")
VAGUE_MODULES = {"base", "common", "helper", "helpers", "misc", "util", "utils"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources(*folders: str) -> list[Path]:
    """Return the Python files under these folders of the project."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def functions(path: Path) -> Iterator[Function]:
    return (node for node in nodes(path) if isinstance(node, Function))


def body_lines(function: Function) -> int:
    """Lines from ``def`` to the end, without the docstring: to explain more must cost nothing."""
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is None or first.end_lineno is None:
        return lines
    return lines - (first.end_lineno - first.lineno + 1)


def parameters(function: Function) -> list[str]:
    """Names of what a caller passes; ``self`` and ``cls`` he does not."""
    given = function.args
    listed = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    listed += [extra for extra in (given.vararg, given.kwarg) if extra is not None]
    return [each.arg for each in listed if each.arg not in {"self", "cls"}]


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


# ---- small


def test_no_file_is_longer_than_one_sitting() -> None:
    long = {
        str(path.relative_to(ROOT)): line_count(path)
        for path in sources("src", "tests", "benchmarks")
        if line_count(path) > MAX_FILE_LINES
    }
    assert not long


def test_half_of_the_files_are_read_in_a_few_minutes() -> None:
    # Files of one docstring would flatter the median.
    lengths = [n for path in sources("src") if (n := line_count(path)) > 3]
    assert statistics.median(lengths) <= MAX_MEDIAN_FILE_LINES


def test_no_function_is_longer_than_a_screen() -> None:
    long = {
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}": body_lines(function)
        for path in sources("src")
        for function in functions(path)
        if body_lines(function) > MAX_FUNCTION_LINES
    }
    assert not long


def test_no_function_asks_for_more_than_eight_things() -> None:
    greedy = {
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}": len(parameters(function))
        for path in sources("src")
        for function in functions(path)
        if len(parameters(function)) > MAX_PARAMETERS
    }
    assert not greedy


def test_there_is_at_least_a_line_of_test_for_each_line_of_source() -> None:
    source = sum(map(line_count, sources("src")))
    tests = sum(map(line_count, sources("tests")))
    assert tests >= source


# ---- plainly named


def test_no_class_is_named_for_nothing() -> None:
    vague = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in sources("src", "tests", "benchmarks")
        for node in nodes(path)
        if isinstance(node, ast.ClassDef) and VAGUE_CLASS.search(node.name)
    ]
    assert not vague


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    vague = [
        str(path.relative_to(ROOT))
        for path in sources("src", "tests", "benchmarks")
        if {path.stem.lstrip("_"), path.parent.name} & VAGUE_MODULES
    ]
    assert not vague


# ---- in its place


def test_every_package_and_module_is_placed_on_a_floor() -> None:
    floors = {
        name.strip()
        for contract in project()["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
        for layer in contract["layers"]
        for name in layer.split("|")
    }
    children = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in sources("src")}
    assert children - {"__init__", "__main__"} == floors


def test_every_folder_of_sources_is_a_package_that_says_what_it_is_for() -> None:
    silent = [
        str(folder.relative_to(ROOT))
        for folder in {path.parent for path in sources("src")}
        if not (folder / "__init__.py").is_file()
        or not ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    ]
    assert not silent


def test_only_presentation_may_end_the_program() -> None:
    exits = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources("src")
        if PACKAGE / "presentation" not in path.parents
        for node in nodes(path)
        if (isinstance(node, ast.Name) and node.id in {"SystemExit", "exit", "quit"})
        or (isinstance(node, ast.Attribute) and ast.unparse(node) in {"sys.exit", "os._exit"})
    ]
    assert not exits


def test_the_version_is_the_newest_of_the_changelog() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$", changelog, re.MULTILINE)
    assert newest is not None
    assert newest[1] == project()["project"]["version"]


def test_dependencies_have_lower_bounds_only() -> None:
    for requirement in project()["project"]["dependencies"]:
        assert re.fullmatch(r"[a-z-]+>=[\d.]+", requirement), requirement


def test_constraints_pin_every_dependency() -> None:
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)$", constraints, re.MULTILINE))
    asked = {text.split(">=")[0] for text in project()["project"]["dependencies"]}
    assert asked <= set(pinned)


# ---- the measuring sticks themselves


def only_function(text: str) -> Function:
    (node,) = ast.parse(text).body
    assert isinstance(node, Function)
    return node


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("def f():\n    return 1", 2),
        ('def f():\n    """One."""\n    return 1', 2),
        ('def f():\n    """One.\n\n    More.\n    """\n    return 1', 2),
        ("@g\ndef f(\n    a,\n):\n    return a", 4),
    ],
)
def test_a_docstring_and_a_decorator_cost_no_lines(text: str, lines: int) -> None:
    assert body_lines(only_function(text)) == lines


def test_every_way_to_pass_a_parameter_counts() -> None:
    assert parameters(only_function("def f(self, a, /, b, *c, d=1, **e): ...")) == [*"abdce"]


@pytest.mark.parametrize("name", ["CacheManager", "PathHelper", "PolicyBase", "BasePolicy"])
def test_vague_names_are_known(name: str) -> None:
    assert VAGUE_CLASS.search(name)


@pytest.mark.parametrize("name", ["Basis", "Baseline", "Database", "Utilisation", "Plan"])
def test_names_that_only_look_vague_are_welcome(name: str) -> None:
    assert not VAGUE_CLASS.search(name)
