"""The frontier picture."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jalapeno.analysis.reproduction import Band, Reproduction
from jalapeno.presentation.frontier import (
    BARS,
    SOURCES,
    TITLE,
    X_TITLE,
    Y_TITLE,
    frontier_chart,
    intervals,
    published_limits,
)
from jalapeno.presentation.series import series_of
from tests.presentation.charts import mark_type, marks, rows, titles
from tests.presentation.samples import reproduction


@pytest.fixture(scope="module")
def spec() -> dict[str, Any]:
    found: dict[str, Any] = frontier_chart(reproduction()).to_dict()
    return found


def of_type(spec: dict[str, Any], panel: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [layer for layer in marks(panel) if mark_type(layer) == kind]


# ---- words


def test_it_has_a_title_and_its_sources(spec: dict[str, Any]) -> None:
    assert spec["title"]["text"] == TITLE
    assert SOURCES in spec["title"]["subtitle"]
    assert "InferenceX by SemiAnalysis; OpenAI, 25 August 2026" in SOURCES


def test_axes_have_titles_with_units(spec: dict[str, Any]) -> None:
    assert titles(spec, "x") == {X_TITLE}
    assert titles(spec, "y") == {Y_TITLE}
    assert "token/s/user" in X_TITLE
    assert "token/s/kW of package TDP" in Y_TITLE


def test_there_is_a_panel_a_model(spec: dict[str, Any]) -> None:
    assert [panel["title"] for panel in spec["hconcat"]] == [
        "DeepSeek-R1",
        "OpenAI gpt-oss-120b",
        "Moonshot Kimi K2.5",
    ]


def test_the_legend_says_what_was_measured_and_what_published(spec: dict[str, Any]) -> None:
    labels = {
        label
        for layer in marks(spec)
        for label in layer["encoding"].get("shape", {}).get("scale", {}).get("domain", ())
    }
    assert "NVIDIA GB300 NVL72, measured, MTP (dotted)" in labels
    assert "Jalapeño rack, published" in labels


# ---- scales


def test_throughput_is_logarithmic_and_the_same_in_all_panels(spec: dict[str, Any]) -> None:
    found = [layer["encoding"].get("y", {}).get("scale") for layer in marks(spec)]
    scales = [scale for scale in found if scale]
    assert len(scales) > len(spec["hconcat"])
    assert {scale["type"] for scale in scales} == {"log"}
    assert len({tuple(scale["domain"]) for scale in scales}) == 1


def test_everything_lies_inside_the_scales(spec: dict[str, Any]) -> None:
    for panel in spec["hconcat"]:
        (points,) = of_type(spec, panel, "point")
        x, y = (points["encoding"][channel]["scale"]["domain"] for channel in "xy")
        for point in rows(spec, points):
            assert x[0] <= point["speed"] <= x[1]
            assert y[0] <= point["rate"] <= y[1]


def test_speed_begins_at_zero(spec: dict[str, Any]) -> None:
    for layer in of_type(spec, spec, "point"):
        assert layer["encoding"]["x"]["scale"]["domain"][0] == 0


# ---- what is drawn


def test_every_point_of_every_curve_is_drawn_once(spec: dict[str, Any]) -> None:
    made = reproduction()
    for panel, comparison in zip(spec["hconcat"], made.comparisons, strict=True):
        (layer,) = of_type(spec, panel, "point")
        drawn = sorted((p["speed"], p["rate"]) for p in rows(spec, layer))
        curves = [c for c in made.curves if c.model == comparison.claim.model]
        assert drawn == sorted(
            (p.tokens_per_s_per_user, p.tps_per_kw) for curve in curves for p in curve.points
        )


def test_lines_join_only_the_front_and_never_what_was_published(spec: dict[str, Any]) -> None:
    for layer in of_type(spec, spec, "line"):
        assert {point["front"] for point in rows(spec, layer)} == {True}
        assert "published" not in {point["source"] for point in rows(spec, layer)}


def test_lines_differ_in_dash_and_points_in_shape_and_fill(spec: dict[str, Any]) -> None:
    for layer in of_type(spec, spec, "line"):
        assert layer["encoding"]["strokeDash"]["field"] == "series"
    for layer in of_type(spec, spec, "point"):
        assert layer["encoding"]["shape"]["field"] == "series"
        assert layer["encoding"]["fill"]["field"] == "series"


def test_published_points_are_labelled_with_their_number(spec: dict[str, Any]) -> None:
    texts = {row.get("label") for layer in of_type(spec, spec, "text") for row in rows(spec, layer)}
    for number in ("12,258", "118", "22,935", "427", "6,744", "120"):
        assert any(text and text.startswith(f"{number} published") for text in texts), number


def test_points_tell_their_run_and_numbers_under_the_pointer(spec: dict[str, Any]) -> None:
    for layer in of_type(spec, spec, "point"):
        said = [tip["title"] for tip in layer["encoding"]["tooltip"]]
        assert said == ["series", "run", "token/s/user", "token/s/kW"]


def test_published_peaks_and_lowest_times_are_rules() -> None:
    made = reproduction()
    looks = series_of(made.curves)
    (gpt,) = (c for c in made.comparisons if c.claim.model == "gpt-oss-120b")
    ours, theirs = published_limits(gpt, looks)
    assert (ours["peak"], ours["fastest"]) == ("published peak 85,448", "published TBT 0.69 ms")
    assert ours["speed"] == pytest.approx(1000.0 / 0.69)
    assert (theirs["rate"], theirs["fastest"]) == (44960.0, "published TBT 1.87 ms")
    assert ours["colour"] != theirs["colour"]


# ---- intervals


def banded(objective: str, low: float, high: float) -> Reproduction:
    """The sample with a band of one number of its first model."""
    found = reproduction()
    band = Band(
        model=found.comparisons[0].claim.model,
        objective=objective,
        published=1.0,
        twin=1.0,
        low=low,
        lower=low,
        median=low,
        upper=high,
        high=high,
        left_out=None,
    )
    return replace(found, bands=(band,))


def test_without_bands_nothing_is_said_of_them(spec: dict[str, Any]) -> None:
    assert BARS not in spec["title"]["subtitle"]
    assert intervals(reproduction()) == []


@pytest.mark.parametrize("objective", ["peak", "at_reference_tbt"])
def test_intervals_of_throughput_stand_upright(objective: str) -> None:
    (bar,) = intervals(banded(objective, 5_000.0, 9_000.0))
    assert (bar["rate"], bar["rate_to"]) == (5_000.0, 9_000.0)
    assert bar["speed"] == bar["speed_to"] > 0.0


def test_that_at_the_references_tbt_stands_at_its_speed() -> None:
    found = banded("at_reference_tbt", 5_000.0, 9_000.0)
    (bar,) = intervals(found)
    assert bar["speed"] == pytest.approx(1.0 / found.comparisons[0].claim.reference_min_tbt)


def test_an_interval_of_tbt_lies_along_speed() -> None:
    (bar,) = intervals(banded("min_tbt", 1.0, 2.0))
    assert (bar["speed"], bar["speed_to"]) == (500.0, 1000.0)
    assert bar["rate"] == bar["rate_to"] > 0.0


def test_latency_of_a_whole_request_has_no_place_in_it() -> None:
    assert intervals(banded("min_e2e", 1.0, 2.0)) == []


def test_a_panel_shows_the_bars_of_its_model() -> None:
    found = frontier_chart(banded("peak", 5_000.0, 9_000.0)).to_dict()
    assert BARS in found["title"]["subtitle"]
    shown = [
        [layer for layer in marks(panel) if "y2" in layer["encoding"]] for panel in found["hconcat"]
    ]
    assert [len(layers) for layers in shown] == [1, 0, 0]
