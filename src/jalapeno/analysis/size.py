"""Sizing: the smallest fleet of a system that serves a demand within limits on latency.

The closed form makes a short list of plans; single replicas are simulated to find the highest rate
of each that meets the limits; the best are simulated as fleets, and the answer is verified with
other arrivals than it was found with.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from jalapeno import catalogue
from jalapeno.analysis.bill import Bill, bill
from jalapeno.analysis.contest import Contender, Progress, contest
from jalapeno.analysis.demand import Demand
from jalapeno.analysis.fleet import Fleet, curve, fleet, overload, saturates_per_s
from jalapeno.analysis.reach import alone, out_of_reach
from jalapeno.analysis.shortlist import CHIPS, Prospect, prospects, ranked
from jalapeno.analysis.slo import Slo
from jalapeno.analysis.subject import Subject
from jalapeno.analysis.threads import at_once
from jalapeno.analysis.trial import Bench, Trial, bench

MOST_PLANS, EACH = 12, 2
"""Plans on the short list, and of these with the same layout."""

FINALISTS = 2
"""Plans that are simulated as fleets."""


class Least(StrEnum):
    """What an answer has the least of.

    On one system they fall together, for a chip has one price and one power; they differ where
    systems are compared.
    """

    CHIPS = "chips"
    KW = "kw"
    """All-in IT power."""
    DOLLARS = "dollars"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """The answer, and what it rests on."""

    subject: Subject
    demand: Demand
    slo: Slo
    fleet: Fleet
    bill: Bill
    saturates_per_s: float
    """Demand that the fleet, without its spare replicas, can just sustain; NaN: not seen."""
    curve: tuple[Trial, ...]
    """Of the simulated fleet; see :meth:`Fleet.scaled`."""
    contenders: tuple[Contender, ...]
    """The plans that were best for a while, fewest chips first."""
    looked_at: int
    """Plans that the closed form expected to meet the limits."""

    @property
    def headroom(self) -> float:
        """How much more demand, as a share, until a limit breaks."""
        return self.fleet.breaks_per_s / self.demand.rate - 1.0

    @property
    def strains(self) -> Mapping[str, float]:
        """What the verifying run reached over each limit, the most strained first."""
        found = self.slo.strains(self.fleet.verified.reached)
        named = {limit.label: one for limit, one in zip(self.slo.limits, found, strict=True)}
        return dict(sorted(named.items(), key=lambda item: -item[1]))

    @property
    def binding(self) -> str:
        """What breaks first as demand grows: a limit, or ``throughput`` where the fleet saturates
        while all limits hold."""
        failed = [one for one in self.fleet.trials if not one.passed]
        if not failed:
            return next(iter(self.strains))
        first = min(failed, key=lambda trial: trial.per_replica)
        strains = self.slo.strains(first.reached)
        if max(strains) <= 1.0:
            return "throughput"
        return self.slo.limits[strains.index(max(strains))].label

    def cost(self, least: Least) -> float:
        """What *least* says is to be little."""
        match least:
            case Least.CHIPS:
                return self.bill.chips
            case Least.KW:
                return self.bill.all_in_kw.value
            case Least.DOLLARS:
                return self.bill.dollars_per_hour.value


def silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody wants to see."""


def size(
    subject: Subject,
    demand: Demand,
    slo: Slo,
    *,
    chips: Sequence[int] = CHIPS,
    on_progress: Progress = silent,
) -> Sizing:
    """The smallest fleet of unified replicas of *chips* chips that serves *demand* within *slo*.

    Raises :class:`OutOfReach` with the best that can be reached where no plan meets the limits,
    :class:`DoesNotFit` where the model fits no replica.
    """
    on_progress("closed form", 0, 1)
    hopeful, others = prospects(subject, slo, chips)
    on_progress("closed form", 1, 1)
    where = bench(subject, demand, slo, (hopeful or others)[0])
    found = contest(where, ranked(hopeful, demand, MOST_PLANS, EACH), on_progress)
    if not found:  # the closed form may be too careful
        lone = alone(where, sorted([*hopeful, *others], key=_strain))
        able = [one for one, trial in lone.items() if trial.passed]
        found = contest(where, able[:MOST_PLANS], on_progress)
        if not found:
            raise out_of_reach(slo, lone)
    fleets = at_once(partial(fleet, where), found[:FINALISTS])
    on_progress("fleets", 1, 2)
    best = min(fleets, key=lambda one: _chips(one, demand))
    return _answer(subject, where, best, found, len(hopeful), on_progress)


def _strain(one: Prospect) -> float:
    return one.strain


def _chips(made: Fleet, demand: Demand) -> tuple[int, float]:
    plan = made.prospect.plan
    return (made.replicas + demand.spare) * plan.chips, -made.breaks_per_s


def _answer(
    subject: Subject,
    where: Bench,
    best: Fleet,
    found: Sequence[Contender],
    looked_at: int,
    on_progress: Progress,
) -> Sizing:
    overloaded = overload(where, best)
    points = curve(where, best, overloaded)
    on_progress("fleets", 2, 2)
    demand, (prompt, output) = where.demand, subject.mean_lengths
    plan, chip = best.prospect.plan, subject.system.chip
    working = best.replicas * plan.chips * best.report.power.package.watts_per_chip
    idle = demand.spare * plan.chips * chip.power.idle
    saturates = saturates_per_s(best, overloaded)
    if not math.isnan(saturates):  # both are seen within a percent or two
        saturates = max(saturates, demand.rate)
        best = replace(best, breaks_per_s=min(best.breaks_per_s, saturates))
    return Sizing(
        subject=subject,
        demand=demand,
        slo=where.slo,
        fleet=best,
        bill=bill(
            subject.system,
            catalogue.tariff(chip.name),
            plan,
            best.replicas + demand.spare,
            tokens_per_s=(demand.rate * (prompt + output), demand.rate * output),
            package_watts=working + idle,
        ),
        saturates_per_s=saturates,
        curve=tuple(points),
        contenders=tuple(found),
        looked_at=looked_at,
    )
