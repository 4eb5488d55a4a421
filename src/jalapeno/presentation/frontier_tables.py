"""A frontier as tables: its points, and what it says at given speeds."""

from __future__ import annotations

from collections.abc import Sequence

from jalapeno.analysis.frontier import Frontier, Iso, Unreachable
from jalapeno.analysis.frontier_points import REQUESTS_PER_SLOT, Point, evidence
from jalapeno.analysis.objectives import UNITS, Per, Rate
from jalapeno.analysis.subject import Subject
from jalapeno.presentation.digits import UNDEFINED, counted, number
from jalapeno.presentation.names import model_title, system_title
from jalapeno.presentation.tables import MARKS, WEAK, Table, kind_word

HEADERS = (
    *("token/s/user", "token/s/chip", "TTFT ms", "P99 TTFT ms", "E2E s", "plan"),
    *("chips", "in flight", "budget", "package kW", "$/Mtoken"),
)


def title(found: Frontier) -> str:
    """What the frontier is of."""
    subject = found.bench.subject
    return f"{model_title(subject.model.name)} on {system_title(subject.system.name)}"


def headers(per: Per) -> tuple[str, ...]:
    """Of the columns of a point: the rate for *per* beside that for a chip."""
    first, chip, *rest = HEADERS
    return (first, *dict.fromkeys((UNITS[per], chip)), *rest)


def align(per: Per) -> str:
    """Of these columns."""
    return "".join("k" if name == "plan" else "r" for name in headers(per))


def front_table(found: Frontier, per: Per) -> Table:
    """The points of the front, fastest first."""
    points = found.front(per)[::-1]
    return Table(
        title=f"{title(found)}: frontier, {workload(found.bench.subject)}",
        headers=headers(per),
        align=align(per),
        rows=tuple(point_row(found, point, per) for point in points),
        note=" ".join(notes(found, points, per)),
    )


def point_row(found: Frontier, point: Point, per: Per) -> tuple[str, ...]:
    """One point as cells."""
    report, latency = point.report, point.report.latency
    return (
        number(point.speed),
        *rates(per, found.bench.rate(per, point), point.tokens_per_s_per_chip),
        number(latency.ttft_ms.mean),
        number(latency.ttft_ms.p99),
        number(latency.e2e_ms.mean / 1e3),
        point.label,
        f"{point.chips:,}",
        f"{point.option.concurrency:,}",
        " + ".join(f"{pool.plan.max_tokens:,}" for pool in point.option.pools),
        number(point.chips * point.watts_per_chip / 1e3),
        number(report.power.dollars_per_million_tokens),
    )


def rates(per: Per, rate: Rate, tokens_per_s_per_chip: float) -> tuple[str, ...]:
    """The rate for *per*, and that for a chip beside it."""
    chip = number(tokens_per_s_per_chip)
    return (chip,) if per is Per.CHIP else (number(rate.value), chip)


def range_note(rate: Rate) -> list[str]:
    """How far the sources of what is divided by leave a rate uncertain."""
    if rate.certain:
        return []
    low, high = rate.low / rate.value, rate.high / rate.value
    return [
        f"Over what the tariff's sources say every rate is {number(low)} to {number(high)} times "
        "what stands here."
    ]


def workload(subject: Subject) -> str:
    """The requests in short."""
    return f"lengths {subject.lengths.label}"


def notes(found: Frontier, points: Sequence[Point], per: Per) -> list[str]:
    """What to know before one believes the table."""
    explored = found.prospect.explored
    said = [
        f"{counted(len(explored.found), 'load')} of {counted(len(explored.prices), 'plan')} by the "
        f"closed form, {counted(len(found.points), 'run')} simulated in a closed loop.",
        "Tokens are prompt and answer; speed is 1000 / mean TBT in ms; package kW is the modelled "
        "draw of all chips.",
    ]
    if found.limits:
        said.append(f"Only runs with {limits_text(found)}.")
    else:
        said.append("Nothing limits the time to first token here; --ttft-ms does.")
    short = [one for one in points if one.requests_per_slot < REQUESTS_PER_SLOT]
    if short:
        said.append(
            f"{counted(len(short), 'run')} sent fewer than {REQUESTS_PER_SLOT} requests a slot, "
            f"{min(one.requests_per_slot for one in short):.1f} at the least, to stay short."
        )
    kind, rate_kind = evidence(points), found.bench.rate(per, points[0]).kind
    said.append(
        f"Weakest evidence of times and joules: {kind_word(kind)}; of what is divided by: "
        f"{kind_word(rate_kind)}."
    )
    said += range_note(found.bench.rate(per, points[0]))
    if {kind, rate_kind} & set(WEAK):
        said.append(f"{MARKS}.")
    return said


def at_table(found: Frontier, per: Per, speeds: Sequence[float]) -> Table:
    """What the frontier says at *speeds*; a speed outside of it is refused in its row."""
    first, *rest = headers(per)
    named = (first, *rest[: rest.index("TTFT ms")], "TTFT ms", "E2E s", "W/chip", "$/Mtoken")
    return Table(
        title=f"{title(found)}: at given speeds",
        headers=(*named, "between"),
        align="r" * len(named) + "l",
        rows=tuple(iso_row(found.at(per, speed), per, len(named)) for speed in speeds),
        note="Read off the monotone cubic through the front's points, as InferenceX does; nothing "
        "is extrapolated.",
    )


def iso_row(found: Iso | Unreachable, per: Per, width: int) -> tuple[str, ...]:
    """One speed as *width* cells and a word."""
    if isinstance(found, Unreachable):
        return (number(found.speed), *[UNDEFINED] * (width - 1), str(found))
    return (
        number(found.speed),
        *rates(per, found.rate, found.tokens_per_s_per_chip),
        number(found.ttft_ms),
        number(found.e2e_ms / 1e3),
        number(found.watts_per_chip),
        number(found.dollars_per_million_tokens),
        " and ".join(dict.fromkeys(point.label for point in found.between)),
    )


def best_table(found: Frontier, per: Per) -> Table:
    """The run with the most throughput within the frontier's limits."""
    point = found.peak(per)
    return Table(
        title=f"{title(found)}: most {UNITS[per]} with {limits_text(found)}",
        headers=headers(per),
        align=align(per),
        rows=(point_row(found, point, per),),
        note="Simulated: "
        + ", ".join(
            f"{limit.name} {number(limit.value(point.report))} ms" for limit in found.limits
        )
        + ".",
    )


def limits_text(found: Frontier) -> str:
    """The frontier's limits in words."""
    return " and ".join(limit.label for limit in found.limits)
