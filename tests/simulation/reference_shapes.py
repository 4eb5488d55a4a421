"""What the step-by-step simulator moves about: requests, segments, ranks, workers, pools."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from jalapeno.cost import PARTS
from jalapeno.mapping import StepPrice
from jalapeno.mapping.batch import Item
from jalapeno.simulation import Preemption, Role
from jalapeno.simulation import scenario as scenarios

TIMES = ("arrival", "ready", "assigned", "admitted", "prefilled", "moved", "first", "end")
LABELS = ("own_prefill", "others_prefill", "others_decode", "own_decode", "interference")
LOSSES = (
    "preemptions",
    "resumed",
    "recomputed",
    "preempted",
    "preempted_first",
    "recompute",
)
SPENT = (
    *LABELS,
    *LOSSES,
    *(f"prefill_{part}" for part in PARTS),
    *(f"decode_{part}" for part in PARTS),
)
NOT_YET = -1
PORTS: tuple[str, ...] = ("kv out", "kv in", "host out", "host in")

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
    left: int
    made: int = 0
    chunk: int = 0
    cached: int = 0
    """Tokens of its prompt that were in the cache when it came."""
    kept: int = 0
    """Tokens of it that were there when it last took a seat."""
    computed: int = 0
    """Tokens of it whose cache it had when it gave way."""
    held: int = 0
    """Blocks it has on the rank where it sits."""
    lost: int = 0
    """When it lost its seat."""
    token: int = 0
    """When its last token came."""
    blocks: int = 0
    decode_blocks: int = 0
    status: str = "unsent"
    rank: int = NOT_YET
    decode_rank: int = NOT_YET
    times: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TIMES, NOT_YET))
    spent: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SPENT, 0))

    @property
    def tokens(self) -> int:
        """What it consists of by now."""
        return self.prompt + self.made

    @property
    def answers(self) -> bool:
        """It has its first token."""
        return self.times["first"] != NOT_YET

    def row(self) -> dict[str, int | str]:
        """The request as the journal has it."""
        own: dict[str, int | str] = {
            "prompt": self.prompt,
            "output": self.output,
            "limit": self.output,
            "cached": self.cached,
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
    tokens: int = 0
    """Of answers, that those who decode have had of it."""

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
    host: int
    """What the host still takes, in ps of copying."""
    queue: list[tuple[int, int, int]] = field(default_factory=list)
    """Free blocks where they keep their content, longest free first: whose the content is, since
    which time he gave way, and which of his blocks it was."""
    running: int = 0
    busy: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PORTS, 0))
    """Until when each port is."""
    assigned: list[Request] = field(default_factory=list)
    prefilling: list[Request] = field(default_factory=list)
    decoding: list[Request] = field(default_factory=list)
    coming: list[Request] = field(default_factory=list)
    """Their caches are on the way."""
    returning: list[Request] = field(default_factory=list)
    ahead: Fraction = Fraction(0)
    """What its sequences are on their way to the next token."""

    def next_tokens(self, each: Fraction) -> int:
        """Tokens that a step gives which gives *each* on the mean."""
        return int(self.ahead + each)


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
    queue: list[Request] = field(default_factory=list)
    unfinished: list[Request] = field(default_factory=list)
    """All that the router has sent here."""


@dataclass
class Pool:
    number: int
    described: scenarios.Pool
    site: scenarios.Site
    price: StepPrice
    workers: list[Worker] = field(default_factory=list)

    @property
    def role(self) -> Role:
        return self.described.role

    @property
    def preempts(self) -> bool:
        return self.described.preemption is not Preemption.NONE

    @property
    def block_tokens(self) -> int:
        return self.price.room.block_tokens

    def blocks_for(self, tokens: int) -> int:
        return self.price.room.blocks_for(tokens)

    @property
    def each(self) -> Fraction:
        """Mean tokens that a step gives a decoding sequence."""
        plan = self.described.plan
        return (
            Fraction(round(plan.acceptance_length * 2**16), 2**16)
            if plan.draft_tokens
            else Fraction(1)
        )

    def to_be_seated(self, request: Request) -> int:
        """Blocks that must be free for *request* to be admitted."""
        if self.preempts:
            return self.blocks_for(request.prompt + 1)
        if self.role is Role.PREFILL:
            return self.blocks_for(request.prompt)
        drafted = self.described.plan.draft_tokens
        return self.blocks_for(request.prompt + request.output + drafted)

    def copying(self, request: Request) -> int:
        """How long the cache of *request* takes to the host or from it."""
        rate, room = self.site.system.chip.host.bandwidth, self.price.room
        each = round(room.token_bytes / rate * 1e15)
        return round(room.fixed_bytes / rate * 1e12) + request.tokens * each // 1000


@dataclass
class Stage:
    """Pools that do the same for a request."""

    pools: list[Pool]
    queue: list[Request] = field(default_factory=list)
    """Of those that the router sends to nobody in particular."""
    turn: int = 0

    @property
    def workers(self) -> list[Worker]:
        return [worker for pool in self.pools for worker in pool.workers]
