"""Files of measured points, told apart by what is in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from jalapeno.analysis.evidence.sources.aiperf import is_profile, read_profile
from jalapeno.analysis.evidence.sources.export import is_export, read_export
from jalapeno.analysis.evidence.sources.inferencex import aggregated, is_aggregated, is_raw, raw
from jalapeno.analysis.evidence.sources.points import COLUMNS, LEFT_OUT, Points, Told, joined
from jalapeno.analysis.validation.cleaned import read_cleaned
from jalapeno.analysis.validation.shipped import ROWS, needed
from jalapeno.errors import UsageError

KNOWN = (
    "the cleaned table (CSV with silicon_ttft_ms), InferenceX's results (JSON of its client, or "
    "aggregated), its dashboard's CSV export, AIPerf's profile_export_aiperf.json"
)
"""What is read."""


def read_points(paths: Sequence[Path], told: Told) -> Points:
    """The points of all files at *paths*, or those that ship where there are none.

    *told* says what a file does not say itself.  Raises :class:`UsageError` for what cannot be read
    or is none of :data:`KNOWN`.
    """
    if not paths:
        return _cleaned(needed(ROWS))
    return joined([_read(path, told) for path in paths])


def _read(path: Path, told: Told) -> Points:
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or no path at all
        said = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path}: cannot be read: {said}") from error
    if text.lstrip()[:1] in ("{", "["):
        return _of_tree(_tree(text, path), told, path)
    if is_export(text):
        return read_export(text, path.name)
    if "silicon_ttft_ms" not in (text.splitlines() or [""])[0]:
        raise UsageError(f"{path}: holds no points that are known here: {KNOWN}")
    return _cleaned(text.encode(), str(path))


def _tree(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON: {error}") from error


def _of_tree(tree: Any, told: Told, path: Path) -> Points:
    if isinstance(tree, list) and any(map(is_aggregated, tree)):
        return aggregated(tree, path.name)
    if is_aggregated(tree):
        return aggregated([tree], path.name)
    if is_raw(tree):
        return raw(tree, told, path.name)
    if is_profile(tree):
        return read_profile(tree, told, path.name)
    raise UsageError(f"{path}: holds no points that are known here: {KNOWN}")


def _cleaned(content: bytes, name: str = "") -> Points:
    try:
        rows = read_cleaned(content)
    except UsageError as error:
        said = str(error).removeprefix("the measured points: ")
        raise type(error)(f"{name}: {said}") from error
    return Points(rows.select(*COLUMNS), pl.DataFrame(schema=pl.Schema(LEFT_OUT)))
