"""The twin as a contender: what it is fitted on, and that it cannot peek at what it is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from jalapeno import catalogue
from jalapeno.analysis.calibration import twin as module
from jalapeno.analysis.calibration.constants import CONSTANTS
from jalapeno.analysis.calibration.fit import Fit
from jalapeno.analysis.calibration.twin import (
    FITTABLE,
    fits_of,
    predictor,
    shipped,
    twin,
    unfitted,
)
from tests.analysis.calibration.small import TRUTH
from tests.analysis.validation.points import frame

Rows = list[dict[str, Any]]


def of(fit: Fit) -> pl.DataFrame:
    return frame([dict(row) for row in fit.problem.rows])


def tpots(predicted: pl.DataFrame) -> np.ndarray[Any, Any]:
    return predicted.sort("id")["predicted_tpot_ms"].to_numpy()


def test_fitted_on_all_rows_it_predicts_them(exact: Fit) -> None:
    rows = of(exact)
    said = twin({"vllm": exact})(rows)(rows)
    assert said["id"].to_list() == rows["id"].to_list()
    assert said["predicted_tpot_ms"].to_numpy() == pytest.approx(
        rows["measured_tpot_ms"].to_numpy(), rel=0.01
    )


def test_shares_of_a_prediction_add_up_to_one(exact: Fit) -> None:
    rows = of(exact)
    said = twin({"vllm": exact})(rows)(rows.head(3))
    total = said.select(pl.sum_horizontal(pl.col("^share_.*$")))
    assert total.to_series().to_numpy() == pytest.approx(1.0)


def test_a_row_left_out_is_predicted_as_if_it_had_been_measured_otherwise(
    exact: Fit, altered: Fit
) -> None:
    # The last row is half again as slow in one fit.  Left out, it moves nothing but where the
    # refit begins and the derivatives it keeps: a percent, where the whole fit moved by more.
    last = of(exact).tail(1)
    kept = of(exact).head(12)
    without = [float(tpots(twin({"vllm": fit})(kept)(last))[0]) for fit in (exact, altered)]
    whole = [float(tpots(predictor({"vllm": fit.engine})(last))[0]) for fit in (exact, altered)]
    assert without[1] == pytest.approx(without[0], rel=0.01)
    assert abs(whole[1] / whole[0] - 1.0) > 2.0 * abs(without[1] / without[0] - 1.0)


def test_too_few_rows_leave_an_engine_unfitted(exact: Fit) -> None:
    rows = of(exact)
    assert len(rows) > FITTABLE
    few = rows.head(FITTABLE - 1)
    said = twin({"vllm": exact})(few)(rows.tail(1))
    plain = predictor({"vllm": unfitted("vllm")})(rows.tail(1))
    assert tpots(said) == pytest.approx(tpots(plain))


def test_nothing_to_fit_on_leaves_every_engine_unfitted(exact: Fit) -> None:
    rows = of(exact)
    said = twin({"vllm": exact})(rows.clear())(rows.head(2))
    assert tpots(said) == pytest.approx(tpots(predictor({})(rows.head(2))))


def test_an_unfitted_engine_has_the_starts() -> None:
    engine = unfitted("sglang")
    for constant in CONSTANTS:
        assert getattr(engine, constant.path) == pytest.approx(constant.start)
    assert engine.maturity == engine.issue_scale == {}
    assert engine.transfer_latency == catalogue.engine("sglang").transfer_latency


def test_shipped_predictions_are_those_of_the_catalogue(exact: Fit) -> None:
    rows = of(exact).head(2)
    expected = predictor({"vllm": catalogue.engine("vllm")})(rows)
    assert tpots(shipped()(rows)) == pytest.approx(tpots(expected))


def test_rows_whose_plan_does_not_fit_are_left_out_of_the_answer(exact: Fit) -> None:
    rows = of(exact).head(2)
    large = rows.head(1).with_columns(
        pl.lit("big").alias("id"),
        pl.lit("deepseek-r1").alias("model"),
        pl.lit("fp8").alias("precision"),
        pl.lit(1, pl.Int64).alias("decode_tp"),
    )
    said = predictor({})(pl.concat([rows, large]))
    assert said["id"].to_list() == rows["id"].to_list()


def test_engines_with_enough_points_are_fitted_each_to_its_own(
    exact: Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, int] = {}

    def fitted(problem: Any, on_stage: Any) -> Fit:
        asked[problem.engine.name] = len(problem.rows)
        on_stage("points", 1, 1)
        return exact

    monkeypatch.setattr(module, "fit", fitted)
    told: list[str] = []
    rows = of(exact)
    few = rows.head(FITTABLE - 1).with_columns(pl.lit("sglang").alias("engine"))
    found = fits_of(pl.concat([rows, few]), lambda stage, done, total: told.append(stage))
    assert asked == {"vllm": len(rows)}
    assert found == {"vllm": exact}
    assert told == ["vllm: points"]


def test_the_truth_of_the_small_points_is_no_start() -> None:
    starts = {constant.path: constant.start for constant in CONSTANTS}
    assert starts["host_step"] != TRUTH[2]
