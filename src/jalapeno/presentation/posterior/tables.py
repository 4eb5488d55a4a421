"""The posterior as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jalapeno.analysis.posterior.evidence import Published
from jalapeno.analysis.posterior.infer import Posterior, Predicted
from jalapeno.analysis.posterior.scores import Score
from jalapeno.analysis.posterior.shares import Gain
from jalapeno.analysis.posterior.summary import (
    Marginal,
    PlanShare,
    answers,
    best_measurements,
    marginals,
    pairs,
    plan_shares,
    shares,
    twin_answers,
)
from jalapeno.presentation.digits import number, percent
from jalapeno.presentation.posterior.words import (
    in_unit,
    inner_of,
    layout_of,
    name_of,
    range_of,
    shown,
    unit_of,
    words_for,
)
from jalapeno.presentation.tables import Table, kind_word

TOP = 3
"""Unknowns, plans or measurements that are told of each answer."""
PAIRS = 15
"""Pairs of unknowns that are told."""
TELLING = 0.05
"""Shares below are not told."""


def posterior_tables(found: Posterior) -> list[Table]:
    """Everything that ``jalapeno posterior`` prints, in order."""
    return [
        numbers_table(found),
        score_table(found),
        constants_table(marginals(found)),
        choices_table(marginals(found)),
        plans_table(found),
        pairs_table(found),
        answers_table(found),
        shares_table(shares(found)),
        gains_table(found),
        ramps_table(found),
    ]


def numbers_table(found: Posterior) -> Table:
    """Every published number, and how it is predicted."""
    rows = tuple(_number(one) for one in (*found.predicted, *found.derived))
    return Table(
        title="published numbers, and how each is predicted",
        headers=(
            *("model", "number", "unit", "published"),
            *("prior, 90 %", "all evidence: median", "90 %"),
            *("left out: median", "50 %", "90 %", "high / low", "inside", "effective draws"),
        ),
        align="lllrrrrrrrrlr",
        rows=rows,
        note="*Left out*: by the posterior of all other evidence. The twin's own error and the "
        "choice of the plan are in all intervals. A number marked † is no evidence: it is a "
        "published ratio of two digits times a row of InferenceX.",
    )


def _number(one: Predicted) -> tuple[str, ...]:
    of = one.number
    scale = shown(of, 1.0)
    left = one.left_out
    return (
        of.model,
        words_for(of) + (" †" if of.derived else ""),
        unit_of(of),
        number(shown(of, of.value)),
        range_of(one.prior, scale),
        number(one.all_in.median * scale),
        range_of(one.all_in, scale),
        number(left.median * scale),
        inner_of(left, scale),
        range_of(left, scale),
        number(left.ratio),
        "yes" if left.holds(of.value) else "no",
        f"{one.effective:,.0f}",
    )


def score_table(found: Posterior) -> Table:
    """How good the intervals are."""
    rows = [
        _score("each from all others", found.left_out_score),
        _score("each from the prior", found.prior_score),
    ]
    chain = found.chain
    return Table(
        title="how good the 90 % intervals are",
        headers=("predicted", "inside", "inside, %", "median high / low", "interval score"),
        align="lrrrr",
        rows=tuple(rows),
        note="Interval score in natural logarithms, less is better (Gneiting and Raftery 2007). "
        f"{len(chain.scores):,} states after burn-in, acceptance {percent(chain.acceptance)} %, "
        f"autocorrelation {number(chain.autocorrelation)} steps of a walker (a short chain shows "
        f"too little of it), {chain.stuck} walkers stuck, {found.effective:,.0f} effective draws "
        "of the posterior after weighting, "
        "the correlation along the chain not counted.",
    )


def _score(name: str, score: Score) -> tuple[str, ...]:
    return (
        name,
        f"{score.covered} of {score.count}",
        percent(score.coverage),
        number(score.ratio),
        number(score.interval_score),
    )


def constants_table(found: Sequence[Marginal]) -> Table:
    """Unknowns that are numbers."""
    rows = tuple(
        (
            f"`{name_of(one.unknown.path)}`",
            one.unknown.shape.value,
            kind_word(one.unknown.kind),
            _both(one, one.prior.low, one.prior.high),
            in_unit(one.posterior.median, one.unknown),
            _both(one, one.posterior.lower, one.posterior.upper),
            _both(one, one.posterior.low, one.posterior.high),
            percent(one.learnt),
        )
        for one in found
        if not one.unknown.choices
    )
    return Table(
        title="unknowns, before and after the evidence",
        headers=("unknown", "prior", "its evidence", "90 %", "median", "50 %", "90 %", "learnt, %"),
        align="lllrrrrr",
        rows=rows,
        note="*Learnt* is how much narrower the 90 % interval has become; next to nothing means "
        "that the published numbers say nothing of it.",
    )


def _both(one: Marginal, low: float, high: float) -> str:
    return f"{in_unit(low, one.unknown)} – {in_unit(high, one.unknown)}"


def choices_table(found: Sequence[Marginal]) -> Table:
    """Unknowns that are one of a few."""
    rows = tuple(
        (f"`{name_of(one.unknown.path)}`", word, percent(before), percent(after))
        for one in found
        for word, before, after in one.shares
    )
    return Table(
        title="unknowns that are one of a few",
        headers=("unknown", "choice", "prior, %", "posterior, %"),
        align="llrr",
        rows=rows,
    )


def plans_table(found: Posterior) -> Table:
    """The likeliest plans of every published number."""
    rows = tuple(
        _plan(of, plan)
        for which, of in enumerate(found.judge.numbers)
        for plan in plan_shares(found, which)[:TOP]
    )
    return Table(
        title="plans that the numbers may have been measured with",
        headers=("model", "number", "layout", "chips", "budget", "in flight", "posterior, %"),
        align="lllrrrr",
        rows=rows,
        note="Of a short list a number. Published: eight chips of DeepSeek-R1's lowest TBT, and "
        "EP8 of gpt-oss-120b at high concurrency.",
    )


def _plan(of: Published, plan: PlanShare) -> tuple[str, ...]:
    free = of.limit == float("inf")
    return (
        of.model,
        words_for(of),
        layout_of(plan.one),
        f"{plan.chips}",
        f"{plan.one.budget:,}" if free else "as the limit asks",
        f"{plan.one.concurrency:,}" if free else "as the limit asks",
        percent(plan.share),
    )


def pairs_table(found: Posterior) -> Table:
    """What the evidence cannot tell apart."""
    return Table(
        title="unknowns that the evidence cannot tell apart",
        headers=("one", "other", "rank correlation"),
        align="llr",
        rows=tuple(
            (f"`{name_of(pair.first)}`", f"`{name_of(pair.second)}`", f"{pair.correlation:+.2f}")
            for pair in pairs(found)[:PAIRS]
        ),
        note=f"Over the posterior, the strongest {PAIRS} at 0.3 and above.",
    )


def answers_table(found: Posterior) -> Table:
    """What was never published."""
    rows = tuple(
        (
            one.name.rpartition(": ")[0],
            one.metric.name,
            one.metric.unit,
            number(one.value.median),
            inner_of(one.value),
            range_of(one.value),
            number(one.value.ratio),
            "–" if one.simulated is None else f"{one.simulated:.3f}",
        )
        for one in answers(found)
    )
    return Table(
        title="what was never published",
        headers=(
            *("situation", "number", "unit", "median", "50 %", "90 %", "high / low"),
            "simulated / closed form",
        ),
        align="lllrrrrr",
        rows=rows,
        note="Eight chips on A0 silicon. Tails by simulation at a few draws, the rest by the "
        "closed form times what simulation makes of it. The twin's own error is included; that of "
        "TTFT is "
        "what the twin shows on measured rows of other systems.",
    )


def shares_table(found: Mapping[str, Mapping[str, float]]) -> Table:
    """Which unknown matters most for which answer."""
    rows = []
    for name, each in found.items():
        top = sorted(each.items(), key=lambda item: -item[1])[:TOP]
        told = [f"`{name_of(path)}` {percent(share)}" for path, share in top if share >= TELLING]
        rows.append((name, ", ".join(told) or "–"))
    return Table(
        title="which unknown matters most for which answer",
        headers=("answer", "share of its variance that knowing the unknown takes away, %"),
        align="ll",
        rows=tuple(rows),
        note="First-order shares over the posterior, without the twin's own error; those of "
        "unknowns that go together overlap.",
    )


def gains_table(found: Posterior) -> Table:
    """The one measurement that would say most, answer by answer."""
    rows = []
    for name, values in twin_answers(found).items():
        best: Sequence[Gain] = best_measurements(found, values, name)[:TOP]
        for place, gain in enumerate(best):
            rows.append(
                (
                    name if place == 0 else "",
                    gain.measurement,
                    percent(gain.variance),
                    percent(1.0 - gain.shrunk),
                )
            )
    return Table(
        title="the one new measurement that would shrink an answer's interval most",
        headers=("answer", "measurement", "variance gone, %", "interval narrower by, %"),
        align="llrr",
        rows=tuple(rows),
        note="Expected, by regression over the draws; a measurement is taken to be off by 5 %.",
    )


def ramps_table(found: Posterior) -> Table:
    """How far the closed form with its ramp is from the simulation over draws."""
    rows = tuple(
        (
            check.number.model,
            words_for(check.number),
            f"{check.taken.value:.3f}",
            ", ".join(f"{value:.3f}" for value in check.found),
            percent(max(abs(value / check.taken.value - 1.0) for value in check.found)),
        )
        for check in found.checks
        if check.found
    )
    return Table(
        title="simulated over closed form",
        headers=("model", "number", "taken", "at draws of the posterior", "largest difference, %"),
        align="llrlr",
        rows=rows,
        note="The likelihood goes through the closed form times what was taken at the catalogue's "
        "constants; at each draw the draw's own best plan was simulated.",
    )
