"""Answers that may be asked for, by the closed form or by simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jalapeno.analysis.sensitivity_facts import Case
from jalapeno.catalogue import Tariff
from jalapeno.errors import unknown_name
from jalapeno.mapping import Load, SteadyState, compile_price, estimate
from jalapeno.metrics import Denominator, Report, measure
from jalapeno.simulation import ClosedLoop, Journal, Role, simulate

Ask = Callable[[Case], float]
"""From a case to one number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A number that people ask for."""

    name: str
    unit: str
    report: Callable[[Report], float]
    """From a simulated run."""
    steady: Callable[[SteadyState, Tariff], float] | None = None
    """From the closed form; None where it has no such number."""


STATISTICS = ("mean", "median", "p90", "p95", "p99", "p999")
LATENCIES = {"ttft": "ttft_ms", "tbt": "tpot_ms", "token_gap": "token_gap_ms", "e2e": "e2e_ms"}
DENOMINATORS = ("package_tdp", "package", "all_in", "facility")


def _watts(steady: SteadyState, tariff: Tariff, denominator: str) -> float:
    """Watts a chip by one way to count them, as :mod:`jalapeno.metrics.power` has them."""
    match denominator:
        case "package_tdp":
            return tariff.tdp
        case "package":
            return steady.watts_per_chip
        case "all_in":
            return tariff.all_in
        case _:
            return tariff.all_in * tariff.pue


def _latency(metric: str, statistic: str) -> Answer:
    steady: Mapping[str, Callable[[SteadyState, Tariff], float]] = {
        "ttft": lambda found, _: found.ttft * 1e3,
        "tbt": lambda found, _: found.tpot * 1e3,
        "e2e": lambda found, _: found.e2e * 1e3,
    }

    def report(found: Report) -> float:
        return float(getattr(getattr(found.latency, LATENCIES[metric]), statistic))

    return Answer(
        name=f"{statistic}_{metric}_ms",
        unit="ms",
        report=report,
        steady=steady.get(metric) if statistic == "mean" else None,
    )


def _by_watts(denominator: str) -> tuple[Answer, Answer, Answer]:
    def of(report: Report) -> Denominator:
        found: Denominator = getattr(report.power, denominator)
        return found

    def rate(steady: SteadyState, tariff: Tariff) -> float:
        return steady.tokens_per_s_per_chip / _watts(steady, tariff, denominator)

    return (
        Answer(
            name=f"tokens_per_s_per_kw_{denominator}",
            unit="token/s/kW",
            report=lambda found: of(found).tokens_per_s_per_kw,
            steady=lambda found, tariff: 1e3 * rate(found, tariff),
        ),
        Answer(
            name=f"joules_per_token_{denominator}",
            unit="J/token",
            report=lambda found: of(found).joules_per_token,
            steady=lambda found, tariff: 1.0 / rate(found, tariff),
        ),
        Answer(
            name=f"watts_per_chip_{denominator}",
            unit="W/chip",
            report=lambda found: of(found).watts_per_chip,
            steady=lambda found, tariff: _watts(found, tariff, denominator),
        ),
    )


_ALL = (
    Answer(
        name="tokens_per_s_per_chip",
        unit="token/s/chip",
        report=lambda found: found.throughput.tokens_per_s_per_chip,
        steady=lambda found, _: found.tokens_per_s_per_chip,
    ),
    *(_latency(metric, statistic) for metric in LATENCIES for statistic in STATISTICS),
    *(answer for denominator in DENOMINATORS for answer in _by_watts(denominator)),
    Answer(
        name="dollars_per_million_tokens",
        unit="$/million tokens",
        report=lambda found: found.power.dollars_per_million_tokens,
        steady=lambda found, tariff: tariff.price / 3600.0 / found.tokens_per_s_per_chip * 1e6,
    ),
)

ANSWERS: Mapping[str, Answer] = {answer.name: answer for answer in _ALL}
"""Every answer by its name; tokens are mixed, prompt and output together."""


def answer_of(name: str) -> Answer:
    """The answer called *name*; :class:`UnknownName` lists the nearest and all."""
    if name not in ANSWERS:
        raise unknown_name("answer", name, ANSWERS)
    return ANSWERS[name]


def not_covered(case: Case, answer: Answer) -> str:
    """Why the closed form does not give *answer* for *case*; "" where it does."""
    roles = [pool.role for pool in case.scenario.pools]
    if answer.steady is None:
        return f"the closed form has means and rates, not {answer.name}"
    if not isinstance(case.scenario.traffic.arrivals, ClosedLoop):
        return "the closed form is of a closed loop, and these requests arrive by themselves"
    if case.scenario.others:
        return "the closed form is of one system, and these pools are on several"
    if roles not in ([Role.UNIFIED], [Role.PREFILL, Role.DECODE]):
        return "the closed form is of one unified pool, or of a prefill and a decode pool"
    return ""


def steady_state(case: Case) -> SteadyState:
    """The closed form of *case*, whose requests arrive in a closed loop."""
    scenario = case.scenario
    arrivals = scenario.traffic.arrivals
    assert isinstance(arrivals, ClosedLoop)  # see not_covered
    prompt, output = scenario.traffic.lengths.means
    prices = tuple(
        compile_price(scenario.model, pool.plan, scenario.system, scenario.engine)
        for pool in scenario.pools
    )
    load = Load(concurrency=arrivals.concurrency, prompt=prompt, output=output)
    return estimate(prices, tuple(pool.replicas for pool in scenario.pools), load)


def closed_form(answer: Answer) -> Ask:
    """Ask for *answer* by the closed form, which covers it: see :func:`not_covered`."""
    steady = answer.steady
    assert steady is not None
    return lambda case: steady(steady_state(case), case.tariff)


def simulation(answer: Answer, journal: Journal) -> Ask:
    """Ask for *answer* by simulation; *journal* answers for its own scenario.

    So a tariff's facts cost no simulation.
    """

    def ask(case: Case) -> float:
        same = case.scenario is journal.scenario
        found = journal if same else simulate(case.scenario)
        return answer.report(measure(found, case.tariff))

    return ask
