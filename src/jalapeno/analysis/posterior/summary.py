"""What the draws say, in a few numbers: constants, plans, answers, shares, measurements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jalapeno.analysis.posterior.infer import Answers, Posterior
from jalapeno.analysis.posterior.likelihood import DEGREES
from jalapeno.analysis.posterior.options import Try
from jalapeno.analysis.posterior.scores import Interval, interval
from jalapeno.analysis.posterior.shares import Confounded, Gain, confounded, gains, variance_share
from jalapeno.analysis.posterior.situations import METRICS, Metric
from jalapeno.analysis.posterior.unknowns import (
    ALONE,
    HYPER,
    LOADED,
    PATHS,
    Floats,
    Unknown,
    place_of,
    ttft_scale,
    unknowns,
)

REPEATS = 10
"""Errors of the twin that are drawn for each draw that was played out."""

MEASURED_WITHIN = 0.05
"""Spread of the error of a new measurement, and of what the twin makes of it: about what the twin
is off by where it can be checked."""

KNOWN = tuple(path for path in PATHS if path not in HYPER)
"""Unknowns of chip and engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marginal:
    """One unknown before and after the evidence."""

    unknown: Unknown
    prior: Interval
    posterior: Interval
    shares: tuple[tuple[str, float, float], ...] = ()
    """Of a choice: (word, prior share, posterior share)."""

    @property
    def learnt(self) -> float:
        """By how much the 90 % interval has shrunk, as a share of the prior's."""
        before = self.prior.high - self.prior.low
        return 1.0 - (self.posterior.high - self.posterior.low) / before if before > 0.0 else 0.0


def marginals(found: Posterior) -> tuple[Marginal, ...]:
    """Every unknown, in order."""
    made = []
    for place, unknown in enumerate(unknowns()):
        before, after = found.prior.values[:, place], found.kept.values[:, place]
        made.append(
            Marginal(
                unknown=unknown,
                prior=interval(before),
                posterior=interval(after),
                shares=tuple(
                    (word, float(np.mean(before == at)), float(np.mean(after == at)))
                    for at, word in enumerate(unknown.choices)
                ),
            )
        )
    return tuple(made)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanShare:
    """How likely it is that a published number was measured with one of the listed plans."""

    one: Try
    """At a limit on TBT: the first of a curve."""
    chips: int
    share: float


def plan_shares(found: Posterior, which: int) -> tuple[PlanShare, ...]:
    """The plans of one number, the likeliest first."""
    number = found.judge.numbers[which]
    logs = found.kept.by_option(which)
    each = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares = (each / each.sum(axis=1, keepdims=True)).mean(axis=0)
    curves = found.judge.options(number).each
    made = [
        PlanShare(one=curve[0], chips=curve[0].layout[0] * curve[0].layout[2], share=float(share))
        for curve, share in zip(curves, shares, strict=True)
    ]
    return tuple(sorted(made, key=lambda plan: -plan.share))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A number that was never published, with its interval, the twin's own error included."""

    name: str
    metric: Metric
    value: Interval
    draws: int
    simulated: float | None
    """Simulation over closed form, the median over the draws that were played out."""


def answers(found: Posterior) -> tuple[Answer, ...]:
    """All situations and metrics."""
    generator = np.random.default_rng(found.seed)
    made = []
    for one in found.answers:
        for metric in METRICS:
            path = ALONE if one.situation.concurrency == 1 else LOADED
            scale = found.kept.values[:, place_of(path)]
            if metric.is_ttft:
                scale = np.maximum(scale, ttft_scale())
            made.append(_answer(one, metric, scale, generator))
    return tuple(made)


def _answer(one: Answers, metric: Metric, scale: Floats, generator: np.random.Generator) -> Answer:
    played = one.played[metric.name]
    name = f"{one.situation.name}: {metric.name}"
    if metric.name in one.steady:
        steady = one.steady[metric.name]
        factor = float(np.median(played / steady[: len(played)]))
        values, spread, simulated = factor * steady, scale, factor
    else:
        values, spread = np.repeat(played, REPEATS), np.repeat(scale[: len(played)], REPEATS)
        simulated = None
    error = np.exp(spread * generator.standard_t(DEGREES, len(values)))
    return Answer(
        name=name,
        metric=metric,
        value=interval(values * error),
        draws=len(played) if simulated is None else len(values),
        simulated=simulated,
    )


def twin_answers(found: Posterior) -> dict[str, Floats]:
    """Every answer of the closed form by name, draw by draw, without the twin's own error."""
    made = {}
    for which, number in enumerate(found.judge.numbers):
        logs = found.kept.logs[:, found.judge.slices[which]]
        made[number.name] = np.exp(logs.min(axis=1) if number.is_latency else logs.max(axis=1))
    for one in found.answers:
        for metric, values in one.steady.items():
            made[f"{one.situation.name}: {metric}"] = values
    return made


def shares(found: Posterior) -> dict[str, dict[str, float]]:
    """For every answer, the share of its variance that knowing each unknown takes away."""
    columns = {path: found.kept.values[:, place_of(path)] for path in KNOWN}
    return {
        name: {path: variance_share(column, np.log(values)) for path, column in columns.items()}
        for name, values in twin_answers(found).items()
    }


def pairs(found: Posterior) -> tuple[Confounded, ...]:
    """Unknowns that the evidence cannot tell apart."""
    values = found.kept.values[:, [place_of(path) for path in KNOWN]]
    return confounded(KNOWN, values)


def measurements(found: Posterior) -> dict[str, Floats]:
    """What could be measured next: every number that was never published, and every constant of
    chip and engine that is a number."""
    asked = {number.name for number in found.judge.numbers}
    made = {name: x for name, x in twin_answers(found).items() if name not in asked}
    for unknown in unknowns():
        column = found.kept.values[:, place_of(unknown.path)]
        if unknown.path in KNOWN and not unknown.choices and column.min() > 0.0:
            made[f"constant {unknown.path}"] = column
    return made


def best_measurements(found: Posterior, answer: Floats, but: str) -> tuple[Gain, ...]:
    """What each measurement would take off *answer*, the best first; not the one named *but*."""
    possible: Mapping[str, Floats] = {
        name: draws for name, draws in measurements(found).items() if name != but
    }
    return gains(answer, possible, MEASURED_WITHIN, found.seed)
