"""Pictures of fronts: titles, units, sources, and marks that need no colour."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from jalapeno.analysis.compare import Comparison, compare
from jalapeno.analysis.objectives import UNITS, Per
from jalapeno.presentation.compare_chart import TITLE, compare_chart
from jalapeno.presentation.frontier import X_TITLE
from jalapeno.presentation.pareto_chart import (
    LINES,
    SOURCES,
    Drawn,
    apart,
    curve_rows,
    pareto_chart,
    point_rows,
)
from jalapeno.presentation.pictures import png, svg
from tests.analysis.fronts import SPACE, SYSTEMS, asked, made
from tests.presentation.charts import mark_type, marks, rows, titles

SPEEDS = (200.0, 1e6)


@cache
def spec(per: Per = Per.TDP) -> dict[str, Any]:
    found: dict[str, Any] = pareto_chart(made(), per, SPEEDS).to_dict()
    return found


@cache
def compared() -> Comparison:
    return compare({name: (asked(name), SPACE, ()) for name in SYSTEMS})


@cache
def multiples() -> dict[str, Any]:
    found: dict[str, Any] = compare_chart(compared(), SPEEDS[:1]).to_dict()
    return found


def of_type(chart: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [layer for layer in marks(chart) if mark_type(layer) == kind]


# ---- one front


@pytest.mark.parametrize("per", Per)
def test_title_axes_and_sources_are_said_with_units(per: Per) -> None:
    title = spec(per)["title"]
    assert title["text"] == (
        f"OpenAI gpt-oss-120b on Jalapeño rack: {UNITS[per]} against speed a user"
    )
    assert SOURCES in title["subtitle"]
    assert any("lengths up to 2,048 in and 128 out" in line for line in title["subtitle"])
    assert titles(spec(per), "x") == {X_TITLE}
    assert titles(spec(per), "y") == {f"mixed throughput, {UNITS[per]}"}


def test_every_simulated_point_is_drawn_once_and_the_front_is_filled() -> None:
    (layer,) = of_type(spec(), "point")
    found = rows(spec(), layer)
    assert len(found) == len(made().points)
    front = {(point.speed, made().bench.rate(Per.TDP, point).value)
             for point in made().front(Per.TDP)}  # fmt: skip
    assert {(row["speed"], row["rate"]) for row in found if row["front"]} == front
    assert layer["encoding"]["fill"]["value"] == "#ffffff"
    assert layer["encoding"]["shape"]["field"] == "series"


def test_the_curve_is_what_is_read_at_a_speed() -> None:
    (layer,) = of_type(spec(), "line")
    line = made().curve(Per.TDP)
    for row in rows(spec(), layer):
        assert row["rate"] == pytest.approx(line(row["speed"]))
    speeds = {row["speed"] for row in rows(spec(), layer)}
    assert set(line.xs) <= speeds


def test_speeds_are_rules_where_the_picture_has_them() -> None:
    (layer,) = of_type(spec(), "rule")
    assert [row["speed"] for row in rows(spec(), layer)] == [200.0]


def test_everything_lies_inside_the_scales() -> None:
    (layer,) = of_type(spec(), "point")
    x, y = (layer["encoding"][channel]["scale"]["domain"] for channel in "xy")
    for row in rows(spec(), layer):
        assert x[0] <= row["speed"] <= x[1]
        assert y[0] <= row["rate"] <= y[1]


def test_labels_keep_apart_and_the_fastest_has_one() -> None:
    front = [row for row in point_rows([Drawn("a", made())], Per.CHIP) if row["front"]]
    crowd = [*front, *({**row, "speed": 1.001 * row["speed"]} for row in front)]
    kept = apart(crowd)
    assert len(kept) < len(crowd)
    assert max(row["speed"] for row in kept) == max(row["speed"] for row in crowd)


def test_it_can_be_drawn() -> None:
    chart = pareto_chart(made(), Per.CHIP)
    assert svg(chart).startswith("<svg")
    assert png(chart).startswith(b"\x89PNG")


# ---- small multiples


def test_there_is_a_panel_a_denominator() -> None:
    panels = [panel for row in multiples()["vconcat"] for panel in row["hconcat"]]
    assert [panel["title"] for panel in panels] == [
        f"mixed throughput per {words}"
        for words in (
            "chip",
            "kW of package TDP",
            "kW of modelled package draw",
            "kW of all-in IT power",
            "kW of facility power",
            "dollar",
        )
    ]
    assert multiples()["title"]["text"] == TITLE
    assert SOURCES in multiples()["title"]["subtitle"]
    assert titles(multiples(), "y") == {"token/s/chip", "token/s/kW", "Mtoken/$"}


def test_systems_differ_in_dash_and_shape_and_keep_them_in_every_panel() -> None:
    lines = of_type(multiples(), "line")
    assert len(lines) == 6
    scales = {str(layer["encoding"]["strokeDash"]["scale"]) for layer in lines}
    shapes = {str(layer["encoding"]["shape"]["scale"]) for layer in of_type(multiples(), "point")}
    assert len(scales) == len(shapes) == 1
    assert "Jalapeño rack" in scales.pop()
    assert len({str(dash) for dash in LINES}) == len(LINES)


def test_curves_of_both_systems_are_there() -> None:
    drawn = [Drawn(name, made(name)) for name in SYSTEMS]
    assert {row["series"] for row in curve_rows(drawn, Per.CHIP)} == set(SYSTEMS)
