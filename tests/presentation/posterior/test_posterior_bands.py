"""Bands in pictures, tables and JSON, and draws that are too old."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jalapeno.analysis.objectives import Per
from jalapeno.analysis.posterior import shipped as module
from jalapeno.analysis.posterior.bands import Moved, moved_by
from jalapeno.analysis.posterior.shipped import shipped
from jalapeno.presentation.compare_command import CompareOptions
from jalapeno.presentation.frontier_command import FrontierOptions
from jalapeno.presentation.pareto_chart import pareto_chart
from jalapeno.presentation.posterior.bands import (
    TOLD,
    band_json,
    band_rows,
    band_table,
    moved_for,
    usable_draws,
)
from tests.analysis.fronts import made


@pytest.fixture(scope="module")
def moved() -> Moved:
    found = moved_by(made().bench.subject, shipped())
    assert isinstance(found, Moved)
    return found


@pytest.fixture
def old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws of other physics."""
    draws = replace(shipped(), digest="0" * 16)
    monkeypatch.setattr(module, "shipped", lambda: draws)


def test_draws_of_this_physics_are_used_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert usable_draws() is shipped()
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("old")
def test_draws_of_other_physics_are_used_with_a_warning(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert usable_draws().stale
    said = capsys.readouterr().err
    assert said.startswith("warning: the shipped draws are of other physics or facts")
    assert "jalapeno posterior --ship makes them anew" in said


def test_a_band_is_made_where_it_is_wanted_and_can_be() -> None:
    jalapeno = made().bench.subject
    assert moved_for(jalapeno, False) is None
    assert moved_for(jalapeno, True) is not None
    other = made("gb200-nvl72").bench.subject
    assert moved_for(other, True) is None


def test_bands_are_drawn_unless_somebody_says_no() -> None:
    assert FrontierOptions().bands
    assert CompareOptions(model="gpt-oss-120b").bands


def test_a_band_lies_within_the_speeds_of_the_front(moved: Moved) -> None:
    front = made().front(Per.TDP)
    found = moved.band(made(), Per.TDP)
    assert found
    assert front[0].speed * 0.999 <= found[0].speed
    assert found[-1].speed <= front[-1].speed * 1.001
    for one in found:
        assert one.rate.low < one.rate.median < one.rate.high


def test_rates_for_constant_denominators_have_one_band(moved: Moved) -> None:
    chip, tdp = moved.band(made(), Per.CHIP), moved.band(made(), Per.TDP)
    ratios = [a.rate.median / b.rate.median for a, b in zip(chip, tdp, strict=False)]
    assert ratios == pytest.approx([0.7] * len(ratios), rel=1e-6)


def test_a_picture_has_an_area_only_where_there_is_a_band(moved: Moved) -> None:
    def marks(chart: Any) -> list[str]:
        panel = chart.to_dict()["hconcat"][0]
        return [layer["mark"]["type"] for layer in panel["layer"]]

    assert "area" not in marks(pareto_chart(made(), Per.TDP))
    drawn = pareto_chart(made(), Per.TDP, (), moved)
    assert marks(drawn)[:4] == ["area", "line", "line", "line"]
    assert "Grey band" in " ".join(drawn.to_dict()["title"]["subtitle"])


def test_a_table_tells_a_few_speeds_fastest_first(moved: Moved) -> None:
    table = band_table(made(), Per.TDP, moved)
    speeds = [float(row[0].replace(",", "")) for row in table.rows]
    assert speeds == sorted(speeds, reverse=True)
    assert 2 <= len(speeds) <= TOLD + 2
    assert "token/s/kW of package TDP" in table.title


def test_data_and_picture_rows_are_of_the_band(moved: Moved) -> None:
    band = moved.band(made(), Per.TDP)
    for one, data, row in zip(band, band_json(band), band_rows("a", band), strict=True):
        assert data["tokens_per_s_per_user"] == row["speed"] == one.speed
        assert (data["low"], data["high"]) == (row["low"], row["high"])
        assert 0.95 <= data["reached"] <= 1.0
