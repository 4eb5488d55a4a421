"""An open, executable twin of OpenAI's Jalapeño and of the systems it is compared with.

Read the floors in this order: catalogue, cost, mapping, simulation, metrics, analysis,
presentation.  Each imports only the floors before it.
"""

from jalapeno import catalogue
from jalapeno.mapping import Load, Plan, Precision, SteadyState, compile_price, estimate
from jalapeno.metrics import Report, measure
from jalapeno.simulation import (
    ClosedLoop,
    Gamma,
    Journal,
    Lengths,
    LogNormal,
    Poisson,
    Pool,
    Preemption,
    Role,
    Router,
    Scenario,
    Site,
    TraceLengths,
    TraceTimes,
    Traffic,
    find_trace,
    read_scenario,
    read_trace,
    resolve,
    scenario_of,
    simulate,
)

__all__ = [
    "ClosedLoop",
    "Gamma",
    "Journal",
    "Lengths",
    "Load",
    "LogNormal",
    "Plan",
    "Poisson",
    "Pool",
    "Precision",
    "Preemption",
    "Report",
    "Role",
    "Router",
    "Scenario",
    "Site",
    "SteadyState",
    "TraceLengths",
    "TraceTimes",
    "Traffic",
    "catalogue",
    "compile_price",
    "estimate",
    "find_trace",
    "measure",
    "read_scenario",
    "read_trace",
    "resolve",
    "scenario_of",
    "simulate",
]
