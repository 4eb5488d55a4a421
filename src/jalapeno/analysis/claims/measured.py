"""Measured rows of the audit, and how far off they may be."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Annotated

from jalapeno import catalogue
from jalapeno.analysis.bill import Range
from jalapeno.catalogue import Claim, Fact, Kind, Row, Unit
from jalapeno.catalogue.build import build
from jalapeno.errors import BadFact

Share = Annotated[float, Unit("")]

COLUMNS = (
    *("model", "system", "engine", "precision", "mtp", "concurrency", "chips", "tput_per_gpu"),
    *("tput_kind", "tokens_per_s_per_user", "speed_stat", "e2e_s", "e2e_stat", "date", "run"),
    "source",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """Spread of runs of one configuration, relative."""

    throughput: Share
    time: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Little:
    """How much too high a throughput from Little's law may be, relative."""

    excess_least: Share
    excess_most: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Least share of TDP that a reference may have drawn."""

    busy_share: Share
    light_share: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Spreads:
    """Every reason for doubt that is not a tariff's."""

    run: Repeats
    little: Little
    draw: Draw
    facts: Mapping[str, Fact] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One row of a baseline; None where it does not say."""

    engine: str
    concurrency: int | None
    throughput: Range | None
    """Prompt and answer tokens a second and chip."""
    speed: float | None
    """Tokens a second and user."""
    tbt: Range | None
    """Seconds."""
    e2e: Range | None
    """Seconds."""
    source: str
    """Source, date and run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """All that was measured of a system on a model, in one precision, with or without MTP."""

    model: str
    system: str
    precision: str
    mtp: bool
    points: tuple[Point, ...]

    @property
    def name(self) -> str:
        """``gb300-nvl72 fp4``, with ``+ MTP`` where it speculates."""
        return f"{self.system} {self.precision}" + (" + MTP" if self.mtp else "")

    @property
    def equal_precision(self) -> bool:
        """Whether its weights have 4 bits, as Jalapeño's have."""
        return self.precision in ("fp4", "int4")


@cache
def spreads() -> Spreads:
    """Return the shipped reasons for doubt."""
    text = _file("spreads.toml")
    return build(Spreads, catalogue.parse_toml(text, "audit/spreads"), "audit/spreads")


def baselines() -> tuple[Baseline, ...]:
    """Return every baseline, rows of the references and of the published comparison among them.

    Sorted by model, system, precision, MTP.
    """
    found: dict[tuple[str, str, str, bool], list[Point]] = {}
    for row in catalogue.rows():
        if row.measured:
            key = (row.model, row.system, "fp4", row.mtp)
            found.setdefault(key, []).append(_of_reference(row))
    for line in _lines():
        key = (line["model"], line["system"], line["precision"], line["mtp"] == "true")
        found.setdefault(key, []).append(_of_line(line))
    for name in catalogue.names("claims"):
        claim = catalogue.claim(name)
        key = (claim.model, claim.reference, "fp4", claim.name != claim.model)
        if key not in found:
            found[key] = _of_claim(claim)
    return tuple(
        Baseline(model=model, system=system, precision=precision, mtp=mtp, points=tuple(points))
        for (model, system, precision, mtp), points in sorted(found.items())
    )


def rounded(fact: Fact) -> Range:
    """The number of *fact* with half a unit of its last digit to both sides."""
    assert isinstance(fact.value, float)
    digits = fact.text.split()[0]
    places = len(digits.partition(".")[2])
    share = 0.5 * 10.0**-places / float(digits)
    return around(fact.value, share, fact.kind)


def around(value: float, share: float, kind: Kind) -> Range:
    """*value*, *share* of it to both sides."""
    return Range(value, value * (1.0 - share), value * (1.0 + share), kind)


def _file(name: str) -> str:
    return (files("jalapeno.catalogue") / "data" / "audit" / name).read_text("utf-8")


def _lines() -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(_file("rows.csv")))
    if tuple(reader.fieldnames or ()) != COLUMNS:
        raise BadFact(f"audit/rows.csv: expected the columns {', '.join(COLUMNS)}")
    return list(reader)


def _of_line(line: Mapping[str, str]) -> Point:
    doubt = spreads()
    value = float(line["tput_per_gpu"])
    if line["tput_kind"] == "derived":
        low = value / (1.0 + doubt.little.excess_most)
        throughput = Range(value, low, value / (1.0 + doubt.little.excess_least), Kind.DERIVED)
    else:
        throughput = around(value, doubt.run.throughput, Kind.MEASURED)
    speed = float(line["tokens_per_s_per_user"])
    run = f", run {line['run']}" if line["run"] else ""
    said = [f"{line['speed_stat']} TPOT"]
    said += [f"{line['e2e_stat']} E2E"] if line["e2e_s"] else []
    kind = Kind.DERIVED if line["e2e_stat"] == "derived" else Kind.MEASURED
    return Point(
        engine=line["engine"],
        concurrency=int(line["concurrency"]) if line["concurrency"] else None,
        throughput=throughput,
        speed=speed,
        tbt=around(1.0 / speed, doubt.run.time, Kind.MEASURED),
        e2e=around(float(line["e2e_s"]), doubt.run.time, kind) if line["e2e_s"] else None,
        source=f"InferenceX, {line['source']}, {line['date']}{run} ({', '.join(said)})",
    )


def _of_reference(row: Row) -> Point:
    doubt, said = spreads(), row.measured
    speed = said.get("mean_tokens_per_s_per_user")
    if speed is None:
        speed = 1e3 / said["mean_tpot_ms"]
    e2e = said.get("mean_e2e_s")
    return Point(
        engine=row.engine,
        concurrency=row.concurrency,
        throughput=around(said["tput_per_gpu"], doubt.run.throughput, Kind.MEASURED),
        speed=speed,
        tbt=around(1.0 / speed, doubt.run.time, Kind.MEASURED),
        e2e=None if e2e is None else around(e2e, doubt.run.time, Kind.MEASURED),
        source=f"{row.source}: {row.name}",
    )


def _of_claim(claim: Claim) -> list[Point]:
    """What a claim says of its reference, where no measured row is public."""
    tdp = catalogue.tariff(catalogue.system(claim.reference).chip.name).tdp / 1e3
    facts = claim.facts
    source = f"{facts['reference_peak_tps_per_kw'].source}, {facts['reference_min_tbt'].as_of}"
    tbt, e2e = rounded(facts["reference_min_tbt"]), rounded(facts["reference_min_e2e"])
    peak, slow = (
        rounded(facts[name]).times(tdp)
        for name in ("reference_peak_tps_per_kw", "reference_tps_per_kw_at_its_tbt")
    )
    empty: dict[str, None] = {"throughput": None, "speed": None, "tbt": None, "e2e": None}

    def point(**said: Range | float) -> Point:
        return Point(engine="", concurrency=None, source=source, **{**empty, **said})  # type: ignore[arg-type]

    return [
        point(throughput=peak),
        point(e2e=e2e),
        point(throughput=slow, speed=1.0 / tbt.value, tbt=tbt),
    ]
