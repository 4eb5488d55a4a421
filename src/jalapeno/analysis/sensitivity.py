"""How an answer depends on every fact: by how much, over which range, and all together.

Elasticity is ``d ln answer / d ln fact``: percent of the answer for a percent of the fact, by a
central difference.  The tornado holds one fact after another at the ends of its range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from jalapeno.analysis.sensitivity_answers import Ask
from jalapeno.analysis.sensitivity_facts import Case, changed, is_whole
from jalapeno.catalogue import Fact
from jalapeno.errors import JalapenoError, UsageError

Tick = Callable[[str, int, int], None]
"""Called with a stage, how much of it is done, and how much there is."""

Tried = float | str
"""An answer, or why there is none."""


class Side(StrEnum):
    """Where a derivative was taken from."""

    BOTH = "both"
    ABOVE = "above"
    BELOW = "below"


@dataclass(frozen=True, slots=True, kw_only=True)
class Elasticity:
    """What a percent more of a fact does to the answer."""

    path: str
    fact: Fact
    value: float
    """``d ln answer / d ln fact``; for a fact that is zero, the relative change of the answer from
    there to the high end of its range, along the tangent."""
    side: Side
    over_range: bool
    """True where the fact is zero, and *value* is of the second kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swing:
    """The answer at the ends of a fact's range."""

    path: str
    fact: Fact
    base: float
    low: Tried | None
    """At the fact's low end; why there is no answer; None where the fact has no low end."""
    high: Tried | None

    @property
    def width(self) -> float:
        """How far the answer moves, the base included."""
        ends = [end for end in (self.base, self.low, self.high) if isinstance(end, float)]
        return max(ends) - min(ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """How an answer depends on each of some facts."""

    base: float
    elasticities: tuple[Elasticity, ...]
    """Of the facts that change the answer, the largest first."""
    without_effect: tuple[str, ...]
    """Facts that were tried and change nothing: elasticity exactly zero."""
    not_tried: Mapping[str, str]
    """Facts that could not be changed, and why."""
    swings: tuple[Swing, ...]
    """Of the facts with a range that move the answer, or whose end is refused; widest first."""
    still: tuple[str, ...]
    """Facts with a range whose ends change nothing."""
    without_range: tuple[str, ...]
    """Facts that have no range, so that no swing of theirs is known."""


def sensitivity(
    ask: Ask, case: Case, facts: Mapping[str, Fact], step: float, tick: Tick
) -> Sensitivity:
    """How the answer that *ask* gives of *case* depends on *facts*, by relative *steps*.

    Raises :class:`UsageError` for a step that is none, and where the answer is not a positive
    number, for then it has no elasticity.
    """
    if not 0.0 < step <= 0.5:
        raise UsageError(f"--step: a relative step is more than 0 and at most 50 %, got {step:g}")
    base = ask(case)
    if not (math.isfinite(base) and base > 0.0):
        raise UsageError(f"the answer is {base:g} here: it has no sensitivity")
    found: list[Elasticity] = []
    idle: list[str] = []
    refused: dict[str, str] = {}
    swings: list[Swing] = []
    for done, (path, fact) in enumerate(facts.items()):
        tick("facts", done, len(facts))
        slope = elasticity(ask, case, (path, fact), base, step)
        if isinstance(slope, str):
            refused[path] = slope
        elif slope is None:
            idle.append(path)
        else:
            found.append(slope)
        if has_range(fact):
            swings.append(swing(ask, case, path, fact, base))
    tick("facts", len(facts), len(facts))
    moving = [each for each in swings if each.width or _is_refused(each)]
    return Sensitivity(
        base=base,
        elasticities=tuple(sorted(found, key=lambda each: -abs(each.value))),
        without_effect=tuple(idle),
        not_tried=refused,
        swings=tuple(sorted(moving, key=lambda each: -each.width)),
        still=tuple(each.path for each in swings if each not in moving),
        without_range=tuple(path for path, fact in facts.items() if not has_range(fact)),
    )


def has_range(fact: Fact) -> bool:
    """Whether the catalogue says how low or how high *fact* may be."""
    return fact.low is not None or fact.high is not None


def _is_refused(swing: Swing) -> bool:
    return isinstance(swing.low, str) or isinstance(swing.high, str)


def attempt(ask: Ask, case: Case, values: Mapping[str, float]) -> Tried:
    """The answer with *values* in place of the facts at their paths, or why there is none."""
    try:
        found = ask(changed(case, values))
    except JalapenoError as error:
        return str(error)
    return found if math.isfinite(found) and found > 0.0 else f"the answer would be {found:g}"


def elasticity(
    ask: Ask, case: Case, named: tuple[str, Fact], base: float, step: float
) -> Elasticity | str | None:
    """The elasticity of the answer, *base*, in one fact (path, fact); None where it has none.

    A count is moved by one at the least.  At a bound that the loader refuses to cross, such as an
    efficiency of one, the difference is one-sided; returns the refusal where both sides are.
    """
    path, fact = named
    value = float(fact.value)
    if value == 0.0:
        return _from_zero(ask, case, named, base, step)
    move = max(step * value, 1.0) if is_whole(fact) else step * value
    above, below = (_rounded(value + sign * move, fact) for sign in (1.0, -1.0))
    up, down = attempt(ask, case, {path: above}), attempt(ask, case, {path: below})
    if isinstance(up, str) and isinstance(down, str):
        return up
    if all(tried == base for tried in (up, down) if not isinstance(tried, str)):
        return None
    side = Side.BELOW if isinstance(up, str) else Side.ABOVE if isinstance(down, str) else Side.BOTH
    top, most = (base, value) if isinstance(up, str) else (up, above)
    bottom, least = (base, value) if isinstance(down, str) else (down, below)
    slope = math.log(top / bottom) / math.log(most / least)
    return Elasticity(path=path, fact=fact, value=slope, side=side, over_range=False)


def _from_zero(
    ask: Ask, case: Case, named: tuple[str, Fact], base: float, step: float
) -> Elasticity | str | None:
    path, fact = named
    if not fact.high:
        return "it is zero and has no range, so that no step is known"
    up = _rounded(max(step * fact.high, 1.0) if is_whole(fact) else step * fact.high, fact)
    found = attempt(ask, case, {path: up})
    if isinstance(found, str):
        return found
    if found == base:
        return None
    slope = (found / base - 1.0) * fact.high / up
    return Elasticity(path=path, fact=fact, value=slope, side=Side.ABOVE, over_range=True)


def _rounded(value: float, fact: Fact) -> float:
    return float(round(value)) if is_whole(fact) else value


def swing(ask: Ask, case: Case, path: str, fact: Fact, base: float) -> Swing:
    """The answer with *fact* at the ends of its range; *base* is the answer as it is."""
    low, high = (
        None if end is None else base if end == fact.value else attempt(ask, case, {path: end})
        for end in (fact.low, fact.high)
    )
    return Swing(path=path, fact=fact, base=base, low=low, high=high)
