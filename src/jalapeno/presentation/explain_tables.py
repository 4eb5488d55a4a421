"""An explanation as tables: both views, waits, help, one request's life, joules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jalapeno.analysis.explain import MEDIAN_BAND, Metric, Split, View, apportion
from jalapeno.analysis.explain_energy import Energy
from jalapeno.analysis.explain_request import Life
from jalapeno.analysis.explain_waits import Shortage
from jalapeno.analysis.explanation import Explanation
from jalapeno.presentation.digits import UNDEFINED, counted, number
from jalapeno.presentation.explain_advice import Help
from jalapeno.presentation.explain_words import differences, duration, headline, signed
from jalapeno.presentation.report_tables import label_word
from jalapeno.presentation.tables import Table

MILLE = 1000
"""Tables share out tenths of a percent."""

VIEWS: dict[View, str] = {"cause": "whose work it was", "part": "what bound the step, and waits"}

EVENTS = {
    "arrival": "sent by the client",
    "ready": "in the scheduler's queue",
    "admitted": "first step that takes its prompt",
    "prefilled": "prompt computed",
    "assigned": "decode slot given, KV cache moves",
    "moved": "KV cache moved",
    "first": "first token",
    "end": "last token",
}
"""Words for a request's times."""


def explain_tables(found: Explanation, advice: Sequence[Help]) -> tuple[Table, ...]:
    """Everything that ``jalapeno explain`` prints after its sentences, in order."""
    tables = [view_table(found, by) for by in VIEWS]
    if any(short.total for short in found.waits):
        tables.append(waits_table(found.waits))
    tables.append(help_table(advice))
    if found.life is not None:
        tables += life_tables(found.life)
    if found.energy is not None:
        tables.append(energy_table(found.energy))
    return tuple(tables)


def view_table(found: Explanation, by: View) -> Table:
    """The time by label, beside that of the requests about the median."""
    chosen, median = found.chosen, found.median
    here, there = (apportion(each.view(by), MILLE) for each in (chosen, median))
    gaps = differences(found, by)
    rows: list[tuple[str, ...]] = [
        (
            label_word(label),
            _tenths(here[label]),
            _mean(chosen, chosen.view(by)[label]),
            _tenths(there[label]),
            _mean(median, median.view(by)[label]),
            _milliseconds(gaps[label]),
        )
        for label in chosen.view(by)
        if chosen.view(by)[label] or median.view(by)[label]
    ]
    rows.append(_sum_row(found, (here, there), gaps))
    unit = "a token" if found.metric is Metric.TBT else "a request"
    return Table(
        title=f"{headline(found)}: {VIEWS[by]}",
        headers=(
            by,
            "here, %",
            f"here, ms {unit}",
            "median, %",
            f"median, ms {unit}",
            "here less median, ms",
        ),
        align="lrrrrr",
        rows=tuple(rows),
        note=_view_note(found),
    )


def _sum_row(
    found: Explanation, percents: tuple[dict[str, int], dict[str, int]], gaps: dict[str, float]
) -> tuple[str, ...]:
    chosen, median = found.chosen, found.median
    return (
        "sum",
        _tenths(sum(percents[0].values())),
        _mean(chosen, chosen.total),
        _tenths(sum(percents[1].values())),
        _mean(median, median.total),
        _milliseconds(sum(gaps.values())),
    )


def _view_note(found: Explanation) -> str:
    here = counted(found.chosen.requests, "request")
    there = counted(found.median.requests, "request")
    low, high = MEDIAN_BAND
    note = f"Here: {here}; median: the {there} of P{low:g} to P{high:g}."
    if found.metric is Metric.TBT:
        note += " Means are over tokens; a report's mean TBT is over requests."
    return note


def _mean(of: Split, picoseconds: int) -> str:
    return number(float(of.mean(picoseconds)) / 1e9, 4)


def _milliseconds(picoseconds: float) -> str:
    """With a sign, for it is a difference."""
    sign = "-" if picoseconds < 0 else "+" if picoseconds > 0 else ""
    return f"{sign}{number(abs(picoseconds) / 1e9, 4)}"


def _tenths(mille: int) -> str:
    return f"{mille / 10:.1f}"


def waits_table(waits: Iterable[Shortage]) -> Table:
    """What was short while these requests waited."""
    rows = []
    for short in waits:
        times = {"slots": short.slots, "blocks": short.blocks, "step": short.step}
        shared = apportion(times, MILLE)
        shown = [_tenths(shared[name]) if short.total else UNDEFINED for name in times]
        rows.append((label_word(short.label), duration(short.total), *shown))
    return Table(
        title="what was short while they waited",
        headers=("wait", "together", "slots, %", "KV blocks, %", "running step, %"),
        align="lrrrr",
        rows=tuple(rows),
        note="Slots: every slot of the rank that took the request was taken. KV blocks: a slot was "
        "free, blocks were not. Running step: it had both and joined at the step's end.",
    )


def help_table(advice: Sequence[Help]) -> Table:
    """What would help."""
    return Table(
        title="what would help",
        headers=("label", "saves at most, %", "what"),
        align="lrl",
        rows=tuple((label_word(each.label), f"{each.percent}", each.advice) for each in advice),
        note="From the labels alone: nothing was simulated again. The second view's labels cut "
        "across the first's.",
    )


def life_tables(life: Life) -> tuple[Table, Table]:
    """The times of a request, and the steps it sat through."""
    return _times_table(life), _stays_table(life)


def _times_table(life: Life) -> Table:
    before = 0
    rows = []
    for name, time in life.times.items():
        rows.append((EVENTS[name], number(time / 1e9, 6), signed(time - before)))
        before = time
    prompt, output = f"{life.prompt:,}", counted(life.output, "token")
    return Table(
        title=f"request {life.request}: {prompt} tokens in, {output} out",
        headers=("event", "ms after it was sent", "after the one before"),
        align="lrr",
        rows=tuple(rows),
    )


def _stays_table(life: Life) -> Table:
    rows = tuple(
        (
            stay.what,
            f"{stay.worker} ({stay.plan})",
            duration(stay.end - stay.start),
            f"{stay.steps:,}",
            number(stay.decoding),
            f"{stay.prompt_tokens:,}",
        )
        for stay in life.stays
    )
    named = ", ".join(f"{each.request} ({duration(each.shared)})" for each in life.closest)
    beside = f"Beside {counted(life.companions, 'other request')}"
    return Table(
        title="steps it sat through",
        headers=(
            "what",
            "worker",
            "time",
            "steps",
            "sequences decoding, mean",
            "prompt tokens in them",
        ),
        align="llrrrr",
        rows=rows,
        note=f"{beside}, longest with {named}." if life.closest else "Beside no other request.",
    )


def energy_table(energy: Energy) -> Table:
    """Where the joules of the run went."""
    rows = [("dynamic: engines, memory and links", energy.dynamic)]
    rows += [
        (f"static, time bound by {label_word(part)}", joules)
        for part, joules in energy.static_by_part.items()
        if joules
    ]
    rows += [("idle: no step ran", energy.idle), ("sum", energy.total)]
    return Table(
        title="joules of the run, all packages",
        headers=("where", "J", "%"),
        align="lrr",
        rows=tuple(
            (name, number(joules, 4), number(100.0 * joules / energy.total, 3))
            for name, joules in rows
        ),
        note="The journal keeps dynamic joules as one number, so they are not split by engine; nor "
        "are joules by request, whose tokens share a step's weight reads and static watts.",
    )
