"""Command lines that somebody might type, made from what the application says of itself.

A new command or option is covered at once: its name, its type and the words of its help are read
from the application.  Values are mostly of the option's type, and some are not.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from hypothesis import strategies as st

from jalapeno import catalogue
from tests.presentation.fuzz.program import FOLDER, FOREIGN, LOOP, command

Texts = st.SearchStrategy[str]
Path_ = tuple[str, ...]

NUMBERS = (
    *("0", "1", "2", "4", "8", "64", "1024", "-1", "-0.0", "0.5", "0.999", "1.5", "1e3", "+7"),
    *("nan", "inf", "-inf", "1e300", "1e-300", "1e400", "1e9", "1e12", "99999999999", "1_0", "٣"),
    *("2147483648", "9223372036854775807", "9223372036854775808", "18446744073709551616"),
    *("0x10", "1%", "50%", "1,2,4", "1,,2", ",", "95-100", "100-95", "0-0", "9" * 5000),
)
WORDS = (
    *("", " ", "\t", "\n", "a\nb", "a\r\nb", "\x1b[31mred", "\x07", "\x7f", "[/b]", "[red]", "{}"),
    *("%s", "$HOME", "~", "*", "é", "ñandú", "日本語", "🌶", "\u202e", "\u2028", "e\u0301"),
    *("\udcff", "a\udc80b", "x" * 300, "true", "None", "=", "a=b", ":", "a:b", "a/b", "../../x"),
)
INPUTS = (
    *("scenario.json", "split.json", "sites.json", "open.json", "run", "sites", "model.toml"),
    *(
        "system.toml",
        "engine.toml",
        "chip.toml",
        "config.json",
        "trace.csv",
        "trace.jsonl",
        "bad.json",
    ),
)
"""Files that lie in ``../inputs``, seen from where the program runs."""
PATHS = (
    *(f"../inputs/{name}" for name in INPUTS),
    *("nowhere", "no/where.json", "no.toml", f"{FOREIGN}/below", f"{FOLDER}/x", FOREIGN, FOLDER),
    *(LOOP, f"{LOOP}/x", ".", "..", "", "-", "/", "/proc/nowhere", "/dev/null/x", "x" * 300),
    *("\udcff.json", "[/b].svg", "é.PNG", "x.svg.gz", "new/x.json", "new", "x.toml", "x.md"),
)
PLACES = tuple(path for path in PATHS if not path.startswith("../inputs"))
"""Where a program may write: not over the inputs of others."""


@dataclass(frozen=True)
class Parameter:
    """An argument, or an option, which has flags."""

    name: str
    flags: Path_
    sort: type
    required: bool
    words: Path_
    """Of its help: names that it takes are often among them."""


def commands() -> dict[Path_, tuple[Parameter, ...]]:
    """Every command of the application, with what it takes."""
    return {path: tuple(map(_parameter(leaf), leaf.params)) for path, leaf in _leaves(command())}


def _leaves(group: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    for name, below in group.commands.items():
        if hasattr(below, "commands"):
            yield from _leaves(below, (*path, name))
        else:
            yield (*path, name), below


def _parameter(leaf: Any) -> Any:
    signature = inspect.signature(leaf.callback, eval_str=True).parameters

    def read(shown: Any) -> Parameter:
        help_ = f"{getattr(shown, 'help', '')} {shown.metavar}"
        return Parameter(
            name=shown.name,
            flags=(*shown.opts, *shown.secondary_opts) if shown.param_type_name == "option" else (),
            sort=_sort(signature[shown.name].annotation),
            required=shown.required,
            words=tuple(re.findall(r"[a-z0-9_.%-]+", help_)),
        )

    return read


def _sort(hint: Any) -> type:
    """The type of one value: ``int`` of ``Annotated[list[int] | None, ...]``."""
    origin = get_origin(hint)
    if origin is Annotated or origin is list:
        return _sort(get_args(hint)[0])
    if origin in (Union, UnionType):
        return _sort(next(each for each in get_args(hint) if each is not NoneType))
    assert isinstance(hint, type)
    return hint


# ---- values


@cache
def junk() -> Texts:
    """What no option wants, most of the time."""
    letters = st.characters(codec="utf-8", exclude_characters="\0/")
    return st.one_of(
        st.sampled_from(NUMBERS),
        st.sampled_from(WORDS),
        st.sampled_from(PATHS),
        st.text(letters, max_size=12),
        st.integers().map(str),
        st.floats().map(str),
    )


@cache
def near_misses(shelf: str) -> Texts:
    """What is almost a name of a *shelf*, and files instead."""
    names = catalogue.names(shelf)
    broken = [*(name[:-1] for name in names), *(name.upper() for name in names)]
    files = [f"../inputs/{word}.toml" for word in ("model", "system", "engine", "chip", "no")]
    return st.sampled_from((*broken, *files, *(catalogue.names("models"))))


@cache
def settings_() -> Texts:
    """Texts of ``--set``: paths that are there and some that are not, values that fit or not."""
    roots = {
        "system": catalogue.tree("systems", "jalapeno-rack"),
        "model": catalogue.tree("models", "gpt-oss-120b"),
        "engine": catalogue.tree("engines", "jalapeno-engine"),
    }
    paths = [f"{root}.{path}" for root, tree in roots.items() for path in catalogue.paths(tree)]
    paths += ["others.west.chip.hbm.bandwidth", "others.west.engine.host_step", "others.east.chip"]
    paths += [path.removeprefix("system.") for path in paths if path.startswith("system.chip.")]
    units = ("", " GB", " TB/s", " W", " us", " TFLOP/s", " GHz", " USD", "%", " parsec", " B/s")
    number = st.sampled_from(NUMBERS) | st.floats(min_value=0.0, max_value=1e6).map(str)
    value = st.one_of(
        st.builds(lambda one, unit: f"{one}{unit}", number, st.sampled_from(units)),
        st.sampled_from(("20 TB/s", "fp8", "bf16", "true", "false", "b200", "2.0 GHz")),
        junk(),
    )
    good = st.builds(lambda path, text: f"{path}={text}", st.sampled_from(paths), value)
    return st.one_of(
        good, good, good, st.builds(lambda path, text: f"{path}={text}", junk(), value)
    )


def _pools() -> Texts:
    pair = st.builds(
        lambda key, value: f"{key}={value}",
        st.sampled_from(("tp", "ep", "dp", "pp", "cp", "running", "tokens", "site", "tpp", "")),
        st.sampled_from(("1", "2", "4", "8", "16", "0", "-1", "x", "", "1e9", "99999999999")),
    )
    return st.builds(
        lambda role, count, pairs: ":".join((role, count, ",".join(pairs))),
        st.sampled_from(("unified", "prefill", "decode", "decod", "")),
        st.sampled_from(("1", "2", "3", "0", "-1", "x", "", "100000000000")),
        st.lists(pair, max_size=3),
    )


def _lognormal() -> Texts:
    number = st.sampled_from(("1155", "211", "1", "0.8", "0", "-1", "nan", "inf", "1e9", "x", ""))
    return st.builds(
        lambda which, mean, cv, most: f"{which}:mean={mean},cv={cv},max={most}",
        st.sampled_from(("prompt", "output", "outputs", "")),
        *(number, number, st.sampled_from(("14050", "1000", "1", "0", "1e3", "99999999999"))),
    )


@cache
def fitting() -> Mapping[str, Texts]:
    """Good values by the name of what takes them; whatever is not here has values by its type."""
    small = st.sampled_from(("1", "2", "3", "4", "8", "16"))
    shelves = {"model": "models", "system": "systems", "systems": "systems", "engine": "engines"}
    return {
        **{name: st.sampled_from(catalogue.names(shelf)) for name, shelf in shelves.items()},
        "shelf": st.sampled_from(catalogue.SHELVES),
        "name": st.sampled_from([n for s in catalogue.SHELVES for n in catalogue.names(s)]),
        "settings": settings_(),
        "pool": _pools(),
        "lognormal": _lognormal(),
        "site": st.sampled_from(("west=gb300-nvl72", "west=b200/x", "main=gb200-nvl72", "a=", "=")),
        "trace": st.sampled_from(
            ("azure-2023-conv", "../inputs/trace.csv", "../inputs/trace.jsonl")
        ),
        **dict.fromkeys(("tp", "ep", "dp", "pp", "cp", "replicas", "closed", "requests"), small),
        "run": st.sampled_from(("../inputs/run", "../inputs/sites")),
        "file": st.sampled_from([f"../inputs/{name}" for name in INPUTS]),
        "percentile": st.sampled_from(("50", "99", "0", "100", "99.9")),
        "request": st.sampled_from(("0", "3", "4")),
        "band": st.sampled_from(("95-100", "0-100", "50-50", "60-50", "0.5-1")),
    }


def fine(parameter: Parameter) -> Texts:
    """Texts for one *parameter* such as it takes."""
    if parameter.name in fitting():
        return fitting()[parameter.name]
    if parameter.sort is int:
        return st.integers(min_value=0, max_value=64).map(str)
    if parameter.sort is float:
        return st.sampled_from(("0.5", "1", "20", "0.8", "150"))
    if parameter.sort is Path:
        return st.sampled_from(PLACES if parameter.flags else PATHS)
    return st.sampled_from(parameter.words or ("x",))


def odd(parameter: Parameter) -> Texts:
    """Texts for one *parameter* that are hardly what it takes; a place to write is harmless."""
    if parameter.sort is Path and parameter.flags:
        return st.sampled_from(PLACES)
    shelf = f"{parameter.name.removesuffix('s')}s"
    if shelf in catalogue.SHELVES:
        return near_misses(shelf) | junk()
    if parameter.sort in (int, float):
        number = st.sampled_from(NUMBERS)
        return st.one_of(number, number, st.integers().map(str), st.floats().map(str), junk())
    return junk()


# ---- lines


@st.composite
def lines(draw: st.DrawFn, parameters: tuple[Parameter, ...]) -> list[str]:
    """What may follow a command's name: all that must be there or almost, and some of the rest."""
    sober = draw(st.booleans())
    needed = [each for each in parameters if each.required]
    rest = [each for each in parameters if not each.required]
    chosen = [*needed, *(draw(st.lists(st.sampled_from(rest), max_size=5)) if rest else ())]
    if sober:
        chosen += [each for each in rest if each.name == "closed"]
    if not sober and needed and draw(st.sampled_from(range(5))) == 0:
        chosen.remove(draw(st.sampled_from(needed)))
    options: list[str] = []
    arguments: list[str] = []
    for each in chosen:
        if each.sort is bool and each.flags:
            options.append(draw(st.sampled_from(each.flags)))
            continue
        wild = not sober and draw(st.sampled_from(range(3))) == 0
        word = draw(odd(each) if wild else fine(each))
        if each.flags:
            options += [each.flags[0], word]
        else:
            arguments.append(word)
    if not sober:
        arguments += draw(st.sampled_from(((),) * 9 + (("x",), ("",))))
        options[:0] = draw(
            st.sampled_from(((),) * 20 + (("--bogus",), ("-x",), ("--help",), ("--",), ("--set",)))
        )
    line = [*arguments, *options] if draw(st.booleans()) else [*options, *arguments]
    return ["--json", *line] if draw(st.booleans()) else line
