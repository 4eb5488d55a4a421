"""The life of one request."""

from __future__ import annotations

import polars as pl
import pytest

from jalapeno.analysis.explain_request import Life, life
from jalapeno.analysis.explain_waits import worker_of_rank
from jalapeno.errors import UsageError
from jalapeno.metrics.segments import batch_of
from jalapeno.simulation import Journal
from tests.analysis.runs import SCENARIOS, run
from tests.metrics import journals
from tests.metrics.journals import ms


def lives(journal: Journal) -> list[Life]:
    return [life(journal, number) for number in range(0, len(journal.requests), 7)]


def test_a_by_hand() -> None:
    found = life(journals.two_requests(), 0)
    assert found.times == {
        "arrival": 0,
        "ready": ms(1),
        "admitted": ms(1),
        "prefilled": ms(5),
        "first": ms(5),
        "end": ms(23),
    }
    prefill, decode = found.stays
    assert (prefill.what, prefill.steps, prefill.decoding, prefill.prompt_tokens) == (
        "prefill",
        1,
        0.0,
        10,
    )
    # beside B's prompt in one step, beside B in three
    assert (decode.what, decode.steps, decode.decoding, decode.prompt_tokens) == (
        "decode",
        4,
        (1 + 3 * 2) / 4,
        20,
    )
    assert found.companions == 1
    assert [(each.request, each.shared) for each in found.closest] == [(1, ms(18))]


def test_a_moved_request_by_hand() -> None:
    found = life(journals.one_moved(), 0)
    assert list(found.times) == [
        *("arrival", "ready", "admitted", "prefilled", "assigned", "moved", "first", "end")
    ]
    assert [(stay.worker, stay.plan, stay.steps) for stay in found.stays] == [
        (0, "TP1", 1),
        (1, "TP2", 2),
    ]
    assert (found.companions, found.closest) == (0, ())


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_request_decodes_a_token_a_step(name: str) -> None:
    for found in lives(run(name)):
        assert found.stays[-1].steps == found.output - 1


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_steps_of_a_stay_fill_its_time(name: str) -> None:
    journal = run(name)
    table = journal.segment_table()
    elapsed = pl.Series("elapsed", batch_of(table).elapsed)
    table = table.with_columns(elapsed)
    for found in lives(journal):
        for stay in found.stays:
            inside = table.filter(
                (pl.col("worker") == stay.worker)
                & (pl.col("start") >= stay.start)
                & (pl.col("start") + pl.col("elapsed") <= stay.end)
            )
            assert inside["elapsed"].sum() == stay.end - stay.start
            assert inside["steps"].sum() == stay.steps


@pytest.mark.parametrize("name", SCENARIOS)
def test_its_steps_computed_at_least_its_own_prompt(name: str) -> None:
    for found in lives(run(name)):
        assert found.stays[0].prompt_tokens >= found.prompt


@pytest.mark.parametrize("name", ["ranks", "split"])
def test_companions_are_those_found_by_looking_at_every_other_request(name: str) -> None:
    journal = run(name)
    worker = worker_of_rank(journal).tolist()
    rows = journal.requests.rows(named=True)

    def stays(row: dict[str, int]) -> list[tuple[int, int, int]]:
        last = row["decode_rank"] if row["decode_rank"] >= 0 else row["rank"]
        return [
            (worker[row["rank"]], row["admitted"], row["prefilled"]),
            (worker[last], row["first"], row["end"]),
        ]

    for number in (0, len(rows) // 2):
        shared = {}
        for other, row in enumerate(rows):
            times = [
                min(a[2], b[2]) - max(a[1], b[1])
                for a in stays(rows[number])
                for b in stays(row)
                if a[0] == b[0]
            ]
            total = sum(max(time, 0) for time in times)
            if other != number and total:
                shared[other] = total
        found = life(journal, number)
        assert found.companions == len(shared)
        ranked = sorted(shared, key=lambda other: (-shared[other], other))
        assert [(e.request, e.shared) for e in found.closest] == [
            (other, shared[other]) for other in ranked[:5]
        ]


@pytest.mark.parametrize("number", [-1, 2, 99])
def test_a_request_that_is_not_there_is_refused(number: int) -> None:
    with pytest.raises(UsageError, match=f"no request {number}: the run has requests 0 to 1"):
        life(journals.two_requests(), number)


def test_a_request_that_is_not_done_is_refused() -> None:
    hand = journals.two_requests()
    requests = hand.requests.with_columns(
        pl.lit("decoding", hand.requests.schema["status"]).alias("status")
    )
    with pytest.raises(UsageError, match="request 1 is not done: it is decoding"):
        life(Journal(hand.scenario, requests, hand.segments, hand.workers), 1)


def test_an_answer_of_one_token_has_no_decode() -> None:
    hand = journals.two_requests()
    one = hand.requests.with_columns(pl.lit(1, pl.Int64).alias("output"))
    found = life(Journal(hand.scenario, one, hand.segments, hand.workers), 0)
    assert [stay.what for stay in found.stays] == ["prefill"]
