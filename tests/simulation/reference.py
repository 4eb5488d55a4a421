"""A slow, obvious simulator to hold the fast one against.

One step at a time, from the sequences themselves, with lists and dicts.  It shares with the package
what a run depends on (scenario, traffic, prices, blocks a request needs) and nothing of how time
passes: no tables, no heaps, no ledgers, no closed forms.
"""

from __future__ import annotations

import bisect

import numpy as np
import numpy.typing as npt

from jalapeno.cost import PARTS, RESOURCES
from jalapeno.mapping import compile_price
from jalapeno.mapping.batch import Item, batch_row
from jalapeno.simulation import ClosedLoop, Gamma, Poisson, Role, Scenario, TraceTimes
from tests.simulation.reference_shapes import (
    NOT_YET,
    Batch,
    Pool,
    Rank,
    Request,
    Segment,
    Worker,
    whole_picoseconds,
)

STEP_ENDS, CACHE_HAS_MOVED, ARRIVES, STEP_STARTS, NEXT_STEP_FOLLOWS = range(5)
"""What happens at one instant, in order; then by number of worker or request.

The next step of a segment follows last: whoever comes at its boundary still ends the segment there.
"""


class Reference:
    """A run of a scenario, step by step."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.now = 0
        self.delay = round(scenario.engine.first_token_delay * 1e12)
        self.agenda: list[tuple[int, int, int]] = []
        self.pools = [
            Pool(
                number,
                pool.role,
                compile_price(scenario.model, pool.plan, scenario.system, scenario.engine),
                pool.plan.max_running,
                pool.plan.max_tokens,
            )
            for number, pool in enumerate(scenario.pools)
        ]
        self.workers: list[Worker] = []
        ranks = 0
        for pool, described in zip(self.pools, scenario.pools, strict=True):
            for _ in range(described.replicas):
                seats = [Rank(ranks + i, pool.price.room.blocks) for i in range(described.plan.dp)]
                ranks += len(seats)
                worker = Worker(len(self.workers), pool, seats)
                pool.workers.append(worker)
                self.workers.append(worker)
        self.requests = [self.request(*drawn) for drawn in enumerate(self.drawn())]
        self.unsent = list(self.requests)
        self.segments: list[dict[str, int | float]] = []
        self.stretches: list[tuple[Worker, Segment]] = []

    def drawn(self) -> list[tuple[int, int]]:
        traffic = self.scenario.traffic
        prompts, outputs = traffic.lengths.draw(traffic.requests)
        return list(zip(prompts.tolist(), outputs.tolist(), strict=True))

    def request(self, number: int, lengths: tuple[int, int]) -> Request:
        prompt, output = lengths
        whole = self.pools[-1].price.room.blocks_for(prompt + output)
        if len(self.pools) == 1:
            return Request(number, prompt, output, whole, 0, left=prompt)
        blocks = self.pools[0].price.room.blocks_for(prompt)
        return Request(number, prompt, output, blocks, whole, left=prompt)

    # ---- what happens next

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
            elif event == CACHE_HAS_MOVED:
                self.cache_has_moved(self.requests[number])
            elif event == ARRIVES:
                self.arrives(self.requests[number])
            elif event == STEP_STARTS:
                self.step_starts(self.workers[number])
            else:
                self.next_step_follows(self.workers[number])
        return self

    def note(self, time: int, event: int, number: int) -> None:
        assert time >= self.now, "nothing happens in the past"
        bisect.insort(self.agenda, (time, event, number))

    def send_next(self, time: int) -> None:
        if self.unsent:
            request = self.unsent.pop(0)
            request.times["arrival"], request.times["ready"] = time, time + self.delay
            request.status = "sent"
            self.note(time + self.delay, ARRIVES, request.number)

    # ---- who sits where

    def arrives(self, request: Request) -> None:
        request.status = "queued"
        self.pools[0].queue.append(request)
        self.dispatch(self.pools[0])

    def dispatch(self, pool: Pool) -> None:
        """Seat the head of the queue while anyone can take it; nobody overtakes."""
        while pool.queue:
            request = pool.queue[0]
            blocks = request.decode_blocks if pool.role is Role.DECODE else request.blocks
            able = [
                (rank.running, rank.number, worker, rank)
                for worker, rank in pool.ranks()
                if rank.running < pool.max_running and rank.free >= blocks
            ]
            if not able:
                return
            _, _, worker, rank = min(able, key=lambda one: one[:2])
            pool.queue.pop(0)
            rank.running += 1
            rank.free -= blocks
            request.times["assigned"] = self.now
            if pool.role is Role.DECODE:
                request.decode_rank, request.status = rank.number, "moving"
                self.note(self.now + self.moving(request), CACHE_HAS_MOVED, request.number)
            else:
                request.rank, request.status = rank.number, "assigned"
                rank.assigned.append(request)
                self.tell(worker)

    def moving(self, request: Request) -> int:
        """How long the cache of *request* takes to its decode rank: set up, then bytes."""
        engine = self.scenario.engine
        level = self.scenario.system.level(sum(pool.chips for pool in self.scenario.pools))
        rate = level.bandwidth * engine.transfer_efficiency
        femtoseconds = round(self.pools[1].price.room.token_bytes / rate * 1e15)
        setup = round((engine.transfer_latency + level.latency) * 1e12)
        return setup + request.prompt * femtoseconds // 1000

    def cache_has_moved(self, request: Request) -> None:
        request.times["moved"] = self.now
        for _, rank in self.pools[0].ranks():
            if rank.number == request.rank:
                rank.free += request.blocks
        for worker, rank in self.pools[1].ranks():
            if rank.number == request.decode_rank:
                rank.assigned.append(request)
                self.tell(worker)
        self.dispatch(self.pools[0])

    def tell(self, worker: Worker) -> None:
        """Somebody waits for *worker*: it starts if idle, else ends its segment when it can."""
        if worker.waiting:
            worker.waiting = False
            self.note(self.now, STEP_STARTS, worker.number)
        elif worker.segment is not None and not worker.somebody_waits:
            worker.somebody_waits = True
            if not worker.stepping:
                self.note(self.now, STEP_ENDS, worker.number)

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
        worker.stepping = True
        self.note(self.now + segment.lasts(step), STEP_ENDS, worker.number)

    def take_seats(self, worker: Worker) -> None:
        left = False
        for rank in worker.ranks:
            for request in rank.assigned:
                if worker.pool.role is Role.DECODE:
                    left |= self.begins_to_answer(rank, request)
                else:
                    request.times["admitted"], request.status = self.now, "prefilling"
                    rank.prefilling.append(request)
            rank.assigned = []
        if left:
            self.dispatch(worker.pool)

    def form(self, worker: Worker) -> Segment:
        """Hand out the budget, price the step, and say for how many steps that can hold."""
        pool, caps = worker.pool, self.scenario.model.caps
        repeats = [self.hand_out(worker.pool, rank) for rank in worker.ranks]
        now = self.batch(worker)
        then: Batch = []
        for items, again in zip(now, repeats, strict=True):
            moves = {True: again > 1, False: True}
            then.append(
                [
                    Item(
                        each.cached + each.new * moves[each.prefill], each.new, each.prefill, False
                    )
                    for each in items
                ]
            )
        first, growth, hold = pool.price.price(rows_of(now, caps), growth_of(now, then, caps))
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
                alone, later = only_decode(now), only_decode(then)
                first, growth, also = pool.price.price(
                    rows_of(alone, caps), growth_of(alone, later, caps)
                )
                segment.decode_first = whole_picoseconds(sum(first[: len(PARTS)]))
                segment.decode_growth = whole_picoseconds(sum(growth[: len(PARTS)]))
                hold = min(hold, also)
        knots = [self.until_knot(request) for rank in worker.ranks for request in rank.decoding]
        segment.planned = min([hold, *repeats, *knots])
        return segment

    def hand_out(self, pool: Pool, rank: Rank) -> int:
        """Give prompts their chunks; return the steps for which the same chunks can be repeated."""
        budget = pool.max_tokens - len(rank.decoding)
        repeats, left = 2**62, budget
        for request in rank.prefilling:
            request.chunk = max(0, min(request.left, left))
            left -= request.chunk
            if request.chunk == 0:
                continue
            repeats = 1
            past_caps = request.prompt - request.left >= max(self.scenario.model.caps, default=0)
            if request.chunk == budget < request.left and past_caps:
                repeats = (request.left - 1) // request.chunk
        return repeats

    def batch(self, worker: Worker) -> Batch:
        """The sequences of the next step, as they stand."""
        batch: Batch = []
        for rank in worker.ranks:
            decode = [Item(each.prompt + each.made - 1, 1, False, True) for each in rank.decoding]
            prefill = [
                Item(each.prompt - each.left, each.chunk, True, each.chunk == each.left)
                for each in rank.prefilling
                if each.chunk
            ]
            batch.append(decode + prefill)
        return batch

    def until_knot(self, request: Request) -> int:
        """Steps until *request* is done or fills a window."""
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
        if len(segment.batches) < segment.planned and not worker.somebody_waits:
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
                request.spent["others_decode"] += alone
                request.spent["others_prefill"] += extra
                for number, part in enumerate(PARTS):
                    request.spent[f"prefill_{part}"] += segment.part(number, step)
                request.left -= request.chunk
            for request in rank.decoding:
                request.spent["own_decode"] += alone
                request.spent["interference"] += extra
                for number, part in enumerate(PARTS):
                    request.spent[f"decode_{part}"] += segment.part(number, step)
                request.made += 1

    def close(self, worker: Worker, segment: Segment) -> None:
        pool = worker.pool
        self.write(worker, segment)
        steps = range(len(segment.batches))
        extra = sum(segment.lasts(step) - segment.alone(step) for step in steps)
        handed = False
        for rank in worker.ranks:
            for request in rank.prefilling:
                # its share of the prefill time, rounded down once a segment, is its own
                own = extra * request.chunk // segment.prefill if request.chunk else 0
                request.spent["own_prefill"] += own
                request.spent["others_prefill"] -= own
            for request in sorted(rank.decoding, key=lambda each: each.number):
                if request.made == request.output:
                    rank.decoding.remove(request)
                    self.leaves(rank, request)
            while rank.prefilling and rank.prefilling[0].left == 0:
                request = rank.prefilling.pop(0)
                request.times["prefilled"] = self.now
                if pool.role is Role.UNIFIED:
                    self.begins_to_answer(rank, request)
                else:
                    rank.running -= 1
                    self.pools[1].queue.append(request)
                    handed = True
        worker.segment, worker.somebody_waits = None, False
        self.note(self.now, STEP_STARTS, worker.number)
        self.dispatch(pool)
        if handed:
            self.dispatch(self.pools[1])

    def begins_to_answer(self, rank: Rank, request: Request) -> bool:
        """The first token is out; True if it was the last, too."""
        request.times["first"], request.status, request.made = self.now, "decoding", 1
        if request.output == 1:
            self.leaves(rank, request)
            return True
        rank.decoding.append(request)
        return False

    def leaves(self, rank: Rank, request: Request) -> None:
        request.times["end"], request.status = self.now, "done"
        rank.running -= 1
        rank.free += request.blocks if request.decode_rank == NOT_YET else request.decode_blocks
        if isinstance(self.scenario.traffic.arrivals, ClosedLoop):
            self.send_next(self.now)

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
            "reads": sum(each.cached + 1 for each in decode),
            "blocks_used": sum(capacity - rank.free for rank in worker.ranks),
            "decode_first": segment.decode_first,
            "decode_growth": segment.decode_growth,
        }
        for number, part in enumerate(PARTS):
            row[f"{part}_first"] = segment.first[number]
            row[f"{part}_growth"] = segment.growth[number]
        names = (*(f"{name}_busy" for name in RESOURCES), "joules")
        for number, name in enumerate(names):
            row[f"{name}_first"] = float(segment.rates[number])
            row[f"{name}_growth"] = float(segment.rates_growth[number])
        self.segments.append(row)
        self.stretches.append((worker, segment))
        worker.last_end = self.now


def rows_of(batch: Batch, caps: tuple[int, ...]) -> npt.NDArray[np.float64]:
    return np.array([batch_row(items, caps) for items in batch])


def growth_of(now: Batch, then: Batch, caps: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """What a step later has more; who is sampled is not a matter of growth."""
    quiet = [[Item(each.cached, each.new, each.prefill, False) for each in items] for items in now]
    return rows_of(then, caps) - rows_of(quiet, caps)


def only_decode(batch: Batch) -> Batch:
    return [[each for each in items if not each.prefill] for items in batch]


def per_part(seconds: npt.NDArray[np.float64]) -> list[int]:
    return [whole_picoseconds(seconds[number]) for number in range(len(PARTS))]
