"""What to say where no plan meets the limits: the best that can be reached, and by which plan."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from jalapeno.analysis.contest import at_once
from jalapeno.analysis.shortlist import Prospect
from jalapeno.analysis.slo import render_seconds
from jalapeno.analysis.trial import Bench
from jalapeno.errors import OutOfReach


def out_of_reach(bench: Bench, prospects: Sequence[Prospect]) -> OutOfReach:
    """The error that says how close *prospects* come with a single request at a time."""
    slo = bench.slo
    layouts = {(one.plan.label, one.plan.max_tokens): one for one in prospects}
    trials = dict(
        zip(layouts.values(), at_once(partial(bench.alone), layouts.values()), strict=True)
    )
    broken = []
    for place, limit in enumerate(slo.limits):
        best = min(trials, key=lambda one, place=place: trials[one].reached[place])
        reached = trials[best].reached[place]
        if reached > limit.seconds:
            broken.append(
                f"{limit.label} of {render_seconds(limit.seconds)} is out of reach: one request "
                f"alone needs {render_seconds(reached)} on {best.label}, the fastest plan looked at"
            )
    mend = "raise the limit, or allow other replicas with --chips-per-replica"
    if broken:
        return OutOfReach("; ".join([*broken, mend]))
    best = min(trials, key=lambda one: trials[one].strain)
    said = ", ".join(
        f"{limit.label} {render_seconds(value)}"
        for limit, value in zip(slo.limits, trials[best].reached, strict=True)
    )
    if trials[best].strain > 1.0:
        return OutOfReach(
            f"no plan meets {slo.label} together: the closest, {best.label}, has {said} with one "
            f"request alone; {mend}"
        )
    return OutOfReach(
        f"{slo.label} can be met by one request alone ({best.label}: {said}), but by no rate of "
        f"requests that come at random; {mend}"
    )
