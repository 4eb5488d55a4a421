"""Options of commands that search over plans: the work, the space, the limits, the formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jalapeno.errors import UsageError

if TYPE_CHECKING:
    from jalapeno.analysis.objectives import Limit, Per
    from jalapeno.mapping import Precision
    from jalapeno.simulation import Lengths

DENOMINATORS = ("chip", "tdp", "package", "all-in", "facility", "dollar")
"""As :class:`jalapeno.analysis.objectives.Per` has them; the simulator is slow to import."""


def _option(panel: str, name: str, metavar: str, help: str) -> Any:
    return typer.Option(name, metavar=metavar, help=help, rich_help_panel=panel)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOptions:
    """Requests as InferenceX draws them, in a closed loop."""

    isl: Annotated[int, _option("Work", "--isl", "TOKENS", "Longest prompt drawn.")] = 8192
    osl: Annotated[int, _option("Work", "--osl", "TOKENS", "Longest answer drawn.")] = 1024
    ratio: Annotated[float, _option("Work", "--ratio", "SHARE", "Shortest over longest.")] = 0.8

    def lengths(self) -> Lengths:
        """The lengths."""
        from jalapeno.simulation import Lengths

        return Lengths(isl=self.isl, osl=self.osl, ratio=self.ratio)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceOptions:
    """Which plans are tried."""

    chips: Annotated[
        str | None,
        _option("Plans", "--chips", "N,N,...", "Chips of a worker, such as 1,2,4,8."),
    ] = None
    up_to: Annotated[
        int | None,
        _option("Plans", "--up-to", "N", "Workers of all sizes worth trying; 72 by default."),
    ] = None
    split: Annotated[
        bool,
        typer.Option(
            "--split/--unified",
            help="Try pairs of prefill and decode pools too, or unified workers alone.",
            rich_help_panel="Plans",
        ),
    ] = True

    def counts(self) -> tuple[int, ...]:
        """Chips as asked; none where not."""
        if self.chips is None:
            return ()
        if self.up_to is not None:
            raise UsageError("--chips and --up-to say the same thing in two ways: give one")
        try:
            found = tuple(int(text) for text in self.chips.split(","))
        except ValueError as error:
            raise UsageError(
                f"--chips {self.chips}: write whole numbers with commas, as in --chips 1,2,4,8"
            ) from error
        if min(found) < 1:
            raise UsageError(f"--chips {self.chips}: a worker has at least one chip")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOptions:
    """Service levels."""

    ttft: Annotated[
        float | None, _option("Limits", "--ttft-ms", "MS", "Time to first token at most.")
    ] = None
    tbt: Annotated[
        float | None, _option("Limits", "--tbt-ms", "MS", "Time between tokens at most.")
    ] = None
    speed: Annotated[
        float | None,
        _option("Limits", "--speed", "S", "The same as tokens/s a user: 1000 / TBT in ms."),
    ] = None
    e2e: Annotated[
        float | None, _option("Limits", "--e2e-s", "S", "Send to last token at most, seconds.")
    ] = None
    percentile: Annotated[
        str,
        _option("Limits", "--percentile", "P", "Of these: mean, 50, 90, 95, 99 or 99.9."),
    ] = "mean"

    def limits(self) -> tuple[Limit, ...]:
        """The limits that are given."""
        from jalapeno.analysis.objectives import Limit, percentile, speed_limit

        at = percentile(self.percentile)
        if self.tbt is not None and self.speed is not None:
            raise UsageError("--tbt-ms and --speed say the same thing in two ways: give one")
        e2e_ms = None if self.e2e is None else 1e3 * self.e2e
        given = (("ttft", self.ttft), ("tbt", self.tbt), ("e2e", e2e_ms))
        found = [Limit(what=what, at=at, ms=ms) for what, ms in given if ms is not None]
        if self.speed is not None:
            found.append(speed_limit(self.speed, at))
        if not found and at != "mean":
            raise UsageError(f"--percentile {at}: of which latency? give a limit, in ms")
        return tuple(found)


Precisely = Annotated[
    str,
    typer.Option(
        "--precision", metavar="NAME", help="as-shipped, equal, or a format for all weights."
    ),
]
Speeds = Annotated[
    list[float] | None,
    typer.Option("--at", metavar="S", help="At so many token/s/user; repeatable."),
]


def per_named(name: str) -> Per:
    """The denominator called *name*; :class:`UsageError` lists them."""
    from jalapeno.analysis.objectives import Per

    if name not in DENOMINATORS:
        raise UsageError(f"--per {name}: there are {', '.join(DENOMINATORS)}")
    return Per(name)


def speeds_of(asked: list[float] | None) -> tuple[float, ...]:
    """Speeds that were asked for; :class:`UsageError` for what is none."""
    found = tuple(asked or ())
    for speed in found:
        if not 0.0 < speed < float("inf"):
            raise UsageError(f"--at {speed:g}: a speed is positive, in token/s/user")
    return found


def precision_named(name: str, stacks: list[tuple[str, str]]) -> Precision | None:
    """The precision called *name* for (system, engine) *stacks*; None: each engine's own."""
    from jalapeno import catalogue
    from jalapeno.analysis.compare_precision import AS_SHIPPED, EQUAL, Stack, equal, uniform

    if name == AS_SHIPPED:
        return None
    found = [
        Stack(catalogue.engine(engine), catalogue.system(system).chip) for system, engine in stacks
    ]
    return equal(found) if name == EQUAL else uniform(name, found)
