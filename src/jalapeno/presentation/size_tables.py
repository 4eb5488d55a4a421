"""A sizing as tables: the answer, its limits, its bill, and what else was looked at."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from jalapeno.analysis.bill import Range
from jalapeno.analysis.size import Least, Sizing
from jalapeno.analysis.slo import render_seconds
from jalapeno.presentation.digits import UNDEFINED, counted, deviation, number, percent
from jalapeno.presentation.tables import MARKS, Table, kind_word

LEAST: Mapping[Least, str] = {
    Least.CHIPS: "chips",
    Least.KW: "all-in IT power",
    Least.DOLLARS: "dollars an hour",
}


def size_tables(found: Sequence[Sizing], least: Least) -> tuple[Table, ...]:
    """Everything that ``jalapeno size`` prints, in order; the first of *found* is the answer."""
    answer = found[0]
    tables = (answer_table(answer), limits_table(answer), bill_table(answer), plans_table(answer))
    return (systems_table(found, least), *tables) if len(found) > 1 else tables


def title(found: Sizing) -> str:
    """What was asked, in a line."""
    subject, demand = found.subject, found.demand
    burst = "" if demand.burst == 1.0 else f" in bursts of cv {demand.burst:g}"
    return (
        f"{subject.model.name} on {subject.system.name}: {demand.rate:,g} requests/s{burst}, "
        f"{found.slo.label}"
    )


def systems_table(found: Sequence[Sizing], least: Least) -> Table:
    """One line a system, the answer first."""
    rows = tuple(
        (
            one.subject.system.name,
            f"{one.fleet.replicas + one.demand.spare}x{one.fleet.prospect.plan.label}",
            f"{one.bill.chips:,}",
            f"{one.bill.racks:,}",
            number(one.bill.all_in_kw.value),
            number(one.bill.dollars_per_hour.value),
            number(one.bill.dollars_per_million_tokens.value),
        )
        for one in found
    )
    return Table(
        title=f"systems by {LEAST[least]}",
        headers=(
            *("system", "fleet", "chips", "racks", "all-in, kW", "$ an hour"),
            "$ a million mixed tokens",
        ),
        align="llrrrrr",
        rows=rows,
        note="The tables below are of the first.",
    )


def answer_table(found: Sizing) -> Table:
    """The fleet, and how far it is from its limits."""
    fleet, bill, plan = found.fleet, found.bill, found.fleet.prospect.plan
    spare = f" and {found.demand.spare} spare" if found.demand.spare else ""
    rate = found.demand.rate / fleet.replicas
    saturates = (
        "not seen" if math.isnan(found.saturates_per_s) else _demand(found.saturates_per_s, found)
    )
    rows = (
        ("fleet", f"{counted(fleet.replicas, 'replica')}{spare} of {counted(plan.chips, 'chip')}"),
        ("plan of a replica", f"{plan.label}: {plan.max_running} sequences and {plan.max_tokens} "
         "tokens a step, each rank"),
        ("chips", f"{bill.chips:,}"),
        ("racks", f"{bill.racks:,} of {bill.chips_per_rack} chips"),
        ("systems", f"{bill.systems:,} {found.subject.system.name}"),
        ("demand a replica", f"{number(rate)} requests/s"),
        ("a limit breaks at", _demand(fleet.breaks_per_s, found)),
        ("saturates at", saturates),
        ("binds", binding_words(found)),
    )  # fmt: skip
    return Table(
        title=title(found),
        headers=("", "answer"),
        align="ll",
        rows=rows,
        note=how_verified(found),
    )


def _demand(rate: float, found: Sizing) -> str:
    more = deviation(rate / found.demand.rate - 1.0)
    return f"{number(rate)} requests/s ({more} % of demand)"


def binding_words(found: Sizing) -> str:
    """Which limit breaks first, and what is left of the others."""
    first = found.binding
    words = (
        "throughput binds: the fleet saturates before a limit breaks"
        if first == "throughput"
        else f"{first} binds"
    )
    left = [
        f"{label} has {percent(1.0 - strain)} % left"
        for label, strain in found.strains.items()
        if label != first
    ]
    return "; ".join([words, *left])


def how_verified(found: Sizing) -> str:
    """How the answer was checked."""
    fleet = found.fleet
    run = counted(fleet.verified.requests, "request")
    whole = (
        "the whole fleet"
        if fleet.simulated == fleet.replicas
        else f"{fleet.simulated} of its {fleet.replicas} replicas at the same rate each (fewer "
        "share one queue, which errs to the safe side)"
    )
    return (
        f"Verified by a simulation of {whole} behind one queue, {run}, with other arrivals than "
        "the fleet was found with. TBT is each request's mean."
    )


def limits_table(found: Sizing) -> Table:
    """What is allowed and what the verifying run reached."""
    verified = found.fleet.verified
    rows = tuple(
        (
            limit.label,
            render_seconds(limit.seconds),
            render_seconds(reached),
            render_seconds(median),
            percent(1.0 - reached / limit.seconds),
            "binds" if limit.label == found.binding else "",
        )
        for limit, reached, median in zip(
            found.slo.limits, verified.reached, verified.medians, strict=True
        )
    )
    return Table(
        title="limits",
        headers=("limit", "allowed", "reached", "median", "left, %", ""),
        align="lrrrrl",
        rows=rows,
    )


def bill_table(found: Sizing) -> Table:
    """Power and money, from how much to how much."""
    bill = found.bill
    kinds = kind_word(found.fleet.report.power.package.kind)
    draw = ("packages, modelled draw", number(bill.package_kw), UNDEFINED, UNDEFINED, "kW", kinds)
    rows = (
        _range("packages, TDP", bill.package_tdp_kw, "kW"),
        draw,
        _range("all-in IT", bill.all_in_kw, "kW"),
        _range("facility (all-in × PUE)", bill.facility_kw, "kW"),
        _range("chip-hours", bill.dollars_per_hour, "$/h"),
        _range("a million mixed tokens", bill.dollars_per_million_tokens, "$"),
        _range("a million output tokens", bill.dollars_per_million_output_tokens, "$"),
    )
    return Table(
        title="power and money at this demand",
        headers=("", "value", "low", "high", "unit", "weakest evidence"),
        align="lrrrll",
        rows=rows,
        note="Low and high are the least and the most that a source says; output tokens alone bear "
        f"all of the dollars. {MARKS}.",
    )


def _range(name: str, found: Range, unit: str) -> tuple[str, ...]:
    low, high = (
        (number(found.low), number(found.high)) if found.low < found.high else (UNDEFINED,) * 2
    )
    return (name, number(found.value), low, high, unit, kind_word(found.kind))


def plans_table(found: Sizing) -> Table:
    """The plans that were simulated to their limits."""
    rows = tuple(
        (
            one.prospect.plan.label,
            f"{one.prospect.plan.max_tokens:,}",
            f"{one.prospect.plan.chips:,}",
            number(one.best.per_replica),
            number(one.best.per_replica / one.prospect.plan.chips),
            f"{one.chips:,}",
        )
        for one in found.contenders
    )
    return Table(
        title="plans simulated up to their limits",
        headers=(
            *("plan", "tokens a step", "chips", "requests/s a replica", "requests/s a chip"),
            "chips for the demand",
        ),
        align="lrrrrr",
        rows=rows,
        note=f"The best of {found.looked_at} that the closed form expects to meet the limits; the "
        "answer's number of replicas is that of the larger fleet simulated afterwards.",
    )
