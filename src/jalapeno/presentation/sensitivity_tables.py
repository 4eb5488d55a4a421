"""Sensitivities as sentences and tables: elasticities, the tornado, the combined range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jalapeno.analysis.sensitivity import Elasticity, Sensitivity, Side, Swing, Tried
from jalapeno.analysis.sensitivity_answers import Answer
from jalapeno.analysis.sensitivity_range import Combined
from jalapeno.catalogue import Fact
from jalapeno.presentation.digits import UNDEFINED, counted, deviation, number
from jalapeno.presentation.tables import MARKS, Table, kind_word
from jalapeno.units import render


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """All that ``jalapeno sensitivity`` has found."""

    answer: Answer
    run: str
    """What was asked about, in a line."""
    by: str
    """``closed form`` or ``simulation``."""
    why: str
    """Why it was not the closed form; "" where it was, or where simulation was asked for."""
    simulated: float | None
    """The answer of a simulation of the case as it is, beside the closed form's."""
    sensitivity: Sensitivity
    combined: Combined | None


def sentences(found: Found) -> tuple[str, ...]:
    """What people want to know, in a few lines."""
    base, unit = found.sensitivity.base, found.answer.unit
    lines = [f"{found.answer.name} = {number(base, 4)} {unit} ({found.by}): {_most(found)}"]
    if found.simulated is not None:
        off = deviation(base / found.simulated - 1.0)
        lines.append(
            f"the simulation says {number(found.simulated, 4)} {unit}; this is {off} % off"
        )
    if found.why:
        lines.append(f"simulated, for {found.why}")
    if found.combined is not None:
        lines.append(_range(found.combined, unit))
    return tuple(lines)


def _most(found: Found) -> str:
    """The three facts that matter most for a percent of theirs."""
    first = [each for each in found.sensitivity.elasticities if not each.over_range][:3]
    if not first:
        return "no fact changes it"
    said = ", ".join(f"{each.path} {signed(each.value)} %" for each in first)
    return f"for 1 % more of a fact, {said}"


def _range(combined: Combined, unit: str) -> str:
    found = combined.percentiles
    many = counted(len(combined.facts), "uncertain fact")
    return (
        f"with all {many} drawn at once it lies between {number(found[5.0], 3)} and "
        f"{number(found[95.0], 3)} {unit} in nine of ten draws"
    )


def signed(value: float) -> str:
    """A number with its sign: ``+0.621``, ``-1.00``."""
    sign = "-" if value < 0 else "+" if value > 0 else ""
    return f"{sign}{number(abs(value), 3)}"


def sensitivity_tables(found: Found, top: int) -> tuple[Table, ...]:
    """Everything that ``jalapeno sensitivity`` prints after its sentences, *top* rows each."""
    tables = [elasticity_table(found, top), tornado_table(found, top)]
    if found.combined is not None:
        tables.append(range_table(found.answer, found.combined, found.sensitivity.base))
    if found.sensitivity.not_tried:
        tables.append(_refused_table(found.sensitivity))
    return tuple(tables)


def elasticity_table(found: Found, top: int) -> Table:
    """What a percent more of each fact does."""
    every = found.sensitivity.elasticities
    return Table(
        title=f"{found.answer.name}: for 1 % more of a fact",
        headers=("fact", "here", "evidence", "answer, %", "remark"),
        align="klkrl",
        rows=tuple(
            (
                each.path,
                text_of(each.fact),
                kind_word(each.fact.kind),
                signed(each.value),
                _remark(each),
            )
            for each in every[:top]
        ),
        note=_elasticity_note(found.sensitivity, len(every) - top),
    )


def _remark(each: Elasticity) -> str:
    if each.over_range:
        assert each.fact.high is not None
        whole = render(each.fact.high, each.fact.unit)
        return f"zero here: relative change on the way to {whole}, in place of percent for percent"
    match each.side:
        case Side.ABOVE:
            return "from above: less is refused"
        case Side.BELOW:
            return "from below: more is refused"
        case Side.BOTH:
            return ""


def _elasticity_note(found: Sensitivity, left: int) -> str:
    said = [f"{counted(left, 'more fact')} of less effect"] if left > 0 else []
    said.append(f"{counted(len(found.without_effect), 'fact')} without effect, tried one by one")
    return f"{'; '.join(said)}. {MARKS}."


def tornado_table(found: Found, top: int) -> Table:
    """The answer at the ends of each fact's range, one at a time."""
    every = found.sensitivity.swings
    note = (
        f"{counted(len(found.sensitivity.still), 'fact')} with a range that changes nothing; "
        f"{counted(len(found.sensitivity.without_range), 'fact')} without a range, of which no "
        "swing is known."
    )
    refusals = [each for each in every if refusal(each)]
    if refusals:
        note += f" Refused: {'; '.join(f'{each.path}: {refusal(each)}' for each in refusals)}."
    unit = found.answer.unit
    return Table(
        title=f"{found.answer.name}, {unit}: at the ends of each fact's range",
        headers=("fact", "evidence", "low", "answer", "here", "answer", "high", "answer", "swing"),
        align="kkrrrrrrr",
        rows=tuple(_swing_row(each) for each in every[:top]),
        note=note,
    )


def _swing_row(each: Swing) -> tuple[str, ...]:
    fact = each.fact
    return (
        each.path,
        kind_word(fact.kind),
        end_text(fact.low, fact),
        _answer(each.low),
        text_of(fact),
        number(each.base, 4),
        end_text(fact.high, fact),
        _answer(each.high),
        number(each.width, 3),
    )


def _answer(tried: Tried | None) -> str:
    match tried:
        case None:
            return UNDEFINED
        case str():
            return "refused"
        case _:
            return number(tried, 4)


def refusal(each: Swing) -> str:
    """Why an end of the range has no answer; "" where both have."""
    return next((end for end in (each.low, each.high) if isinstance(end, str)), "")


def text_of(fact: Fact) -> str:
    """The fact as it was written."""
    return fact.text


def end_text(end: float | None, fact: Fact) -> str:
    """An end of the fact's range, with its unit."""
    return UNDEFINED if end is None else render(end, fact.unit)


def range_table(answer: Answer, combined: Combined, base: float) -> Table:
    """The answer by percentile with all uncertain facts drawn at once."""
    shares = [(f"P{place:g}", value) for place, value in combined.percentiles.items()]
    ends = [("lowest", combined.answers[0]), *shares, ("highest", combined.answers[-1])]
    drawn = len(combined.answers) + combined.refused
    note = (
        f"{counted(len(combined.facts), 'fact')} drawn independently, {combined.shape.value} "
        f"between low and high, {counted(drawn, 'sample')} of a Latin hypercube, seed "
        f"{combined.seed}."
    )
    if combined.refused:
        note += f" {counted(combined.refused, 'draw')} without an answer, such as: {combined.why}."
    return Table(
        title=f"{answer.name}, {answer.unit}: all uncertain facts at once",
        headers=("draws", "answer", "against here, %"),
        align="lrr",
        rows=tuple((name, number(value, 4), deviation(value / base - 1.0)) for name, value in ends),
        note=note,
    )


def _refused_table(found: Sensitivity) -> Table:
    return Table(
        title="facts that could not be changed",
        headers=("fact", "why"),
        align="kl",
        rows=tuple(found.not_tried.items()),
    )


def shown_swings(every: Sequence[Swing], top: int) -> Sequence[Swing]:
    """Those of a picture: the widest that move the answer at all."""
    return [each for each in every if each.width][:top]
