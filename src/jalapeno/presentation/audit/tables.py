"""The audit as tables and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jalapeno.analysis.bill import Range
from jalapeno.analysis.claims import Audit, Finding, Metric, Verdict
from jalapeno.analysis.claims.denominators import Denominator
from jalapeno.analysis.claims.said import Said
from jalapeno.presentation.digits import UNDEFINED, number
from jalapeno.presentation.names import model_title, system_title
from jalapeno.presentation.tables import Table

MARKS = {Verdict.SUPPORTED: "+", Verdict.NOT_SUPPORTED: "-", Verdict.UNDECIDED: "?"}
"""Marks of verdicts, which must show without colour."""

RULE = (
    "Jalapeño over the other: more than 1 is in its favour. + all of the range is above 1: "
    "supported; - all of it is below: not supported; ? 1 lies within: undecided; ≥ a lower bound, "
    "for no row of the other is as fast."
)
"""How a verdict is made."""

TITLES = {
    Metric.PEAK: "peak throughput, each at the speed that suits it",
    Metric.SAME_SPEED: "throughput at the same speed a user",
    Metric.OUTRIGHT: "Jalapeño's throughput at that speed, against the other's peak at any speed",
}

Key = tuple[str, str, Metric]


def audit_tables(found: Audit) -> list[Table]:
    """Everything that ``jalapeno audit`` prints, in order."""
    return [said_table(found.said), *metric_tables(found.findings), notes_table(found)]


def said_table(said: Sequence[Said]) -> Table:
    """What was said, and whether it holds."""
    rows = []
    for one in said:
        told = ", ".join(
            f"{model_title(f.model)} {ratio_cell(f)}" for f in sorted(one.findings, key=_by_model)
        )
        rows.append((one.sentence, one.by, number(one.threshold), told, one.verdict.value))
    return Table(
        title="what was said",
        headers=("sentence", "by", "threshold", "ratios found", "verdict"),
        align="llrll",
        rows=tuple(rows),
        note="Against the reference that OpenAI chose. Supported where every ratio is above the "
        "threshold, with all of its range; not supported where one is below it.",
    )


def metric_tables(findings: Sequence[Finding]) -> list[Table]:
    """A table a claim and metric, a row a baseline; one more for latencies."""
    tables = []
    for claim in dict.fromkeys(f.claim for f in findings):
        of_claim = [f for f in findings if f.claim == claim]
        for metric in TITLES:
            listed = [f for f in of_claim if f.metric is metric]
            if listed:
                tables.append(rate_table(listed))
        times = [f for f in of_claim if f.metric.is_time]
        if times:
            tables.append(latency_table(times))
    return tables


def rate_table(listed: Sequence[Finding]) -> Table:
    """One metric of one claim: a column a denominator."""
    first = listed[0]
    rows = []
    for baseline in dict.fromkeys(f.baseline for f in listed):
        cells = {f.per: ratio_cell(f) for f in listed if f.baseline == baseline}
        one = next(f for f in listed if f.baseline == baseline)
        rows.append((baseline_text(one), *(cells[per] for per in Denominator)))
    speed = "" if first.speed is None else f", {first.speed:,.0f} tokens/s a user"
    return Table(
        title=f"{model_title(first.model)}: {TITLES[first.metric]}{speed}",
        headers=("against", *(f"per {per.value}" for per in Denominator)),
        align="k" + "l" * len(Denominator),
        rows=tuple(rows),
        note=RULE,
    )


def latency_table(times: Sequence[Finding]) -> Table:
    """Lowest latencies: seconds of both, and the ratio."""
    rows = []
    for baseline in dict.fromkeys(f.baseline for f in times):
        cells: list[str] = []
        for metric in (Metric.E2E, Metric.TBT):
            one = [f for f in times if f.baseline == baseline and f.metric is metric]
            if one:
                scale = 1.0 if metric is Metric.E2E else 1e3
                cells += [number(f.value * scale) for f in (one[0].jalapeno, one[0].reference)]
                cells.append(ratio_cell(one[0]))
            else:
                cells += [UNDEFINED] * 3
        named = next(f for f in times if f.baseline == baseline)
        rows.append((baseline_text(named), *cells))
    return Table(
        title=f"{model_title(times[0].model)}: lowest latencies, each by the layout that suits it",
        headers=(
            *("against", "E2E s", "other's", "times", "time between tokens ms", "other's"),
            "times",
        ),
        align="krrlrrl",
        rows=tuple(rows),
        note=RULE,
    )


def notes_table(found: Audit) -> Table:
    """What has no row, and where ranges come from."""
    rows = [("missing", text) for text in found.missing]
    rows += [
        ("published", "Jalapeño's numbers: half a unit of the last digit to both sides"),
        ("measured", "the spread of four InferenceX runs of one configuration to both sides"),
        ("derived", "throughput from mean latencies by Little's law: up to 10.6 % too high"),
        ("kW of TDP, all-in, dollar", "the least and the most that any source of a tariff says"),
        ("kW of facility", "all-in, and each system's own PUE of a liquid-cooled hall"),
        (
            "kW drawn",
            "Jalapeño: 245 W (static) to 550 W (published bound). Others: TDP at most, at least "
            "the share of it that was measured on a B200 (at peaks) or an MI355X (at speed); the "
            "middle number is 550 W against their TDP, which is no comparison of like with like",
        ),
        ("fp8", "other precision than Jalapeño's 4-bit weights: no comparison at equal precision"),
    ]
    return Table(title="ranges", headers=("what", "how"), align="kl", rows=tuple(rows))


def baseline_text(finding: Finding) -> str:
    """A baseline in words: ``GB300 NVL72, fp4, MTP``; unequal precision is marked."""
    mtp = ", MTP" if finding.mtp else ""
    unequal = "" if finding.equal_precision else " (unequal)"
    return f"{system_title(finding.system)}, {finding.precision}{unequal}{mtp}"


def ratio_cell(finding: Finding) -> str:
    """``+ 1.67 (1.65–1.69)``, or ``+ ≥ 47.5`` for a bound."""
    ratio, mark = finding.ratio, MARKS[finding.verdict]
    if finding.least:
        return f"{mark} ≥ {number(ratio.low)}"
    return f"{mark} {number(ratio.value)}{range_text(ratio)}"


def range_text(ratio: Range) -> str:
    """`` (1.65–1.69)``; nothing where it would repeat the value."""
    low, high = number(ratio.low), number(ratio.high)
    return "" if low == high == number(ratio.value) else f" ({low}–{high})"


def sentence_lines(found: Audit) -> Iterator[str]:
    """Every finding as a sentence, its verdict first, its sources after."""
    for one in found.findings:
        unequal = "" if one.equal_precision else " [unequal precision]"
        yield f"{one.verdict.value.upper()}: {model_title(one.model)}: {one.sentence}{unequal}"
        yield f"  {'; '.join(one.sources)}; weakest evidence: {one.kind.name.lower()}"


def _by_model(finding: Finding) -> str:
    return finding.model
