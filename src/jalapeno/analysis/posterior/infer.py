"""The whole inference: short lists, ramps, prior, chain, and what follows from the draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from jalapeno import catalogue
from jalapeno.analysis.posterior.evidence import Published, published_numbers
from jalapeno.analysis.posterior.likelihood import Judge, Outcomes, Ramp, judge_of
from jalapeno.analysis.posterior.options import Listed
from jalapeno.analysis.posterior.ramps import Played, base_ramps, best_try, play
from jalapeno.analysis.posterior.sampler import (
    Chain,
    Tick,
    effective,
    prior_draws,
    resampled,
    sampler,
    threads,
    walk,
)
from jalapeno.analysis.posterior.scores import Interval, Score, interval, score
from jalapeno.analysis.posterior.situations import (
    Situation,
    columns,
    simulated_answers,
    situations,
    steady_answers,
)
from jalapeno.analysis.posterior.start import PILOTS, TRIED, lists_of, walkers
from jalapeno.analysis.posterior.unknowns import Floats, named
from jalapeno.analysis.posterior.worlds import measured_system, overrides_of
from jalapeno.analysis.published import ENGINE

Made = TypeVar("Made")

STEPS, BURN = 300, 150
"""Steps of every walker that count, and before them, unless somebody says otherwise."""
PRIOR = 400
"""Draws of the prior."""
KEPT = 400
"""Draws of the posterior, all alike, of which answers are made."""
PLAYED = 40
"""Draws that are played out where only a simulation knows."""
CHECKED = 4
"""Draws for which the ramps are checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """One number as prior, posterior and the others predict it."""

    number: Published
    prior: Interval
    all_in: Interval
    """By the posterior of all evidence: for one of the evidence no prediction."""
    left_out: Interval
    """By the posterior of all other evidence."""
    effective: float
    """Effective draws of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the posterior says of one situation, draw by draw, without the twin's own error."""

    situation: Situation
    steady: Mapping[str, Floats]
    """By metric, all kept draws, closed form."""
    played: Mapping[str, Floats]
    """By metric, the first of the kept draws, by simulation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RampCheck:
    """How the ramp of a number moves over draws."""

    number: Published
    taken: Ramp
    found: tuple[float, ...]
    """Simulated over closed form at draws of the posterior."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """Everything that was inferred."""

    judge: Judge
    seed: int
    chain: Chain
    prior: Outcomes
    kept: Outcomes
    """Draws of the posterior, all alike."""
    predicted: tuple[Predicted, ...]
    derived: tuple[Predicted, ...]
    """Numbers that are no evidence."""
    checks: tuple[RampCheck, ...]
    answers: tuple[Answers, ...]

    @property
    def effective(self) -> float:
        """Effective draws after weighting; their correlation along the chain is not in it."""
        return effective(self.chain.log_weights)

    @property
    def left_out_score(self) -> Score:
        """Of the numbers predicted from all others."""
        return score([one.left_out for one in self.predicted], _values(self.predicted))

    @property
    def prior_score(self) -> Score:
        """Of the numbers predicted from the prior."""
        return score([one.prior for one in self.predicted], _values(self.predicted))


def _values(predicted: Sequence[Predicted]) -> list[float]:
    return [one.number.value for one in predicted]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much work is done."""

    steps: int = STEPS
    burn: int = BURN
    prior: int = PRIOR
    kept: int = KEPT
    played: int = PLAYED
    checked: int = CHECKED
    pilots: int = PILOTS
    tried: int = TRIED


def infer(effort: Effort, seed: int, tick: Tick) -> Posterior:
    """The posterior of Jalapeño's unknowns; *seed* decides every draw.

    Raises :class:`UsageError` where the sampler is not installed.
    """
    sampler()  # before minutes of work, not after
    system, engine = measured_system(), catalogue.engine(ENGINE)
    everything = published_numbers()
    numbers = [number for number in everything if not number.derived]
    tick("short lists of plans", 0, 1)
    listed = lists_of(everything, system, engine, seed, effort.pilots)
    tick("short lists of plans", 1, 1)
    plain = judge_of(everything, listed, system, engine)
    ramps = base_ramps(plain, lambda stage, jobs: side_by_side(stage, jobs, tick))
    judge = judge_of(numbers, listed, system, engine, ramps)
    derived = judge_of([n for n in everything if n.derived], listed, system, engine, ramps)
    with threads() as pool:
        prior_scores = prior_draws(effort.prior, seed)
        prior = in_parts(judge, prior_scores, pool, tick, "draws of the prior")
        start = walkers(judge, seed, pool, effort.tried)
    chain = walk(judge, start, steps=effort.steps, burn=effort.burn, seed=seed, tick=tick)
    places = resampled(chain.log_weights, effort.kept, seed)
    # in an order that has nothing to do with the chain's, so that the first few are a fair sample
    places = np.random.default_rng(seed).permutation(places)
    with threads() as pool:
        kept = judge.outcomes(chain.scores[places], pool)
        beyond = in_parts(derived, chain.scores[places], pool, tick, "numbers that are no evidence")
        beyond_prior = in_parts(derived, prior_scores, pool, tick, "and by the prior")
    return Posterior(
        judge=judge,
        seed=seed,
        chain=chain,
        prior=prior,
        kept=kept,
        predicted=predictions(chain, prior, seed),
        derived=outside(beyond, beyond_prior, seed),
        checks=check_ramps(judge, kept, effort.checked, tick),
        answers=answers_of(judge, listed, kept, effort.played, tick),
    )


def in_parts(
    judge: Judge, scores: Floats, pool: ThreadPoolExecutor, tick: Tick, stage: str
) -> Outcomes:
    """Outcomes of many draws, telling how far it is."""
    for done in range(0, len(scores), PART):
        tick(stage, done, len(scores))
        judge.outcomes(scores[done : done + PART], pool)
    tick(stage, len(scores), len(scores))
    return judge.outcomes(scores)


PART = 50
"""Draws between two words about progress."""


def side_by_side(stage: str, jobs: Sequence[Callable[[], Made]], tick: Tick) -> list[Made]:
    """The results of *jobs*, which run on all cores."""
    found = []
    tick(stage, 0, len(jobs))
    with threads() as pool:
        for done, made in enumerate(pool.map(_call, jobs), start=1):
            found.append(made)
            tick(stage, done, len(jobs))
    return found


def _call(job: Callable[[], Made]) -> Made:
    return job()


def predictions(chain: Chain, prior: Outcomes, seed: int) -> tuple[Predicted, ...]:
    """Every number of the evidence, by the prior, all evidence, and all other evidence."""
    generator = np.random.default_rng(seed)
    found = []
    for which, number in enumerate(chain.outcomes.judge.numbers):
        drawn = chain.outcomes.predictive(which, generator)
        without = chain.log_weights_without(which)
        found.append(
            Predicted(
                number=number,
                prior=interval(prior.predictive(which, generator)),
                all_in=interval(drawn, chain.log_weights),
                left_out=interval(drawn, without),
                effective=effective(without),
            )
        )
    return tuple(found)


def outside(kept: Outcomes, prior: Outcomes, seed: int) -> tuple[Predicted, ...]:
    """Numbers that are no evidence, by prior and posterior draws."""
    generator = np.random.default_rng(seed)
    found = []
    for which, number in enumerate(kept.judge.numbers):
        drawn = interval(kept.predictive(which, generator))
        found.append(
            Predicted(
                number=number,
                prior=interval(prior.predictive(which, generator)),
                all_in=drawn,
                left_out=drawn,
                effective=float(len(kept.values)),
            )
        )
    return tuple(found)


def check_ramps(judge: Judge, kept: Outcomes, count: int, tick: Tick) -> tuple[RampCheck, ...]:
    """Simulate every number's best plan at some draws of the posterior."""
    jobs = [
        partial(_played, judge, judge.listed[number.model], number, row)
        for number in judge.numbers
        for row in kept.values[:count]
    ]
    made = side_by_side("checking ramps", jobs, tick)
    return tuple(
        RampCheck(
            number=number,
            taken=judge.ramps[number.name],
            found=tuple(one.ramp.value for one in made if one.number == number),
        )
        for number in judge.numbers
    )


def _played(judge: Judge, listed: Listed, number: Published, row: Floats) -> Played:
    world = judge.world(row)
    one = best_try(listed, number, world, judge.ramps[number.name].tbt)
    return play(listed, number, one, world, overrides_of(named(row)))


def answers_of(
    judge: Judge, listed: Mapping[str, Listed], kept: Outcomes, played: int, tick: Tick
) -> tuple[Answers, ...]:
    """What was never published, by the kept draws."""
    asked = situations(tuple(listed))
    worlds = [judge.world(row) for row in kept.values]
    found = []
    for situation in asked:
        of = listed[situation.model].of
        closed = [partial(steady_answers, of, situation, world) for world in worlds]
        runs = [
            partial(simulated_answers, of, situation, world, row)
            for world, row in zip(worlds[:played], kept.values[:played], strict=True)
        ]
        found.append(
            Answers(
                situation=situation,
                steady=columns(side_by_side(f"closed form: {situation.name}", closed, tick)),
                played=columns(side_by_side(f"simulating: {situation.name}", runs, tick)),
            )
        )
    return tuple(found)
