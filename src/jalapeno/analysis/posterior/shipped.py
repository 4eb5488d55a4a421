"""The draws that ship with the twin, so that bands need no sampler.

They hold only for the physics they were made with.  The file therefore says what the closed form
gave for a few of its own draws, as a digest: other formulas or facts give another one, and whoever
reads the draws is told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from jalapeno import catalogue
from jalapeno.analysis.posterior.infer import Posterior, Predicted
from jalapeno.analysis.posterior.options import Served, served
from jalapeno.analysis.posterior.sampler import WALKERS
from jalapeno.analysis.posterior.scores import Interval
from jalapeno.analysis.posterior.situations import situations, steady_answers
from jalapeno.analysis.posterior.unknowns import PATHS, Floats, named
from jalapeno.analysis.posterior.worlds import measured_system, world_of
from jalapeno.analysis.published import ENGINE
from jalapeno.catalogue import parse_toml
from jalapeno.errors import BadFact

NAME = "jalapeno.toml"
DIGITS = 6
"""Significant digits of a draw as written."""
SHIPPED = 200
"""Draws that are written."""
PROBED = 3
"""Draws that the digest is made of."""
SAME = 4
"""Digits, after the first, to which answers must agree: rounding of another machine is none."""

HEAD = """\
# Draws from the posterior of Jalapeño's constants, given its published numbers; a row a draw.
# Written by `jalapeno posterior --ship`; do not edit.  Choices stand as their place among those of
# priors.toml.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A published number and its intervals as they were when the draws were made."""

    name: str
    published: float
    all_in: Interval
    left_out: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """Draws of the posterior, all alike, and where they come from."""

    values: Floats
    """(draws, unknowns)"""
    kind: str
    source: str
    as_of: str
    version: str
    digest: str
    numbers: tuple[Left, ...]

    @property
    def stale(self) -> bool:
        """Whether physics or facts have changed since the draws were made."""
        return physics_digest(self.values) != self.digest


def physics_digest(values: Floats) -> str:
    """What the closed form makes of the first of these draws, in 16 hex digits."""
    system, engine = measured_system(), catalogue.engine(ENGINE)
    lines = []
    for row in values[:PROBED]:
        world = world_of(named(row), system, engine)
        for situation in situations(MODELS):
            of: Served = served(situation.model, world)
            answers = steady_answers(of, situation, world)
            lines += [f"{situation.name} {name} {x:.{SAME}e}" for name, x in answers.items()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


MODELS = ("deepseek-r1", "gpt-oss-120b", "kimi-k2.5")


def as_written(values: Floats) -> Floats:
    """*values* as they are read back from a file."""
    return np.array([[float(_text(x)) for x in row] for row in values])


def _text(value: float) -> str:
    return f"{value:.{DIGITS}g}"


def to_toml(found: Posterior, as_of: str, version: str) -> str:
    """The file of shipped draws."""
    values = as_written(found.kept.values[:SHIPPED])
    score = found.left_out_score
    lines = [
        HEAD,
        'kind = "fitted"',
        f'source = "{len(found.predicted)} published numbers and the bound on power (OpenAI, 25 '
        f"August 2026); emcee, {len(found.chain.scores):,} states of {WALKERS} walkers, "
        f"{found.effective:,.0f} effective after weighting; left out, {score.covered} of "
        f'{score.count} numbers lie in their 90 % interval"',
        f'as_of = "{as_of}"',
        f'version = "{version}"',
        f"seed = {found.seed}",
        f'digest = "{physics_digest(values)}"',
        "paths = [",
        *(f'  "{path}",' for path in PATHS),
        "]",
        "draws = [",
        *(f"  [{', '.join(map(_text, row))}]," for row in values),
        "]",
        *(_number(one) for one in found.predicted),
    ]
    return "\n".join(lines) + "\n"


def _number(one: Predicted) -> str:
    return (
        f'\n[numbers."{one.number.name}"]\n'
        f"published = {one.number.value!r}\n"
        f"all_in = [{_ends(one.all_in)}]\n"
        f"left_out = [{_ends(one.left_out)}]"
    )


def _ends(found: Interval) -> str:
    ends = (found.low, found.lower, found.median, found.upper, found.high)
    return ", ".join(map(_text, ends))


def read_draws(text: str, where: str) -> Draws:
    """The draws written in *text*; :class:`BadFact` where they are of other unknowns or none."""
    tree = parse_toml(text, where)
    paths = tuple(tree.get("paths", ()))
    if paths != PATHS:
        odd = sorted(set(paths) ^ set(PATHS)) or ["their order"]
        raise BadFact(
            f"{where}: draws of other unknowns ({', '.join(odd)}): make them anew with "
            "jalapeno posterior --ship"
        )
    values = np.array(tree.get("draws", []), dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(PATHS) or not np.isfinite(values).all():
        raise BadFact(f"{where}: draws: expected rows of {len(PATHS)} numbers")
    return Draws(
        values=values,
        kind=tree["kind"],
        source=tree["source"],
        as_of=tree["as_of"],
        version=tree["version"],
        digest=tree["digest"],
        numbers=tuple(_left(name, one) for name, one in tree.get("numbers", {}).items()),
    )


def _left(name: str, one: Mapping[str, Any]) -> Left:
    return Left(
        name=name,
        published=float(one["published"]),
        all_in=_interval(one["all_in"]),
        left_out=_interval(one["left_out"]),
    )


def _interval(ends: Sequence[float]) -> Interval:
    low, lower, median, upper, high = map(float, ends)
    return Interval(low=low, lower=lower, median=median, upper=upper, high=high)


@cache
def shipped() -> Draws:
    """The draws in the catalogue."""
    path = files("jalapeno.catalogue") / "data" / "posterior" / NAME
    return read_draws(path.read_text("utf-8"), f"posterior/{NAME}")
