"""CSV that InferenceX's dashboard exports: a chart's points, with remarks above them.

Columns of older files say GPU for chip, and ms for times that are seconds; so names are compared
without units, and the unit of all times follows from the size of TPOT.  Of split deployments the
file states the decode pool alone: they are left out by name.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from jalapeno.analysis.evidence.sources.inferencex import first, number, truth, whole
from jalapeno.analysis.evidence.sources.names import engine_of, model_of, precision_of, system_of
from jalapeno.analysis.evidence.sources.points import Points, points
from jalapeno.errors import UsageError

NEEDED = ("model", "isl", "osl", "hardware key", "precision", "tp", "concurrency")
SECONDS_BELOW = 0.7
"""TPOTs are stated in seconds where all are below: none of a served model is as short in ms, and
none as long in seconds."""


def is_export(text: str) -> bool:
    """Whether *text* has the header of an export."""
    head = next((line for line in text.splitlines() if not line.startswith("#")), "")
    return "Hardware Key" in head


def read_export(text: str, name: str) -> Points:
    """The points of an export's *text*; rows that cannot be one are named."""
    body = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    try:
        table = pl.read_csv(io.StringIO(body), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise UsageError(f"{name}: cannot be read as CSV: {error}") from error
    table = table.rename({column: plain(column) for column in _once(table)})
    missing = [column for column in NEEDED if column not in table.columns]
    if missing:
        raise UsageError(f"{name}: no column {', '.join(missing)}; needed are {', '.join(NEEDED)}")
    scale = _scale(table)
    found, left_out = [], {}
    for place, row in enumerate(table.iter_rows(named=True), start=1):
        id_ = f"{name}#{place}"
        try:
            found.append({"id": id_, **_row(row, scale, id_, name)})
        except UsageError as error:
            left_out[id_] = str(error).removeprefix(f"{id_}: ").splitlines()[0]
    return points(found, left_out, name)


def plain(column: str) -> str:
    """A column's name without unit, in small letters, a GPU being a chip."""
    bare = re.sub(r"\s*\(.*?\)", "", column).strip().lower()
    return bare.replace("gpu", "chip")


def _once(table: pl.DataFrame) -> list[str]:
    """Columns to rename: of those that have one plain name, the first (a plotted one repeats)."""
    seen: set[str] = set()
    kept = []
    for column in table.columns:
        if plain(column) not in seen:
            seen.add(plain(column))
            kept.append(column)
    return kept


def _scale(table: pl.DataFrame) -> float:
    """Milliseconds in the file's unit of time."""
    said = [column for column in ("mean tpot", "median tpot") if column in table.columns]
    values = [
        value
        for column in said
        for value in table[column].cast(pl.Float64, strict=False).drop_nulls().to_list()
    ]
    return 1000.0 if values and max(values) < SECONDS_BELOW else 1.0


def _row(row: Mapping[str, Any], scale: float, what: str, name: str) -> dict[str, Any]:
    if truth(row.get("disaggregated")):
        raise UsageError(f"{what}: split pools, whose prefill workers the file does not state")
    hardware, _, rest = str(row["hardware key"]).partition("_")
    framework, _, drafting = rest.partition("_")
    words = {**row, "hardware key": hardware, "framework": framework or str(row.get("framework"))}
    tp, spread = whole(row["tp"], f"{what}: TP"), truth(row.get("dp attention"))
    stated = row.get("output throughput/chip")
    return {
        "model": first(model_of, words, ("model",), what),
        "system": first(system_of, words, ("hardware key",), what),
        "engine": first(engine_of, words, ("framework",), what),
        "engine_version": "unknown",
        "isl": whole(row["isl"], f"{what}: ISL"),
        "osl": whole(row["osl"], f"{what}: OSL"),
        "concurrency": whole(row["concurrency"], f"{what}: Concurrency"),
        "precision": first(precision_of, words, ("precision",), what),
        "speculative": bool(drafting) or str(row.get("spec decoding") or "none") != "none",
        "split": "calib",
        "source": f"{name}, run of {row.get('date') or '?'}",
        "measured_tokens_per_s_per_gpu": None if not stated else number(stated, f"{what}: output"),
        "mode": "unified",
        "gpus": tp,
        "decode_workers": 1,
        "decode_tp": 1 if spread else tp,
        "decode_dp": tp if spread else 1,
        "decode_ep": whole(row.get("ep") or 1, f"{what}: EP"),
        **_times(row, scale, what),
    }


def _times(row: Mapping[str, Any], scale: float, what: str) -> dict[str, Any]:
    for statistic in ("mean", "median"):
        said = [row.get(f"{statistic} {figure}") for figure in ("ttft", "tpot")]
        if all(said):
            ttft, tpot = (scale * number(value, f"{what}: {statistic} times") for value in said)
            return {"measured_ttft_ms": ttft, "measured_tpot_ms": tpot, "statistic": statistic}
    raise UsageError(f"{what}: no mean and no median of both TTFT and TPOT")
