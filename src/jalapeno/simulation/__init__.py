"""Floor 4, time: requests arrive, wait, are computed and leave; a journal remains.

Start with :mod:`.scenario` (what a run depends on), then :mod:`.loop` (what happens next),
:mod:`.form` (how a step is made) and :mod:`.finish` (how it ends).
"""

from jalapeno.simulation.journal import Journal
from jalapeno.simulation.read_journal import read_journal
from jalapeno.simulation.run import Run
from jalapeno.simulation.scenario import (
    Pool,
    Role,
    Scenario,
    dump_scenario,
    read_scenario,
    resolve,
    scenario_of,
)
from jalapeno.simulation.simulate import simulate, start
from jalapeno.simulation.traffic import ClosedLoop, Lengths, Poisson, Traffic

__all__ = [
    "ClosedLoop",
    "Journal",
    "Lengths",
    "Poisson",
    "Pool",
    "Role",
    "Run",
    "Scenario",
    "Traffic",
    "dump_scenario",
    "read_journal",
    "read_scenario",
    "resolve",
    "scenario_of",
    "simulate",
    "start",
]
