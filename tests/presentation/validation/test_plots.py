"""Pictures: every point is in them, told apart without colour, with lines to read them by."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from jalapeno.presentation.pictures import png
from jalapeno.presentation.validation.page import shown
from jalapeno.presentation.validation.plots import (
    COLOURS,
    DRAWN,
    SHAPES,
    SOURCES,
    caption,
    points,
    predicted_chart,
    slices_chart,
)
from tests.presentation.charts import mark_type, marks, nodes, rows, titles
from tests.presentation.validation.suites import end_to_end


def played() -> pl.DataFrame:
    drawn = shown(end_to_end())
    assert drawn is not None
    return drawn[1]


@pytest.fixture(scope="module")
def spec() -> dict[str, Any]:
    found: dict[str, Any] = predicted_chart(played(), "a title").to_dict()
    return found


def slices() -> dict[str, pl.DataFrame]:
    tables = end_to_end().tables
    return {name: tables[name] for name in ("by model", "by system", "by band")}


def test_every_predicted_point_is_drawn_once_a_quantity(spec: dict[str, Any]) -> None:
    layers = [layer for layer in marks(spec) if mark_type(layer) == "point"]
    assert [len(rows(spec, layer)) for layer in layers] == [48] * len(DRAWN)


def test_axes_are_logarithmic_and_alike(spec: dict[str, Any]) -> None:
    for layer in marks(spec):
        x, y = (layer["encoding"][channel]["scale"] for channel in ("x", "y"))
        assert x["type"] == y["type"] == "log"
        assert x["domain"] == y["domain"]


def test_there_are_three_lines_a_panel_and_one_is_where_both_are_equal(
    spec: dict[str, Any],
) -> None:
    lines = [layer for layer in marks(spec) if mark_type(layer) == "line"]
    ratios = [{row["predicted"] / row["measured"] for row in rows(spec, layer)} for layer in lines]
    assert len(lines) == 3 * len(DRAWN)
    for place in range(0, len(lines), 3):
        one, above, below = (ratio.pop() for ratio in ratios[place : place + 3])
        assert one == 1.0
        assert above == pytest.approx(1.2)
        assert below == pytest.approx(1 / 1.2)


def test_systems_are_told_apart_by_shape(spec: dict[str, Any]) -> None:
    layer = next(layer for layer in marks(spec) if mark_type(layer) == "point")
    scale = layer["encoding"]["shape"]["scale"]
    assert len(set(scale["range"])) == len(scale["domain"]) == played()["system"].n_unique()
    assert len(set(SHAPES)) == len(SHAPES) == len(COLOURS)


def test_axes_have_names_and_units_and_the_picture_its_source(spec: dict[str, Any]) -> None:
    assert titles(spec, "x") == {
        "measured TPOT, ms",
        "measured TTFT, ms",
        "measured output tokens/s/GPU",
    }
    subtitles = [node["subtitle"] for node in nodes(spec) if "subtitle" in node]
    assert any(SOURCES in lines for lines in subtitles)


def test_points_without_a_prediction_are_not_drawn() -> None:
    some = played().with_columns(
        pl.when(pl.col("concurrency") > 8).then("predicted_tpot_ms").alias("predicted_tpot_ms")
    )
    assert len(points(some, "tpot")) == len(some.filter(pl.col("concurrency") > 8))


def test_slices_show_each_contender_in_each() -> None:
    spec: dict[str, Any] = slices_chart(slices(), ["twin", "linear"]).to_dict()
    layers = [layer for layer in marks(spec) if mark_type(layer) == "point"]
    assert len(layers) == 3
    drawn = [row for node in nodes(spec) if "data" in node for row in rows(spec, node)]
    assert {row["contender"] for row in drawn} == {"twin", "linear"}
    assert all(row["p90"] >= row["median"] for row in drawn)


def test_bands_stand_in_the_order_of_load() -> None:
    spec: dict[str, Any] = slices_chart(
        {"by band": end_to_end().tables["by band"]}, ["twin"]
    ).to_dict()
    layer = next(layer for layer in marks(spec) if mark_type(layer) == "point")
    assert layer["encoding"]["y"]["sort"] == ["1-8 (24)", "9-64 (24)"]


def test_they_are_pictures() -> None:
    assert png(predicted_chart(played(), "a title")).startswith(b"\x89PNG")
    assert png(slices_chart(slices(), ["twin"])).startswith(b"\x89PNG")


def test_a_caption_says_how_good_it_is() -> None:
    assert caption({"mape": 0.1234, "median": 0.05}, "It") == ("It: TPOT MAPE 12.3 %, median 5.0 %")
