"""An explanation as JSON: whole picoseconds, and percentages that add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from jalapeno.analysis.explain import MEDIAN_BAND, Split, View, apportion
from jalapeno.analysis.explanation import BANDS, Explanation
from jalapeno.metrics import Report
from jalapeno.presentation.explain_advice import Help
from jalapeno.presentation.explain_words import contrast, sentence


def explain_json(found: Explanation, report: Report, advice: Sequence[Help]) -> dict[str, Any]:
    """The explanation as plain data; times in whole picoseconds, means in ms."""
    return {
        "digest": report.digest,
        "layout": report.layout,
        "metric": found.metric.value,
        "scope": asdict(found.scope),
        "value_ms": found.value / 1e9,
        "sentence": sentence(found),
        "contrast": contrast(found),
        "here": split_json(found.chosen),
        "median": {"percentiles": list(MEDIAN_BAND), **split_json(found.median)},
        "bands": [
            {"percentiles": list(ends), **split_json(each)}
            for ends, each in zip(BANDS, found.bands, strict=True)
        ],
        "waits_ps": {
            short.label: {"slots": short.slots, "blocks": short.blocks, "step": short.step}
            for short in found.waits
        },
        "helps": [asdict(each) for each in advice],
        "request": None if found.life is None else asdict(found.life),
        "energy_joules": None if found.energy is None else asdict(found.energy),
    }


def split_json(of: Split) -> dict[str, Any]:
    """One split, both views."""
    return {
        "requests": of.requests,
        "units": of.units,
        "total_ps": of.total,
        "by_cause": _view(of, "cause"),
        "by_part": _view(of, "part"),
    }


def _view(of: Split, by: View) -> dict[str, Any]:
    percents = apportion(of.view(by))
    return {
        label: {
            "ps": time,
            "mean_ms": float(of.mean(time)) / 1e9,
            "percent": percents[label],
        }
        for label, time in of.view(by).items()
    }
