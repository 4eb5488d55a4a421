"""Series differ in shape and dash, not in colour alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.reproduction import Curve, CurvePoint
from jalapeno.presentation.series import (
    COLOURS,
    HOLLOW,
    SHAPES,
    STARS,
    WORDS,
    Series,
    colour_of,
    on_front,
    series_of,
    star,
)
from tests.presentation.samples import point, reproduction

SYSTEMS = ("jalapeno-rack", "gb200-nvl72", "gb300-nvl72")
points = st.lists(
    st.builds(point, st.floats(1.0, 1e3), st.floats(1.0, 1e5), st.just("")),
    min_size=1,
    max_size=20,
)


def curve(system: str, source: str) -> Curve:
    return Curve(model="gpt-oss-120b", system=system, source=source, points=(point(1.0, 1.0, "p"),))


@pytest.fixture(scope="module")
def looks() -> dict[tuple[str, str], Series]:
    return series_of([curve(system, source) for system in SYSTEMS for source in WORDS])


# ---- told apart


def test_no_two_series_look_alike_without_colour(
    looks: dict[tuple[str, str], Series],
) -> None:
    drawn = [
        (look.shape, tuple(look.dash), look.fill == HOLLOW)
        for (_, source), look in looks.items()
        if source != "measured, MTP"
    ]
    assert len(set(drawn)) == len(drawn)


def test_no_two_series_have_the_same_name(looks: dict[tuple[str, str], Series]) -> None:
    assert len({look.label for look in looks.values()}) == len(looks) == 12


def test_multi_token_prediction_says_that_it_is_not_simulated(
    looks: dict[tuple[str, str], Series],
) -> None:
    label = looks["gb300-nvl72", "measured, MTP"].label
    assert label == "NVIDIA GB300 NVL72, measured, MTP (dotted)"


def test_a_system_keeps_its_colour(looks: dict[tuple[str, str], Series]) -> None:
    for system in SYSTEMS:
        colours = {look.colour for (name, _), look in looks.items() if name == system}
        assert colours == {colour_of(looks, system)}
    assert len({colour_of(looks, system) for system in SYSTEMS}) == 3


def test_what_was_published_is_a_star(looks: dict[tuple[str, str], Series]) -> None:
    assert [looks[system, "published"].shape for system in SYSTEMS] == list(STARS[:3])


def test_measured_is_hollow_and_simulated_filled(looks: dict[tuple[str, str], Series]) -> None:
    assert looks["gb200-nvl72", "measured"].fill == HOLLOW
    assert looks["gb200-nvl72", "simulated"].fill != HOLLOW
    assert looks["gb200-nvl72", "measured"].dash != looks["gb200-nvl72", "simulated"].dash


def test_the_legend_begins_with_what_was_simulated(
    looks: dict[tuple[str, str], Series],
) -> None:
    order = [list(WORDS).index(source) for _, source in looks]
    assert order == sorted(order)


def test_there_is_a_colour_a_shape_and_a_star_for_each_of_as_many_systems() -> None:
    assert len(COLOURS) == len(SHAPES) == len(STARS)
    assert len(set(COLOURS)) == len(set(SHAPES)) == len(set(STARS)) == len(COLOURS)


def test_every_curve_of_a_reproduction_can_be_drawn() -> None:
    curves = reproduction().curves
    assert {(c.system, c.source) for c in curves} == set(series_of(curves))


# ---- stars


@pytest.mark.parametrize("corners", [3, 4, 5, 6])
def test_a_star_has_its_corners_and_fits_its_square(corners: int) -> None:
    path = star(corners)
    assert path.startswith("M")
    assert path.endswith("Z")
    places = [tuple(map(float, text.split(","))) for text in path[1:-1].split("L")]
    assert len(places) == 2 * corners
    assert places[0] == (0.0, -1.0)
    assert all(abs(value) <= 1.0 for place in places for value in place)


# ---- the front


def beaten(one: CurvePoint, by: Sequence[CurvePoint]) -> bool:
    return any(
        other.tokens_per_s_per_user >= one.tokens_per_s_per_user
        and other.tps_per_kw > one.tps_per_kw
        for other in by
    )


@given(found=points)
def test_nothing_on_the_front_is_beaten_and_all_else_is(found: list[CurvePoint]) -> None:
    for one, front in zip(found, on_front(found), strict=True):
        assert front != beaten(one, found)


@given(found=points)
def test_the_front_falls_as_users_get_faster(found: list[CurvePoint]) -> None:
    front = [one for one, on in zip(found, on_front(found), strict=True) if on]
    assert front
    ordered = sorted(front, key=lambda one: (one.tokens_per_s_per_user, -one.tps_per_kw))
    rates = [one.tps_per_kw for one in ordered]
    assert rates == sorted(rates, reverse=True)


@given(found=points)
def test_the_fastest_and_the_most_productive_are_on_the_front(found: list[CurvePoint]) -> None:
    front = [one for one, on in zip(found, on_front(found), strict=True) if on]
    assert max(one.tps_per_kw for one in front) == max(one.tps_per_kw for one in found)
    assert max(one.tokens_per_s_per_user for one in front) == max(
        one.tokens_per_s_per_user for one in found
    )
