"""The twin of a fold knows nothing of what is held out."""

from __future__ import annotations

import polars as pl
import pytest

from jalapeno import catalogue
from jalapeno.analysis.calibration import twin
from jalapeno.analysis.calibration.constants import CONSTANTS, factors
from jalapeno.analysis.calibration.recorded import PROBE, digest, read_fits, write_fits
from jalapeno.analysis.calibration.twin import (
    FITTABLE,
    Fitter,
    by_entry,
    catalogued,
    fitter,
    thinned,
    twin_of,
    unfitted,
)
from jalapeno.analysis.validation.protocols import whole_curves
from jalapeno.analysis.validation.suite import gather


def quiet(stage: str, done: int, total: int) -> None:
    pass


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    """Small points of vLLM on two chips: one model, short prompts, few requests."""
    every = gather(None, (), quiet).rows
    small = (
        (pl.col("engine") == "vllm")
        & (pl.col("model") == "gpt-oss-120b")
        & (pl.col("osl") == 1024)
        & (pl.col("concurrency") <= 16)
        & pl.col("system").is_in(["h100-hgx", "h200-hgx"])
    )
    return every.filter(small).sort("id")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twin, "ROUNDS", 2)


def lied_about(rows: pl.DataFrame, system: str) -> pl.DataFrame:
    """*rows* with every time of *system* doubled."""
    there = pl.col("system") == system
    return rows.with_columns(
        pl.when(there).then(2.0 * pl.col(name)).otherwise(name).alias(name)
        for name in ("measured_ttft_ms", "measured_tpot_ms")
    )


def said(rows: pl.DataFrame, left_out: str) -> pl.DataFrame:
    """What a twin fitted on all of *rows* but one system says of that system."""
    fit_on, asked = (
        rows.filter(pl.col("system") != left_out),
        rows.filter(pl.col("system") == left_out),
    )
    return twin_of(Fitter({})).fit(fit_on)(asked)


@pytest.mark.usefixtures("quick")
def test_lies_about_what_is_held_out_change_nothing_that_is_said_of_it(rows: pl.DataFrame) -> None:
    assert len(rows.filter(pl.col("system") == "h200-hgx")) >= FITTABLE, "or nothing is fitted"
    honest, lied = said(rows, "h100-hgx"), said(lied_about(rows, "h100-hgx"), "h100-hgx")
    assert len(honest) == len(rows.filter(pl.col("system") == "h100-hgx")) > 5
    assert honest.equals(lied)
    asked = rows.filter(pl.col("system") == "h100-hgx")
    assert not twin_of(Fitter({})).fit(rows.clear())(asked).equals(honest), "a fit was made"


@pytest.mark.usefixtures("quick")
def test_lies_about_what_is_fitted_to_are_believed(rows: pl.DataFrame) -> None:
    honest, lied = said(rows, "h100-hgx"), said(lied_about(rows, "h200-hgx"), "h100-hgx")
    name = "predicted_tpot_ms"
    assert (lied[name] / honest[name]).mean() > 1.1  # type: ignore[operator]


@pytest.mark.usefixtures("quick")
def test_a_fit_of_the_same_rows_on_record_stands_in_for_it(rows: pl.DataFrame) -> None:
    own = by_entry(rows)["vllm"]
    first = Fitter({})
    engine = first.engine("vllm", own)
    again = Fitter(read_fits(write_fits(first.made).encode()))
    known = again.engine("vllm", own)
    assert known.issue_phase == pytest.approx(engine.issue_phase, rel=1e-5)
    assert set(again.made) == set(first.made)
    assert not again.stale
    (key,) = first.made
    kept = thinned(own, twin.MOST_POINTS)
    assert key == digest("vllm", kept, (*CONSTANTS, *factors(kept)))


@pytest.mark.usefixtures("quick")
def test_a_fit_on_record_that_was_made_with_other_physics_is_told(rows: pl.DataFrame) -> None:
    own = by_entry(rows)["vllm"]
    first = Fitter({})
    first.engine("vllm", own)
    (key,) = first.made
    name, points, values = first.made[key]
    other = {**values, PROBE: 1.01 * values[PROBE]}
    again = Fitter(read_fits(write_fits({key: (name, points, other)}).encode()))
    again.engine("vllm", own)
    assert again.stale == [key]


def test_fits_that_ship_were_made_with_todays_physics() -> None:
    known = fitter()
    every = gather(None, (), quiet).rows
    for fold in whole_curves(every)[:2]:
        for name, own in by_entry(fold.fit).items():
            known.engine(name, own)
    assert known.made
    assert set(known.made) <= set(known.recorded)
    assert not known.stale


def test_thinning_looks_at_names_and_loads_alone(rows: pl.DataFrame) -> None:
    one = thinned(rows.to_dicts(), 9)
    other = thinned(lied_about(rows, "h100-hgx").reverse().to_dicts(), 9)
    assert [row["id"] for row in one] == [row["id"] for row in other]
    heavy = [row | {"concurrency": 4096} for row in rows.to_dicts()]
    assert thinned(heavy, 9) == []


def test_an_engine_with_few_points_keeps_what_was_fitted_to_nothing(rows: pl.DataFrame) -> None:
    few = by_entry(rows)["vllm"][:5]
    assert Fitter({}).engine("vllm", few) == unfitted("vllm")
    starts = {constant.path: constant.start for constant in CONSTANTS}
    assert unfitted("vllm").matrix_efficiency == starts["matrix_efficiency"]
    assert not unfitted("vllm").maturity


def test_entries_as_shipped_are_asked_about_a_point_once(rows: pl.DataFrame) -> None:
    who = catalogued()
    predict = who.fit(rows.clear())
    once, twice = predict(rows.head(3)), predict(rows.head(4))
    assert twice.head(3).equals(once)
    assert twice["id"].to_list() == rows.head(4)["id"].to_list()
    assert catalogue.engine("vllm") != unfitted("vllm")
