"""A comparison asks every system the same, and says who does most and how surely."""

from __future__ import annotations

from functools import cache

import pytest

from jalapeno.analysis.compare import Cell, Comparison, compare, verdict
from jalapeno.analysis.objectives import Limit, Per, Rate, speed_limit
from jalapeno.analysis.subject import subject
from jalapeno.catalogue import Kind
from jalapeno.errors import OutOfReach, UsageError
from tests.analysis.fronts import LENGTHS, SPACE, SYSTEMS, asked, made

SPEED = 300.0
HARD = (Limit(what="tbt", at="mean", ms=1.2),)
"""What the Jalapeño rack keeps here and the GB200 does not."""


@cache
def compared(limits: tuple[Limit, ...] = ()) -> Comparison:
    systems = {name: (asked(name), SPACE, ()) for name in SYSTEMS}
    return compare(systems, (SPEED, 1e6), limits)


def rated(*values: tuple[float, float, float]) -> list[Cell]:
    return [Cell(rate=Rate(value, low, high, Kind.FITTED), said="") for value, low, high in values]


# ---- verdicts


def test_the_highest_rate_wins_by_its_lead() -> None:
    found = verdict(rated((2.0, 2.0, 2.0), (3.0, 3.0, 3.0), (1.0, 1.0, 1.0)))
    assert found is not None
    assert (found.winner, found.lead, found.settled) == (1, 1.5, True)


def test_ranges_that_overlap_leave_it_in_doubt() -> None:
    found = verdict(rated((2.0, 1.0, 2.5), (3.0, 2.4, 3.5)))
    assert found is not None
    assert (found.winner, found.settled) == (1, False)
    clear = verdict(rated((2.0, 1.0, 2.3), (3.0, 2.4, 3.5)))
    assert clear is not None
    assert clear.settled


def test_the_only_one_wins_and_nobody_loses_to_nobody() -> None:
    none = Cell(rate=None, said="unreachable")
    found = verdict([none, *rated((2.0, 1.0, 3.0))])
    assert found is not None
    assert (found.winner, found.lead, found.settled) == (1, float("inf"), True)
    assert verdict([none, none]) is None


# ---- questions


def test_every_question_has_a_cell_for_every_system_and_denominator() -> None:
    found = compared()
    assert [question.title for question in found.questions] == [
        "highest throughput",
        "throughput at 300 token/s/user",
        "throughput at 1,000,000 token/s/user",
    ]
    for question in found.questions:
        assert set(question.cells) == set(Per)
        assert all(len(cells) == len(SYSTEMS) for cells in question.cells.values())


def test_the_highest_throughput_is_the_peak_of_each_frontier() -> None:
    peak = compared().questions[0]
    for place, name in enumerate(SYSTEMS):
        for per in Per:
            cell = peak.cells[per][place]
            frontier = made(name)
            expected = frontier.bench.rate(per, frontier.peak(per))
            assert cell.rate == expected
            assert cell.point is not None
            assert cell.said.endswith("in flight")


def test_a_speed_out_of_reach_is_said_and_not_invented() -> None:
    question = compared().questions[2]
    for cells in question.cells.values():
        assert all(cell.rate is None and "unreachable" in cell.said for cell in cells)
        assert verdict(cells) is None


def test_lowest_latencies_are_of_one_request_at_a_time() -> None:
    for one in compared().sides:
        assert set(one.lowest) == {"tbt", "e2e"}
        assert {point.option.concurrency for point in one.lowest.values()} == {1}


def test_a_system_compared_with_itself_is_its_equal() -> None:
    same = subject("gpt-oss-120b", "jalapeno-rack", lengths=LENGTHS)
    found = compare({"a": (same, SPACE, ()), "b": (same, SPACE, ())}, (SPEED,))
    for question in found.questions:
        for cells in question.cells.values():
            assert cells[0].rate == cells[1].rate


# ---- limits


def test_a_system_that_cannot_keep_the_limits_says_so_and_the_other_wins() -> None:
    found = compared(HARD)
    ours, theirs = found.sides
    assert ours.frontier is not None
    assert theirs.frontier is None
    assert "no plan of gpt-oss-120b on gb200-nvl72 has mean TBT at most 1.2 ms" in theirs.said
    peak = found.questions[0]
    assert peak.title == "highest throughput with mean TBT at most 1.2 ms"
    for cells in peak.cells.values():
        best = verdict(cells)
        assert best is not None
        assert best.winner == 0
        assert cells[1].said == theirs.said
    assert theirs.lowest["tbt"].report.latency.tpot_ms.mean > 1.2


def test_limits_that_nobody_keeps_are_refused() -> None:
    systems = {name: (asked(name), SPACE, ()) for name in SYSTEMS}
    with pytest.raises(OutOfReach) as caught:
        compare(systems, (), (speed_limit(1e5),))
    assert all(name in str(caught.value) for name in SYSTEMS)


def test_one_system_is_no_comparison() -> None:
    with pytest.raises(UsageError, match="needs two systems at least"):
        compare({"a": (asked(), SPACE, ())})
