"""The twin's predictions of rows, with whatever engines it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from jalapeno import catalogue
from jalapeno.analysis.calibration.constants import CONSTANTS
from jalapeno.analysis.calibration.fit import Fit
from jalapeno.analysis.calibration.twin import catalogued, predictor, unfitted
from jalapeno.analysis.validation.protocols import Predictor
from jalapeno.catalogue import Engine
from tests.analysis.calibration.small import TRUTH
from tests.analysis.validation.points import frame


def of(fit: Fit) -> pl.DataFrame:
    return frame([dict(row) for row in fit.problem.rows])


def with_(engine: Engine) -> Predictor:
    return predictor(lambda name, system, model: engine)


def tpots(predicted: pl.DataFrame) -> np.ndarray[Any, Any]:
    return predicted.sort("id")["predicted_tpot_ms"].to_numpy()


def test_with_the_fitted_engine_it_predicts_what_was_measured(exact: Fit) -> None:
    rows = of(exact)
    said = with_(exact.engine)(rows)
    assert said["id"].to_list() == rows["id"].to_list()
    assert tpots(said) == pytest.approx(rows["measured_tpot_ms"].to_numpy(), rel=0.01)


def test_shares_of_a_prediction_add_up_to_one(exact: Fit) -> None:
    said = with_(exact.engine)(of(exact).head(3))
    total = said.select(pl.sum_horizontal(pl.col("^share_.*$")))
    assert total.to_series().to_numpy() == pytest.approx(1.0)


def test_an_unfitted_engine_has_the_starts() -> None:
    engine = unfitted("sglang")
    for constant in CONSTANTS:
        assert getattr(engine, constant.path) == pytest.approx(constant.start)
    assert engine.maturity == engine.issue_scale == {}
    assert engine.transfer_latency == catalogue.engine("sglang").transfer_latency


def test_entries_as_they_ship_are_those_of_the_catalogue(exact: Fit) -> None:
    rows = of(exact).head(2)
    said = catalogued().fit(rows.clear())(rows)
    assert tpots(said) == pytest.approx(tpots(with_(catalogue.engine("vllm"))(rows)))


def test_rows_whose_plan_does_not_fit_are_left_out_of_the_answer(exact: Fit) -> None:
    rows = of(exact).head(2)
    large = rows.head(1).with_columns(
        pl.lit("big").alias("id"),
        pl.lit("deepseek-r1").alias("model"),
        pl.lit("fp8").alias("precision"),
        pl.lit(1, pl.Int64).alias("decode_tp"),
    )
    said = with_(unfitted("vllm"))(pl.concat([rows, large]))
    assert said["id"].to_list() == rows["id"].to_list()


def test_the_truth_of_the_small_points_is_no_start() -> None:
    starts = {constant.path: constant.start for constant in CONSTANTS}
    assert starts["host_step"] != TRUTH[1]
