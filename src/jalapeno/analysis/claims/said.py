"""What was said of Jalapeño in words, judged by the findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jalapeno.analysis.claims.denominators import Denominator
from jalapeno.analysis.claims.findings import Finding, Metric
from jalapeno.analysis.claims.verdict import Verdict, judge

FIRST_RESULTS = "OpenAI, first results, https://openai.com/index/jalapeno-first-results/"
"""Who compares Jalapeño with GB200 and GB300."""


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence, who said it, and what each of the findings it is about says of it."""

    sentence: str
    by: str
    threshold: float
    """The ratio that it asserts, rounded as it was said."""
    findings: tuple[Finding, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sentence and the findings that it is about."""

    sentence: str
    by: str
    threshold: float
    metric: Metric
    per: Denominator | None
    models: tuple[str, ...]
    mtp: bool = False


ALL = ("deepseek-r1", "gpt-oss-120b", "kimi-k2.5")
OWN_REFERENCE = {
    "deepseek-r1": "gb300-nvl72",
    "gpt-oss-120b": "gb200-nvl72",
    "kimi-k2.5": "gb300-nvl72",
}
"""System that OpenAI compares with."""

PHRASES = (
    Phrase(
        "Jalapeño serves 1.5 to 1.9 times as many tokens per watt of TDP",
        *(FIRST_RESULTS, 1.5, Metric.PEAK, Denominator.TDP, ALL),
    ),
    Phrase(
        "Jalapeño serves 1.5 times as many tokens per watt of TDP as GB300 with MTP",
        *(FIRST_RESULTS, 1.5, Metric.PEAK, Denominator.TDP, ("deepseek-r1",), True),
    ),
    Phrase(
        "end-to-end latency is 1.7 to 3.6 times lower",
        *(FIRST_RESULTS, 1.7, Metric.E2E, None, ALL),
    ),
    Phrase(
        "time between tokens is 2.1 to 4.1 times lower",
        *(FIRST_RESULTS, 2.1, Metric.TBT, None, ALL),
    ),
    Phrase(
        "Jalapeño serves 50 to 100 times as much per watt of TDP at the reference's best speed",
        *(FIRST_RESULTS, 50.0, Metric.SAME_SPEED, Denominator.TDP, ALL),
    ),
    Phrase(
        "Jalapeño runs at about half the cost",
        *("Hock Tan, Broadcom, 2026", 2.0, Metric.PEAK, Denominator.DOLLAR, ALL),
    ),
    Phrase(
        "a Jalapeño chip serves more than a chip of the reference",
        *("no one; often understood", 1.0, Metric.PEAK, Denominator.CHIP, ALL),
    ),
)
"""Sentences of announcements and press, and one that is often taken for said."""


def said(findings: Sequence[Finding]) -> tuple[Said, ...]:
    """Judge every sentence: supported where all models support it, else what the worst one says."""
    judged = []
    for phrase in PHRASES:
        about = tuple(finding for finding in findings if _is_about(phrase, finding))
        verdicts = {judge(f.ratio, phrase.threshold, least=f.least) for f in about}
        judged.append(Said(phrase.sentence, phrase.by, phrase.threshold, about, _worst(verdicts)))
    return tuple(judged)


def _is_about(phrase: Phrase, finding: Finding) -> bool:
    return (
        finding.model in phrase.models
        and finding.claim == finding.model
        and finding.system == OWN_REFERENCE[finding.model]
        and (finding.metric, finding.per, finding.mtp) == (phrase.metric, phrase.per, phrase.mtp)
    )


def _worst(verdicts: set[Verdict]) -> Verdict:
    """Not supported if any is not; undecided if any is, or there is nothing to judge by."""
    if Verdict.NOT_SUPPORTED in verdicts:
        return Verdict.NOT_SUPPORTED
    return Verdict.SUPPORTED if verdicts == {Verdict.SUPPORTED} else Verdict.UNDECIDED
