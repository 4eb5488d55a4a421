"""The audit as a page of the documentation."""

from __future__ import annotations

from importlib.metadata import version

from jalapeno.analysis.claims import Audit, Finding
from jalapeno.presentation.audit.tables import audit_tables, baseline_text
from jalapeno.presentation.digits import counted
from jalapeno.presentation.names import model_title
from jalapeno.presentation.tables import Table, to_markdown

HEADING = """\
# Audit of the published comparison

`jalapeno audit --docs FILE` writes this page; nothing on it is typed by hand, and nothing on it is
simulated. Published numbers of Jalapeño (OpenAI, 25 August 2026, InferenceX 8k/1k, without
speculation, A0 silicon) stand against measured rows of other systems, under six denominators.
Measured rows: InferenceX by SemiAnalysis (attribution required), in part by way of NVIDIA's
AIConfigurator (Apache-2.0).

![Ratios by denominator](audit.png)

How to read it: a ratio is carried with the lowest and highest value that its parts allow, as if
their errors had nothing in common. *Supported* is what holds for all of that range, *not supported*
what holds for none of it, *undecided* the rest. Jalapeño's speed at its peak is not published, so
peaks cannot be compared at one speed; where they can, at the speeds at which its throughput is
published, the other's frontier is interpolated and never extrapolated.
"""


def audit_page(found: Audit) -> str:
    """Everything: sentences, tables, sources."""
    blocks = [
        HEADING,
        f"jalapeno {version('jalapeno-twin')}: {counted(len(found.findings), 'ratio')}.\n",
        *(to_markdown(table, level=2) for table in audit_tables(found)),
        to_markdown(sources_table(found), level=2),
    ]
    return "\n".join(blocks)


def sources_table(found: Audit) -> Table:
    """Which rows each comparison rests on, once for all of its denominators."""
    listed: dict[tuple[str, str, str], Finding] = {}
    for one in found.findings:
        listed.setdefault((one.claim, one.metric.name, one.baseline), one)
    rows = [
        (model_title(one.model), one.metric.value, baseline_text(one), "; ".join(one.sources))
        for one in listed.values()
    ]
    return Table(
        title="sources",
        headers=("model", "metric", "against", "Jalapeño's number; the other's rows"),
        align="llll",
        rows=tuple(rows),
    )
