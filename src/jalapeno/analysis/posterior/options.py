"""The plans that a published number may have been measured with, and what each says under a draw.

A vendor quotes the best of what it tried.  Searching every plan anew for each draw would take a
second, so each number keeps a short list of plans, chosen so that over some pilot draws the best of
the list is hardly worse than the best of the whole space.  At a limit on TBT an option is a curve:
one layout and token budget over several concurrencies, read off where it meets the limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from jalapeno import catalogue
from jalapeno.analysis.posterior.evidence import Published
from jalapeno.analysis.posterior.unknowns import Floats
from jalapeno.analysis.posterior.worlds import World
from jalapeno.analysis.published import ENGINE, SPACE, mean_lengths
from jalapeno.catalogue import Model
from jalapeno.errors import BadPlan, DoesNotFit
from jalapeno.mapping import Plan, Precision, StepPrice, compile_price
from jalapeno.mapping.search import candidate, layouts

Layout = tuple[int, int, int]
"""(tp, ep, dp)."""

TOO_SLOW = 5.0
"""Per cent of throughput that are taken off for each per cent by which even the fastest point of a
curve misses the limit: so that a draw under which no plan keeps it has a number all the same."""

Row = tuple[float, float, float, float]
IMPOSSIBLE: Row = (math.nan, math.nan, math.nan, math.nan)

STEEPEST = 5.0
"""Elasticity of throughput in TBT, at the most."""

QUEUEING = (128, 512, 1024)
"""Requests in flight at which curves over the budget are tried."""
FINE = tuple(round(16 * 2.0 ** (step / 2.0)) for step in range(13))
"""Their budgets."""

SHIFT = 0.1
"""By how much the logarithm of a limit is moved to see how throughput goes with it."""

NOWHERE = 700.0
"""Logarithm of the latency of what cannot be, and minus that of its throughput."""

THROUGHPUT, TBT, E2E, WATTS = range(4)


@dataclass(frozen=True, slots=True, order=True)
class Try:
    """One replica of a layout under a load."""

    layout: Layout
    budget: int
    concurrency: int


def plan_of(one: Try, precision: Precision) -> Plan:
    """The plan of *one*, with slots for its concurrency."""
    tp, ep, dp = one.layout
    slots = -(-one.concurrency // dp)
    return Plan(tp=tp, ep=ep, dp=dp, max_running=slots, max_tokens=one.budget, precision=precision)


@dataclass(frozen=True, slots=True)
class Served:
    """A model and the formats that the catalogue's engine serves it in."""

    model: Model
    precision: Precision


def served(name: str, world: World) -> Served:
    """The model called *name* on the chip of *world*."""
    model = catalogue.model(name)
    engine = catalogue.engine(ENGINE)
    return Served(model, Precision.as_served(engine, model, world.system.chip))


def compiled(of: Served, world: World, wanted: Iterable[Layout]) -> dict[Layout, StepPrice]:
    """The price of each layout in *world*; those that do not divide or fit are left out."""
    precision = world.precision(of.model, of.precision)
    found = {}
    for tp, ep, dp in wanted:
        plan = Plan(tp=tp, ep=ep, dp=dp, max_running=1, max_tokens=1, precision=precision)
        try:
            found[tp, ep, dp] = compile_price(of.model, plan, world.system, world.engine)
        except (BadPlan, DoesNotFit):
            continue
    return found


@dataclass(frozen=True, slots=True)
class Table:
    """What the closed form says of some tries in one world, asked only as far as needed."""

    prices: Mapping[Layout, StepPrice]
    rows: dict[Try, Row] = field(default_factory=dict)

    def row(self, one: Try) -> Row:
        """(tokens/s a chip, TBT s, end-to-end s, watts a chip) of a try; NaN where it cannot be."""
        if one not in self.rows:
            price = self.prices.get(one.layout)
            item = price and candidate(price, one.concurrency, one.budget, mean_lengths())
            self.rows[one] = IMPOSSIBLE
            if item:
                steady = item.steady
                self.rows[one] = (
                    steady.tokens_per_s_per_chip,
                    steady.tpot,
                    steady.e2e,
                    steady.watts_per_chip,
                )
        return self.rows[one]


def table(of: Served, world: World, tries: Sequence[Try]) -> Table:
    """What may be asked of *tries* in *world*."""
    return Table(compiled(of, world, dict.fromkeys(one.layout for one in tries)))


def every_try() -> list[Try]:
    """The whole space that is searched for published numbers."""
    return [
        Try(layout, budget, concurrency)
        for chips in SPACE.chips
        for layout in layouts(chips)
        for budget in reversed(SPACE.budgets)  # of equals the largest is taken
        for concurrency in SPACE.concurrency
    ]


@dataclass(frozen=True, slots=True)
class Options:
    """The short list of one number: single tries, or curves of tries from fast to slow."""

    number: Published
    each: tuple[tuple[Try, ...], ...]

    def read(self, found: Table, tdp: float, slower: float = 1.0) -> tuple[Floats, float]:
        """(log of the number by option, its elasticity in TBT).

        A run's mean TBT is *slower* times that of its steady state.  An option that cannot be is
        far worse than any other.
        """
        if self.number.limit < math.inf:
            limit = self.number.limit / slower
            met = [at_limit(found, curve, limit) for curve in self.each]
            values, slopes = (
                np.array([one.log for one in met]),
                np.array([one.slope for one in met]),
            )
            return values + math.log(1e3 / tdp), elasticity(values, slopes)
        rows = np.array([found.row(one) for (one,) in self.each])
        if self.number.is_latency:
            column = E2E if self.number.objective == "min_e2e" else TBT
            return np.nan_to_num(np.log(rows[:, column]), nan=NOWHERE), 0.0
        return np.nan_to_num(np.log(1e3 * rows[:, THROUGHPUT] / tdp), nan=-NOWHERE), 0.0


@dataclass(frozen=True, slots=True)
class Met:
    """A curve where it meets a limit on TBT."""

    log: float
    """Of tokens/s a chip."""
    slope: float
    """Elasticity of the throughput in TBT along the curve."""
    one: Try
    """The nearest try below that was looked at."""


def elasticity(values: Floats, slopes: Floats) -> float:
    """How throughput at a limit goes with the limit over all curves, not along one: of several
    curves (logs *values*, *slopes* along each) the best is taken on either side."""
    ups, downs = values + SHIFT * slopes, values - SHIFT * slopes
    return float(min((ups.max() - downs.max()) / (2.0 * SHIFT), STEEPEST))


def at_limit(found: Table, curve: Sequence[Try], limit: float) -> Met:
    """Where a *curve* over rising concurrency or budget meets *limit*.

    Found by halving, one look between the points beside it, and interpolation in logarithms.

    Past the slowest point nothing more is gained; a curve whose fastest point is too slow loses
    :data:`TOO_SLOW` times what it misses the limit by.
    """
    low, high = bracket(found, curve, limit)
    if high < 0:
        return Met(-NOWHERE, 0.0, curve[0])
    fast = curve[max(low, 0)]
    rate, tbt = found.row(fast)[THROUGHPUT], found.row(fast)[TBT]
    if low < 0:
        return Met(math.log(rate) - TOO_SLOW * math.log(tbt / limit), TOO_SLOW, fast)
    if low == high:
        return Met(math.log(rate), 0.0, fast)
    fast, slow = between(found, fast, curve[high], limit)
    (rate, tbt, *_), (more, later, *_) = found.row(fast), found.row(slow)
    if later <= tbt:
        return Met(math.log(rate), 0.0, fast)
    slope = min(max(math.log(more / rate) / math.log(later / tbt), 0.0), STEEPEST)
    return Met(math.log(rate) + slope * math.log(limit / tbt), slope, fast)


def between(found: Table, fast: Try, slow: Try, limit: float) -> tuple[Try, Try]:
    """The two tries beside *limit* of three: *fast*, *slow* and one where a line through them in
    logarithms meets it."""
    tbt, later = found.row(fast)[TBT], found.row(slow)[TBT]
    share = math.log(limit / tbt) / math.log(later / tbt) if later > tbt else 0.0
    middle = replace(
        fast,
        concurrency=int(fast.concurrency * (slow.concurrency / fast.concurrency) ** share),
        budget=int(fast.budget * (slow.budget / fast.budget) ** share),
    )
    if middle in (fast, slow) or math.isnan(found.row(middle)[TBT]):
        return fast, slow
    return (middle, slow) if found.row(middle)[TBT] <= limit else (fast, middle)


def bracket(found: Table, curve: Sequence[Try], limit: float) -> tuple[int, int]:
    """Positions on the curve of the last point that keeps *limit* and the first that does not.

    (-1, 0) where even the first is too slow, twice the last possible one where all keep it, and
    (-1, -1) where no point can be.  More requests in flight, or a larger budget, are taken to make
    no token come sooner, and points beyond what the cache holds to lie at the end.
    """
    low, high = -1, len(curve)
    while high - low > 1:
        middle = (low + high) // 2
        tbt = found.row(curve[middle])[TBT]
        if tbt <= limit:
            low = middle
        else:  # too slow, or NaN: too many
            high = middle
    if high == len(curve) or math.isnan(found.row(curve[high])[TBT]):
        return low, low
    return low, high


@dataclass(frozen=True, slots=True)
class Listed:
    """All short lists of one model."""

    of: Served
    options: tuple[Options, ...]

    @property
    def tries(self) -> tuple[Try, ...]:
        """Everything that is listed, once."""
        each = (one for options in self.options for curve in options.each for one in curve)
        return tuple(dict.fromkeys(each))

    def of_number(self, number: Published) -> Options:
        """The list of *number*."""
        return next(one for one in self.options if one.number == number)


MOST: Mapping[str, int] = {"min_e2e": 4, "min_tbt": 4, "peak": 3, "at_reference_tbt": 2}
"""Options of a number by its objective: fewer where they are dear."""

NEAR = 0.05
"""Regret at which a plan counts a third of the best one, when a list is filled up."""


def shortlist(
    of: Served, numbers: Sequence[Published], worlds: Sequence[World], pool: ThreadPoolExecutor
) -> Listed:
    """Short lists for the *numbers* of a model, over the pilot *worlds*."""
    tdp = worlds[0].system.chip.power.tdp
    layouts_tried = [Try(layout, 1, 1) for chips in SPACE.chips for layout in layouts(chips)]
    found = [table(of, world, layouts_tried) for world in worlds]
    made = []
    for number in numbers:
        groups = _groups(number, every_try(), of.precision)
        whole = Options(number, tuple(groups))
        read = pool.map(lambda rows, whole=whole: whole.read(rows, tdp)[0], found)
        merits = np.array([_merit(number, logs) for logs in read])
        most = MOST[number.objective]
        kept = [groups[place] for place in filled(merits, greedy(merits, most), most)]
        if number.limit < math.inf:
            kept = [_narrowed(number, group, found) for group in kept]
        made.append(Options(number, tuple(kept)))
    return Listed(of, tuple(made))


def _merit(number: Published, logs: Floats) -> Floats:
    """The more the better."""
    return -logs if number.is_latency else logs


def _groups(number: Published, tries: Sequence[Try], precision: Precision) -> list[tuple[Try, ...]]:
    """Tries that are one option of *number*, by concurrency."""
    allowed = [
        one
        for one in tries
        if one.budget > -(-one.concurrency // one.layout[2])
        and (not number.is_latency or one.concurrency == 1)
        and (number.objective != "min_tbt" or one.budget == max(SPACE.budgets))
        and number.allows(plan_of(one, precision))
    ]
    if number.limit == math.inf:
        return [(one,) for one in allowed]
    return [*by_load(allowed), *by_budget()]


def by_load(tries: Sequence[Try]) -> list[tuple[Try, ...]]:
    """Curves over concurrency, budget by budget."""
    curves: dict[tuple[Layout, int], list[Try]] = {}
    for one in tries:
        curves.setdefault((one.layout, one.budget), []).append(one)
    return [tuple(sorted(curve)) for curve in curves.values()]


def by_budget() -> list[tuple[Try, ...]]:
    """Curves over the budget at a high concurrency: with small budgets prompts come in so slowly
    that requests queue, and TBT goes with the budget alone."""
    curves = []
    for chips in SPACE.chips:
        for layout in layouts(chips):
            for concurrency in QUEUEING:
                slots = -(-concurrency // layout[2])
                rising = [Try(layout, budget, concurrency) for budget in FINE if budget > slots]
                if len(rising) > 1:
                    curves.append(tuple(rising))
    return curves


def _narrowed(number: Published, curve: tuple[Try, ...], found: Sequence[Table]) -> tuple[Try, ...]:
    """The part of a curve between whose points the limit lay in the pilot draws, and one more on
    either side."""
    needed: set[int] = set()
    for rows in found:
        needed |= {max(at, 0) for at in bracket(rows, curve, number.limit)}
    return curve[max(min(needed) - 1, 0) : max(needed) + 2]


def greedy(merits: Floats, most: int) -> list[int]:
    """Up to *most* columns of *merits*, (draws, options), whose best loses least on the mean.

    Starts with the option that is best on the mean and adds the one that helps most, until none
    does.  What cannot be counts as far below everything.
    """
    capped = np.maximum(merits, merits.max(axis=1, keepdims=True) - 3.0)
    best = np.full(len(capped), -np.inf)
    kept: list[int] = []
    while len(kept) < most:
        gains = np.maximum(capped, best[:, None]).mean(axis=0)
        top = int(gains.argmax())
        if kept and gains[top] <= best.mean() + 1e-9:
            break
        kept.append(top)
        best = np.maximum(best, capped[:, top])
    return kept


def filled(merits: Floats, kept: Sequence[int], most: int) -> list[int]:
    """*kept* and, up to *most* in all, the columns of *merits* that are often near the best."""
    regrets = merits.max(axis=1, keepdims=True) - merits
    nearness = np.exp(-regrets / NEAR).mean(axis=0)
    others = [int(at) for at in np.argsort(-nearness, kind="stable") if at not in kept]
    more = [at for at in others if nearness[at] > 0.01]
    return [*kept, *more[: most - len(kept)]]


def lost(merits: Floats, kept: Sequence[int]) -> float:
    """How much worse the best of the *kept* options is than the best of all, on the mean."""
    return float((merits.max(axis=1) - merits[:, list(kept)].max(axis=1)).mean())
