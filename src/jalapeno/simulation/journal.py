"""Journal: what a run leaves behind.  It knows no metric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from jalapeno.errors import OutputError
from jalapeno.simulation.columns import PAUSE_TABLE
from jalapeno.simulation.scenario import Scenario


@dataclass(slots=True)
class KeptSegments:
    """Segments in memory."""

    frames: list[pl.DataFrame] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Whether no batch has come yet."""
        return not self.frames

    def add(self, frame: pl.DataFrame) -> None:
        """Take one more batch."""
        self.frames.append(frame)

    def batches(self) -> Iterator[pl.DataFrame]:
        """The segments in order, a batch at a time."""
        yield from self.frames

    def snapshot(self) -> KeptSegments:
        """What is there now; later batches leave it as it is."""
        return KeptSegments(list(self.frames))


@dataclass(slots=True)
class StoredSegments:
    """Segments in a folder of Parquet files, ``segments-00000.parquet`` and so on."""

    folder: Path
    count: int = 0

    @property
    def empty(self) -> bool:
        """Whether no batch has come yet."""
        return not self.count

    def add(self, frame: pl.DataFrame) -> None:
        """Write one more batch."""
        path = self._path(self.count)
        if path.exists():
            raise OutputError(
                f"{path}: another run's segments lie here, which its journal still reads: "
                "choose an empty folder"
            )
        try:
            frame.write_parquet(path, compression="zstd", compression_level=1)
        except (OSError, pl.exceptions.ComputeError) as error:  # polars' word for a full disk
            raise OutputError(f"{path}: cannot be written: {error}") from error
        self.count += 1

    def batches(self) -> Iterator[pl.DataFrame]:
        """The segments in order, a batch at a time."""
        for number in range(self.count):
            yield pl.read_parquet(self._path(number))

    def snapshot(self) -> StoredSegments:
        """What is there now; later batches leave it as it is."""
        return StoredSegments(self.folder, self.count)

    def _path(self, number: int) -> Path:
        return self.folder / f"segments-{number:05d}.parquet"


Segments = KeptSegments | StoredSegments

PAUSE_SCHEMA = dict.fromkeys(PAUSE_TABLE, pl.Int64())


@dataclass(frozen=True, slots=True)
class Journal:
    """Columns per request and per step segment; all times are int64 picoseconds.

    A segment is a run of steps of one worker with the same batch: step *j* of it lasts the sum
    over parts of ``<part>_first + j x <part>_growth`` and emits ``decoding`` tokens; its last
    step also completes ``sampled - decoding`` prompts.
    """

    scenario: Scenario
    requests: pl.DataFrame
    """One row a request, in the order they were sent."""
    segments: Segments
    workers: pl.DataFrame
    """Pool, role, plan, chips and KV blocks of each worker."""
    pauses: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=PAUSE_SCHEMA))
    """Tokens that came late because their sequence had given way: ``request``, the ``gap`` before
    the token, and the step that segments count ``instead`` (0 if none does), ps."""

    def segment_table(self) -> pl.DataFrame:
        """All segments as one table (a large run may not fit: use ``segments.batches()``)."""
        return pl.concat(list(self.segments.batches()))
