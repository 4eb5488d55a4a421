"""An open, executable twin of OpenAI's Jalapeño and of the systems it is compared with.

Read the floors in this order: catalogue, cost, mapping, simulation, metrics, analysis,
presentation.  Each imports only the floors before it.
"""

from jalapeno import catalogue
from jalapeno.mapping import Load, Plan, Precision, SteadyState, compile_price, estimate
from jalapeno.metrics import Report, measure
from jalapeno.simulation import (
    ClosedLoop,
    Journal,
    Lengths,
    Poisson,
    Pool,
    Preemption,
    Role,
    Router,
    Scenario,
    Site,
    Traffic,
    read_scenario,
    resolve,
    scenario_of,
    simulate,
)

__all__ = [
    "ClosedLoop",
    "Journal",
    "Lengths",
    "Load",
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
    "Traffic",
    "catalogue",
    "compile_price",
    "estimate",
    "measure",
    "read_scenario",
    "resolve",
    "scenario_of",
    "simulate",
]
