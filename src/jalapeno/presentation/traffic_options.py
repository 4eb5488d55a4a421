"""Traffic from options: which lengths, which arrivals, how many."""

from __future__ import annotations

from jalapeno.errors import UsageError
from jalapeno.presentation.deployment_arguments import TrafficOptions
from jalapeno.presentation.keyed import decimal, keyed, whole
from jalapeno.simulation import (
    AnyLengths,
    Arrivals,
    ClosedLoop,
    Gamma,
    Lengths,
    LogNormal,
    Poisson,
    Trace,
    TraceLengths,
    TraceTimes,
    Traffic,
    find_trace,
)

ISL, OSL, RATIO = 8192, 1024, 0.8
"""The published workload."""
EACH, OPEN = 10, 1000
"""Requests where nobody says how many: for each in flight (as InferenceX), and at a rate."""


def traffic_from(options: TrafficOptions) -> Traffic:
    """The traffic that *options* ask for; :class:`UsageError` where they do not go together."""
    trace = None if options.trace is None else find_trace(options.trace)
    arrivals = _arrivals(options, trace)
    return Traffic(
        lengths=_lengths(options, trace),
        arrivals=arrivals,
        requests=_requests(arrivals, trace) if options.requests is None else options.requests,
    )


def _one_of(**given: object) -> None:
    """Raise :class:`UsageError` where more than one is given."""
    names = [f"--{name}" for name, value in given.items() if value]
    if len(names) > 1:
        raise UsageError(f"{' and '.join(names)} say the same thing in two ways: give one")


def _lengths(options: TrafficOptions, trace: Trace | None) -> AnyLengths:
    uniform = {
        name: value
        for name, value in (("isl", options.isl), ("osl", options.osl), ("ratio", options.ratio))
        if value is not None
    }
    _one_of(trace=trace, lognormal=options.lognormal, **dict.fromkeys(list(uniform)[:1], True))
    if options.resample and trace is None:
        raise UsageError("--resample draws from a trace: give --trace")
    if trace is not None:
        return TraceLengths(trace=trace, seed=options.seed if options.resample else None)
    if options.lognormal:
        return _lognormal(options.lognormal, options.seed)
    return Lengths(
        isl=ISL if options.isl is None else options.isl,
        osl=OSL if options.osl is None else options.osl,
        ratio=RATIO if options.ratio is None else options.ratio,
        seed=options.seed,
    )


def _lognormal(texts: list[str], seed: int) -> LogNormal:
    keys = ("mean", "cv", "max")
    found: dict[str, dict[str, str]] = {}
    for text in texts:
        option = f"--lognormal {text}"
        which, _, rest = text.partition(":")
        found[which] = keyed(rest, keys, option)
        missing = [key for key in keys if key not in found[which]]
        if missing:
            raise UsageError(f"{option}: lacks {', '.join(missing)}")
    if sorted(found) != ["output", "prompt"] or len(texts) != 2:
        raise UsageError(
            "--lognormal: give it twice, as in --lognormal prompt:mean=1155,cv=1,max=14050 "
            f"--lognormal output:mean=211,cv=0.8,max=1000; got {' '.join(texts)}"
        )
    prompt, output = found["prompt"], found["output"]
    return LogNormal(
        prompt_mean=decimal(prompt["mean"], "--lognormal prompt: mean"),
        prompt_cv=decimal(prompt["cv"], "--lognormal prompt: cv"),
        prompt_max=whole(prompt["max"], "--lognormal prompt: max"),
        output_mean=decimal(output["mean"], "--lognormal output: mean"),
        output_cv=decimal(output["cv"], "--lognormal output: cv"),
        output_max=whole(output["max"], "--lognormal output: max"),
        seed=seed,
    )


def _arrivals(options: TrafficOptions, trace: Trace | None) -> Arrivals:
    _one_of(closed=options.closed is not None, rate=options.rate is not None)
    if options.cv is not None and options.rate is None:
        raise UsageError("--cv shapes the gaps of a --rate: give one")
    timed = trace is not None and options.closed is None and options.rate is None
    if options.speed is not None and not timed:
        raise UsageError("--speed is of the times of a --trace, without --closed and --rate")
    if options.closed is not None:
        return ClosedLoop(concurrency=options.closed)
    if options.rate is not None:
        if options.cv is None:
            return Poisson(rate=options.rate)
        return Gamma(rate=options.rate, cv=options.cv)
    if trace is None:
        raise UsageError(
            "how do requests come? --closed N in flight, --rate R a second, or when those of a "
            "--trace did"
        )
    if options.resample:
        raise UsageError(
            "--resample takes requests out of their order, so their times mean nothing: give "
            "--rate or --closed too"
        )
    return TraceTimes(trace=trace, speed=1.0 if options.speed is None else options.speed)


def _requests(arrivals: Arrivals, trace: Trace | None) -> int:
    if trace is not None:
        return len(trace)
    return EACH * arrivals.concurrency if isinstance(arrivals, ClosedLoop) else OPEN
