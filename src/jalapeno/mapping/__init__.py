"""Floor 3, the plan: how a model lies on a system, and what a step of it costs.

A :class:`Plan` cuts the model; :func:`compile_price` lowers it to operators and compiles them to a
:class:`StepPrice`, which prices any :mod:`.batch`; :mod:`.memory` says what fits.
"""

from jalapeno.mapping.draft import acceptance_length, measured_acceptance
from jalapeno.mapping.estimate import Load, SteadyState, estimate
from jalapeno.mapping.memory import Room, check_request, room
from jalapeno.mapping.outputs import OUTPUTS, StepArrays
from jalapeno.mapping.parameters import Parameters, kv_elements, parameters
from jalapeno.mapping.plan import Plan, check_plan
from jalapeno.mapping.precision import Precision
from jalapeno.mapping.pricing import Memo
from jalapeno.mapping.step import StepPrice, compile_price, memo_for, stack

__all__ = [
    "OUTPUTS",
    "Load",
    "Memo",
    "Parameters",
    "Plan",
    "Precision",
    "Room",
    "SteadyState",
    "StepArrays",
    "StepPrice",
    "acceptance_length",
    "check_plan",
    "check_request",
    "compile_price",
    "estimate",
    "kv_elements",
    "measured_acceptance",
    "memo_for",
    "parameters",
    "room",
    "stack",
]
