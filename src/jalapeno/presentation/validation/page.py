"""The validation as a page: verdicts first, then every tier, then the published comparison."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.metadata import version

import polars as pl

from jalapeno.analysis.validation.contenders import TWIN
from jalapeno.analysis.validation.drift import Drift
from jalapeno.analysis.validation.protocols import TITLES
from jalapeno.analysis.validation.scores import score, worst
from jalapeno.analysis.validation.tiers import Data, Finding
from jalapeno.presentation.digits import counted
from jalapeno.presentation.tables import to_markdown
from jalapeno.presentation.validation.tables import (
    SCORE_NOTE,
    drift_table,
    drift_words,
    excluded_table,
    tables_of,
    verdict_table,
    worst_table,
)

HEADING = "Validation"
PREDICTED, BY_SLICE = "predicted.png", "errors.png"
WORST = 10


def validation_page(
    data: Data, findings: Sequence[Finding], drifted: Drift | None, pictures: Sequence[str]
) -> str:
    """The page, without the published comparison; *pictures* that lie beside it are shown."""
    blocks = [f"# {HEADING}\n", _what(data), *_verdicts(findings), *_pictures(pictures)]
    for finding in findings:
        blocks += _tier(finding)
    blocks += [*_excluded(data), *_drift(drifted)]
    return "\n".join(blocks)


def with_section(page: str, title: str, section: str) -> str:
    """*page* with another page below it as a section called *title*, its headings one deeper."""
    body = section.partition("\n")[2].lstrip("\n")
    fence = False
    lines = []
    for line in body.splitlines():
        fence ^= line.startswith("```")
        deeper = not fence and re.match(r"#+ ", line) is not None
        lines.append(f"#{line}" if deeper else line)
    return "\n".join([page.rstrip("\n"), "", f"## {title}", "", *lines, ""])


def _what(data: Data) -> str:
    contenders = "; ".join(f"*{who.name}*: {who.title}" for who in data.contenders)
    protocols = "; ".join(f"*{name}*: {TITLES[name]}" for name in data.protocols)
    return f"""\
jalapeno {version("jalapeno-twin")} against measurements: {counted(len(data.rows), "point")} \
({data.source}). `jalapeno validate --docs FILE` writes this page; nothing on it is typed by hand.

Everyone is asked about the same points under the same protocols. Who: {contenders}. Protocols: \
{protocols}. Of a protocol no curve, system or model is both fitted on and asked about; a curve is \
a deployment at all its loads. Only the data file's own division has points of one curve on both \
sides, and says how well a curve is filled in.

Measured throughput is `concurrency × OSL / (TTFT + TPOT × (OSL - 1)) / GPUs` where the data \
state none, with the mean OSL that InferenceX's client draws (90 % of the nominal one).
"""


def _verdicts(findings: Sequence[Finding]) -> Iterable[str]:
    table = verdict_table(findings)
    yield "## Targets and what is reached\n"
    if table.rows:
        met = sum(verdict.met for finding in findings for verdict in finding.verdicts)
        yield f"{met} of {len(table.rows)} targets are met; misses come first.\n"
        yield to_markdown(table).partition("\n\n")[2]
    else:
        yield "None of the tiers that ran has a target.\n"


def _pictures(pictures: Sequence[str]) -> Iterable[str]:
    words = {
        PREDICTED: "Predicted against measured, whole curves held out",
        BY_SLICE: "Errors of TPOT by model, system, engine, mode and load",
    }
    for name in pictures:
        yield f"![{words[name]}]({name})\n"


def _tier(finding: Finding) -> Iterable[str]:
    yield f"## {finding.tier}: {finding.title}\n"
    for note in finding.notes:
        yield f"{note}\n"
    if finding.tier == "T2":
        yield f"{SCORE_NOTE}\n"
    for table in tables_of(finding):
        # tiers have tables of one name, and a page no two headings
        named = replace(table, title=f"{finding.tier}, {table.title}") if table.title else table
        yield to_markdown(named)
    drawn = shown(finding)
    if drawn is not None:
        who, rows = drawn
        yield to_markdown(worst_table(f"the {WORST} worst points of {who}", worst(rows, WORST)))


def shown(finding: Finding) -> tuple[str, pl.DataFrame] | None:
    """(contender, rows) whose predictions are drawn: the twin's, or the best baseline's, whole
    curves held out; None where nobody played that."""
    if not {"protocol", "contender"} <= set(finding.frame.columns):
        return None
    curves = finding.frame.filter(pl.col("protocol") == "curves")
    names = curves["contender"].unique().sort().to_list()
    if not names:
        return None
    errors = {name: score(curves.filter(pl.col("contender") == name))["mape"] for name in names}
    who = TWIN if TWIN in names else min(names, key=lambda name: errors[name])
    return who, curves.filter(pl.col("contender") == who)


def _excluded(data: Data) -> Iterable[str]:
    yield "## Measurements that contradict themselves\n"
    if data.excluded.is_empty():
        yield f"None of the {counted(len(data.rows), 'point')}.\n"
        return
    left = counted(len(data.excluded), "row")
    yield f"{left} beside the {len(data.rows):,} points cannot be right and are in no score.\n"
    yield to_markdown(excluded_table(data.excluded)).partition("\n\n")[2]


def _drift(found: Drift | None) -> Iterable[str]:
    if found is None:
        return
    yield "## Drift\n"
    yield f"{drift_words(found)}\n"
    if len(found.movers):
        yield to_markdown(drift_table(found))
