"""Floor 4, time: requests arrive, wait, are computed and leave; a journal remains.

Start with :mod:`.scenario` (what a run depends on), then :mod:`.loop` (what happens next),
:mod:`.form` (how a step is made) and :mod:`.finish` (how it ends).
"""

from jalapeno.simulation.journal import Journal
from jalapeno.simulation.pools import MAIN, Pool, Preemption, Role, Router
from jalapeno.simulation.run import Run
from jalapeno.simulation.scenario import Scenario, Site, resolve, scenario_of, set_fact
from jalapeno.simulation.scenario_file import dump_scenario, read_scenario
from jalapeno.simulation.simulate import simulate, start
from jalapeno.simulation.traffic import ClosedLoop, Lengths, Poisson, Traffic

__all__ = [
    "MAIN",
    "ClosedLoop",
    "Journal",
    "Lengths",
    "Poisson",
    "Pool",
    "Preemption",
    "Role",
    "Router",
    "Run",
    "Scenario",
    "Site",
    "Traffic",
    "dump_scenario",
    "read_scenario",
    "resolve",
    "scenario_of",
    "set_fact",
    "simulate",
    "start",
]
