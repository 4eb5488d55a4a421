"""What the step-by-step simulator moves about: requests, segments, ranks, workers, pools."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from jalapeno.cost import PARTS
from jalapeno.mapping import StepPrice
from jalapeno.mapping.batch import Item
from jalapeno.simulation import Role

TIMES = ("arrival", "ready", "assigned", "admitted", "prefilled", "moved", "first", "end")
LABELS = ("own_prefill", "others_prefill", "others_decode", "own_decode", "interference")
SPENT = (
    *LABELS,
    *(f"prefill_{part}" for part in PARTS),
    *(f"decode_{part}" for part in PARTS),
)
NOT_YET = -1

Batch = list[list[Item]]
"""The sequences of a step, by attention rank."""


def whole_picoseconds(seconds: float) -> int:
    """Round to the nearest, halves to even."""
    return round(seconds * 1e12)


@dataclass
class Request:
    """One request and what became of it."""

    number: int
    prompt: int
    output: int
    blocks: int
    decode_blocks: int
    left: int
    made: int = 0
    chunk: int = 0
    status: str = "unsent"
    rank: int = NOT_YET
    decode_rank: int = NOT_YET
    times: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TIMES, NOT_YET))
    spent: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SPENT, 0))

    def row(self) -> dict[str, int | str]:
        """The request as the journal has it."""
        own: dict[str, int | str] = {
            "prompt": self.prompt,
            "output": self.output,
            "limit": self.output,
            "blocks": self.blocks,
            "decode_blocks": self.decode_blocks,
            "rank": self.rank,
            "decode_rank": self.decode_rank,
            "status": self.status,
        }
        return own | self.times | self.spent


@dataclass
class Segment:
    """Steps that share one rounding: step *j* lasts ``sum over parts of first + j growth``."""

    start: int
    planned: int
    first: list[int]
    growth: list[int]
    decode_first: int
    decode_growth: int
    rates: npt.NDArray[np.float64]
    """Busy seconds and joules of the first step."""
    rates_growth: npt.NDArray[np.float64]
    prefill: int
    batches: list[Batch] = field(default_factory=list)
    """What each step done so far was made of."""

    def part(self, number: int, step: int) -> int:
        return self.first[number] + step * self.growth[number]

    def lasts(self, step: int) -> int:
        return sum(self.part(number, step) for number in range(len(PARTS)))

    def alone(self, step: int) -> int:
        """What the step would have lasted without its prompts."""
        return self.decode_first + step * self.decode_growth


@dataclass
class Rank:
    """An attention rank: who sits there and which blocks are free."""

    number: int
    free: int
    running: int = 0
    assigned: list[Request] = field(default_factory=list)
    prefilling: list[Request] = field(default_factory=list)
    decoding: list[Request] = field(default_factory=list)


@dataclass
class Worker:
    number: int
    pool: Pool
    ranks: list[Rank]
    segment: Segment | None = None
    waiting: bool = True
    """Nothing to do."""
    stepping: bool = False
    """A step is in progress (and not between two)."""
    somebody_waits: bool = False
    """The segment is to end at the next step boundary."""
    last_end: int = 0


@dataclass
class Pool:
    number: int
    role: Role
    price: StepPrice
    max_running: int
    max_tokens: int
    workers: list[Worker] = field(default_factory=list)
    queue: list[Request] = field(default_factory=list)

    def ranks(self) -> Iterator[tuple[Worker, Rank]]:
        for worker in self.workers:
            for rank in worker.ranks:
                yield worker, rank
