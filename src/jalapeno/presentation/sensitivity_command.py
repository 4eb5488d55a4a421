"""``jalapeno sensitivity``: which facts an answer rests on, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jalapeno.errors import UsageError, instead
from jalapeno.presentation.arguments import Json
from jalapeno.presentation.console import messages, remark, results, show, show_json
from jalapeno.presentation.options import takes
from jalapeno.presentation.progress import stages

if TYPE_CHECKING:
    from jalapeno.analysis.sensitivity_range import Shape
    from jalapeno.presentation.sensitivity_tables import Found
    from jalapeno.simulation import Journal, Scenario

SAMPLES = 300
"""Draws of the combined range by the closed form, unless somebody says otherwise."""

File = Annotated[
    Path, typer.Argument(metavar="FILE|RUN", help="A scenario file, or the folder of a run.")
]
AnswerName = Annotated[
    str, typer.Option("--answer", metavar="NAME", help="What is asked for; a wrong name lists all.")
]
Patterns = Annotated[
    list[str] | None,
    typer.Option(
        "--facts",
        metavar="PATTERN",
        help="Facts to vary, such as 'chip.hbm.*'; repeatable. All but model.* unless given.",
    ),
]
Step = Annotated[
    str, typer.Option("--step", help="Relative step of the elasticities, such as 1% or 0.01.")
]
Simulate = Annotated[
    bool, typer.Option("--simulate", help="Simulate every change instead of the closed form.")
]
Top = Annotated[int, typer.Option("--top", min=1, help="Facts to show.")]
Samples = Annotated[
    int | None,
    typer.Option(
        "--samples",
        min=0,
        help=f"Draws of all uncertain facts at once; 0 for none. {SAMPLES} by the closed form, "
        "none where all is simulated, unless given.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Of the draws.")]
Draw = Annotated[
    str, typer.Option("--draw", help="How a fact lies in its range: triangular or uniform.")
]
Picture = Annotated[
    Path | None,
    typer.Option("--out", metavar="PICTURE", help="Draw the tornado: a .svg, .png or .html file."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What ``jalapeno sensitivity`` is asked."""

    file: File
    answer: AnswerName = "tokens_per_s_per_chip"
    facts: Patterns = None
    step: Step = "1%"
    simulate: Simulate = False
    top: Top = 15
    samples: Samples = None
    seed: Seed = 0
    draw: Draw = "triangular"
    out: Picture = None
    as_json: Json = False


@takes(Asked)
def sensitivity_command(asked: Asked) -> None:
    """Say which facts an answer rests on: percent for percent, and at the ends of their ranges.

    The closed form is asked where it covers the answer, and one simulation says how far off it is.
    Elsewhere, or with --simulate, every change is simulated.
    """
    # The simulator takes a second to import, which list and show should not wait for.
    from jalapeno.presentation.picture_file import check_picture, write_picture
    from jalapeno.presentation.sensitivity_json import sensitivity_json
    from jalapeno.presentation.sensitivity_tables import sensitivity_tables, sentences
    from jalapeno.presentation.tornado_chart import tornado_chart

    if asked.out is not None:
        check_picture(asked.out)
    found = find(asked)
    if asked.out is not None:
        write_picture(asked.out, tornado_chart(found, asked.top), found.answer.name)
        remark(f"picture: {asked.out}")
    if asked.as_json:
        show_json(sensitivity_json(found))
        return
    console = results()
    for line in (*sentences(found), ""):
        console.print(line, soft_wrap=True, markup=False)
    show(sensitivity_tables(found, asked.top))


def find(asked: Asked) -> Found:
    """Everything that is asked, with progress on stderr."""
    from jalapeno.analysis.sensitivity import sensitivity
    from jalapeno.analysis.sensitivity_answers import (
        answer_of,
        closed_form,
        not_covered,
        simulation,
    )
    from jalapeno.analysis.sensitivity_facts import USUAL, case_of, matching, numbers_of
    from jalapeno.analysis.sensitivity_range import combined
    from jalapeno.presentation.sensitivity_tables import Found
    from jalapeno.presentation.simulate_command import describe

    answer, step, shape = answer_of(asked.answer), step_of(asked.step), shape_of(asked.draw)
    scenario, journal = read(asked.file)
    case = case_of(scenario)
    if scenario.others:
        remark(f"the facts of {', '.join(scenario.others)} stay: those of the main site are varied")
    facts = matching(numbers_of(case), asked.facts or USUAL)
    why = "" if asked.simulate else not_covered(case, answer)
    by_simulation = asked.simulate or bool(why)
    samples = asked.samples
    if samples is None:
        samples = 0 if by_simulation else SAMPLES
    if journal is None:
        journal = simulated(scenario)
    base_ask = simulation(answer, journal)
    ask = base_ask if by_simulation else closed_form(answer)
    with stages() as tick:
        found = sensitivity(ask, case, facts, step, tick)
        drawn = (
            combined(ask, case, facts, samples=samples, seed=asked.seed, shape=shape, tick=tick)
            if samples
            else None
        )
    return Found(
        answer=answer,
        run=describe(scenario),
        by="simulation" if by_simulation else "closed form",
        why=why,
        simulated=None if by_simulation else base_ask(case),
        sensitivity=found,
        combined=drawn,
    )


def read(file: Path) -> tuple[Scenario, Journal | None]:
    """The scenario of a file, or of a run's folder, then with its journal."""
    from jalapeno.simulation import read_journal, read_scenario

    if file.is_dir():
        journal = read_journal(file)
        return journal.scenario, journal
    return read_scenario(file), None


def simulated(scenario: Scenario) -> Journal:
    """The journal of *scenario*, with a word on stderr while it is made."""
    from jalapeno import simulation
    from jalapeno.presentation.simulate_command import describe

    with messages().status(f"simulating {describe(scenario)}"):
        return simulation.simulate(scenario)


def step_of(word: str) -> float:
    """The share that *word* says: ``1%`` and ``0.01`` are the same."""
    try:
        number = float(word.strip().removesuffix("%"))
    except ValueError:
        raise UsageError(f"--step {word}: write a share, as in --step 1%") from None
    return number / 100.0 if word.strip().endswith("%") else number


def shape_of(word: str) -> Shape:
    """The shape called *word*; :class:`UsageError` lists both."""
    from jalapeno.analysis.sensitivity_range import Shape

    known = [shape.value for shape in Shape]
    if word not in known:
        raise UsageError(f"--draw: no shape {word!r}{instead(word, known)}")
    return Shape(word)
