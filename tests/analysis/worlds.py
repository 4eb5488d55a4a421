"""What the tests of the analysis share: the real reproduction, and what it told on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from jalapeno import catalogue
from jalapeno.analysis.published import Hunt, facts_for, hunt
from jalapeno.analysis.reproduce import reproduce
from jalapeno.analysis.reproduction import Number, Outcome, Reproduction
from jalapeno.simulation import Journal

MODELS = ("deepseek-r1", "gpt-oss-120b", "kimi-k2.5")


@dataclass
class Told:
    """What a reproduction says while it runs."""

    runs: list[Outcome] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    """Of the scenario of each journal that was handed out."""
    progress: list[tuple[str, int, int]] = field(default_factory=list)

    def on_run(self, outcome: Outcome, journal: Journal) -> None:
        self.runs.append(outcome)
        self.digests.append(journal.scenario.digest)

    def on_progress(self, stage: str, done: int, total: int) -> None:
        self.progress.append((stage, done, total))


@dataclass(frozen=True)
class Whole:
    """A reproduction from beginning to end."""

    made: Reproduction
    told: Told

    @property
    def numbers(self) -> tuple[Number, ...]:
        """Jalapeño's twelve."""
        return tuple(number for one in self.made.comparisons for number in one.jalapeno)


def play() -> Whole:
    """Reproduce everything."""
    told = Told()
    return Whole(reproduce(told.on_run, told.on_progress), told)


@cache
def hunted(model: str) -> Hunt:
    """The published search for *model*."""
    claim = catalogue.claim(model)
    return hunt(claim, facts_for(claim))
