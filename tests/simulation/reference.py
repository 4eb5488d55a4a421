"""A slow, obvious simulator to hold the fast one against.

One step at a time, from the sequences themselves, with lists and dicts.  It shares with the package
what a run depends on (scenario, traffic, prices, blocks a request needs) and nothing of how time
passes: no tables, no heaps, no ledgers, no closed forms.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from jalapeno.cost import PARTS, RESOURCES
from jalapeno.mapping.batch import DECODE_READS, Item, batch_row, column
from jalapeno.simulation import ClosedLoop, Gamma, Poisson, Role, Scenario, TraceTimes
from tests.simulation.reference_seats import (
    ARRIVES,
    CACHE_IS_COPIED,
    NEXT_STEP_FOLLOWS,
    STEP_ENDS,
    STEP_STARTS,
    WaitingRoom,
)
from tests.simulation.reference_shapes import (
    Batch,
    Pool,
    Rank,
    Request,
    Segment,
    Worker,
    whole_picoseconds,
)


class Reference(WaitingRoom):
    """A run of a scenario, step by step."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self.segments: list[dict[str, int | float]] = []
        self.stretches: list[tuple[Worker, Segment]] = []
        self.late: list[tuple[int, int, int]] = []
        """(request, gap, step it came with) of tokens that did not come a step after the last."""

    def run(self) -> Reference:
        """Play it to the end."""
        match self.scenario.traffic.arrivals:
            case ClosedLoop(concurrency=concurrency):
                for _ in range(concurrency):
                    self.send_next(0)
            case Poisson() | Gamma() | TraceTimes() as stream:
                for time in stream.times(len(self.requests), self.scenario.seed).tolist():
                    self.send_next(time)
        while self.agenda:
            self.now, event, number = self.agenda.pop(0)
            if event == STEP_ENDS:
                self.step_ends(self.workers[number])
            elif event == CACHE_IS_COPIED:
                self.is_copied(self.requests[number])
            elif event == ARRIVES:
                self.arrives(self.requests[number])
            elif event == STEP_STARTS:
                self.step_starts(self.workers[number])
            else:
                self.next_step_follows(self.workers[number])
        return self

    # ---- how a step starts

    def step_starts(self, worker: Worker) -> None:
        self.take_seats(worker)
        if any(rank.prefilling or rank.decoding for rank in worker.ranks):
            worker.segment = self.form(worker)
            self.next_step_follows(worker)
        else:
            worker.waiting = True

    def next_step_follows(self, worker: Worker) -> None:
        """A step begins, unless the segment has just been ended for somebody who came."""
        segment = worker.segment
        if segment is None or worker.stepping:
            return
        step = len(segment.batches)
        segment.batches.append(self.batch(worker))
        self.grow(worker)
        worker.stepping = True
        self.note(self.now + segment.lasts(step), STEP_ENDS, worker.number)

    def grow(self, worker: Worker) -> None:
        """Every decoding sequence has room for one token more."""
        if worker.pool.preempts:
            for rank in worker.ranks:
                given = rank.next_tokens(worker.pool.each)
                for request in rank.decoding:
                    more = worker.pool.blocks_for(request.tokens + given) - request.held
                    request.held += more
                    rank.free -= more
                    del rank.queue[:more]
                assert rank.free >= 0
                assert rank.free == len(rank.queue) or not worker.pool.described.prefix_caching

    def take_seats(self, worker: Worker) -> None:
        left = [self.sit_down(worker, rank) for rank in worker.ranks]
        if any(left):
            for rank in worker.ranks:
                self.take_back(worker, rank)
                self.sit_down(worker, rank)
            self.dispatch(self.stage_of(worker))
        for rank in worker.ranks:
            self.make_room(worker, rank)

    def sit_down(self, worker: Worker, rank: Rank) -> bool:
        """Those assigned to *rank* join; True if one of them left at once."""
        left = False
        while rank.assigned:
            request = rank.assigned.pop(0)
            if request.status == "moving":
                left |= self.begins_to_answer(worker, rank, request)
            elif request.status == "swapped in":
                self.is_back(request)
                self.answers_on(worker, rank, request)
            else:
                if request.times["admitted"] < 0:
                    request.times["admitted"] = self.now
                else:
                    self.is_back(request)
                request.status, request.left = "prefilling", request.tokens - request.kept
                rank.prefilling.append(request)
        return left

    def form(self, worker: Worker) -> Segment:
        """Hand out the budget, price the step, and say for how many steps that can hold."""
        pool, caps = worker.pool, self.scenario.model.caps
        repeats = [self.hand_out(worker.pool, rank) for rank in worker.ranks]
        now = self.batch(worker)
        grows = growth_of(now, [again > 1 for again in repeats], float(pool.each), caps)
        first, growth, hold = pool.price.price(rows_of(now, caps), grows)
        parts, slopes = per_part(first), per_part(growth)
        segment = Segment(
            start=self.now,
            planned=0,
            first=parts,
            growth=slopes,
            decode_first=sum(parts),
            decode_growth=sum(slopes),
            rates=first[len(PARTS) :],
            rates_growth=growth[len(PARTS) :],
            prefill=sum(each.new for items in now for each in items if each.prefill),
        )
        if segment.prefill:
            segment.decode_first = segment.decode_growth = 0
            if any(rank.decoding for rank in worker.ranks):
                alone = only_decode(now)
                later = growth_of(alone, [False] * len(alone), float(pool.each), caps)
                first, growth, also = pool.price.price(rows_of(alone, caps), later)
                segment.decode_first = whole_picoseconds(sum(first[: len(PARTS)]))
                segment.decode_growth = whole_picoseconds(sum(growth[: len(PARTS)]))
                hold = min(hold, also)
        knots = [
            steps_until(self.until_knot(request), rank.ahead, pool.each)
            for rank in worker.ranks
            for request in rank.decoding
        ]
        segment.planned = min([hold, *repeats, *knots])
        return segment

    def hand_out(self, pool: Pool, rank: Rank) -> int:
        """Give prompts their chunks; return the steps for which the same chunks can be repeated."""
        plan = pool.described.plan
        budget = plan.max_tokens - len(rank.decoding) * (plan.draft_tokens + 1)
        repeats, left = 2**62, budget
        for request in rank.prefilling:
            request.chunk = max(0, min(request.left, left))
            left -= request.chunk
            if request.chunk == 0:
                continue
            repeats = 1
            past_caps = request.tokens - request.left >= max(self.scenario.model.caps, default=0)
            if request.chunk == budget < request.left and past_caps:
                repeats = (request.left - 1) // request.chunk
        return repeats

    def batch(self, worker: Worker) -> Batch:
        """The sequences of the next step, as they stand."""
        batch: Batch = []
        brought = worker.pool.described.plan.draft_tokens + 1
        for rank in worker.ranks:
            decode = [
                Item(each.prompt + each.made - 1 + float(rank.ahead), brought, False, True)
                for each in rank.decoding
            ]
            prefill = [
                Item(each.tokens - each.left, each.chunk, True, each.chunk == each.left)
                for each in rank.prefilling
                if each.chunk
            ]
            batch.append(decode + prefill)
        return batch

    def until_knot(self, request: Request) -> int:
        """Tokens until *request* is done or fills a window."""
        context = request.prompt + request.made
        knots = [cap - context for cap in self.scenario.model.caps if cap > context]
        return min([request.output - request.made, *knots])

    # ---- how a step ends

    def step_ends(self, worker: Worker) -> None:
        segment = worker.segment
        assert segment is not None
        if worker.stepping:
            self.charge(worker, segment)
            worker.stepping = False
        going_on = len(segment.batches) < segment.planned and not worker.somebody_waits
        if going_on and all(self.is_free(worker, rank, 0) for rank in worker.ranks):
            self.note(self.now, NEXT_STEP_FOLLOWS, worker.number)
            return
        self.close(worker, segment)

    def charge(self, worker: Worker, segment: Segment) -> None:
        """All who sat through the step pay for it, and have their tokens."""
        step = len(segment.batches) - 1
        alone = segment.alone(step)
        extra = segment.lasts(step) - alone
        for rank in worker.ranks:
            for request in rank.prefilling:
                again = request.answers
                for number, part in enumerate(PARTS):
                    phase = "decode" if again else "prefill"
                    request.spent[f"{phase}_{part}"] += segment.part(number, step)
                request.left -= request.chunk
                if again:
                    request.spent["recompute"] += alone + extra
                else:
                    request.spent["others_decode"] += alone
                    request.spent["others_prefill"] += extra
            given = rank.next_tokens(worker.pool.each)
            if rank.decoding:
                rank.ahead += worker.pool.each - given
            for request in rank.decoding:
                request.spent["own_decode"] += alone
                request.spent["interference"] += extra
                for number, part in enumerate(PARTS):
                    request.spent[f"decode_{part}"] += segment.part(number, step)
                needed = request.output - request.made
                segment.tokens += min(given, needed)
                request.made += min(given, needed)
                self.has_token(request, alone + extra)

    def has_token(self, request: Request, step: int) -> None:
        if self.now - request.token != step:
            self.late.append((request.number, self.now - request.token, step))
        request.token = self.now

    def close(self, worker: Worker, segment: Segment) -> None:
        self.write(worker, segment)
        steps = range(len(segment.batches))
        extra = sum(segment.lasts(step) - segment.alone(step) for step in steps)
        worker.segment, worker.somebody_waits = None, False
        self.note(self.now, STEP_STARTS, worker.number)
        for rank in worker.ranks:
            for request in rank.prefilling:
                if request.answers:
                    continue
                # its share of the prefill time, rounded down once a segment, is its own
                own = extra * request.chunk // segment.prefill if request.chunk else 0
                request.spent["own_prefill"] += own
                request.spent["others_prefill"] -= own
            for request in sorted(rank.decoding, key=lambda each: each.number):
                if request.made == request.output:
                    rank.decoding.remove(request)
                    self.leaves(worker, rank, request)
            if not rank.decoding:
                rank.ahead = Fraction(0)
            while rank.prefilling and rank.prefilling[0].left == 0:
                self.prompt_is_done(worker, rank, rank.prefilling.pop(0))
        for rank in worker.ranks:
            self.take_back(worker, rank)
        self.dispatch(self.stage_of(worker))

    def prompt_is_done(self, worker: Worker, rank: Rank, request: Request) -> None:
        if request.answers:  # again, and the next token comes with it
            request.spent["recomputed"] += request.tokens - request.kept
            request.spent["resumed"] += 1
            request.made += 1
            self.has_token(request, 0)
            self.answers_on(worker, rank, request)
            return
        request.times["prefilled"] = self.now
        if worker.pool.role is Role.UNIFIED:
            self.begins_to_answer(worker, rank, request)
        else:
            rank.running -= 1
            self.departs(worker, request)
            self.enters(self.second, request)

    def begins_to_answer(self, worker: Worker, rank: Rank, request: Request) -> bool:
        """The first token is out; True if it was the last, too."""
        request.times["first"], request.token, request.made = self.now, self.now, 1
        return self.answers_on(worker, rank, request)

    def answers_on(self, worker: Worker, rank: Rank, request: Request) -> bool:
        request.status = "decoding"
        if request.made == request.output:
            self.leaves(worker, rank, request)
            return True
        rank.decoding.append(request)
        return False

    def write(self, worker: Worker, segment: Segment) -> None:
        """The segment as the journal has it."""
        decode = [each for items in segment.batches[0] for each in items if not each.prefill]
        prefill = [each for items in segment.batches[0] for each in items if each.prefill]
        capacity = worker.pool.price.room.blocks
        row: dict[str, int | float] = {
            "worker": worker.number,
            "start": segment.start,
            "steps": len(segment.batches),
            "decoding": len(decode),
            "prefill": segment.prefill,
            "sampled": len(decode) + sum(each.sampled for each in prefill),
            "stall": segment.start - worker.last_end,
            "reads": sum(int(each.cached) + 1 for each in decode),
            "blocks_used": sum(capacity - rank.free for rank in worker.ranks),
            "tokens": segment.tokens,
            "decode_first": segment.decode_first,
            "decode_growth": segment.decode_growth,
        }
        for number, part in enumerate(PARTS):
            row[f"{part}_first"] = segment.first[number]
            row[f"{part}_growth"] = segment.growth[number]
        names = (*(f"{name}_busy" for name in RESOURCES), "joules", "measured")
        for number, name in enumerate(names):
            row[f"{name}_first"] = float(segment.rates[number])
            row[f"{name}_growth"] = float(segment.rates_growth[number])
        self.segments.append(row)
        self.stretches.append((worker, segment))
        worker.last_end = self.now


def rows_of(batch: Batch, caps: tuple[int, ...]) -> npt.NDArray[np.float64]:
    return np.array([batch_row(items, caps) for items in batch])


def growth_of(
    now: Batch, again: list[bool], each: float, caps: tuple[int, ...]
) -> npt.NDArray[np.float64]:
    """What a step later has more: decoding contexts are *each* longer until they fill a window, and
    a prompt whose chunks are the same *again* is further by one."""
    grows = np.zeros((len(now), len(batch_row([], caps))))
    for row, items, repeated in zip(grows, now, again, strict=True):
        for item in items:
            if not item.prefill:
                for place, cap in enumerate((2**40, *caps)):
                    row[column(place, DECODE_READS)] += each * (int(item.cached) + 1 < cap)
            elif repeated:
                on = Item(item.cached + item.new, item.new, True, False)
                row += batch_row([on], caps) - batch_row([replace(item, sampled=False)], caps)
    return grows


def steps_until(tokens: int, ahead: Fraction, each: Fraction) -> int:
    """Steps until there are *tokens* tokens more, of a rank that is *ahead* already."""
    steps = 0
    while int(ahead + steps * each) < tokens:
        steps += 1
    return steps


def only_decode(batch: Batch) -> Batch:
    return [[each for each in items if not each.prefill] for items in batch]


def per_part(seconds: npt.NDArray[np.float64]) -> list[int]:
    return [whole_picoseconds(seconds[number]) for number in range(len(PARTS))]
