"""What would help, read off the labels alone: each label names what its time depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jalapeno.analysis.explain import apportion
from jalapeno.analysis.explain_waits import QUEUE, Shortage
from jalapeno.analysis.explanation import Explanation
from jalapeno.metrics import Report
from jalapeno.metrics.attribution import CAUSES
from jalapeno.presentation.digits import percent
from jalapeno.simulation import Pool, Role, Scenario
from jalapeno.units import render

WORTH = 10
"""Percent of the time that a label takes at least to be worth advice."""

CAUSE_HELPS: Mapping[str, str] = {
    "own_prefill": "shorter prompts or a prefix cache; more chips at a prompt",
    "others_prefill": "more workers for prompts, so that fewer are computed at once",
    "others_decode": "split pools, or fewer slots beside a prompt",
    "transfer": "a faster link between the pools, or a shorter set-up (engine.transfer_latency)",
    "interference": "smaller chunks of prompts (plan.max_tokens), or split pools",
    "preempted": "more KV blocks a rank, or fewer slots",
    "recompute": "more KV blocks a rank, fewer slots, or swapping in place of recomputing",
}
"""By label of the first view; waits are answered from what was short."""

ANSWERED_BELOW = ("own_decode",)
"""Decode of one's own batch: what bound its steps says what would help."""

PART_HELPS: Mapping[str, str] = {
    "matrix": "more chips a worker, narrower formats, or better kernels (engine efficiencies)",
    "vector": "more chips a worker, or a faster SIMD engine",
    "memory": "more chips a worker to share weights and KV, narrower formats, or faster memory",
    "communication": "fewer chips a worker, a faster or nearer fabric level, or more overlap",
    "issue": "a leaner engine (engine.issue_*, engine.host_*), or fewer, larger steps",
    "imbalance": "evener experts and ranks: redundant experts, fewer attention ranks",
    "throttle": "a higher power cap, or less energy an operation",
}
"""By label of the second view."""


@dataclass(frozen=True, slots=True)
class Help:
    """One thing that would help."""

    label: str
    percent: int
    """Share of the time it could save at the most."""
    advice: str


def helps(found: Explanation, scenario: Scenario, report: Report) -> tuple[Help, ...]:
    """What would help, for every label worth it, the largest of each view first.

    A label of which nothing is known to help is named with that.
    """
    short = {each.label: each for each in found.waits}
    return (
        *_helps(
            found.chosen.by_cause,
            {label: _cause_help(label, short, scenario, report) for label in CAUSES},
        ),
        *_helps(
            {label: t for label, t in found.chosen.by_part.items() if label not in CAUSES},
            PART_HELPS,
            whole=found.chosen.total,
        ),
    )


def _helps(
    times: Mapping[str, int], advice: Mapping[str, str], whole: int | None = None
) -> Sequence[Help]:
    rest = {} if whole is None else {"": whole - sum(times.values())}
    percents = apportion({**times, **rest})
    order = sorted(times, key=lambda label: -percents[label])
    return [
        Help(label, percents[label], advice.get(label, "nothing is known to"))
        for label in order
        if percents[label] >= WORTH and label not in ANSWERED_BELOW
    ]


def _cause_help(
    label: str, short: Mapping[str, Shortage], scenario: Scenario, report: Report
) -> str:
    if label == "front_end":
        delay = render(scenario.engine.first_token_delay, "s", 3)
        return f"a faster front end (engine.first_token_delay is {delay})"
    if label in short and short[label].total:
        return _wait_help(short[label], scenario, report)
    return CAUSE_HELPS.get(label, "nothing is known to")


def _wait_help(short: Shortage, scenario: Scenario, report: Report) -> str:
    """What helps against a wait: more of what was short for most of it."""
    decodes = short.label != QUEUE
    roles = (Role.DECODE,) if decodes else (Role.UNIFIED, Role.PREFILL)
    slots = " or ".join(
        f"{count:,}" for count in sorted({p.plan.max_running for p in _of(scenario, roles)})
    )
    times = {"slots": short.slots, "blocks": short.blocks, "step": short.step}
    most = max(times, key=lambda name: times[name])
    share = apportion(times)[most]
    match most:
        case "slots":
            peak = percent(report.utilisation.peak_kv_share)
            return (
                f"for {share} % of it all {slots} slots of the rank were taken: more workers, or "
                f"more slots (plan.max_running; KV was {peak} % full at its peak)"
            )
        case "blocks":
            return (
                f"for {share} % of it KV blocks were short though a slot was free: more workers, "
                "more chips a rank, or a narrower KV format; more slots would not help"
            )
        case _:
            return (
                f"for {share} % of it a slot was there and the running step had to end: shorter "
                "steps (plan.max_tokens)"
            )


def _of(scenario: Scenario, roles: Sequence[Role]) -> Sequence[Pool]:
    return [pool for pool in scenario.pools if pool.role in roles]
