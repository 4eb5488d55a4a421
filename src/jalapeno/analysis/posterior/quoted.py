"""The interval of each number that the reproduction quotes of Jalapeño, from the shipped draws."""

from __future__ import annotations

from collections.abc import Sequence

from jalapeno.analysis.frontier_points import Option
from jalapeno.analysis.posterior.bands import Moved, moved_by
from jalapeno.analysis.posterior.evidence import LATENCIES
from jalapeno.analysis.posterior.scores import interval
from jalapeno.analysis.posterior.shipped import Draws
from jalapeno.analysis.posterior.unknowns import ALONE, LOADED, Floats
from jalapeno.analysis.reproduction import Band, Comparison, Number
from jalapeno.analysis.subject import Subject
from jalapeno.mapping import Load, compile_price, estimate
from jalapeno.simulation import ClosedLoop

COLUMNS = {"peak": 1, "at_reference_tbt": 1, "min_e2e": 3, "min_tbt": 0}
"""Of the factors of a deployment, the one of each objective's number."""


def banded(comparisons: Sequence[Comparison], draws: Draws) -> tuple[Band, ...]:
    """A band for every number of Jalapeño: the twin's, moved by each of *draws*, its plan held."""
    return tuple(
        _band(comparison.claim.model, number, draws)
        for comparison in comparisons
        for number in comparison.jalapeno
    )


def _band(model: str, number: Number, draws: Draws) -> Band:
    found = interval(_values(number, draws))
    left = {one.name: one for one in draws.numbers}.get(name_of(model, number))
    return Band(
        model=model,
        objective=number.objective,
        published=number.published,
        twin=number.twin,
        low=found.low,
        lower=found.lower,
        median=found.median,
        upper=found.upper,
        high=found.high,
        left_out=None if left is None else _in_unit(number, left.left_out.low, left.left_out.high),
    )


def name_of(model: str, number: Number) -> str:
    """What the evidence calls *number*."""
    if number.objective != "at_reference_tbt":
        return f"{model}/{number.objective}"
    from jalapeno import catalogue

    return f"{model}/at {catalogue.claim(model).reference_min_tbt * 1e3:.2f} ms"


def _in_unit(number: Number, low: float, high: float) -> tuple[float, float]:
    scale = 1e3 if number.objective == "min_tbt" else 1.0
    return scale * low, scale * high


def _values(number: Number, draws: Draws) -> Floats:
    subject, option = _asked(number)
    moved = moved_by(subject, draws, len(draws.values))
    assert isinstance(moved, Moved)  # the reproduction is of Jalapeño on its own engine
    factors = moved.factors([option])[0][:, COLUMNS[number.objective]]
    errors = moved.errors(ALONE if number.objective in LATENCIES else LOADED)
    found: Floats = (number.twin * factors[:, None] * errors).ravel()
    return found


def _asked(number: Number) -> tuple[Subject, Option]:
    """The run behind *number* as a subject and an option of it."""
    scenario = number.outcome.scenario
    arrivals = scenario.traffic.arrivals
    assert isinstance(arrivals, ClosedLoop)
    subject = Subject(
        trees=scenario.trees,
        system=scenario.system,
        model=scenario.model,
        engine=scenario.engine,
        precision=scenario.pools[0].plan.precision,
        lengths=scenario.traffic.lengths,
    )
    prompt, output = subject.mean_lengths
    load = Load(concurrency=arrivals.concurrency, prompt=prompt, output=output)
    pools = scenario.pools
    prices = tuple(
        compile_price(scenario.model, pool.plan, scenario.system, scenario.engine) for pool in pools
    )
    steady = estimate(prices, tuple(pool.replicas for pool in pools), load)
    return subject, Option(pools, arrivals.concurrency, steady)
