"""A calibration as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from jalapeno.analysis.calibration.calibrate import Calibration
from jalapeno.analysis.calibration.certainty import is_time
from jalapeno.analysis.validation.scores import scores
from jalapeno.presentation.calibration.tables import said

POINT = (
    *("id", "curve", "concurrency", "statistic", "measured_ttft_ms", "measured_tpot_ms"),
    *("predicted_ttft_ms", "predicted_tpot_ms"),
)
"""Columns of a point."""


def calibration_json(found: Calibration) -> dict[str, Any]:
    """Everything that the tables say, and every point."""
    data, known = found.data, found.certainty
    return {
        "engine": data.engine,
        "base": found.base.name,
        "source": data.source,
        "points": len(data.rows),
        "curves": data.curves,
        "medians": data.medians,
        "left_out": data.left_out.to_dicts(),
        "refused": found.refused.to_dicts(),
        "other_engines": dict(data.others),
        "constants": _constants(found),
        "determined": known.effective,
        "residual_spread": known.spread,
        "correlated": [
            {
                "constants": [pair.first, pair.second],
                "correlation": pair.correlation,
                "fixed": pair.fixed,
            }
            for pair in known.pairs
        ],
        "not_told_apart": [
            {"parts": dict(each.parts), "share_of_prior": each.share} for each in known.open
        ],
        "errors": {
            name: {
                "all": scores(frame, names=("tpot", "ttft")).to_dicts(),
                **{by: scores(frame, [by], ("tpot", "ttft")).to_dicts() for by in SLICES},
            }
            for name, frame in (("before", found.before), ("after", found.after))
        },
        "predictions": found.after.select(*(pl.col(name) for name in POINT)).to_dicts(),
        "entry": dict(found.tree),
    }


SLICES = ("model", "system")


def _constants(found: Calibration) -> list[dict[str, Any]]:
    values, begin = found.fit.values, np.exp(found.fit.problem.begin)
    return [
        {
            "path": constant.path,
            "unit": "s" if is_time(constant) else "",
            "before": float(begin[place]),
            "value": float(values[place]),
            "low": float(found.low[place]),
            "high": float(found.high[place]),
            "learnt": float(found.certainty.learnt[place]),
            "the_data": said(found.certainty, place),
        }
        for place, constant in enumerate(found.fit.problem.constants)
    ]
