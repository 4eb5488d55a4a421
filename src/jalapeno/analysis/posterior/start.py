"""Where to begin: pilot draws for the short lists, and the first walkers, near the catalogue.

The catalogue's constants were fitted to the same numbers, so they lie where the posterior is; they
are a place to start from and no evidence, and the chain forgets them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from jalapeno import catalogue
from jalapeno.analysis.posterior.evidence import Published
from jalapeno.analysis.posterior.likelihood import Judge
from jalapeno.analysis.posterior.options import Listed, served, shortlist
from jalapeno.analysis.posterior.sampler import WALKERS, log_mixture, tempered, threads
from jalapeno.analysis.posterior.unknowns import (
    GQA,
    HYPER,
    MLA,
    PATHS,
    SYSTEM,
    Floats,
    named,
    scores_of,
    unknowns,
    values_of,
)
from jalapeno.analysis.posterior.worlds import World, world_of
from jalapeno.analysis.published import ENGINE
from jalapeno.catalogue import Engine, System

PILOTS = 12
"""Draws over which the short lists are chosen."""
NEARBY, PILOT_SPREAD = 0.6, 0.6
"""Spread of starts around the catalogue, in standard deviations of the prior."""
TRIED = 5 * WALKERS
"""Starts that are tried, of which the walkers are taken."""


def catalogue_scores() -> Floats:
    """Scores of the catalogue's own constants."""
    facts = dict(catalogue.system(SYSTEM).facts)
    facts |= {f"engine.{path}": fact for path, fact in catalogue.engine(ENGINE).facts.items()}
    values = {}
    for unknown in unknowns():
        if unknown.path in HYPER or unknown.path in (MLA, GQA):
            continue
        value = facts[unknown.path].value
        values[unknown.path] = (
            float(unknown.choices.index(str(value))) if unknown.choices else float(value)
        )
    return scores_of({**values, MLA: 0.0, GQA: 0.0})


def lists_of(
    numbers: Sequence[Published], system: System, engine: Engine, seed: int, pilots: int = PILOTS
) -> Mapping[str, Listed]:
    """Short lists of all models over pilot draws near the catalogue."""
    base = World(system, engine, "MXFP8", "MXFP8")
    spread = np.random.default_rng(seed).standard_normal((pilots, len(PATHS)))
    scores = catalogue_scores() + PILOT_SPREAD * spread
    worlds = [base, *(world_of(named(row), system, engine) for row in values_of(scores))]
    found = {}
    with threads() as pool:
        for model in dict.fromkeys(number.model for number in numbers):
            of = served(model, base)
            theirs = [number for number in numbers if number.model == model]
            found[model] = shortlist(of, theirs, worlds, pool)
    return found


def walkers(judge: Judge, seed: int, pool: ThreadPoolExecutor, tried: int = TRIED) -> Floats:
    """The first places of the walkers: the more likely ones of many near the catalogue."""
    generator = np.random.default_rng(seed)
    scores = catalogue_scores() + NEARBY * generator.standard_normal((tried, len(PATHS)))
    logs, _ = log_mixture(judge.outcomes(scores, pool))
    shares = tempered(logs - 0.5 * np.sum(scores**2, axis=1), WALKERS // 3)
    places = generator.choice(tried, WALKERS, p=shares)
    jitter = 0.1 * generator.standard_normal((WALKERS, len(PATHS)))
    found: Floats = scores[places] + jitter
    return found
