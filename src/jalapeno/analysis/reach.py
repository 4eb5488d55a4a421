"""What to say where no plan meets the limits: the best that can be reached, and by which plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter

from jalapeno.analysis.shortlist import Prospect
from jalapeno.analysis.slo import Slo, render_seconds
from jalapeno.analysis.threads import at_once
from jalapeno.analysis.trial import Bench, Trial
from jalapeno.errors import DoesNotFit, OutOfReach

Alone = Mapping[Prospect, Trial]


def alone(bench: Bench, prospects: Sequence[Prospect]) -> Alone:
    """Each of *prospects* with one request after the other: nothing is faster under its plan.

    Without those whose KV cache cannot hold the longest request; :class:`DoesNotFit` where none
    can.
    """
    tried = at_once(partial(_alone, bench), prospects)
    found = {
        one: trial
        for one, trial in zip(prospects, tried, strict=True)
        if not isinstance(trial, DoesNotFit)
    }
    for trial in tried:
        if not found and isinstance(trial, DoesNotFit):
            raise trial
    return found


def _alone(bench: Bench, prospect: Prospect) -> Trial | DoesNotFit:
    try:
        return bench.alone(prospect)
    except DoesNotFit as error:
        return error


def out_of_reach(slo: Slo, trials: Alone) -> OutOfReach:
    """The error that says how close the plans of *trials* come with a single request at a time."""
    mend = "raise the limit, or allow other replicas with --chips-per-replica"
    broken = []
    for place, limit in enumerate(slo.limits):
        best, reached = min(
            ((one, trial.reached[place]) for one, trial in trials.items()), key=itemgetter(1)
        )
        if reached > limit.seconds:
            broken.append(
                f"{limit.label} of {render_seconds(limit.seconds)} is out of reach: one request "
                f"alone needs {render_seconds(reached)} on {best.label}, the fastest plan looked at"
            )
    if broken:
        return OutOfReach("; ".join([*broken, mend]))
    best, strain = min(((one, trial.strain) for one, trial in trials.items()), key=itemgetter(1))
    said = ", ".join(
        f"{limit.label} {render_seconds(value)}"
        for limit, value in zip(slo.limits, trials[best].reached, strict=True)
    )
    if strain > 1.0:
        return OutOfReach(
            f"no plan meets {slo.label} together: the closest, {best.label}, has {said} with one "
            f"request alone; {mend}"
        )
    return OutOfReach(
        f"{slo.label} can be met by one request alone ({best.label}: {said}), but not by requests "
        f"that come at random; {mend}"
    )
