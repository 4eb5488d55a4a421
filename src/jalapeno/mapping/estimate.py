"""estimate: the closed form of a plan's steady state, for search, fits and sliders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jalapeno.errors import BadPlan, BadScenario
from jalapeno.mapping.batch import columns
from jalapeno.mapping.outputs import N_OUTPUTS
from jalapeno.mapping.plan import GRAIN
from jalapeno.mapping.steady import Question, split, unified
from jalapeno.mapping.step import StepPrice, forgetful


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A constant load: so many requests in flight, of mean lengths."""

    concurrency: int
    prompt: float
    output: float

    def __post_init__(self) -> None:
        if self.concurrency < 1 or self.prompt < 1.0 or self.output <= 1.0:
            raise BadScenario(
                f"a steady state needs a request in flight, a prompt and more than one token of "
                f"answer on the mean; got concurrency={self.concurrency}, prompt={self.prompt:g}, "
                f"output={self.output:g}: simulate such a load instead"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyState:
    """What a deployment does under a constant load."""

    chips: int
    requests_per_s: float
    tpot: float
    """Mean seconds between the tokens of a request."""
    ttft: float
    """Mean seconds to the first token, queueing included."""
    e2e: float
    decoding: float
    """Mean sequences that decode, all workers."""
    watts_per_chip: float
    """Modelled package draw, all chips' mean."""
    tokens_per_s_per_chip: float
    """Prompt and answer tokens over all chips."""


def estimate_unified(price: StepPrice, replicas: int, load: Load) -> SteadyState:
    """The steady state of *replicas* unified workers under *load*.

    Requests spread evenly over workers and ranks, as many of them as there are requests.
    """
    plan, engine = price.plan, price.engine
    working = min(replicas, load.concurrency)
    flight = load.concurrency / working
    busy = min(plan.ranks, max(1, int(np.ceil(flight))))
    slots = _slots(price, load.prompt + load.output)
    ask = _question(price, load)
    rate, tpot, ttft, joules, decoding = unified(
        ask, flight / busy, busy, float(slots), engine.first_token_delay
    )
    # a worker rests while its only requests are on their way to the scheduler
    active = 1.0 - rate * engine.first_token_delay if flight <= 1.0 else 1.0
    watts = working * active * joules / (tpot * price.plan.yielded / GRAIN)
    idle = (replicas - working * active) * plan.chips * price.system.chip.power.idle
    return _steady(
        replicas * plan.chips,
        rate * busy * working,
        (tpot, ttft),
        decoding * busy * working,
        (watts + idle, load),
    )


def estimate_split(
    prices: tuple[StepPrice, StepPrice], replicas: tuple[int, int], load: Load
) -> SteadyState:
    """The steady state of a prefill and a decode pool under *load*."""
    front, back = prices
    engine, system = back.engine, back.system
    chips = replicas[0] * front.plan.chips + replicas[1] * back.plan.chips
    level = system.level(chips)
    moving = load.prompt * back.room.token_bytes / (level.bandwidth * engine.transfer_efficiency)
    delay = engine.first_token_delay + engine.transfer_latency + level.latency + moving
    slots = replicas[1] * back.plan.ranks * _slots(back, load.prompt + load.output)
    rate, tpot, ttft, watts, decoding, busy = split(
        _question(front, load),
        _question(back, load),
        float(load.concurrency),
        float(replicas[0] * front.plan.ranks),
        float(replicas[1]),
        float(slots),
        delay,
    )
    resting = replicas[0] * front.plan.chips * max(0.0, 1.0 - busy)
    resting += max(0.0, replicas[1] - max(1.0, decoding)) * back.plan.chips
    watts += resting * system.chip.power.idle
    return _steady(chips, rate, (tpot, ttft), decoding, (watts, load))


def estimate(prices: tuple[StepPrice, ...], replicas: tuple[int, ...], load: Load) -> SteadyState:
    """The steady state of one unified pool, or of a prefill and a decode pool."""
    match prices, replicas:
        case (price,), (count,):
            return estimate_unified(price, count, load)
        case (front, back), (first, second):
            return estimate_split((front, back), (first, second), load)
        case _:
            raise BadPlan(f"one unified pool or two split ones, not {len(prices)}")


def _slots(price: StepPrice, tokens: float) -> int:
    """Sequences a rank can run: its slots, or what its KV cache holds."""
    fitting = price.room.blocks // price.room.blocks_for(int(np.ceil(tokens)))
    return max(1, min(price.plan.max_running, fitting))


def _question(price: StepPrice, load: Load) -> Question:
    shape = (price.plan.ranks, columns(price.caps))
    return Question(
        price.arrays,
        forgetful(price.plan.ranks),
        0,
        np.array(price.caps, dtype=np.int64),
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(N_OUTPUTS),
        np.zeros(N_OUTPUTS),
        load.prompt,
        load.output,
        float(price.plan.max_tokens),
        float(price.plan.queries),
        price.plan.yielded / GRAIN,
    )


def _steady(
    chips: int,
    rate: float,
    latency: tuple[float, float],
    decoding: float,
    power: tuple[float, Load],
) -> SteadyState:
    tpot, ttft = latency
    watts, load = power
    return SteadyState(
        chips=chips,
        requests_per_s=rate,
        tpot=tpot,
        ttft=ttft,
        e2e=ttft + tpot * (load.output - 1.0),
        decoding=decoding,
        watts_per_chip=watts / chips,
        tokens_per_s_per_chip=rate * (load.prompt + load.output) / chips,
    )
