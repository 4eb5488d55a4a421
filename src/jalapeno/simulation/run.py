"""A run in progress: the loop goes on while the segments of its last stretch become a table."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import polars as pl

from jalapeno.errors import BadScenario
from jalapeno.mapping import Room, StepPrice
from jalapeno.simulation import columns as c
from jalapeno.simulation.clock import DAYS
from jalapeno.simulation.journal import PAUSE_SCHEMA, Journal, Segments
from jalapeno.simulation.loop import FINISHED, FULL, OVER, advance
from jalapeno.simulation.scenario import Scenario
from jalapeno.simulation.state import Floats, Integers, State

BLOCK = 2048
"""Rows turned into columns at a time: a block stays in the processor's cache."""

Table = TypeVar("Table", Integers, Floats)

HIDDEN = ("left", "chunk", "made", "paused", "next", "kept", "mark", "status")
"""Columns of the request table that are of no interest outside the loop, or shown as words."""


@dataclass(slots=True)
class Run:
    """A run in progress: advance it, then read its journal."""

    scenario: Scenario
    state: State
    prices: tuple[StepPrice, ...]
    segments: Segments
    clerk: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    """Files full buffers while the compiled loop, which lets go of the interpreter, goes on."""
    spare: tuple[Integers, Floats] | None = None
    filing: Future[None] | None = None
    pauses: list[Integers] = field(default_factory=list)

    def advance(self, until: int = c.NEVER) -> bool:
        """Let everything up to *until* ps happen; True when nothing is left to do.

        Raises :class:`BadScenario` where the clock ends before the run does.
        """
        while True:
            outcome = advance(self.state, until)
            if outcome == OVER:
                done, whole = (int(self.state.seats.clock[n]) for n in (c.C_FINISHED, c.C_REQUESTS))
                raise BadScenario(
                    f"the clock ends after {DAYS:.0f} days, with {done:,} of {whole:,} requests "
                    "done: send fewer or shorter ones, or look for a fact that is too slow"
                )
            if outcome != FULL:
                return bool(outcome == FINISHED)
            self._hand_over()

    def _hand_over(self) -> None:
        """Give the full buffer to the clerk and go on with the other one."""
        self._settle()
        full = (self.state.segments, self.state.energies)
        integers, floats = self.spare or (np.empty_like(full[0]), np.empty_like(full[1]))
        # it may be the pauses that are full: then what lies beyond the last segment is none
        count = int(self.state.seats.clock[c.C_SEGMENTS])
        self.filing = self.clerk.submit(self._file, full[0][:count], full[1][:count])
        self.spare = full
        self.state = self.state._replace(segments=integers, energies=floats)
        self.state.seats.clock[c.C_SEGMENTS] = 0
        self._take_pauses()

    def _take_pauses(self) -> None:
        seats = self.state.seats
        self.pauses.append(seats.pauses[: seats.clock[c.C_PAUSES]].copy())
        seats.clock[c.C_PAUSES] = 0

    def _file(self, integers: Integers, floats: Floats) -> None:
        self.segments.add(segment_frame(integers, floats))

    def _settle(self) -> None:
        """Wait for the clerk; what went wrong with the filing is raised here."""
        if self.filing is not None:
            self.filing.result()
            self.filing = None

    def journal(self) -> Journal:
        """The journal so far."""
        self._settle()
        count = int(self.state.seats.clock[c.C_SEGMENTS])
        if count or self.segments.empty:
            self._file(self.state.segments[:count], self.state.energies[:count])
            self.state.seats.clock[c.C_SEGMENTS] = 0
        requests = request_frame(self.state.seats.requests)
        workers = worker_frame(self.scenario, tuple(price.room for price in self.prices))
        self._take_pauses()
        pauses = pl.DataFrame(np.concatenate(self.pauses), schema=PAUSE_SCHEMA, orient="row")
        return Journal(self.scenario, requests, self.segments.snapshot(), workers, pauses)


def worker_frame(scenario: Scenario, rooms: Sequence[Room]) -> pl.DataFrame:
    """The worker table of a journal of *scenario*, whose pools have these *rooms* a rank."""
    rows = [
        (number, pool.role.value, plan.label, plan.chips, plan.ranks * space.blocks)
        for number, (pool, space) in enumerate(zip(scenario.pools, rooms, strict=True))
        for plan in (pool.plan,)
        for _ in range(pool.replicas)
    ]
    names = ("pool", "role", "plan", "chips", "blocks")
    return pl.DataFrame(rows, schema=names, orient="row").with_row_index("worker")


def request_frame(table: Integers) -> pl.DataFrame:
    """The request table as the journal shows it."""
    named = dict(zip(c.REQUEST, in_columns(table), strict=True))
    status = pl.Series("status", named["status"]).replace_strict(
        dict(enumerate(c.STATUSES)), return_dtype=pl.Enum(c.STATUSES)
    )
    shown = {name: column for name, column in named.items() if name not in HIDDEN}
    return pl.DataFrame(shown).with_columns(status)


def segment_frame(integers: Integers, floats: Floats) -> pl.DataFrame:
    """A buffer of segments as a table of its own."""
    whole = dict(zip(c.SEGMENT_INTEGERS, in_columns(integers), strict=True))
    return pl.DataFrame({**whole, **dict(zip(c.SEGMENT_FLOATS, in_columns(floats), strict=True))})


def in_columns(rows: Table) -> Table:
    """A copy of a table of rows with its columns one after the other."""
    columns = np.empty(rows.T.shape, dtype=rows.dtype)
    for row in range(0, len(rows), BLOCK):
        columns[:, row : row + BLOCK] = rows[row : row + BLOCK].T
    return columns
