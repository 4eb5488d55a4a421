"""Small frontiers that are made once and looked at by many tests."""

from __future__ import annotations

from functools import cache

from jalapeno.analysis.frontier import Frontier, Prospect, Space, frontier, prospect
from jalapeno.analysis.subject import Subject, subject
from jalapeno.mapping.explore import Grid
from jalapeno.simulation import Lengths

LENGTHS = Lengths(isl=2048, osl=128)
GRID = Grid(points=4, most=24, chunks=(512, 4096))
SPACE = Space(chips=(1, 2), grid=GRID)
MODEL = "gpt-oss-120b"
SYSTEMS = ("jalapeno-rack", "gb200-nvl72")


@cache
def asked(system: str = SYSTEMS[0], model: str = MODEL) -> Subject:
    """A short workload on *system*."""
    return subject(model, system, lengths=LENGTHS)


def looked(system: str = SYSTEMS[0]) -> Prospect:
    """A prospect with a bench of its own."""
    return prospect(asked(system), SPACE)


@cache
def made(system: str = SYSTEMS[0]) -> Frontier:
    """The frontier of the small space."""
    return frontier(looked(system))


@cache
def whole(system: str = SYSTEMS[0]) -> Frontier:
    """The same with every option of the space played out: brute force."""
    found = looked(system)
    points = found.bench.play(found.options)
    return Frontier(prospect=found, limits=(), points=points)
