"""The picture of latency against demand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from jalapeno.presentation.pictures import png
from jalapeno.presentation.size_chart import (
    KEPT,
    LOST,
    MEDIAN,
    ROOM,
    SOURCE,
    X_TITLE,
    curve_points,
    size_chart,
)
from tests.analysis.sizings import sized
from tests.presentation.charts import mark_type, marks, rows, titles


@pytest.fixture(scope="module")
def spec() -> dict[str, Any]:
    found: dict[str, Any] = size_chart(sized()).to_dict()
    return found


def layers(spec: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [layer for layer in marks(spec) if mark_type(layer) == kind]


def labels(spec: dict[str, Any]) -> set[str]:
    """Every word in the picture's text marks."""
    return {row["label"] for layer in layers(spec, "text") for row in rows(spec, layer)}


def test_it_has_a_title_and_a_source(spec: dict[str, Any]) -> None:
    assert spec["title"]["text"].startswith("OpenAI gpt-oss-120b on Jalapeño rack: ")
    assert SOURCE in spec["title"]["subtitle"]
    assert "the whole fleet" in spec["title"]["subtitle"][0]


def test_a_scaled_fleet_is_said_to_be_one() -> None:
    large = sized(3000.0)
    subtitle = size_chart(large).to_dict()["title"]["subtitle"][0]
    assert f"{large.fleet.simulated} of {large.fleet.replicas} replicas" in subtitle


def test_axes_have_titles_with_units(spec: dict[str, Any]) -> None:
    assert titles(spec, "x") == {X_TITLE}
    assert titles(spec, "y") == {"TTFT, ms", "TBT, ms"}


def test_there_is_a_panel_a_limit(spec: dict[str, Any]) -> None:
    assert len(spec["vconcat"]) == 2


def test_limits_breaking_point_saturation_and_choice_are_named(spec: dict[str, Any]) -> None:
    said = labels(spec)
    for word in ("limit: P95 TTFT 1000 ms", "limit: P95 TBT 8 ms", "chosen: 300/s"):
        assert word in said
    assert any(word.startswith("a limit breaks at ") for word in said)
    assert any(word.startswith("saturates at ") for word in said)


def test_a_saturation_that_nobody_saw_is_not_drawn() -> None:
    unseen = size_chart(replace(sized(), saturates_per_s=math.nan)).to_dict()
    assert not any(word.startswith("saturates") for word in labels(unseen))


def test_the_chosen_point_is_what_the_verifying_run_reached(spec: dict[str, Any]) -> None:
    stars = [layer for layer in layers(spec, "point") if layer["mark"].get("filled")]
    found = sized()
    drawn = [rows(spec, layer)[0] for layer in stars]
    assert [row["demand"] for row in drawn] == [300.0, 300.0]
    assert [row["ms"] for row in drawn] == [1e3 * one for one in found.fleet.verified.reached]


def test_everything_but_overload_lies_inside_the_scales(spec: dict[str, Any]) -> None:
    found = sized()
    for layer in layers(spec, "line"):
        x, y = (layer["encoding"][channel]["scale"]["domain"] for channel in "xy")
        assert y[1] == pytest.approx(ROOM * next(
            limit.seconds * 1e3
            for limit in found.slo.limits
            if layer["encoding"]["y"]["title"].startswith(limit.metric)
        ))  # fmt: skip
        for row in rows(spec, layer):
            if row["load"] == KEPT:
                assert x[0] <= row["demand"] <= x[1]
        assert x[0] <= found.saturates_per_s <= x[1]


def test_percentile_and_median_differ_in_dash_and_saturation_in_shape(
    spec: dict[str, Any],
) -> None:
    for layer in layers(spec, "line"):
        assert layer["encoding"]["strokeDash"]["scale"]["domain"] == ["P95", MEDIAN]
    shapes = [
        layer["encoding"]["shape"]["scale"]
        for layer in layers(spec, "point")
        if "shape" in layer["encoding"]
    ]
    assert shapes
    assert all(scale["domain"] == [KEPT, LOST] for scale in shapes)
    assert all(len(set(scale["range"])) == 2 for scale in shapes)


def test_every_trial_of_the_curve_is_a_point_of_each_line() -> None:
    found = sized()
    points = curve_points(found, 1, found.slo.limits[1])
    assert len(points) == 2 * len(found.curve)
    assert {point["series"] for point in points} == {"P95", MEDIAN}
    assert sum(point["load"] == LOST for point in points) == 2 * sum(
        trial.saturated for trial in found.curve
    )


def test_it_can_be_drawn() -> None:
    assert png(size_chart(sized())).startswith(b"\x89PNG")
