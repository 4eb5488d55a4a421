"""The text of a trace as columns: which formats are understood, and what is wrong with a line.

A text whose first character is ``{`` is JSONL, an object a line; any other is CSV with a header.
Names of columns are compared without case, spaces and underscores:

* Azure (2023, 2024): ``TIMESTAMP`` as a date with a time, ``ContextTokens``, ``GeneratedTokens``;
* Mooncake: ``timestamp`` in milliseconds, ``input_length``, ``output_length``;
* any other: a time of :data:`TIMES` in seconds (or milliseconds where its name ends in ``_ms``),
  a prompt of :data:`PROMPTS` and an answer of :data:`OUTPUTS` in tokens.

A column of :data:`CACHED`, where there is one, says how many tokens of each prompt are in the cache
when it comes.  Other columns do not matter.  Times count from the first request.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from jalapeno.errors import BadScenario
from jalapeno.simulation.columns import NEVER

Integers = npt.NDArray[np.int64]

TIMES = ("timestamp", "time", "arrival", "arrival_time", "arrived_at")
PROMPTS = (
    *("prompt", "prompt_tokens", "prompt_length", "prompt_len", "input", "input_tokens"),
    *("input_length", "input_len", "isl", "ContextTokens", "request_tokens", "num_prefill_tokens"),
)
OUTPUTS = (
    *("output", "output_tokens", "output_length", "output_len", "osl", "answer", "answer_tokens"),
    *("GeneratedTokens", "completion_tokens", "response_tokens", "num_decode_tokens"),
)
CACHED = ("cached", "cached_tokens", "num_cached_tokens", "prefix_cache_hit")
MOONCAKE = {"timestamp", "inputlength", "outputlength"}

SECOND, MILLISECOND = 1e12, 1e9
DATES = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f%#z")
"""With a space or a T between date and time."""
MOST_TOKENS = 10**9


class Columns(NamedTuple):
    """The columns of a trace."""

    times: Integers
    """ps after the first request"""
    prompts: Integers
    """tokens"""
    outputs: Integers
    """tokens"""
    cached: Integers
    """tokens of the prompt"""


class _Lines(NamedTuple):
    """Cells of a text, as words."""

    where: str
    numbers: Sequence[int]
    """Line of each row, from one."""
    time: pl.Series
    prompt: pl.Series
    output: pl.Series
    cached: pl.Series | None
    time_unit: float
    """ps a unit of a time that is a number"""

    def complain(self, row: int, what: str) -> BadScenario:
        return BadScenario(f"{self.where}: line {self.numbers[row]}: {what}")


def trace_columns(text: bytes, where: str) -> Columns:
    """The columns of the trace in *text*; *where* begins every complaint.

    Raises :class:`BadScenario` with the line and the value where one is missing, no number,
    negative, not whole, zero (a prompt or an answer) or earlier than the one before (a time).
    """
    try:
        words = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadScenario(f"{where}: not text in UTF-8: {error}") from error
    rows = [(n, line) for n, line in enumerate(words.split("\n"), 1) if line.strip()]
    if not rows:
        raise BadScenario(f"{where}: holds nothing; it needs {_understood()}")
    lines = _jsonl(rows, where) if rows[0][1].lstrip().startswith("{") else _csv(rows, where)
    times = _times(lines)
    prompts = _tokens(lines, lines.prompt)
    return Columns(times, prompts, _tokens(lines, lines.output), _cached(lines, prompts))


def _understood() -> str:
    return (
        f"a time ({', '.join(TIMES)}: seconds or a date; with _ms: milliseconds), a prompt "
        f"({', '.join(PROMPTS)}) and an answer ({', '.join(OUTPUTS)}: tokens)"
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _choose(found: Sequence[str], where: str) -> tuple[str, str, str, float]:
    """Names of time, prompt and answer among those *found*, and the time's unit."""
    chosen = []
    timed = [*TIMES, *(f"{name}_ms" for name in TIMES), *(f"{name}_s" for name in TIMES)]
    for sort, names in (("time", timed), ("prompt", PROMPTS), ("answer", OUTPUTS)):
        plain = {_plain(name) for name in names}
        matching = [name for name in found if _plain(name) in plain]
        if len(matching) != 1:
            shown = ", ".join(repr(name) for name in (matching or found)[:20])
            said = f"several columns for the {sort}" if matching else f"no column for the {sort}"
            raise BadScenario(f"{where}: {said} among {shown}; a trace needs {_understood()}")
        chosen.append(matching[0])
    time, prompt, output = chosen
    of_mooncake = {_plain(name) for name in chosen} == MOONCAKE
    unit = MILLISECOND if of_mooncake or _plain(time).endswith("ms") else SECOND
    return time, prompt, output, unit


def _hits(found: Sequence[str], where: str) -> list[str]:
    """The name of the column of cached tokens among those *found*, if there is one."""
    plain = {_plain(name) for name in CACHED}
    names = [name for name in found if _plain(name) in plain]
    if len(names) > 1:
        shown = ", ".join(repr(name) for name in names)
        raise BadScenario(f"{where}: several columns for the cached tokens, {shown}: leave one")
    return names


def _csv(rows: Sequence[tuple[int, str]], where: str) -> _Lines:
    text = "\n".join(line.rstrip("\r") for _, line in rows)
    try:
        frame = pl.read_csv(io.BytesIO(text.encode()), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadScenario(f"{where}: not CSV: {said}") from error
    if not len(frame):
        raise BadScenario(f"{where}: has a header and no request")
    if len(frame) != len(rows) - 1:
        raise BadScenario(f"{where}: not CSV with a line a request: are quotes left open?")
    time, prompt, output, unit = _choose(frame.columns, where)
    numbers = [number for number, _ in rows[1:]]
    names = (time, prompt, output, *_hits(frame.columns, where))
    cells = [frame[name].fill_null("").str.strip_chars() for name in names]
    hits = cells[3] if len(cells) > 3 else None
    return _Lines(where, numbers, cells[0], cells[1], cells[2], hits, unit)


def _jsonl(rows: Sequence[tuple[int, str]], where: str) -> _Lines:
    first = _object(rows[0], where)
    time, prompt, output, unit = _choose(tuple(first), where)
    lines = pl.Series([line for _, line in rows])
    names = (time, prompt, output, *_hits(tuple(first), where))
    cells = [lines.str.json_path_match(f'$["{name}"]').alias(name) for name in names]
    for row in _nulls(cells):
        held = _object(rows[row], where)
        missing = [name for name in names if held.get(name) is None] or "number as JSON has it"
        raise BadScenario(f"{where}: line {rows[row][0]}: no {missing} in {rows[row][1][:80]}")
    numbers = [number for number, _ in rows]
    hits = cells[3] if len(cells) > 3 else None
    return _Lines(where, numbers, cells[0], cells[1], cells[2], hits, unit)


def _nulls(cells: Iterable[pl.Series]) -> list[int]:
    """The first row where a cell is missing, if any."""
    rows = [cell.is_null().arg_max() or 0 for cell in cells if cell.has_nulls()]
    return [min(rows)] if rows else []


def _object(row: tuple[int, str], where: str) -> dict[str, object]:
    number, line = row
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadScenario(f"{where}: line {number}: not JSON: {error}") from error
    if not isinstance(found, dict):
        raise BadScenario(f"{where}: line {number}: not a JSON object: {line[:80]}")
    return found


def _times(lines: _Lines) -> Integers:
    numbers = lines.time.cast(pl.Float64, strict=False)
    return _dates(lines) if numbers[0] is None else _numbers(lines)


def _numbers(lines: _Lines) -> Integers:
    found = _finite(lines, lines.time, "a time in seconds, milliseconds or as a date")
    if found.min() < 0.0:
        row = int(np.argmax(found < 0.0))
        raise lines.complain(row, f"the time {lines.time[row]} is negative")
    _check_order(lines, found[1:] < found[:-1])
    with np.errstate(over="ignore"):  # it is refused in a moment
        since: npt.NDArray[np.float64] = (found - found[0]) * lines.time_unit
    _check_span(lines, float(since[-1]))
    return np.rint(since).astype(np.int64)


def _dates(lines: _Lines) -> Integers:
    words = lines.time.str.replace("T", " ", literal=True)
    for form in DATES:
        found = words.str.to_datetime(form, time_unit="ns", strict=False)
        if found[0] is not None:
            break
    if found.has_nulls():
        row = int(found.is_null().arg_max() or 0)
        raise lines.complain(
            row, f"{lines.time[row]!r} is no time: a number, or a date as in 2023-11-16 18:15:46.68"
        )
    nanoseconds = found.to_physical().to_numpy()
    _check_order(lines, nanoseconds[1:] < nanoseconds[:-1])
    _check_span(lines, (int(nanoseconds[-1]) - int(nanoseconds[0])) * 1e3)
    return np.asarray((nanoseconds - nanoseconds[0]) * 1000, dtype=np.int64)


def _check_order(lines: _Lines, early: npt.NDArray[np.bool_]) -> None:
    """Raise where a row but the first is *early*: before the one above it."""
    if early.any():
        row = int(np.argmax(early)) + 1
        before = lines.time[row - 1]
        raise lines.complain(
            row, f"the time {lines.time[row]} is before {before}: sort the trace by time"
        )


def _check_span(lines: _Lines, span: float) -> None:
    if not span < NEVER:
        raise BadScenario(
            f"{lines.where}: spans {span / SECOND / 86_400:,.0f} days; the clock ends after "
            f"{NEVER / SECOND / 86_400:.0f}: cut the trace"
        )


def _tokens(lines: _Lines, words: pl.Series) -> Integers:
    found = _finite(lines, words, "a whole number of tokens")
    wrong = (found < 1.0) | (found != np.rint(found)) | (found > MOST_TOKENS)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise lines.complain(
            row, f"{words.name}: {words[row]!r} is no whole number from 1 to {MOST_TOKENS:,} tokens"
        )
    return found.astype(np.int64)


def _cached(lines: _Lines, prompts: Integers) -> Integers:
    if lines.cached is None:
        return np.zeros_like(prompts)
    found = _finite(lines, lines.cached, "a whole number of tokens")
    wrong = (found < 0.0) | (found != np.rint(found)) | (found >= prompts)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise lines.complain(
            row,
            f"{lines.cached.name}: {lines.cached[row]!r} is no whole number from 0 to less than "
            f"the prompt's {prompts[row]:,} tokens: the last one is computed in any case",
        )
    return found.astype(np.int64)


def _finite(lines: _Lines, words: pl.Series, what: str) -> npt.NDArray[np.float64]:
    numbers = words.cast(pl.Float64, strict=False).fill_null(float("nan"))
    found = numbers.to_numpy()
    wrong = ~np.isfinite(found)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise lines.complain(row, f"{words.name}: {words[row]!r} is not {what}")
    return found
