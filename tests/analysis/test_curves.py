"""Curves hold every run, every measurement and every published point at the place it belongs."""

from __future__ import annotations

from itertools import groupby, pairwise

import pytest

from jalapeno import catalogue
from jalapeno.analysis.curves import curves_of
from jalapeno.analysis.reproduction import Curve, CurvePoint, Outcome
from jalapeno.catalogue import Row
from tests.analysis.worlds import MODELS
from tests.presentation import samples

SOURCES = {"simulated", "measured", "measured, MTP", "published"}
ROWS = [row for row in catalogue.rows() if row.measured]
MADE = samples.reproduction()

every_model = pytest.mark.parametrize("model", MODELS)


def extra(model: str) -> Outcome:
    """A run of Jalapeño beside those that are quoted."""
    of = samples.scenario(model, tp=8, concurrency=99)
    return Outcome(f"extra-{model}", of, samples.report(of, per_kw=999.0, e2e_s=9.0, tbt_ms=4.0))


DRAFTED = [result.row for result in MADE.mtp_rows]
EXTRA = [extra("gpt-oss-120b"), extra("kimi-k2.5")]
CURVES = curves_of(MADE.comparisons, [*MADE.rows, *MADE.layouts], DRAFTED, EXTRA)


def curve(model: str, system: str, source: str) -> Curve:
    (found,) = (c for c in CURVES if (c.model, c.system, c.source) == (model, system, source))
    return found


def measured_point(row: Row) -> CurvePoint:
    source = "measured, MTP" if row.mtp else "measured"
    points = curve(row.model, row.system, source).points
    (found,) = (point for point in points if point.label == row.name)
    return found


# ---- measured


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_measured_row_lies_at_its_throughput_over_the_tdp(row: Row) -> None:
    watts = catalogue.tariff(row.system.split("-")[0]).tdp
    expected = row.measured["tput_per_gpu"] / watts * 1e3
    assert measured_point(row).tps_per_kw == pytest.approx(expected)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_measured_row_lies_at_a_thousand_over_its_mean_tpot(row: Row) -> None:
    found = measured_point(row).tokens_per_s_per_user
    assert found == pytest.approx(1000.0 / row.measured["mean_tpot_ms"])
    assert found == pytest.approx(row.measured["mean_tokens_per_s_per_user"], rel=1e-3)


def test_the_measured_peaks_are_the_published_ones() -> None:
    for model, system in (("gpt-oss-120b", "gb200-nvl72"), ("deepseek-r1", "gb300-nvl72")):
        peak = max(point.tps_per_kw for point in curve(model, system, "measured").points)
        published = catalogue.claim(model).reference_peak_tps_per_kw
        assert peak == pytest.approx(published, rel=1e-4)


def test_rows_with_multi_token_prediction_are_a_curve_of_their_own() -> None:
    mtp = [row.name for row in ROWS if row.mtp]
    points = curve("deepseek-r1", "gb300-nvl72", "measured, MTP").points
    assert sorted(point.label for point in points) == sorted(mtp)
    plain = curve("deepseek-r1", "gb300-nvl72", "measured").points
    assert not {point.label for point in plain} & set(mtp)


def test_where_nothing_was_measured_there_is_no_curve_of_it() -> None:
    sources = {c.source for c in CURVES if c.model == "kimi-k2.5"}
    assert sources == {"simulated", "published"}


# ---- published


@every_model
def test_the_published_points_lie_at_the_references_best_speed(model: str) -> None:
    claim = catalogue.claim(model)
    (ours,) = curve(model, claim.system, "published").points
    (theirs,) = curve(model, claim.reference, "published").points
    speed = 1.0 / claim.reference_min_tbt
    assert ours.tokens_per_s_per_user == theirs.tokens_per_s_per_user == pytest.approx(speed)


@every_model
def test_the_published_points_lie_at_the_published_throughput(model: str) -> None:
    claim = catalogue.claim(model)
    (ours,) = curve(model, claim.system, "published").points
    (theirs,) = curve(model, claim.reference, "published").points
    assert ours.tps_per_kw == claim.tps_per_kw_at_reference_tbt
    assert theirs.tps_per_kw == claim.reference_tps_per_kw_at_its_tbt


def test_the_references_published_point_is_one_of_its_measured_ones() -> None:
    (published,) = curve("gpt-oss-120b", "gb200-nvl72", "published").points
    fastest = curve("gpt-oss-120b", "gb200-nvl72", "measured").points[-1]
    assert fastest.tps_per_kw == pytest.approx(published.tps_per_kw, rel=0.005)
    assert fastest.tokens_per_s_per_user == pytest.approx(
        published.tokens_per_s_per_user, rel=0.005
    )


# ---- simulated


@every_model
def test_jalapenos_curve_holds_what_is_quoted_and_what_is_drawn_beside_it(model: str) -> None:
    (one,) = (c for c in MADE.comparisons if c.claim.model == model)
    expected = [number.outcome.name for number in one.jalapeno]
    expected += [run.name for run in EXTRA if run.scenario.model.name == model]
    points = curve(model, one.claim.system, "simulated").points
    assert sorted(p.label.partition(":")[0] for p in points) == sorted(expected)


@every_model
def test_the_references_curve_holds_rows_and_layouts_alike(model: str) -> None:
    claim = catalogue.claim(model)
    expected = [r.row.name for r in (*MADE.rows, *MADE.layouts) if r.row.model == model]
    points = curve(model, claim.reference, "simulated").points
    assert sorted(p.label.partition(":")[0] for p in points) == sorted(expected)


def test_a_run_lies_where_its_report_says() -> None:
    points = curve("gpt-oss-120b", "jalapeno-rack", "simulated").points
    (point,) = (p for p in points if p.label.startswith("extra"))
    assert point.tps_per_kw == 999.0
    assert point.tokens_per_s_per_user == pytest.approx(250.0)
    assert point.label == "extra-gpt-oss-120b: 1xTP8"


# ---- all


@pytest.mark.parametrize("drawn", CURVES, ids=lambda c: f"{c.model}, {c.system}, {c.source}")
def test_a_curve_goes_from_slow_to_fast_and_is_not_empty(drawn: Curve) -> None:
    assert drawn.points
    for slower, faster in pairwise(drawn.points):
        assert slower.tokens_per_s_per_user <= faster.tokens_per_s_per_user


def test_curves_come_model_by_model_from_known_sources() -> None:
    models = [c.model for c in CURVES]
    assert [model for model, _ in groupby(models)] == list(MODELS)
    assert {c.source for c in CURVES} == SOURCES


def test_no_curve_is_there_twice() -> None:
    keys = [(c.model, c.system, c.source) for c in CURVES]
    assert len(set(keys)) == len(keys)


def test_without_a_comparison_there_is_nothing_to_draw() -> None:
    assert curves_of((), MADE.rows, DRAFTED, EXTRA) == ()
