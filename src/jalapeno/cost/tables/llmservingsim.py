"""Profiles of LLMServingSim: layers of a model timed under vLLM, as tables.

A profile is a folder for a tensor-parallel degree with ``dense.csv`` (a layer by tokens),
``per_sequence.csv`` (by sequences), ``attention.csv`` (by new and cached tokens of a prompt,
decoding sequences and their context) and ``moe.csv`` (by tokens and experts reached), plain or
gzip; times are microseconds of one run of a layer's kernels.  A step is their sum: what stands
before and after the layers once, the rest once a layer, the norm twice.

https://github.com/casys-kaist/LLMServingSim (MIT).
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

from jalapeno.catalogue import Kind
from jalapeno.cost.tables.grid import Grid
from jalapeno.cost.tables.table import Axis, StepTable, StepTables
from jalapeno.errors import BadFact

Array = npt.NDArray[np.float64]

FILES = tuple(
    f"{name}.csv{suffix}"
    for name in ("attention", "dense", "moe", "per_sequence")
    for suffix in ("", ".gz")
)
"""What a folder of a profile holds."""

MICROSECOND = 1e-6

BY_TOKENS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "embedding": (("embedding",), ("embedding",)),
    "norm": (("layernorm",), ("norm",)),
    "qkv": (("qkv_proj",), ("qkv",)),
    "rotary": (("rotary_emb", "qk_norm"), ("rotary, KV write",)),
    "output projection": (("o_proj",), ("output projection",)),
    "FFN gate and up": (("gate_up_proj", "act_fn"), ("dense FFN, gate and up",)),
    "FFN down": (("down_proj",), ("dense FFN, down",)),
    "final norm": (("final_layernorm",), ()),
}
"""Table to layers of a profile, which are added, and the operators they stand for."""
BY_SEQUENCES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "LM head and sampler": (("lm_head", "sampler"), ("LM head",)),
}
ATTENTION = ("decode attention, full", "prefill attention, full")
EXPERTS = ("routed experts", "router", "top-k, permutation", "weighted sum")


def read_profile(place: str, sha256: str, contents: Mapping[str, bytes]) -> StepTables:
    """The tables of a profile: *contents* are its files by name.

    Raises :class:`BadFact` where a file is no CSV with the columns of a profile, or has a layer
    that no operator is known for.
    """
    frames = {name.split(".")[0]: _frame(name, text, place) for name, text in contents.items()}
    return StepTables(place, sha256, tuple(_tables(frames, place)))


def _tables(frames: Mapping[str, pl.DataFrame], place: str) -> Iterator[StepTable]:
    if "dense" in frames:
        yield from _lines(frames["dense"], "tokens", Axis.TOKENS, BY_TOKENS, f"{place}: dense")
    if "per_sequence" in frames:
        where = f"{place}: per_sequence"
        frame = frames["per_sequence"]
        yield from _lines(frame, "sequences", Axis.SEQUENCES, BY_SEQUENCES, where)
    if "attention" in frames:
        axes = (Axis.PROMPT, Axis.CACHED, Axis.DECODING, Axis.CONTEXT)
        grid = attention_grid(frames["attention"], f"{place}: attention")
        yield StepTable("attention", axes, grid, ATTENTION)
    if "moe" in frames:
        grid = experts_grid(frames["moe"], f"{place}: moe")
        yield StepTable("experts", (Axis.EXPERT_TOKENS, Axis.EXPERTS), grid, EXPERTS)


def _frame(name: str, content: bytes, place: str) -> pl.DataFrame:
    """The rows of a file, checked: columns, numbers, no knot twice."""
    where = f"{place}: {name}"
    try:
        text = gzip.decompress(content) if name.endswith(".gz") else content
        frame = pl.read_csv(text)
        keys = [key for key in frame.columns if key != "time_us"]
        whole = frame.select(*(pl.col(key) for key in keys), pl.col("time_us").cast(pl.Float64))
    except (OSError, EOFError, zlib.error, pl.exceptions.PolarsError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadFact(f"{where}: not a CSV of a profile: {said}") from error
    if whole.select(keys).is_duplicated().any():
        twice = whole.filter(whole.select(keys).is_duplicated()).row(0)
        raise BadFact(f"{where}: measured twice: {dict(zip(whole.columns, twice, strict=True))}")
    return whole


def _lines(
    frame: pl.DataFrame,
    count: str,
    axis: Axis,
    wanted: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]],
    where: str,
) -> Iterator[StepTable]:
    """Tables of one axis: layers that go together added up."""
    _need(frame, ("layer", count), where)
    layers = frame["layer"].unique(maintain_order=True).to_list()
    known = [layer for parts, _ in wanted.values() for layer in parts]
    strange = sorted(set(layers) - set(known))
    if strange:
        raise BadFact(f"{where}: no operator is known for {', '.join(strange)}; {known} are known")
    for name, (parts, stands_for) in wanted.items():
        rows = frame.filter(pl.col("layer").is_in([part for part in parts if part in layers]))
        if not len(rows):
            continue
        if (rows.group_by(count).len()["len"] != rows["layer"].n_unique()).any():
            raise BadFact(f"{where}: {name}: its parts are measured at different {count}")
        sums = rows.group_by(count).agg(pl.col("time_us").sum()).sort(count)
        seconds = sums["time_us"].to_numpy() * MICROSECOND
        grid = Grid((sums[count].to_numpy(),), seconds, Kind.MEASURED, where)
        yield StepTable(name, (axis,), grid, stands_for)


def _need(frame: pl.DataFrame, columns: tuple[str, ...], where: str) -> None:
    if set(frame.columns) != {*columns, "time_us"}:
        raise BadFact(
            f"{where}: columns {', '.join(frame.columns)}; a profile has "
            f"{', '.join((*columns, 'time_us'))}"
        )


def experts_grid(frame: pl.DataFrame, where: str) -> Grid:
    """Seconds by tokens and experts reached.

    Few tokens cannot reach many experts, so there the sweep has no rows: they are as for the most
    experts that it has, and no step comes there.
    """
    _need(frame, ("tokens", "activated_experts"), where)
    tokens, experts = _knots(frame, "tokens"), _knots(frame, "activated_experts")
    seconds = np.empty((len(tokens), len(experts)))
    for row, count in enumerate(tokens):
        rows = frame.filter(pl.col("tokens") == count).sort("activated_experts")
        reached, times = rows["activated_experts"].to_numpy(), rows["time_us"].to_numpy()
        seconds[row] = np.interp(experts, reached, times) * MICROSECOND
    return Grid((tokens, experts), seconds, Kind.MEASURED, where)


def attention_grid(frame: pl.DataFrame, where: str) -> Grid:
    """Seconds by new tokens, cached tokens, decoding sequences and their context.

    The sweep has a plane of cached tokens and contexts for each pair of new tokens and sequences,
    with knots of its own: planes are read at the knots of all, by the same linear rule as the grid
    itself.  Without a prompt nothing is cached, and without sequences there is no context: such
    planes are flat that way.  Nothing at all is as the shortest run.  More sequences beside a
    prompt than were measured add what they add without one.
    """
    names = ("prefill_chunk", "kv_prefill", "n_decode", "kv_decode")
    _need(frame, names, where)
    axes = tuple(_knots(frame, name) for name in names)
    prompts, cached, sequences, contexts = axes
    seconds = np.full(tuple(len(axis) for axis in axes), np.nan)
    for (new, running), plane in frame.group_by(["prefill_chunk", "n_decode"]):
        at = int(np.searchsorted(prompts, new)), int(np.searchsorted(sequences, running))
        seconds[at[0], :, at[1], :] = _plane(plane, cached, contexts, where)
    if prompts[0] == 0 and sequences[0] == 0:
        seconds[0, :, 0, :] = np.nanmin(seconds)
    for row in range(1, len(prompts)):
        for column in range(1, len(sequences)):
            if np.isnan(seconds[row, 0, column, 0]):
                more = seconds[0, :, column, :] - seconds[0, :, column - 1, :]
                seconds[row, :, column, :] = seconds[row, :, column - 1, :] + more
    if np.isnan(seconds).any():
        row, _, column, _ = (int(index) for index in np.argwhere(np.isnan(seconds))[0])
        raise BadFact(
            f"{where}: {prompts[row]:g} new tokens beside {sequences[column]:g} sequences were not "
            "measured, and nothing says what they take"
        )
    return Grid(axes, seconds * MICROSECOND, Kind.MEASURED, where)


def _plane(plane: pl.DataFrame, cached: Array, contexts: Array, where: str) -> Array:
    """A plane of the sweep at these knots; flat beyond its own."""
    own = _knots(plane, "kv_prefill")
    lines = []
    for knot in own:
        line = plane.filter(pl.col("kv_prefill") == knot).sort("kv_decode")
        at, times = line["kv_decode"].to_numpy(), line["time_us"].to_numpy()
        lines.append(np.interp(contexts, at, times))
    table = np.array(lines)
    if np.isnan(table).any():
        raise BadFact(f"{where}: a time is not a number")
    columns = [np.interp(cached, own, table[:, number]) for number in range(len(contexts))]
    return np.array(columns).T


def _knots(frame: pl.DataFrame, name: str) -> Array:
    knots: Array = frame[name].unique().sort().to_numpy().astype(np.float64)
    return knots
