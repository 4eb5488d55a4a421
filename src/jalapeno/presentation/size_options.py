"""What ``jalapeno size`` takes: the demand, the limits, and where to look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jalapeno.errors import UsageError

if TYPE_CHECKING:
    from jalapeno.analysis.demand import Demand
    from jalapeno.analysis.slo import Slo
    from jalapeno.simulation import AnyLengths

DEMAND, LIMITS = "Demand", "Limits"


def _demand(*names: str, help: str, metavar: str = "N") -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=DEMAND)


def _limit(*names: str, help: str, metavar: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=LIMITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandOptions:
    """How many requests come, how, and how long they are."""

    rate: Annotated[float, _demand("--rate", metavar="R", help="Requests a second.")]
    burst: Annotated[
        float,
        _demand(
            "--burst",
            metavar="CV",
            help="Standard deviation of the gaps between requests over their mean: 1 is at random "
            "(Poisson), more comes in bursts (gamma).",
        ),
    ] = 1.0
    isl: Annotated[
        int | None, _demand("--isl", help="Nominal prompt, tokens: the longest; 8192 by default.")
    ] = None
    osl: Annotated[
        int | None, _demand("--osl", help="Nominal answer, tokens: the longest; 1024 by default.")
    ] = None
    ratio: Annotated[
        float | None,
        _demand("--ratio", metavar="X", help="The shortest over the longest; 0.8 by default."),
    ] = None
    lognormal: Annotated[
        list[str] | None,
        _demand(
            "--lognormal",
            metavar="WHICH:mean=M,cv=C,max=N",
            help="Lengths instead: once for prompt, once for output.",
        ),
    ] = None
    trace: Annotated[
        str | None,
        _demand("--trace", metavar="NAME", help="Lengths drawn from a trace or CSV file instead."),
    ] = None
    spare: Annotated[
        int,
        _demand("--spare", help="Replicas that may be lost without breaking a limit (N+k)."),
    ] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOptions:
    """What must hold at the percentile."""

    ttft: Annotated[
        float | None,
        _limit("--ttft-ms", metavar="MS", help="Time to the first token, queueing included."),
    ] = None
    tbt: Annotated[
        float | None,
        _limit(
            "--tbt-ms",
            metavar="MS",
            help="Time between tokens (TBT, TPOT): of each request the mean over its answer, "
            "(E2E - TTFT) / (tokens - 1), and of these the percentile, as InferenceX and AIPerf "
            "have it; not the percentile over single gaps.",
        ),
    ] = None
    speed: Annotated[
        float | None,
        _limit("--speed", metavar="T", help="The same as tokens/s a user: 1000 / TBT in ms."),
    ] = None
    e2e: Annotated[
        float | None, _limit("--e2e-s", metavar="S", help="Send to last token, seconds.")
    ] = None
    percentile: Annotated[
        float, _limit("--percentile", metavar="P", help="Of the requests, in every limit.")
    ] = 99.0


def demand_from(options: DemandOptions) -> Demand:
    """The demand that *options* ask for."""
    from jalapeno.analysis.demand import Demand

    return Demand(rate=options.rate, burst=options.burst, spare=options.spare)


def lengths_from(options: DemandOptions) -> AnyLengths:
    """The lengths that *options* ask for; :class:`UsageError` where two ways are given."""
    from jalapeno.presentation.deployment_arguments import TrafficOptions
    from jalapeno.presentation.traffic_options import traffic_from

    return traffic_from(
        TrafficOptions(
            isl=options.isl,
            osl=options.osl,
            ratio=options.ratio,
            lognormal=options.lognormal,
            trace=options.trace,
            resample=options.trace is not None,
            rate=options.rate,
        )
    ).lengths


def slo_from(options: LimitOptions) -> Slo:
    """The limits that *options* ask for; :class:`UsageError` for none, or the same one twice."""
    from jalapeno.analysis.slo import Limit, Metric, Slo

    if options.tbt is not None and options.speed is not None:
        raise UsageError("--tbt-ms and --speed say the same thing in two ways: give one")
    if options.speed is not None and options.speed <= 0.0:
        raise UsageError(f"--speed must be positive, got {options.speed:g} tokens/s")
    tbt = options.tbt / 1e3 if options.tbt is not None else None
    tbt = 1.0 / options.speed if options.speed is not None else tbt
    seconds = {
        Metric.TTFT: options.ttft / 1e3 if options.ttft is not None else None,
        Metric.TBT: tbt,
        Metric.E2E: options.e2e,
    }
    if all(value is None for value in seconds.values()):
        raise UsageError("give a limit at least: --ttft-ms, --tbt-ms or --speed, or --e2e-s")
    return Slo(
        limits=tuple(
            Limit(metric=metric, seconds=value, percentile=options.percentile)
            for metric, value in seconds.items()
            if value is not None
        )
    )
