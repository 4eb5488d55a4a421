"""The slow simulator's waiting room: who comes, who sits where, who gives way, what is copied.

One event at a time, with lists; every question is answered by looking at all that it is about.
"""

from __future__ import annotations

import bisect
from fractions import Fraction

from jalapeno.mapping import compile_price
from jalapeno.simulation import ClosedLoop, Preemption, Role, Router, Scenario
from tests.simulation.reference_shapes import (
    NOT_YET,
    Pool,
    Rank,
    Request,
    Stage,
    Worker,
)

STEP_ENDS, CACHE_IS_COPIED, ARRIVES, STEP_STARTS, NEXT_STEP_FOLLOWS = range(5)
"""What happens at one instant, in order; then by number of worker or request.

The next step of a segment follows last: whoever comes at its boundary still ends the segment there.
"""

NOBODYS = (NOT_YET, NOT_YET, NOT_YET)
"""What is in a free block that nobody will ask for again."""


class WaitingRoom:
    """Requests, ranks, and the agenda."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.now = 0
        self.agenda: list[tuple[int, int, int]] = []
        self.pools: list[Pool] = []
        self.workers: list[Worker] = []
        self.seats: list[tuple[Worker, Rank]] = []
        for number, described in enumerate(scenario.pools):
            site = scenario.site(described)
            price = compile_price(scenario.model, described.plan, site.system, site.engine)
            pool = Pool(number, described, site, price)
            self.pools.append(pool)
            for _ in range(described.replicas):
                self.workers.append(self.worker(pool))
        self.delay = round(self.pools[0].site.engine.first_token_delay * 1e12)
        self.first = Stage([pool for pool in self.pools if pool.role is not Role.DECODE])
        self.second = Stage([pool for pool in self.pools if pool.role is Role.DECODE])
        hits = scenario.traffic.lengths.cached(scenario.traffic.requests).tolist()
        self.requests = [
            Request(*drawn, left=drawn[1] - hit, cached=hit, kept=hit)
            for drawn, hit in zip(self.drawn(), hits, strict=True)
        ]
        self.unsent = list(self.requests)
        self.dropped: list[tuple[Rank, Request, list[Request]]] = []
        """Who gave way, and who else had blocks of the rank then."""

    def worker(self, pool: Pool) -> Worker:
        host = pool.site.system.chip.host
        room = round(host.capacity / host.bandwidth * 1e12)
        ranks = [
            Rank(
                len(self.seats) + each,
                pool.price.room.blocks,
                room,
                [NOBODYS] * pool.price.room.blocks if pool.described.prefix_caching else [],
            )
            for each in range(pool.described.plan.ranks)
        ]
        worker = Worker(len(self.workers), pool, ranks)
        pool.workers.append(worker)
        self.seats += [(worker, rank) for rank in ranks]
        return worker

    def drawn(self) -> list[tuple[int, int, int]]:
        traffic = self.scenario.traffic
        prompts, outputs = traffic.lengths.draw(traffic.requests)
        return list(zip(range(traffic.requests), prompts.tolist(), outputs.tolist(), strict=True))

    def note(self, time: int, event: int, number: int) -> None:
        assert time >= self.now, "nothing happens in the past"
        bisect.insort(self.agenda, (time, event, number))

    # ---- coming

    def send_next(self, time: int) -> None:
        if self.unsent:
            request = self.unsent.pop(0)
            request.times["arrival"], request.times["ready"] = time, time + self.delay
            request.status = "sent"
            self.note(time + self.delay, ARRIVES, request.number)

    def arrives(self, request: Request) -> None:
        request.status = "queued"
        self.enters(self.first, request)

    def enters(self, stage: Stage, request: Request) -> None:
        workers = stage.workers
        if self.scenario.router is Router.SHARED:
            stage.queue.append(request)
        elif self.scenario.router is Router.ROUND_ROBIN:
            self.bind(workers[stage.turn % len(workers)], request)
            stage.turn += 1
        else:
            self.bind(min(workers, key=lambda each: len(each.unfinished)), request)
        self.dispatch(stage)

    def bind(self, worker: Worker, request: Request) -> None:
        worker.unfinished.append(request)
        worker.queue.append(request)

    def departs(self, worker: Worker, request: Request) -> None:
        """*worker* has done what it was to do for *request*."""
        if request in worker.unfinished:
            worker.unfinished.remove(request)

    # ---- taking seats

    def dispatch(self, stage: Stage) -> None:
        """Seat the heads of all queues while anyone can take them; nobody overtakes."""
        self.dispatch_queue(stage.queue, stage.workers)
        for worker in stage.workers:
            self.dispatch_queue(worker.queue, [worker])

    def dispatch_queue(self, queue: list[Request], workers: list[Worker]) -> None:
        while queue:
            able = [
                (rank.running, rank.number, worker, rank)
                for worker in workers
                for rank in worker.ranks
                if self.can_take(worker, rank, queue[0])
            ]
            if not able:
                return
            _, _, worker, rank = min(able, key=lambda one: one[:2])
            self.take(worker, rank, queue.pop(0))

    def can_take(self, worker: Worker, rank: Rank, request: Request) -> bool:
        return (
            rank.running < worker.pool.described.plan.max_running
            and not rank.returning
            and self.is_free(worker, rank, worker.pool.to_be_seated(request))
        )

    def is_free(self, worker: Worker, rank: Rank, blocks: int) -> bool:
        """*blocks* are, and those for the next step of whoever decodes."""
        return rank.free - self.wanted(worker, rank) >= blocks

    def wanted(self, worker: Worker, rank: Rank) -> int:
        """Blocks that the decoding sequences of *rank* will take at their next step."""
        if not worker.pool.preempts:
            return 0
        soon = 2 if worker.stepping else 1
        more = int(rank.ahead + soon * worker.pool.each)
        return sum(worker.pool.blocks_for(each.tokens + more) - each.held for each in rank.decoding)

    def take(self, worker: Worker, rank: Rank, request: Request) -> None:
        self.hold(rank, request, worker.pool.to_be_seated(request))
        request.times["assigned"] = self.now
        if worker.pool.role is Role.DECODE:
            request.decode_rank, request.decode_blocks = rank.number, request.held
            self.moves(worker, rank, request)
        else:
            request.rank, request.blocks, request.status = rank.number, request.held, "assigned"
            rank.assigned.append(request)
            self.tell(worker)

    def hold(self, rank: Rank, request: Request, blocks: int) -> None:
        rank.running += 1
        rank.free -= blocks
        request.held = blocks
        pool, found = self.seats[rank.number][0].pool, 0
        if request.status == "to prefill again":
            found = request.kept // pool.block_tokens
        for block in range(found):  # it takes these back, and the rest from the front
            rank.queue.remove(self.label(request, pool.blocks_for(0) + block))
        del rank.queue[: blocks - found]
        assert rank.free >= 0

    def tell(self, worker: Worker) -> None:
        """Somebody waits for *worker*: it starts if idle, else ends its segment when it can."""
        if worker.waiting:
            worker.waiting = False
            self.note(self.now, STEP_STARTS, worker.number)
        elif worker.segment is not None and not worker.somebody_waits:
            worker.somebody_waits = True
            if not worker.stepping:
                self.note(self.now, STEP_ENDS, worker.number)

    def leaves(self, worker: Worker, rank: Rank, request: Request) -> None:
        request.times["end"], request.status = self.now, "done"
        if worker.pool.preempts:
            least = worker.pool.blocks_for(request.prompt + request.output)
            drafted = worker.pool.described.plan.draft_tokens
            assert 0 <= request.held - least <= -(-drafted // worker.pool.price.room.block_tokens)
            if worker.pool.role is Role.DECODE:
                request.decode_blocks = request.held
            else:
                request.blocks = request.held
        self.give_up(rank, request)
        self.departs(worker, request)
        if isinstance(self.scenario.traffic.arrivals, ClosedLoop):
            self.send_next(self.now)

    def give_up(self, rank: Rank, request: Request) -> None:
        rank.running -= 1
        rank.free += request.held
        if self.seats[rank.number][0].pool.described.prefix_caching:
            rank.queue += [self.label(request, block) for block in reversed(range(request.held))]
        request.held = 0

    def label(self, request: Request, block: int) -> tuple[int, int, int]:
        return request.number, request.spent["preemptions"], block

    # ---- copies

    def moves(self, worker: Worker, rank: Rank, request: Request) -> None:
        """The cache of *request* goes to *rank* as soon as both ends have time for it."""
        sender, source = self.seats[request.rank]
        setup, each = self.path(sender.pool, worker.pool)
        begin = max(self.now, source.busy["kv out"], rank.busy["kv in"])
        over = begin + request.prompt * each // 1000
        source.busy["kv out"] = rank.busy["kv in"] = over
        request.status = "moving"
        rank.coming.append(request)
        self.note(over + setup, CACHE_IS_COPIED, request.number)

    def path(self, sender: Pool, taker: Pool) -> tuple[int, int]:
        """(ps of set-up, fs a token) from one pool to the other."""
        setup, rate = 0.0, float("inf")
        for pool in (sender, taker):
            system, engine = pool.site.system, pool.site.engine
            level = list(system.fabric.values())[-1]
            if sender.described.site == taker.described.site:
                here = [each for each in self.pools if each.described.site == pool.described.site]
                level = system.level(sum(each.described.chips for each in here))
            setup = max(setup, engine.transfer_latency + level.latency)
            rate = min(rate, level.bandwidth * engine.transfer_efficiency)
        return round(setup * 1e12), round(taker.price.room.token_bytes / rate * 1e15)

    def is_copied(self, request: Request) -> None:
        at = request.rank if request.decode_rank == NOT_YET else request.decode_rank
        worker, rank = self.seats[at]
        if request.status == "swapping out":
            request.status = "swapped out"
            self.take_back(worker, rank)
            self.dispatch(self.stage_of(worker))
            return
        rank.coming.remove(request)
        rank.assigned.append(request)
        self.tell(worker)
        if request.status == "swapping in":
            request.status = "swapped in"
            rank.host += worker.pool.copying(request)
        else:
            request.times["moved"] = self.now
            sender, source = self.seats[request.rank]
            source.free += request.blocks
            if sender.pool.described.prefix_caching:
                source.queue += [NOBODYS] * request.blocks
            self.dispatch(self.first)

    def stage_of(self, worker: Worker) -> Stage:
        return self.second if worker.pool.role is Role.DECODE else self.first

    # ---- giving way and coming back

    def make_room(self, worker: Worker, rank: Rank) -> None:
        """The youngest give way until those that decode have blocks for a step."""
        while self.wanted(worker, rank) > rank.free:
            there = [*rank.decoding, *rank.prefilling, *rank.coming]
            request = max(there, key=lambda each: each.number)
            self.dropped.append((rank, request, there))
            self.drop(worker, rank, request)

    def drop(self, worker: Worker, rank: Rank, request: Request) -> None:
        spent = request.spent
        spent["preemptions"] += 1
        self.give_up(rank, request)
        if request in rank.coming:
            rank.coming.remove(request)
            (due,) = (each for each in self.agenda if each[1:] == (CACHE_IS_COPIED, request.number))
            self.agenda.remove(due)
            request.status = "to move again" if request.status == "moving" else "swapped out"
        else:
            request.lost = self.now
            request.status = "to prefill again"
            request.computed = request.tokens - max(request.left, 1)
            if request in rank.decoding:
                rank.decoding.remove(request)
                if not rank.decoding:
                    rank.ahead = Fraction(0)
                self.swap_out(worker, rank, request)
            else:
                rank.prefilling.remove(request)
                spent["recomputed"] += request.tokens - request.left - request.kept
        rank.returning = sorted([*rank.returning, request], key=lambda each: each.number)

    def swap_out(self, worker: Worker, rank: Rank, request: Request) -> None:
        """Unless the host is full, or not asked."""
        time = worker.pool.copying(request)
        if worker.pool.described.preemption is Preemption.SWAP and time <= rank.host:
            rank.host -= time
            request.status = "swapping out"
            self.copy(rank, "host out", request, time)

    def copy(self, rank: Rank, port: str, request: Request, time: int) -> None:
        rank.busy[port] = max(self.now, rank.busy[port]) + time
        self.note(rank.busy[port], CACHE_IS_COPIED, request.number)

    def take_back(self, worker: Worker, rank: Rank) -> None:
        """The oldest that gave way returns, if there is room for it and its next token."""
        while rank.returning:
            request = rank.returning[0]
            blocks = worker.pool.blocks_for(request.tokens + 1)
            if request.status == "swapping out" or not self.is_free(worker, rank, blocks):
                return
            rank.returning.pop(0)
            if request.status == "swapped out":
                self.hold(rank, request, worker.pool.blocks_for(request.tokens))
                request.status = "swapping in"
                rank.coming.append(request)
                self.copy(rank, "host in", request, worker.pool.copying(request))
                continue
            found = self.found(worker, rank, request)
            if request.status == "to prefill again" and not request.answers:
                request.spent["recomputed"] += request.kept - found
            request.kept = found
            self.hold(rank, request, blocks)
            if request.status == "to move again":
                request.times["assigned"] = self.now
                self.moves(worker, rank, request)
            else:
                request.status = "assigned"
                rank.assigned.append(request)
                self.tell(worker)

    def found(self, worker: Worker, rank: Rank, request: Request) -> int:
        """Tokens of *request* that are still in blocks that it gave up: whole blocks, in order."""
        if not worker.pool.described.prefix_caching or request.status != "to prefill again":
            return 0
        blocks = 0
        while self.label(request, blocks) in rank.queue:
            blocks += 1
        size = worker.pool.block_tokens
        return max(0, min(blocks - worker.pool.blocks_for(0), request.computed // size)) * size

    def is_back(self, request: Request) -> None:
        """It has a seat again."""
        request.spent["preempted"] += self.now - request.lost
        if not request.answers:
            request.spent["preempted_first"] += self.now - request.lost
