"""A run read back: the files of a folder become the journal that they were written from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from jalapeno.cost import PARTS
from jalapeno.errors import UsageError
from jalapeno.mapping import Room, room
from jalapeno.simulation import columns as c
from jalapeno.simulation.journal import PAUSE_SCHEMA, Journal, KeptSegments
from jalapeno.simulation.run import HIDDEN, worker_frame
from jalapeno.simulation.scenario import Scenario
from jalapeno.simulation.scenario_file import read_scenario
from jalapeno.simulation.state import BUFFER_SEGMENTS

SCENARIO, REQUESTS, SEGMENTS, REPORT = (
    "scenario.json",
    "requests.parquet",
    "segments.parquet",
    "report.json",
)
RUN_FILES = (SCENARIO, REQUESTS, SEGMENTS, REPORT)
"""What the folder of a run holds."""

PAUSES = "pauses.parquet"
"""And where sequences gave way, this."""

Schema = Mapping[str, pl.DataType]

REQUEST_SCHEMA: Schema = {name: pl.Int64() for name in c.REQUEST if name not in HIDDEN} | {
    "status": pl.Enum(c.STATUSES)
}
SEGMENT_SCHEMA: Schema = {name: pl.Int64() for name in c.SEGMENT_INTEGERS} | {
    name: pl.Float64() for name in c.SEGMENT_FLOATS
}


def read_journal(folder: Path) -> Journal:
    """The journal of the run that ``jalapeno simulate`` or ``reproduce`` left in *folder*.

    Measured, it gives the numbers of the run's report, to the last bit.  Raises :class:`UsageError`
    where a file is missing or unreadable, or where the files are not of one run.
    """
    _check_there(folder)
    scenario = read_scenario(folder / SCENARIO)
    _check_digest(folder / REPORT, scenario)
    requests = _table(folder / REQUESTS, REQUEST_SCHEMA)
    segments = _table(folder / SEGMENTS, SEGMENT_SCHEMA)
    workers = worker_frame(scenario, _rooms(scenario))
    _check_requests(folder / REQUESTS, requests, scenario)
    _check_workers(folder, requests, segments, scenario)
    _check_times(folder / SEGMENTS, segments)
    # in the batches of the run itself: sums of floats depend on them in the last digit
    batches = list(segments.rechunk().iter_slices(BUFFER_SEGMENTS))
    kept = KeptSegments(batches or [segments])
    if not (folder / PAUSES).exists():
        return Journal(scenario, requests, kept, workers)
    pauses = _table(folder / PAUSES, PAUSE_SCHEMA)
    _check_pauses(folder / PAUSES, pauses, len(requests))
    return Journal(scenario, requests, kept, workers, pauses)


def _rooms(scenario: Scenario) -> tuple[Room, ...]:
    """The KV room of a rank of each pool."""
    return tuple(
        room(scenario.model, pool.plan, site.system, site.engine)
        for pool in scenario.pools
        for site in (scenario.site(pool),)
    )


def _check_there(folder: Path) -> None:
    if not folder.is_dir():
        what = "a file" if folder.exists() else "not there"
        raise UsageError(
            f"{folder}: is {what}: name the folder of a run, such as jalapeno simulate writes"
        )
    missing = [name for name in (SCENARIO, REQUESTS, SEGMENTS) if not (folder / name).is_file()]
    if missing:
        raise UsageError(
            f"{folder}: is not the folder of a run: it lacks {', '.join(missing)}; "
            "jalapeno simulate FILE writes one"
        )


def _check_digest(path: Path, scenario: Scenario) -> None:
    """Raise where the report, if there is one, is of another scenario."""
    if not path.exists():
        return
    try:
        digest = json.loads(path.read_text("utf-8"))["digest"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{path}: is not a report: {error}; {_AGAIN}") from error
    if digest != scenario.digest:
        raise UsageError(
            f"{path}: is of the scenario {digest}, but {SCENARIO} beside it is {scenario.digest}: "
            f"one of them was changed, or an older version wrote them; {_AGAIN}"
        )


_AGAIN = f"run it again: jalapeno simulate {SCENARIO}"


def _table(path: Path, schema: Schema) -> pl.DataFrame:
    """The table in *path*, which must have exactly the columns of *schema*."""
    try:
        table = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        said = (str(error) or type(error).__name__).splitlines()[0]
        raise UsageError(f"{path}: cannot be read: {said}; {_AGAIN}") from error
    wrong = [name for name in schema if name not in table.columns]
    wrong += [name for name in table.columns if name not in schema]
    if wrong:
        raise UsageError(
            f"{path}: is not of this version's journals: column {wrong[0]!r} is "
            f"{'missing' if wrong[0] in schema else 'unknown'}; {_AGAIN}"
        )
    for name, kind in schema.items():
        if table.schema[name] != kind or table[name].null_count():
            found = f"{table.schema[name]}" + (" with gaps" if table[name].null_count() else "")
            raise UsageError(f"{path}: column {name!r} is {found}, expected {kind}; {_AGAIN}")
    return table.select(list(schema))


def _check_requests(path: Path, requests: pl.DataFrame, scenario: Scenario) -> None:
    """Raise where the requests are not those that the scenario's traffic draws."""
    prompts, outputs = scenario.traffic.lengths.draw(scenario.traffic.requests)
    same = len(requests) == len(prompts) and all(
        (requests[name].to_numpy() == drawn).all()
        for name, drawn in (("prompt", prompts), ("output", outputs))
    )
    if not same:
        raise UsageError(f"{path}: its requests are not those of {SCENARIO} beside it; {_AGAIN}")


def _check_workers(
    folder: Path, requests: pl.DataFrame, segments: pl.DataFrame, scenario: Scenario
) -> None:
    """Raise where a worker or a rank is named that the scenario does not have."""
    workers = sum(pool.replicas for pool in scenario.pools)
    ranks = sum(pool.replicas * pool.plan.ranks for pool in scenario.pools)
    named = (
        (SEGMENTS, segments["worker"], 0, workers),
        (REQUESTS, requests["rank"], c.NOBODY, ranks),
        (REQUESTS, requests["decode_rank"], c.NOBODY, ranks),
    )
    for name, column, least, count in named:
        if len(column) and not column.is_between(least, count - 1).all():
            raise UsageError(
                f"{folder / name}: names a {column.name} that {SCENARIO} beside it does not have; "
                f"{_AGAIN}"
            )


def _check_times(path: Path, segments: pl.DataFrame) -> None:
    """Raise where a segment has no steps, or one that no clock tells: gaps are counted by them."""
    steps = pl.col("steps").cast(pl.Float64)
    first, growth = (
        pl.sum_horizontal(pl.col(f"{part}_{end}").cast(pl.Float64) for part in PARTS)
        for end in ("first", "growth")
    )
    times = [first, first + growth * (steps - 1.0), *(pl.col(f"{part}_first") for part in PARTS)]
    sound = (steps >= 1.0) & pl.all_horizontal(time.is_between(0, c.LAST) for time in times)
    sound &= (pl.col("decoding") >= 0) & (pl.col("tokens") >= 0) & (growth.abs() <= float(c.LAST))
    _check_rows(path, segments, sound, "segment")


def _check_pauses(path: Path, pauses: pl.DataFrame, requests: int) -> None:
    """Raise where a pause is of no request, or lasts what no clock tells."""
    sound = pl.col("request").is_between(0, requests - 1)
    sound &= pl.all_horizontal(pl.col("gap", "instead").is_between(0, c.LAST))
    _check_rows(path, pauses, sound, "pause")


def _check_rows(path: Path, table: pl.DataFrame, sound: pl.Expr, what: str) -> None:
    found = table.select(sound.alias("sound"))["sound"]
    if not found.all():
        raise UsageError(
            f"{path}: row {found.arg_min():,} is no {what} of a run: it was changed; {_AGAIN}"
        )
