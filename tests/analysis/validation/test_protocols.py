"""Protocols: nothing is on both sides of a fold, and everything is asked about once."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.validation.protocols import (
    HELD_OUT,
    PROTOCOLS,
    TITLES,
    Predictor,
    fold_of,
    leaks,
    play,
    protocol,
    whole_curves,
)
from jalapeno.analysis.validation.rows import PREDICTED
from jalapeno.errors import UnknownName, UsageError
from tests.analysis.validation.points import frame, grid, row

rows_of_any_kind = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from("abc"), st.sampled_from("xyz")),
    min_size=1,
    max_size=25,
).map(
    lambda found: frame(
        [
            row(number, curve=f"{system} {model} {curve}", system=system, model=model)
            for number, (curve, system, model) in enumerate(found)
        ]
    )
)


@given(rows_of_any_kind, st.sampled_from(sorted(HELD_OUT)))
def test_what_is_held_out_is_never_fitted_on(rows: pl.DataFrame, name: str) -> None:
    for fold in protocol(name)(rows):
        assert not leaks(fold, HELD_OUT[name])
        assert not leaks(fold, "curve")


@given(rows_of_any_kind, st.sampled_from([*HELD_OUT, "datasheet"]))
def test_every_row_is_asked_about_once(rows: pl.DataFrame, name: str) -> None:
    asked = [one for fold in protocol(name)(rows) for one in fold.test["id"]]
    assert sorted(asked) == sorted(rows["id"])


@given(rows_of_any_kind)
def test_the_datasheet_shows_no_measurement(rows: pl.DataFrame) -> None:
    (fold,) = protocol("datasheet")(rows)
    assert fold.fit.is_empty()
    assert fold.fit.schema == rows.schema


def test_the_files_own_division_does_leak_curves() -> None:
    (fold,) = protocol("filed")(grid())
    assert leaks(fold, "curve")
    assert not leaks(fold, "id")
    assert set(fold.fit["split"]) == {"calib"}


@given(st.text(max_size=40), st.integers(2, 10))
def test_a_curve_has_one_fold_for_ever(curve: str, folds: int) -> None:
    assert fold_of(curve, folds) == fold_of(curve, folds)
    assert 0 <= fold_of(curve, folds) < folds


def test_more_data_do_not_move_old_curves() -> None:
    small, large = whole_curves(grid(24)), whole_curves(grid(48))
    before = {one: fold.name for fold in small for one in fold.test["curve"]}
    after = {one: fold.name for fold in large for one in fold.test["curve"]}
    assert before.items() <= after.items()


def test_folds_are_of_about_one_size() -> None:
    counts = [0] * 5
    for number in range(1000):
        counts[fold_of(f"curve {number}")] += 1
    assert 150 < min(counts) <= max(counts) < 250


def test_every_protocol_has_a_title() -> None:
    assert set(PROTOCOLS) == set(TITLES)


def mean_of(rows: pl.DataFrame) -> Predictor:
    """A contender that says the mean TPOT of what it was fitted on, and refuses DeepSeek."""
    tpot = rows["measured_tpot_ms"].mean()

    def predict(asked: pl.DataFrame) -> pl.DataFrame:
        kept = asked.filter(pl.col("model") != "deepseek-r1")
        return kept.select(
            "id",
            pl.lit(10.0).alias("predicted_ttft_ms"),
            pl.lit(tpot, pl.Float64).alias("predicted_tpot_ms"),
        )

    return predict


def test_a_contender_is_fitted_anew_for_every_fold() -> None:
    rows = grid()
    played = play(protocol("systems")(rows), mean_of)
    assert len(played) == len(rows)
    for system in rows["system"].unique():
        others = rows.filter(pl.col("system") != system)["measured_tpot_ms"].mean()
        said = played.filter(pl.col("system") == system)["predicted_tpot_ms"].drop_nulls()
        assert said.to_list() == pytest.approx([others] * len(said))
        assert set(played.filter(pl.col("system") == system)["fold"]) == {f"without {system}"}


def test_a_refusal_stays_a_row_without_prediction() -> None:
    played = play(protocol("curves")(grid()), mean_of)
    refused = played.filter(pl.col("model") == "deepseek-r1")
    assert len(refused) > 0
    for name in PREDICTED:
        assert refused[name].null_count() == len(refused)


def test_throughput_follows_where_none_is_said_and_stays_where_it_is() -> None:
    rows = grid(4)

    def says(fit: pl.DataFrame) -> Predictor:
        return lambda asked: asked.select(
            "id",
            pl.col("measured_ttft_ms").alias("predicted_ttft_ms"),
            pl.col("measured_tpot_ms").alias("predicted_tpot_ms"),
            pl.when(pl.col("id") == "point-000").then(7.0).alias("predicted_tokens_per_s_per_gpu"),
        )

    said = play(protocol("datasheet")(rows), says)["predicted_tokens_per_s_per_gpu"]
    measured = rows["measured_tokens_per_s_per_gpu"]
    assert said[0] == 7.0
    assert said[1:].to_list() == pytest.approx(measured[1:].to_list())


def test_attribution_comes_through() -> None:
    def says(fit: pl.DataFrame) -> Predictor:
        return lambda asked: asked.select(
            "id", pl.lit(5.0).alias("predicted_tpot_ms"), pl.lit(0.4).alias("share_memory")
        )

    assert play(protocol("datasheet")(grid()), says)["share_memory"].to_list() == [0.4] * 48


def test_answers_about_something_else_or_twice_are_refused() -> None:
    folds = protocol("datasheet")(grid())
    stranger = pl.DataFrame({"id": ["who"], "predicted_tpot_ms": [1.0]})
    with pytest.raises(UsageError, match="nobody asked about, such as 'who'"):
        play(folds, lambda fit: lambda asked: stranger)
    with pytest.raises(UsageError, match="a row twice"):
        play(folds, lambda fit: lambda asked: pl.concat([asked, asked]))


def test_an_unknown_protocol_and_a_single_fold_are_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'curves'"):
        protocol("curvs")
    with pytest.raises(UsageError, match="at least 2"):
        whole_curves(grid(), 1)
