"""The audit: every claim against every baseline under every denominator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jalapeno import catalogue
from jalapeno.analysis.bill import Range
from jalapeno.analysis.claims.denominators import Denominator, divisor
from jalapeno.analysis.claims.findings import Finding, Metric
from jalapeno.analysis.claims.measured import Baseline, Point, baselines, rounded
from jalapeno.analysis.claims.said import Said, said
from jalapeno.analysis.claims.verdict import judge, quotient
from jalapeno.analysis.claims.words import sentence_of
from jalapeno.analysis.interpolation import curve, pareto_front
from jalapeno.catalogue import Claim, System

SECONDS_AN_HOUR = 3600.0
LIGHT = 16
"""Requests in flight up to which a row may stand for a system's lowest latency."""


@dataclass(frozen=True, slots=True)
class Audit:
    """Everything that was found."""

    findings: tuple[Finding, ...]
    said: tuple[Said, ...]
    """What vendors and press said, judged by the findings."""
    missing: tuple[str, ...]
    """Systems that no measured row stands for."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Jalapeño's number and the baseline's, before a denominator."""

    metric: Metric
    speed: float | None
    ours: Range
    theirs: Range
    least: bool
    sources: tuple[str, ...]


def audit() -> Audit:
    """Compare every published number of Jalapeño with every baseline of its model."""
    known = baselines()
    findings = tuple(
        finding
        for name in catalogue.names("claims")
        for finding in findings_of(catalogue.claim(name), known)
    )
    return Audit(findings, said(findings), missing(known))


def missing(known: tuple[Baseline, ...]) -> tuple[str, ...]:
    """NVIDIA's systems of Blackwell without any row, and models that one of them lacks."""
    models = sorted({one.model for one in known})
    told = []
    for system in ("b200-hgx", "b300-hgx", "gb200-nvl72", "gb300-nvl72"):
        lacking = [m for m in models if not any((b.model, b.system) == (m, system) for b in known)]
        if lacking:
            told.append(f"{system}: no measured row of {', '.join(lacking)}")
    return tuple(told)


def findings_of(claim: Claim, known: tuple[Baseline, ...]) -> Iterator[Finding]:
    """All findings on one claim.

    A claim of its own model's name says everything of Jalapeño; one with another name
    (``deepseek-r1-mtp``) repeats it but for the throughput at another reference's speed.
    """
    for one in known:
        if one.model == claim.model:
            for compared in compare(claim, one):
                yield from divided(claim, one, compared)


def compare(claim: Claim, one: Baseline) -> Iterator[Compared]:
    """Every metric that claim and baseline share."""
    facts = claim.facts
    fast = [point for point in one.points if point.throughput is not None]
    tdp = catalogue.tariff(catalogue.system(claim.system).chip.name).tdp / 1e3
    slower = rounded(facts["tps_per_kw_at_reference_tbt"]).times(tdp)
    top = max(fast, key=lambda point: _value(point.throughput))
    theirs = top.throughput
    assert theirs is not None
    tbt = rounded(facts["reference_min_tbt"])
    speed = 1.0 / tbt.value
    where = _cite(claim, "tps_per_kw_at_reference_tbt")
    yield at_speed(one, tbt, slower, where)
    yield Compared(Metric.OUTRIGHT, speed, slower, theirs, False, (where, top.source))
    if claim.name != claim.model:
        return
    peak = rounded(facts["peak_tps_per_kw"]).times(tdp)
    cited = (_cite(claim, "peak_tps_per_kw"), top.source)
    yield Compared(Metric.PEAK, None, peak, theirs, False, cited)
    for metric, name in ((Metric.E2E, "e2e"), (Metric.TBT, "tbt")):
        timed = [p for p in one.points if getattr(p, name) is not None and _is_light(p)]
        if timed:
            best = min(timed, key=lambda point: float(getattr(point, name).value))
            ours = rounded(facts[f"min_{name}"])
            cited = (_cite(claim, f"min_{name}"), best.source)
            yield Compared(metric, None, ours, getattr(best, name), False, cited)


def at_speed(one: Baseline, tbt: Range, ours: Range, where: str) -> Compared:
    """The baseline's frontier at the speed of *tbt*; beyond its end its fastest row, as a bound.

    Throughput falls with speed, so a baseline that is slower than *tbt* would serve less than its
    fastest row does; one whose rows are all faster serves at least what its slowest row does.
    """
    speed = 1.0 / tbt.value
    known = [point for point in one.points if point.throughput and point.speed]
    front = pareto_front(known, lambda p: p.speed or 0.0, lambda p: _value(p.throughput))
    ends = front[-1]
    fastest = ends.speed or 0.0
    # a published time is rounded: who is as fast as its slow end is as fast as it
    beyond = fastest < 1.0 / tbt.high
    assert ends.throughput is not None
    if speed >= fastest:
        sources = (where, ends.source)
        return Compared(Metric.SAME_SPEED, speed, ours, ends.throughput, beyond, sources)
    within = max(speed, front[0].speed or 0.0)
    xs = [point.speed or 0.0 for point in front]
    ranges = [point.throughput for point in front if point.throughput is not None]
    low, value, high = (
        curve(xs, [getattr(each, end) for each in ranges])(within)
        for end in ("low", "value", "high")
    )
    kind = max(each.kind for each in ranges)
    sides = _neighbours(front, within)
    cited = (where, *(point.source for point in sides))
    return Compared(Metric.SAME_SPEED, speed, ours, Range(value, low, high, kind), False, cited)


def _neighbours(front: tuple[Point, ...], speed: float) -> tuple[Point, ...]:
    """The rows of the front next to *speed* on both sides."""
    slower = [point for point in front if (point.speed or 0.0) <= speed][-1:]
    faster = [point for point in front if (point.speed or 0.0) > speed][:1]
    return (*slower, *faster)


def divided(claim: Claim, one: Baseline, found: Compared) -> Iterator[Finding]:
    """The same comparison under every denominator; times have none."""
    own, other = catalogue.system(claim.system), catalogue.system(one.system)
    if found.metric.is_time:
        yield _finding(claim, one, found, None, (found.ours, found.theirs))
        return
    for per in Denominator:
        ours, theirs = (
            _over(rate, system, per, busy=found.metric is not Metric.SAME_SPEED)
            for rate, system in ((found.ours, own), (found.theirs, other))
        )
        yield _finding(claim, one, found, per, (ours, theirs))


def _over(rate: Range, system: System, per: Denominator, *, busy: bool) -> Range:
    over = quotient(rate, divisor(system, per, busy=busy))
    return over.times(SECONDS_AN_HOUR) if per is Denominator.DOLLAR else over


def _finding(
    claim: Claim,
    one: Baseline,
    found: Compared,
    per: Denominator | None,
    pair: tuple[Range, Range],
) -> Finding:
    ours, theirs = pair
    ratio = quotient(theirs, ours) if found.metric.is_time else quotient(ours, theirs)
    return Finding(
        model=claim.model,
        claim=claim.name,
        baseline=one.name,
        system=one.system,
        precision=one.precision,
        mtp=one.mtp,
        equal_precision=one.equal_precision,
        metric=found.metric,
        per=per,
        speed=found.speed,
        jalapeno=ours,
        reference=theirs,
        ratio=ratio,
        least=found.least,
        verdict=judge(ratio, least=found.least),
        sentence=sentence_of(one, found.metric, per, found.speed, ratio, least=found.least),
        sources=found.sources,
    )


def _is_light(point: Point) -> bool:
    return point.concurrency is None or point.concurrency <= LIGHT


def _value(range_: Range | None) -> float:
    return 0.0 if range_ is None else range_.value


def _cite(claim: Claim, name: str) -> str:
    fact = claim.facts[name]
    return f"{fact.source}, {fact.as_of}" if fact.as_of else fact.source
