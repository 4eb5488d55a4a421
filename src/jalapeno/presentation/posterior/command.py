"""``jalapeno posterior``: what the published numbers say of Jalapeño, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jalapeno.presentation.arguments import Json
from jalapeno.presentation.console import remark, show, show_json, to_json
from jalapeno.presentation.files import Folder, atomic_folder, check_file, write_file
from jalapeno.presentation.options import takes
from jalapeno.presentation.progress import stages

if TYPE_CHECKING:
    from jalapeno.analysis.posterior.infer import Effort, Posterior
    from jalapeno.presentation.tables import Table

SAMPLES = 300
"""Steps of each walker that count, unless somebody says otherwise."""

PAGE, DATA, DRAWS = "posterior.md", "posterior.json", "draws.toml"
PICTURES = ("marginals", "correlations", "intervals", "unpublished", "shares")
OURS = (PAGE, DATA, DRAWS, *(f"{name}.{end}" for name in PICTURES for end in ("svg", "png")))
"""What the folder of a posterior holds."""

Samples = Annotated[
    int, typer.Option("--samples", min=2, help="Steps of each of 60 walkers after burn-in.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Of every draw.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the files.")]
Ship = Annotated[
    Path | None,
    typer.Option(
        "--ship",
        metavar="FILE",
        help="Also write the compact draws that bands are drawn from, such as "
        "src/jalapeno/catalogue/data/posterior/jalapeno.toml.",
    ),
]
Docs = Annotated[
    Path | None,
    typer.Option("--docs", metavar="FILE", help="Also write the tables as a page, with pictures."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What ``jalapeno posterior`` is asked."""

    samples: Samples = SAMPLES
    seed: Seed = 0
    out: Out = Path("out/posterior")
    ship: Ship = None
    docs: Docs = None
    as_json: Json = False


@takes(Asked)
def posterior_command(asked: Asked) -> None:
    """Infer Jalapeño's constants from its published numbers: every number gets an interval.

    Samples the posterior with emcee, an extra: pip install 'jalapeno-twin[posterior]'.  Takes
    minutes.  Each published number is also predicted from all the others.
    """
    from jalapeno.analysis.posterior.infer import infer
    from jalapeno.presentation.posterior.json_text import posterior_json
    from jalapeno.presentation.posterior.tables import posterior_tables

    for file in (asked.ship, asked.docs):
        if file is not None:
            check_file(file)
    with atomic_folder(asked.out, OURS) as folder:
        with stages() as tick:
            found = infer(effort_of(asked.samples), asked.seed, tick)
        tables, data = posterior_tables(found), posterior_json(found)
        pictures = _write(folder, found, tables)
        folder.write(DATA, to_json(data))
    if asked.ship is not None:
        write_file(asked.ship, _draws(found))
        remark(f"draws: {asked.ship}")
    if asked.docs is not None:
        _write_docs(asked.docs, found, tables, pictures)
    if asked.as_json:
        show_json(data)
    else:
        show(tables)
    remark(f"files: {asked.out}")


def effort_of(samples: int) -> Effort:
    """How much work *samples* steps are: the rest goes with them."""
    from jalapeno.analysis.posterior.infer import BURN, CHECKED, KEPT, PLAYED, PRIOR, Effort
    from jalapeno.analysis.posterior.start import PILOTS, TRIED

    share = min(1.0, samples / SAMPLES)
    return Effort(
        steps=samples,
        burn=max(2, round(BURN * share)),
        prior=max(60, round(PRIOR * share)),
        kept=max(60, round(KEPT * share)),
        played=max(2, round(PLAYED * share)),
        checked=max(1, round(CHECKED * share)),
        pilots=max(1, round(PILOTS * share)),
        tried=max(60, round(TRIED * share)),
    )


def _draws(found: Posterior) -> str:
    from jalapeno.analysis.posterior.shipped import to_toml

    return to_toml(found, date.today().isoformat(), version("jalapeno-twin"))


def _write(folder: Folder, found: Posterior, tables: list[Table]) -> dict[str, bytes]:
    """Tables, draws and pictures; returns the pictures of a page."""
    from jalapeno.presentation.pictures import png, svg
    from jalapeno.presentation.posterior import charts
    from jalapeno.presentation.tables import to_markdown

    folder.write(PAGE, "\n".join(to_markdown(table, level=2) for table in tables))
    folder.write(DRAWS, _draws(found))
    made = {}
    for name in PICTURES:
        chart = getattr(charts, f"{name}_chart")(found)
        made[f"{name}.png"] = png(chart)
        folder.write(f"{name}.png", made[f"{name}.png"])
        folder.write(f"{name}.svg", svg(chart))
    return made


def _write_docs(
    file: Path, found: Posterior, tables: list[Table], pictures: dict[str, bytes]
) -> None:
    from jalapeno.presentation.posterior.page import docs_page

    write_file(file, docs_page(found, tables))
    for name, picture in pictures.items():
        write_file(file.parent / f"posterior-{name}", picture)
    remark(f"page: {file}")
