"""Explore: every possible plan of a model on a system, at many loads, by the closed form."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum

from jalapeno.catalogue import Engine, Model, System
from jalapeno.errors import BadPlan, DoesNotFit
from jalapeno.mapping.memory import check_request
from jalapeno.mapping.plan import Plan
from jalapeno.mapping.search import Candidate, candidate
from jalapeno.mapping.step import StepPrice, compile_price


class Reason(StrEnum):
    """What makes a plan impossible."""

    SYSTEM = "system"
    """It needs more chips than the system has."""
    DIVISIBILITY = "divisibility"
    """It does not divide the model's heads, experts or widths."""
    MEMORY = "memory"
    """Its weights leave no room for a cache."""
    REQUEST = "request"
    """Its cache does not hold the longest request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """How many plans were impossible for one reason, and what was said of the largest of them."""

    reason: Reason
    plans: int
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a plan is asked to serve, on the mean and at the most."""

    prompt: float
    """Mean prompt, tokens."""
    output: float
    """Mean answer, tokens."""
    longest: int
    """Tokens of the longest request, prompt and answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Loads and budgets at which every plan is looked at."""

    points: int = 12
    """Concurrencies of a plan, evenly in proportion from one to what its caches hold."""
    most: int = 4096
    """Requests in flight on one worker, at the most."""
    chunks: tuple[int, ...] = (128, 512, 2048, 8192)
    """Prompt tokens of a step, a rank: its token budget less its slots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explored:
    """What was looked at."""

    found: tuple[tuple[StepPrice, Candidate], ...]
    prices: tuple[StepPrice, ...]
    """Of the plans that are possible."""
    refused: tuple[Refusal, ...]

    def explain(self) -> str:
        """Why plans were impossible; "" where none was."""
        told = [f"{one.plans} for {one.reason} (such as: {one.said})" for one in self.refused]
        return "impossible plans: " + "; ".join(told) if told else ""


def explore(
    model: Model, system: System, engine: Engine, plans: Iterable[Plan], work: Work, grid: Grid
) -> Explored:
    """The steady state of every possible one of *plans* at every load and budget of *grid*.

    Impossible plans are left out and the reasons kept.  Compiled code lets other threads run, so
    plans are gone through by as many threads as there are cores; the order is that of *plans*.
    """
    prices: list[StepPrice] = []
    said: dict[Reason, list[tuple[int, str]]] = {}
    for plan in plans:
        made = _possible(model, plan, system, engine, work)
        if isinstance(made, StepPrice):
            prices.append(made)
        else:
            reason, words = made
            said.setdefault(reason, []).append((plan.chips, words))
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        listed = list(threads.map(lambda price: _on_grid(price, work, grid), prices))
    return Explored(
        found=tuple(item for items in listed for item in items),
        prices=tuple(prices),
        refused=tuple(
            Refusal(reason=reason, plans=len(said[reason]), said=max(said[reason], key=_chips)[1])
            for reason in Reason
            if reason in said
        ),
    )


def _chips(told: tuple[int, str]) -> int:
    return told[0]


def _possible(
    model: Model, plan: Plan, system: System, engine: Engine, work: Work
) -> StepPrice | tuple[Reason, str]:
    """The compiled plan, or why there is none."""
    if plan.chips > system.chips:
        words = f"{plan.label} needs {plan.chips} chips; {system.name} has {system.chips}"
        return Reason.SYSTEM, words
    try:
        price = compile_price(model, plan, system, engine)
    except BadPlan as error:
        return Reason.DIVISIBILITY, str(error)
    except DoesNotFit as error:
        return Reason.MEMORY, str(error)
    try:
        check_request(price.room, model, work.longest)
    except DoesNotFit as error:
        return Reason.REQUEST, f"{plan.label}: {error}"
    return price


def _on_grid(price: StepPrice, work: Work, grid: Grid) -> list[tuple[StepPrice, Candidate]]:
    """One plan at all its loads and budgets."""
    lengths = (work.prompt, work.output)
    found = []
    for concurrency in concurrencies(price, work, grid):
        slots = -(-concurrency // price.plan.ranks)
        for chunk in grid.chunks:
            item = candidate(price, concurrency, slots + chunk, lengths)
            if item is not None:
                found.append((price, item))
    return found


def concurrencies(price: StepPrice, work: Work, grid: Grid) -> tuple[int, ...]:
    """Requests in flight worth trying: from one to what the caches hold, all ranks alike."""
    ranks = price.plan.ranks
    held = price.room.blocks // price.room.blocks_for(int(work.prompt + work.output) + 1)
    top = min(held * ranks, max(grid.most, ranks))
    if top < 1:
        return ()
    steps = max(1, grid.points - 1)
    listed = (top ** (step / steps) for step in range(steps + 1))
    return tuple(dict.fromkeys(_even(round(count), ranks) for count in listed))


def _even(count: int, ranks: int) -> int:
    """*count*, or the next lower one that gives all ranks as many where each has one at least."""
    return count if count < ranks else count - count % ranks
