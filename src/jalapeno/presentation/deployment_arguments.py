"""Options that say what is deployed and which requests come: shared by commands that ask for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from jalapeno.presentation.arguments import EngineName, Settings

PLAN, TRAFFIC = "Deployment", "Traffic"


def _plan(*names: str, help: str, metavar: str = "N") -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=PLAN)


def _traffic(*names: str, help: str, metavar: str | None = "N") -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=TRAFFIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentOptions:
    """Sites, pools and how requests are sent to them."""

    engine: EngineName = None
    tp: Annotated[int | None, _plan("--tp", help="Chips that share a rank; 1 by default.")] = None
    ep: Annotated[
        int | None, _plan("--ep", help="Groups of experts; 1, or with --dp all chips, by default.")
    ] = None
    dp: Annotated[int | None, _plan("--dp", help="Attention ranks; 1 by default.")] = None
    pp: Annotated[int | None, _plan("--pp", help="Pipeline stages; 1 by default.")] = None
    cp: Annotated[int | None, _plan("--cp", help="Shares of a context; 1 by default.")] = None
    running: Annotated[
        int, _plan("--running", help="Sequences a rank may run, in every pool that says no other.")
    ] = 256
    tokens: Annotated[
        int, _plan("--tokens", help="Tokens a rank may take in a step, in every such pool.")
    ] = 8192
    draft: Annotated[
        int | None,
        _plan("--draft", help="Tokens drafted a step (multi-token prediction), in every pool."),
    ] = None
    accept: Annotated[
        str | None,
        _plan(
            "--accept",
            metavar="TOKENS|RATES|NAME",
            help="What a step gives then: tokens on the mean, as in 2.8; rates of acceptance by "
            "position, as in 0.9,0.7,0.5; or a workload that show MODEL has measured.",
        ),
    ] = None
    replicas: Annotated[
        int | None, _plan("--replicas", help="Workers of that plan; 1 by default.")
    ] = None
    pool: Annotated[
        list[str] | None,
        _plan(
            "--pool",
            metavar="ROLE:REPLICAS:KEY=VALUE,...",
            help="A pool instead: unified, prefill or decode, as in decode:5:tp=4,ep=4,running=64. "
            "Keys: tp ep dp pp cp redundant spread running tokens site preemption; repeatable, "
            "prefill first.",
        ),
    ] = None
    site: Annotated[
        list[str] | None,
        _plan(
            "--site",
            metavar="NAME=SYSTEM[/ENGINE]",
            help="Another place that a pool may stand at (site=NAME); repeatable.",
        ),
    ] = None
    router: Annotated[
        str, _plan("--router", metavar="NAME", help="shared, round_robin or least_loaded.")
    ] = "shared"
    preemption: Annotated[
        str,
        _plan(
            "--preemption",
            metavar="NAME",
            help="none, recompute or swap, in every pool but prefill that says no other.",
        ),
    ] = "none"
    prefix_caching: Annotated[
        bool,
        _plan(
            "--prefix-caching",
            metavar=None,
            help="Whoever was preempted finds of its blocks what others did not take.",
        ),
    ] = False
    settings: Settings = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficOptions:
    """Lengths, arrivals and how many."""

    isl: Annotated[
        int | None,
        _traffic("--isl", metavar="TOKENS", help="Longest prompt that is drawn; 8192 by default."),
    ] = None
    osl: Annotated[
        int | None,
        _traffic("--osl", metavar="TOKENS", help="Longest answer that is drawn; 1024 by default."),
    ] = None
    ratio: Annotated[
        float | None,
        _traffic("--ratio", metavar="SHARE", help="Shortest over longest; 0.8 by default."),
    ] = None
    lognormal: Annotated[
        list[str] | None,
        _traffic(
            "--lognormal",
            metavar="WHICH:mean=M,cv=C,max=N",
            help="Log-normal lengths instead, for prompt and for output.",
        ),
    ] = None
    trace: Annotated[
        str | None,
        _traffic(
            "--trace",
            metavar="FILE|NAME",
            help="Lengths of a trace instead (CSV or JSONL; azure-2023-conv comes along), and its "
            "times where neither --closed nor --rate is given.",
        ),
    ] = None
    resample: Annotated[
        bool, _traffic("--resample", metavar=None, help="Draw the trace's requests at random.")
    ] = False
    speed: Annotated[
        float | None, _traffic("--speed", metavar="X", help="Times as fast as the trace.")
    ] = None
    closed: Annotated[
        int | None,
        _traffic("--closed", help="Closed loop: so many in flight, a next one for each answer."),
    ] = None
    rate: Annotated[
        float | None,
        _traffic("--rate", metavar="R", help="Open loop: requests a second, at random (Poisson)."),
    ] = None
    cv: Annotated[
        float | None,
        _traffic("--cv", metavar="C", help="Open loop in bursts: deviation over mean of gaps."),
    ] = None
    requests: Annotated[
        int | None,
        _traffic(
            "--requests",
            help="By default the whole trace, 10 for each in flight, or 1,000 at a rate.",
        ),
    ] = None
    seed: Annotated[
        int, _traffic("--seed", help="Of everything drawn at random: lengths and arrivals.")
    ] = 0
