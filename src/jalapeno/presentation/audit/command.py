"""``jalapeno audit``: what the published comparison supports, and what it does not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jalapeno.errors import unknown_name
from jalapeno.presentation.arguments import Json
from jalapeno.presentation.console import remark, results, show, show_json
from jalapeno.presentation.files import check_file, write_file
from jalapeno.presentation.options import takes

if TYPE_CHECKING:
    from jalapeno.analysis.claims import Audit

Models = Annotated[
    list[str] | None,
    typer.Argument(metavar="[MODEL]...", help="Models to look at; all of the comparison if none."),
]
Sentences = Annotated[
    bool, typer.Option("--sentences", help="Print every sentence, with its verdict and sources.")
]
Picture = Annotated[
    Path | None,
    typer.Option("--out", metavar="PICTURE", help="Draw the ratios: a .svg, .png or .html file."),
]
DocsFile = Annotated[
    Path | None, typer.Option("--docs", metavar="FILE", help="Also write it all as a page.")
]
PICTURE = "audit.png"
"""What the page shows, beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What ``jalapeno audit`` is asked."""

    models: Models = None
    sentences: Sentences = False
    out: Picture = None
    docs: DocsFile = None
    as_json: Json = False


@takes(Asked)
def audit_command(asked: Asked) -> None:
    """Judge the published comparison: every denominator, every measured baseline, with sources.

    Nothing is simulated: published numbers of Jalapeño stand against measured rows of others.
    """
    # Plots take a second to import, which list and show should not wait for.
    from jalapeno.presentation.audit.chart import TITLE, audit_chart
    from jalapeno.presentation.audit.page import audit_page
    from jalapeno.presentation.audit.tables import audit_tables, sentence_lines
    from jalapeno.presentation.audit.to_json import audit_json
    from jalapeno.presentation.picture_file import check_picture, write_picture
    from jalapeno.presentation.pictures import png

    if asked.out is not None:
        check_picture(asked.out)
    if asked.docs is not None:
        check_file(asked.docs)
    found = find(tuple(asked.models or ()))
    if asked.out is not None:
        write_picture(asked.out, audit_chart(found), TITLE)
        remark(f"picture: {asked.out}")
    if asked.docs is not None:
        write_file(asked.docs, audit_page(found))
        write_file(asked.docs.parent / PICTURE, png(audit_chart(found)))
        remark(f"page: {asked.docs}")
    if asked.as_json:
        show_json(audit_json(found))
        return
    if asked.sentences:
        for line in sentence_lines(found):
            results().print(line, soft_wrap=True, markup=False)
        return
    show(audit_tables(found))


def find(models: tuple[str, ...]) -> Audit:
    """The audit of *models*, of all where none is named."""
    from jalapeno.analysis.claims import Audit, audit

    found = audit()
    known = sorted({finding.model for finding in found.findings})
    for name in models:
        if name not in known:
            raise unknown_name("model in the published comparison", name, known)
    if not models:
        return found
    return Audit(
        findings=tuple(finding for finding in found.findings if finding.model in models),
        said=tuple(said for said in found.said if any(f.model in models for f in said.findings)),
        missing=found.missing,
    )
