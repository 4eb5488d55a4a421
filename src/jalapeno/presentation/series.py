"""How each series of the frontier is drawn: in shape and dash, not in colour alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin

from jalapeno.analysis.reproduction import Curve, CurvePoint
from jalapeno.presentation.names import system_title

WORDS = {
    "simulated": "simulated (filled, solid line)",
    "measured": "measured (hollow, dashed)",
    "measured, MTP": "measured, MTP (dotted)",
    "published": "published",
}
"""What a source is called, and how to tell it without colour; in the order of the legend."""

COLOURS = ("#0b5fa5", "#c8501e", "#1b7f4d", "#7b4fa3")
"""Of systems, in the order in which they come; no two are of the same lightness."""

SHAPES = ("circle", "square", "triangle-up", "diamond")
"""Of systems, likewise."""

DASHES: dict[str, list[float]] = {
    "simulated": [1, 0],
    "measured": [6, 3],
    "measured, MTP": [1.5, 3],
    "published": [1, 0],
}
"""Of the lines of sources."""

HOLLOW = "#ffffff"
MTP_SHAPE = "cross"
INNER = 0.42
"""Inner radius of a star over its outer one."""


@dataclass(frozen=True, slots=True)
class Series:
    """How the points of one system from one source are drawn in all panels."""

    label: str
    colour: str
    fill: str
    shape: str
    dash: Sequence[float]


def star(corners: int) -> str:
    """Return a star as a path, in the square from -1 to 1 in which Vega draws shapes."""
    places = []
    for number in range(2 * corners):
        radius = INNER if number % 2 else 1.0
        angle = pi * number / corners - pi / 2.0
        places.append(f"{radius * cos(angle):.3f},{radius * sin(angle):.3f}")
    return "M" + "L".join(places) + "Z"


STARS = (star(5), star(4), star(6), star(3))
"""Of what was published of a system."""


def series_of(curves: Iterable[Curve]) -> dict[tuple[str, str], Series]:
    """How to draw each (system, source), in the order of the legend."""
    listed = list(curves)
    systems = list(dict.fromkeys(curve.system for curve in listed))
    pairs = dict.fromkeys((curve.system, curve.source) for curve in listed)
    found = {}
    for system, source in sorted(pairs, key=lambda pair: list(WORDS).index(pair[1])):
        place = systems.index(system) % len(COLOURS)
        shapes = {"published": STARS[place], "measured, MTP": MTP_SHAPE}
        found[system, source] = Series(
            label=f"{system_title(system)}, {WORDS[source]}",
            colour=COLOURS[place],
            fill=HOLLOW if source.startswith("measured") else COLOURS[place],
            shape=shapes.get(source, SHAPES[place]),
            dash=DASHES[source],
        )
    return found


def colour_of(looks: Mapping[tuple[str, str], Series], system: str) -> str:
    """The colour of all that is drawn of *system*."""
    return next(look.colour for (name, _), look in looks.items() if name == system)


def on_front(points: Sequence[CurvePoint]) -> list[bool]:
    """For each point, whether no other is at least as fast for a user and has more throughput."""
    return [
        not any(
            other.tokens_per_s_per_user >= point.tokens_per_s_per_user
            and other.tps_per_kw > point.tps_per_kw
            for other in points
        )
        for point in points
    ]
