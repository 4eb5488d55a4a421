"""A journal keeps the laws, and each law notices when it is broken."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace

import polars as pl
import pytest

from jalapeno.cost import PARTS
from jalapeno.errors import LawBroken
from jalapeno.metrics import Check, measure, require
from jalapeno.simulation import Journal
from jalapeno.simulation.journal import KeptSegments
from tests.metrics import journals

Change = Callable[[pl.DataFrame], pl.DataFrame]

LAWS = (
    "requests",
    "output tokens",
    "prompt tokens",
    "KV blocks",
    "order of times",
    "one segment at a time",
    "attribution",
    "decoding time",
    "joules",
    "power cap",
)


def broken(journal: Journal) -> set[str]:
    """Names of the laws that the journal breaks."""
    return {check.name for check in measure(journal).checks if not check.holds}


def with_requests(journal: Journal, change: Change) -> Journal:
    return replace(journal, requests=change(journal.requests))


def with_segments(journal: Journal, change: Change) -> Journal:
    return replace(journal, segments=KeptSegments([change(journal.segment_table())]))


def put(column: str, row: int, value: pl.Expr | float | str) -> Change:
    """Put *value*, which may depend on the row, into one cell."""

    def change(table: pl.DataFrame) -> pl.DataFrame:
        here = pl.int_range(pl.len()) == row % len(table)
        what = value if isinstance(value, pl.Expr) else pl.lit(value)
        kind = table.schema[column]
        return table.with_columns(
            pl.when(here).then(what.cast(kind)).otherwise(pl.col(column)).alias(column)
        )

    return change


def add(column: str, row: int, amount: float) -> Change:
    return put(column, row, pl.col(column) + amount)


def both(*changes: Change) -> Change:
    def change(table: pl.DataFrame) -> pl.DataFrame:
        for each in changes:
            table = each(table)
        return table

    return change


# ---- kept


def test_a_run_keeps_every_law(run: Journal) -> None:
    checks = measure(run).checks
    assert tuple(check.name for check in checks) == LAWS
    assert broken(run) == set()


@pytest.mark.parametrize("made", [journals.two_requests, journals.one_moved])
def test_the_journals_made_by_hand_keep_every_law(made: Callable[[], Journal]) -> None:
    assert broken(made()) == set()


def test_what_was_prefilled_again_is_told(tight_run: Journal) -> None:
    requests = tight_run.requests
    again, tokens = int(requests["resumed"].sum()), int(requests["recomputed"].sum())
    assert again > 0
    details = {check.name: check.detail for check in measure(tight_run).checks}
    assert details["requests"].endswith(
        f"{40 + again} prompts completed in steps, {again} of them again"
    )
    assert details["prompt tokens"].endswith(f"in the prompts and {tokens:,} more than once")


@pytest.mark.parametrize(
    ("column", "law"),
    [
        ("resumed", {"requests", "output tokens"}),
        ("recomputed", {"prompt tokens"}),
        ("preempted", {"attribution", "decoding time"}),
        ("preempted_first", {"attribution", "decoding time"}),
        ("recompute", {"attribution", "decoding time"}),
    ],
)
def test_a_loss_that_nobody_had_is_noticed(run: Journal, column: str, law: set[str]) -> None:
    assert broken(with_requests(run, add(column, 3, 1))) == law


def test_details_say_what_was_counted() -> None:
    details = {check.name: check.detail for check in measure(journals.two_requests()).checks}
    assert details == {
        "requests": "2 of 2 done, 2 prompts completed in steps",
        "output tokens": "9 made in steps or as first tokens, 9 in the answers",
        "prompt tokens": "30 prefilled in steps, 30 in the prompts",
        "KV blocks": "workers took 0.0000% to 30.0000% of their KV blocks",
        "order of times": "0 requests out of order",
        "one segment at a time": "segments of a worker overlap by up to 0 ps",
        "attribution": "0 latencies are not the sum of their labels",
        # A alone for 6 ms, both for 12
        "decoding time": (
            "gaps between tokens are 30,000,000,000 ps in steps, 30,000,000,000 ps in requests"
        ),
        "joules": "7.5 J in all, steps below zero down to 0 J",
        # 2 J in 5 ms on two chips are 200 of 500 W; rounding may hide 10.5 ps of the 5 ms
        "power cap": "the hottest step draws 39.9999999160% of the cap",
    }


# ---- broken: requests


def test_a_request_that_is_not_done_is_noticed(run: Journal) -> None:
    unfinished = with_requests(run, put("status", -1, "decoding"))
    assert "requests" in broken(unfinished)
    checks = {check.name: check for check in measure(unfinished).checks}
    assert checks["requests"].detail.startswith("39 of 40 done, ")


def test_a_request_that_is_lost_is_noticed(run: Journal) -> None:
    lost = with_requests(run, lambda table: table.head(-1))
    assert broken(lost) == {"requests", "output tokens", "prompt tokens", "decoding time"}


def test_a_token_too_many_in_an_answer_is_noticed(run: Journal) -> None:
    assert broken(with_requests(run, add("output", 3, 1))) == {"output tokens"}


def test_a_token_too_few_in_a_prompt_is_noticed(run: Journal) -> None:
    assert broken(with_requests(run, add("prompt", 3, -1))) == {"prompt tokens"}


@pytest.mark.parametrize("label", ["own_prefill", "others_prefill", "others_decode"])
def test_a_picosecond_of_prefill_without_cause_is_noticed(run: Journal, label: str) -> None:
    assert broken(with_requests(run, add(label, 7, 1))) == {"attribution"}


@pytest.mark.parametrize("label", ["own_decode", "interference"])
def test_a_picosecond_of_decode_without_cause_is_noticed(run: Journal, label: str) -> None:
    assert broken(with_requests(run, add(label, 7, -1))) == {"attribution"}


@pytest.mark.parametrize("part", ["prefill_memory", "decode_issue", "decode_throttle"])
def test_a_picosecond_of_nothing_is_noticed(run: Journal, part: str) -> None:
    assert broken(with_requests(run, add(part, 7, 1))) == {"attribution"}


def test_latencies_that_are_not_explained_are_counted(run: Journal) -> None:
    # by cause and by part, until the first token and until the end: four sums a request
    late = with_requests(run, both(add("own_prefill", 1, 5), add("decode_matrix", 2, 5)))
    (check,) = (check for check in measure(late).checks if check.name == "attribution")
    assert check.detail == "3 latencies are not the sum of their labels"


def test_a_picosecond_that_no_step_took_is_noticed_though_it_is_explained(run: Journal) -> None:
    longer = both(add("end", 7, 1), add("own_decode", 7, 1), add("decode_memory", 7, 1))
    assert broken(with_requests(run, longer)) == {"decoding time"}


@pytest.mark.parametrize(
    ("early", "late"),
    [
        ("arrival", "ready"),
        ("ready", "admitted"),
        ("admitted", "prefilled"),
        ("prefilled", "first"),
        ("first", "end"),
    ],
)
def test_what_happens_before_its_cause_is_noticed(run: Journal, early: str, late: str) -> None:
    wrong = with_requests(run, put(early, 5, pl.col(late) + 1))
    assert "order of times" in broken(wrong)


def test_one_pool_assigns_before_it_admits(unified_run: Journal) -> None:
    wrong = with_requests(unified_run, put("assigned", 5, pl.col("admitted") + 1))
    assert broken(wrong) == {"order of times"}


@pytest.mark.parametrize(
    ("column", "value"),
    [("assigned", pl.col("prefilled") - 1), ("moved", pl.col("first") + 1)],
)
def test_a_cache_moves_between_prompt_and_first_token(
    split_run: Journal, column: str, value: pl.Expr
) -> None:
    assert broken(with_requests(split_run, put(column, 5, value))) == {"order of times"}


def test_a_request_sent_before_time_is_noticed(run: Journal) -> None:
    assert "order of times" in broken(with_requests(run, put("arrival", 0, -1)))


# ---- broken: segments


def test_a_step_too_many_is_noticed(run: Journal) -> None:
    decoding = int(run.segment_table()["decoding"].arg_max() or 0)
    assert {"output tokens", "decoding time"} <= broken(
        with_segments(run, add("steps", decoding, 1))
    )


def test_a_sequence_that_nobody_asked_for_is_noticed(run: Journal) -> None:
    ghost = with_segments(run, both(add("decoding", 40, 1), add("sampled", 40, 1)))
    assert broken(ghost) == {"output tokens", "decoding time"}


def test_a_prompt_computed_twice_is_noticed(run: Journal) -> None:
    assert broken(with_segments(run, add("prefill", 0, 300))) == {"prompt tokens"}


def test_a_prompt_completed_twice_is_noticed(run: Journal) -> None:
    assert broken(with_segments(run, add("sampled", 0, 1))) == {"requests"}


def test_a_segment_that_is_lost_is_noticed(run: Journal) -> None:
    lost = with_segments(run, lambda table: table.slice(1))
    assert "prompt tokens" in broken(lost)


def test_a_block_more_than_there_is_is_noticed(run: Journal) -> None:
    most = int(run.workers["blocks"].max())  # type: ignore[arg-type]
    assert broken(with_segments(run, put("blocks_used", 9, most + 1))) == {"KV blocks"}


def test_the_last_block_may_be_taken(run: Journal) -> None:
    least = int(run.workers["blocks"].min())  # type: ignore[arg-type]
    assert broken(with_segments(run, put("blocks_used", 9, least))) == set()


def test_a_block_given_back_twice_is_noticed(run: Journal) -> None:
    assert broken(with_segments(run, put("blocks_used", 9, -1))) == {"KV blocks"}


def test_a_worker_that_does_two_things_at_once_is_noticed(unified_run: Journal) -> None:
    table = unified_run.segment_table().with_row_index("row")
    mine = table.filter(pl.col("worker") == 1)
    # segments follow each other at once while there is work
    follows = mine.filter(pl.col("stall") == 0)["row"][3]
    early = with_segments(unified_run, add("start", follows, -1))
    assert broken(early) == {"one segment at a time"}


def test_workers_may_overlap_each_other(unified_run: Journal) -> None:
    table = unified_run.segment_table()
    assert table["worker"].n_unique() == 2
    assert table["start"].to_list() != sorted(table["start"].to_list())
    assert "one segment at a time" not in broken(unified_run)


def test_an_overlap_is_noticed_across_batches(unified_run: Journal) -> None:
    table = unified_run.segment_table()
    rows = KeptSegments([table.slice(row, 1) for row in range(len(table))])
    assert broken(replace(unified_run, segments=rows)) == set()
    twice = KeptSegments([table.slice(row // 2, 1) for row in range(2 * len(table))])
    assert "one segment at a time" in broken(replace(unified_run, segments=twice))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("column", ["joules_first", "joules_growth"])
def test_joules_that_are_no_number_are_noticed(run: Journal, column: str, value: float) -> None:
    # a growth counts where there is a second step
    row = int(run.segment_table()["steps"].arg_max() or 0)
    assert "joules" in broken(with_segments(run, put(column, row, value)))


def test_a_step_that_gives_energy_back_is_noticed(run: Journal) -> None:
    assert broken(with_segments(run, put("joules_first", 2, -1e-6))) == {"joules"}


def test_a_step_that_comes_to_give_energy_back_is_noticed(run: Journal) -> None:
    row = int(run.segment_table()["steps"].arg_max() or 0)
    falls = with_segments(run, put("joules_growth", row, -pl.col("joules_first")))
    assert broken(falls) == {"joules"}


def test_a_step_hotter_than_the_cap_is_noticed(run: Journal) -> None:
    table, cap = run.segment_table(), run.scenario.system.chip.power.cap
    seconds = sum(table[f"{part}_first"][0] for part in PARTS) / 1e12
    chips = run.workers["chips"][table["worker"][0]]
    at_cap = cap * chips * seconds
    assert broken(with_segments(run, put("joules_first", 0, at_cap))) == set()
    # the rounding of times to picoseconds excuses some 1e-9 of a step of milliseconds
    hotter = with_segments(run, put("joules_first", 0, at_cap * (1 + 1e-6)))
    assert broken(hotter) == {"power cap"}


def test_a_segment_that_ends_hotter_than_the_cap_is_noticed(run: Journal) -> None:
    row = int(run.segment_table()["steps"].arg_max() or 0)
    assert broken(with_segments(run, put("joules_growth", row, 1e3))) == {"power cap"}


# ---- required


def test_checks_that_hold_are_enough(run: Journal) -> None:
    require(measure(run).checks)


def test_nothing_raises_before_it_is_required(run: Journal) -> None:
    assert measure(with_requests(run, add("output", 3, 1))).requests_done == 40


def test_every_broken_law_is_named() -> None:
    checks = [
        Check("tokens", False, "3 made, 4 asked"),
        Check("time", True, "in order"),
        Check("joules", False, "nan J"),
    ]
    message = "the journal breaks a law: tokens: 3 made, 4 asked; joules: nan J"
    with pytest.raises(LawBroken, match=f"^{re.escape(message)}$"):
        require(checks)
