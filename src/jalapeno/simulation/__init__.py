"""Floor 4, time: requests arrive, wait, are computed and leave; a journal remains.

Start with :mod:`.scenario` (what a run depends on), then :mod:`.loop` (what happens next),
:mod:`.form` (how a step is made) and :mod:`.finish` (how it ends).
"""

from jalapeno.simulation.arrivals import Arrivals, ClosedLoop, Gamma, Poisson, TraceTimes
from jalapeno.simulation.journal import Journal
from jalapeno.simulation.lengths import AnyLengths, Lengths, LogNormal, TraceLengths
from jalapeno.simulation.pools import MAIN, Pool, Preemption, Role, Router
from jalapeno.simulation.read_journal import read_journal
from jalapeno.simulation.run import Run
from jalapeno.simulation.scenario import Scenario, Site, resolve, scenario_of, set_fact
from jalapeno.simulation.scenario_file import dump_scenario, parse_scenario, read_scenario
from jalapeno.simulation.simulate import simulate, start
from jalapeno.simulation.trace import Trace, find_trace, read_trace
from jalapeno.simulation.traffic import Traffic

__all__ = [
    "MAIN",
    "AnyLengths",
    "Arrivals",
    "ClosedLoop",
    "Gamma",
    "Journal",
    "Lengths",
    "LogNormal",
    "Poisson",
    "Pool",
    "Preemption",
    "Role",
    "Router",
    "Run",
    "Scenario",
    "Site",
    "Trace",
    "TraceLengths",
    "TraceTimes",
    "Traffic",
    "dump_scenario",
    "find_trace",
    "parse_scenario",
    "read_journal",
    "read_scenario",
    "read_trace",
    "resolve",
    "scenario_of",
    "set_fact",
    "simulate",
    "start",
]
