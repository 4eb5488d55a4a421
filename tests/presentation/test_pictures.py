"""Charts as files that need nothing from the network."""

from __future__ import annotations

import re
import struct

import altair as alt
import pytest

from jalapeno.presentation.pictures import SHARPNESS, html, inline, png, svg


@pytest.fixture(scope="module")
def chart() -> alt.HConcatChart:
    points = alt.Chart(inline([{"x": 1.0, "y": 2.0}])).mark_point().encode(x="x:Q", y="y:Q")
    return alt.hconcat(points.properties(width=200, height=100), title="Jalapeño")


@pytest.fixture(scope="module")
def page(chart: alt.HConcatChart) -> str:
    return html(chart, "A title")


def test_a_page_loads_nothing(page: str) -> None:
    head, _, body = page.partition("<body>")
    body = re.sub(r"(<script\b[^>]*>).*?(</script>)", r"\1\2", body, flags=re.S)
    tags = re.findall(r"<script\b[^>]*>", page) + re.findall(r"<[a-z]+\b[^>]*>", body)
    assert tags
    for tag in tags:
        assert not re.search(r"\b(?:src|href)\s*=", tag), tag
    assert "<link" not in head
    assert "cdn" not in page.lower()
    assert "@import" not in page


def test_a_page_names_no_place_to_load_code_from(page: str) -> None:
    hosts = set(re.findall(r"https?://([\w.-]+)", page))
    assert hosts <= {"vega.github.io", "github.com", "www.w3.org"}  # names of schemas, and issues


def test_a_page_has_a_title_and_the_chart(page: str) -> None:
    assert page.count("<title>A title</title>") == 1
    assert "Jalape" in page
    assert "vegaEmbed" in page or "embed(" in page


def test_an_svg_is_a_picture_with_words(chart: alt.HConcatChart) -> None:
    picture = svg(chart)
    assert picture.startswith("<svg")
    assert "Jalapeño" in picture
    assert "<image" not in picture


def test_a_png_is_sharp(chart: alt.HConcatChart) -> None:
    picture = png(chart)
    assert picture.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", picture[16:24])
    assert width > 200 * SHARPNESS
    assert height > 100 * SHARPNESS


def test_pictures_are_the_same_each_time(chart: alt.HConcatChart, page: str) -> None:
    assert html(chart, "A title") == page
    assert svg(chart) == svg(chart)
    assert png(chart) == png(chart)


def test_data_lie_in_the_chart(chart: alt.HConcatChart) -> None:
    spec = chart.to_dict()
    assert "url" not in str(spec.get("data", "")) + str(spec.get("datasets", ""))
