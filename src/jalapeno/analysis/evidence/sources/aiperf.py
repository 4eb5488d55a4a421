"""AIPerf's ``profile_export_aiperf.json``: one run, its statistics and what it was configured for.

Each metric has a unit and, over all requests, ``avg`` and percentiles
(https://docs.nvidia.com/aiperf/reference/json-export-schema).  Its inter-token latency is, of a
request, what is called TPOT here: (E2E - TTFT) / (OSL - 1).  Of the deployment it knows nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jalapeno.analysis.evidence.sources.inferencex import number, whole
from jalapeno.analysis.evidence.sources.names import model_of
from jalapeno.analysis.evidence.sources.points import Points, Told, nominal, points
from jalapeno.errors import UsageError

PER_UNIT = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "sec": 1e3, "s": 1e3}
"""Milliseconds of the units that AIPerf displays times in."""

STATISTICS = (("mean", "avg"), ("median", "p50"))


def is_profile(tree: Any) -> bool:
    """Whether *tree* is such a profile."""
    return isinstance(tree, Mapping) and isinstance(tree.get("time_to_first_token"), Mapping)


def read_profile(tree: Mapping[str, Any], told: Told, name: str) -> Points:
    """The one point of a profile, in the deployment that was *told*.

    Nominal lengths are those told, or the ones whose draws have the mean of its requests: AIPerf's
    lengths lie around a mean, the twin draws from 80 % of the nominal one up.  A run that was
    cancelled, or that kept no fixed number of requests in flight, is no point: it is left out.
    """
    if tree.get("was_cancelled"):
        return points([], {name: "the run was cancelled"}, name)
    config = tree.get("input_config")
    asked = config if isinstance(config, Mapping) else {}
    concurrency = told.concurrency or _at(asked, "loadgen", "concurrency")
    lengths = {
        key: getattr(told, key) or nominal(_average(tree, f"{what}_sequence_length", name))
        for key, what in (("isl", "input"), ("osl", "output"))
    }
    layout = told.unified(name)
    rate = _at(tree, "output_token_throughput", "avg")
    model = told.model or _model(asked)
    point = {
        "id": name,
        "model": told.need("model", name, model),
        "system": told.need("system", name),
        "engine": told.need("engine", name),
        "engine_version": "unknown",
        "concurrency": whole(
            told.need("concurrency", name, concurrency), f"{name}: input_config.loadgen.concurrency"
        ),
        "precision": told.need("precision", name),
        "speculative": False,
        "split": "calib",
        "source": f"{name}, AIPerf, run of {str(tree.get('start_time', '?'))[:10]}",
        "measured_tokens_per_s_per_gpu": None if rate is None else float(rate) / layout["gpus"],
        **lengths,
        **layout,
        **_times(tree, name),
    }
    return points([point], {}, name)


def _times(tree: Mapping[str, Any], name: str) -> dict[str, Any]:
    figures = ("time_to_first_token", "inter_token_latency")
    for statistic, key in STATISTICS:
        said = [_at(tree, figure, key) for figure in figures]
        if all(value is not None for value in said):
            ttft, tpot = (
                number(value, f"{name}: {figure}.{key}") * _ms(tree, figure, name)
                for figure, value in zip(figures, said, strict=True)
            )
            return {"measured_ttft_ms": ttft, "measured_tpot_ms": tpot, "statistic": statistic}
    raise UsageError(
        f"{name}: {' and '.join(figures)} have neither avg nor p50: was the endpoint streaming?"
    )


def _ms(tree: Mapping[str, Any], figure: str, name: str) -> float:
    unit = _at(tree, figure, "unit")
    if unit not in PER_UNIT:
        raise UsageError(f"{name}: {figure}.unit is {unit!r}; known are {', '.join(PER_UNIT)}")
    return PER_UNIT[str(unit)]


def _average(tree: Mapping[str, Any], figure: str, name: str) -> float:
    return number(_at(tree, figure, "avg"), f"{name}: {figure}.avg")


def _model(config: Mapping[str, Any]) -> str | None:
    """The model of the configuration, whose shape differs by version."""
    names = _at(config, "endpoint", "model_names")
    items = _at(config, "models", "items")
    if isinstance(items, list) and items and isinstance(items[0], Mapping):
        names = [items[0].get("name")]
    return model_of(str(names[0])) if isinstance(names, list) and names else None


def _at(tree: Mapping[str, Any], *keys: str) -> Any:
    """What lies at *keys*, or None."""
    found: Any = tree
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found
