"""InferenceX's results as JSON: the client's own, and the aggregated rows of a run.

The client (``benchmark_serving.py``) knows times, lengths and load, and nothing of the deployment;
the aggregation (``process_result.py``) adds that, and states times in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from jalapeno.analysis.evidence.sources.names import engine_of, model_of, precision_of, system_of
from jalapeno.analysis.evidence.sources.points import Points, Told, nominal, points
from jalapeno.errors import UsageError

MS = 1000.0


def is_raw(tree: Any) -> bool:
    """Whether *tree* is what the client writes."""
    return isinstance(tree, Mapping) and "max_concurrency" in tree and has(tree, "_ttft_ms")


def is_aggregated(tree: Any) -> bool:
    """Whether *tree* is an aggregated row."""
    return isinstance(tree, Mapping) and "hw" in tree and has(tree, "_ttft")


def has(tree: Mapping[str, Any], ending: str) -> bool:
    """Whether *tree* states a mean or a median of a figure that ends so."""
    return any(f"{name}{ending}" in tree for name in ("mean", "median"))


def times(tree: Mapping[str, Any], ending: str, scale: float, what: str) -> dict[str, Any]:
    """TTFT and TPOT in ms, as means where both are stated, else as medians, and which they are.

    Raises :class:`UsageError` where neither is, or one is no positive number.
    """
    for statistic in ("mean", "median"):
        said = [tree.get(f"{statistic}_{figure}{ending}") for figure in ("ttft", "tpot")]
        if all(value is not None for value in said):
            ttft, tpot = (scale * number(value, f"{what}: {statistic} times") for value in said)
            return {"measured_ttft_ms": ttft, "measured_tpot_ms": tpot, "statistic": statistic}
    raise UsageError(f"{what}: no mean and no median of both TTFT and TPOT")


def number(value: Any, what: str) -> float:
    """*value* as a positive number; :class:`UsageError` for anything else."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not (math.isfinite(found) and found > 0.0):
        raise UsageError(f"{what}: {value!r} is not a positive number")
    return found


def whole(value: Any, what: str) -> int:
    """*value* as a positive whole number; :class:`UsageError` for anything else."""
    found = number(value, what)
    if found != int(found):
        raise UsageError(f"{what}: {value!r} is not a whole number")
    return int(found)


def raw(tree: Mapping[str, Any], told: Told, name: str) -> Points:
    """The one point of a client's result, in the deployment that was *told*.

    Nominal lengths are those told, or the ones whose draws have the mean of its requests.
    """
    done = whole(tree.get("completed"), f"{name}: completed")
    lengths = {
        key: getattr(told, key)
        or nominal(number(tree.get(f"total_{what}_tokens"), f"{name}: {what} tokens") / done)
        for key, what in (("isl", "input"), ("osl", "output"))
    }
    layout = told.unified(name)
    model = told.model or model_of(str(tree.get("model_id", "")))
    engine = told.engine or engine_of(str(tree.get("backend", "")))
    rate = tree.get("output_throughput")
    point = {
        "id": name,
        "model": told.need("model", name, model),
        "system": told.need("system", name),
        "engine": told.need("engine", name, engine),
        "engine_version": "unknown",
        "concurrency": whole(tree["max_concurrency"], f"{name}: max_concurrency"),
        "precision": told.need("precision", name),
        "speculative": False,
        "split": "calib",
        "source": f"{name}, run of {tree.get('date', '?')}",
        "measured_tokens_per_s_per_gpu": None if rate is None else float(rate) / layout["gpus"],
        **lengths,
        **layout,
        **times(tree, "_ms", 1.0, name),
    }
    return points([point], {}, name)


def aggregated(trees: Sequence[Any], name: str) -> Points:
    """The points among aggregated rows; others are named with what keeps them from being one."""
    found, left_out = [], {}
    for place, tree in enumerate(trees, start=1):
        id_ = f"{name}#{place}" if len(trees) > 1 else name
        try:
            found.append({"id": id_, "source": f"{name}, aggregated", **_row(tree, id_)})
        except UsageError as error:
            left_out[id_] = str(error).removeprefix(f"{id_}: ").splitlines()[0]
    return points(found, left_out, name)


def _row(tree: Any, what: str) -> dict[str, Any]:
    if not is_aggregated(tree):
        raise UsageError(f"{what}: is not an aggregated row of InferenceX")
    layout = _layout(tree, what)
    output = tree.get("output_tput_per_gpu")
    if output is not None and layout["mode"] == "split":  # stated a decode GPU
        decode = layout["decode_workers"] * layout["decode_tp"] * layout["decode_dp"]
        output = float(output) * decode / layout["gpus"]
    return {
        "model": first(model_of, tree, ("infmax_model_prefix", "model"), what),
        "system": first(system_of, tree, ("hw",), what),
        "engine": first(engine_of, tree, ("framework",), what),
        "engine_version": str(tree.get("image", "unknown")).rpartition(":")[2],
        "isl": whole(tree.get("isl"), f"{what}: isl"),
        "osl": whole(tree.get("osl"), f"{what}: osl"),
        "concurrency": whole(tree.get("conc"), f"{what}: conc"),
        "precision": first(precision_of, tree, ("precision",), what),
        "speculative": str(tree.get("spec_decoding", "none")) != "none",
        "split": "calib",
        "measured_tokens_per_s_per_gpu": output,
        **layout,
        **times(tree, "", MS, what),
    }


def first(read: Any, tree: Mapping[str, Any], keys: Sequence[str], what: str) -> str:
    """What *read* knows the first of *keys* for; :class:`UsageError` names what it does not."""
    for key in keys:
        found = read(str(tree.get(key, "")))
        if found is not None:
            return str(found)
    said = ", ".join(f"{key} {tree.get(key)!r}" for key in keys)
    raise UsageError(f"{what}: {said} is none that the catalogue has")


def truth(value: Any) -> bool:
    """InferenceX's truth values, which may be text."""
    return str(value).strip().lower() in ("true", "1", "yes")


def _layout(tree: Mapping[str, Any], what: str) -> dict[str, Any]:
    if truth(tree.get("disagg", False)):
        parts = {"mode": "split", **_pool(tree, "prefill", what), **_pool(tree, "decode", what)}
        return parts | {"gpus": sum(_chips(parts, pool) for pool in ("prefill", "decode"))}
    if truth(tree.get("is_multinode", False)):
        raise UsageError(f"{what}: a unified deployment over nodes, whose workers are not stated")
    _flat(tree, "", what)
    tp, spread = whole(tree.get("tp"), f"{what}: tp"), truth(tree.get("dp_attention", False))
    return {
        "mode": "unified",
        "gpus": tp,
        "decode_workers": 1,
        "decode_tp": 1 if spread else tp,
        "decode_dp": tp if spread else 1,
        "decode_ep": whole(tree.get("ep", 1), f"{what}: ep"),
    }


def _pool(tree: Mapping[str, Any], pool: str, what: str) -> dict[str, int]:
    """A pool; with attention DP its ``tp`` counts the ranks, as in the recipes."""
    _flat(tree, f"{pool}_", what)
    tp = whole(tree.get(f"{pool}_tp"), f"{what}: {pool}_tp")
    spread = truth(tree.get(f"{pool}_dp_attention", False))
    return {
        f"{pool}_workers": whole(tree.get(f"{pool}_num_workers"), f"{what}: {pool}_num_workers"),
        f"{pool}_tp": 1 if spread else tp,
        f"{pool}_dp": tp if spread else 1,
        f"{pool}_ep": whole(tree.get(f"{pool}_ep", 1), f"{what}: {pool}_ep"),
    }


def _flat(tree: Mapping[str, Any], pool: str, what: str) -> None:
    """Raise :class:`UsageError` for a pipeline or context parallelism."""
    for key in ("pp", "dcp_size", "pcp_size"):
        if int(tree.get(f"{pool}{key}") or 1) > 1:
            raise UsageError(f"{what}: {pool}{key} is {tree[f'{pool}{key}']}, not played here")


def _chips(parts: Mapping[str, Any], pool: str) -> int:
    return math.prod(int(parts[f"{pool}_{name}"]) for name in ("workers", "tp", "dp"))
