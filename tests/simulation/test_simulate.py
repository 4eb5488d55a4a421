"""From a scenario to its journal: what is refused, what is left behind, where it is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from jalapeno.cost import PARTS, RESOURCES
from jalapeno.errors import BadPlan, DoesNotFit, OutputError
from jalapeno.simulation import Role, Scenario, simulate, start
from jalapeno.simulation import columns as c
from jalapeno.simulation.journal import KeptSegments, StoredSegments
from jalapeno.simulation.state import empty_ledger, request_table
from tests.simulation.scenes import Scene, closed, plan, poisson, unified


def small(requests: int = 12) -> Scenario:
    return unified(plan("TP2"), closed(requests, 3, 200, 20, ratio=0.5), replicas=2)


def split() -> Scenario:
    pools = ((Role.PREFILL, 1, plan("TP1")), (Role.DECODE, 2, plan("TP2")))
    return Scene(pools=pools, traffic=closed(10, 4, 200, 20, ratio=0.5)).scenario()


# ---- what does not fit


def test_a_model_that_does_not_fit_says_what_is_needed_and_how_to_mend() -> None:
    one_chip = plan("TP1", "deepseek-r1")
    scene = Scene(
        model="deepseek-r1", pools=((Role.UNIFIED, 1, one_chip),), traffic=closed(1, 1, 9, 9)
    )
    message = (
        r"^deepseek-r1 under TP1 needs .+B of weights a chip and jalapeno-engine keeps back "
        r".+B; jalapeno has .+B: raise plan\.tp, plan\.ep or plan\.pp, or narrow the weights' "
        r"format$"
    )
    with pytest.raises(DoesNotFit, match=message):
        start(scene.scenario())


def test_a_request_longer_than_the_context_window_is_refused() -> None:
    message = (
        r"^a request of 131,073 tokens exceeds the context window of gpt-oss-120b, 131,072: "
        r"shorten the prompt or the answer$"
    )
    start(unified(plan("TP8"), closed(1, 1, 131_000, 72)))
    with pytest.raises(DoesNotFit, match=message):
        start(unified(plan("TP8"), closed(1, 1, 131_000, 73)))


def test_a_request_that_never_finds_enough_blocks_is_refused_and_not_kept_waiting() -> None:
    pools = ((Role.UNIFIED, 1, plan("TP1")),)
    fits = Scene(pools=pools, traffic=closed(1, 1, 100, 12), blocks=15)
    assert simulate(fits.scenario()).requests["blocks"].to_list() == [15]
    too_long = Scene(pools=pools, traffic=closed(1, 1, 100, 13), blocks=15)
    message = (
        r"^a request of 113 tokens needs 16 KV blocks; a rank has 15: "
        r"raise plan\.tp or shorten the request$"
    )
    with pytest.raises(DoesNotFit, match=message):
        start(too_long.scenario())


def test_the_longest_request_decides_whether_all_fit() -> None:
    pools = ((Role.UNIFIED, 1, plan("TP1")),)
    scene = Scene(pools=pools, traffic=closed(50, 1, 400, 10, ratio=0.1), blocks=20)
    with pytest.raises(DoesNotFit, match=r"KV blocks; a rank has 20"):
        start(scene.scenario())


def test_a_prefill_pool_needs_room_for_the_prompt_alone() -> None:
    # The same plan in both pools: 23 blocks hold a prompt of 240, not with its answer of 60.
    pools = ((Role.PREFILL, 1, plan("TP1")), (Role.DECODE, 1, plan("TP1")))
    scene = Scene(pools=pools, traffic=closed(1, 1, 240, 60), blocks=23)
    with pytest.raises(DoesNotFit, match=r"^a request of 300 tokens needs 27 KV blocks"):
        start(scene.scenario())
    # Two chips hold more, so now the prefill pool is the tight one.
    pools = ((Role.PREFILL, 1, plan("TP1")), (Role.DECODE, 1, plan("TP2")))
    scene = Scene(pools=pools, traffic=closed(1, 1, 240, 60), blocks=23)
    assert simulate(scene.scenario()).requests["blocks"].to_list() == [23]
    scene = Scene(pools=pools, traffic=closed(1, 1, 240, 60), blocks=22)
    with pytest.raises(DoesNotFit, match=r"^a request of 240 tokens needs 23 KV blocks"):
        start(scene.scenario())


def test_a_plan_that_does_not_divide_the_model_is_refused() -> None:
    uneven = replace(plan("TP1"), tp=3)
    with pytest.raises(BadPlan, match=r"^plan\.tp=3 does not divide the 64 attention heads"):
        start(unified(uneven, closed(1, 1, 9, 9)))


# ---- what is left behind


def test_a_journal_has_a_row_a_request_in_the_order_they_were_sent() -> None:
    scenario = small()
    requests = simulate(scenario).requests
    prompts, outputs = scenario.traffic.lengths.draw(12)
    assert requests["prompt"].to_list() == prompts.tolist()
    assert requests["output"].to_list() == requests["limit"].to_list() == outputs.tolist()
    assert requests["arrival"].is_sorted()


def test_a_journal_hides_what_only_the_loop_needs() -> None:
    columns = simulate(small()).requests.columns
    assert not {"left", "chunk", "made", "paused", "next", "kept", "mark"} & set(columns)
    assert set(columns) == set(c.REQUEST) - {
        "left",
        "chunk",
        "made",
        "paused",
        "next",
        "kept",
        "mark",
    }


def test_segments_have_a_column_for_every_part_and_resource() -> None:
    table = simulate(small()).segment_table()
    for end in ("first", "growth"):
        assert {f"{part}_{end}" for part in PARTS} <= set(table.columns)
        assert {f"{name}_busy_{end}" for name in RESOURCES} <= set(table.columns)
        assert f"joules_{end}" in table.columns


def test_a_journal_knows_its_workers() -> None:
    run = start(split())
    run.advance()
    workers = run.journal().workers
    assert workers["worker"].to_list() == [0, 1, 2]
    assert workers["pool"].to_list() == [0, 1, 1]
    assert workers["role"].to_list() == ["prefill", "decode", "decode"]
    assert workers["plan"].to_list() == ["TP1", "TP2", "TP2"]
    assert workers["chips"].to_list() == [1, 2, 2]
    first, second = (price.room.blocks for price in run.prices)
    assert workers["blocks"].to_list() == [first, second, second]


def test_blocks_of_a_worker_are_those_of_all_its_ranks() -> None:
    run = start(unified(plan("DEP4"), closed(1, 1, 9, 9)))
    assert run.journal().workers["blocks"].to_list() == [4 * run.prices[0].room.blocks]


def test_what_is_not_done_yet_says_where_it_is() -> None:
    run = start(unified(plan("TP1", max_running=1), closed(3, 2, 200, 20), delay="1 ms"))
    assert run.journal().requests["status"].to_list() == ["sent", "sent", "unsent"]
    assert not run.advance(10**9)
    assert run.journal().requests["status"].to_list() == ["prefilling", "queued", "unsent"]
    run.advance()
    assert run.journal().requests["status"].to_list() == ["done"] * 3


def test_time_zero_of_a_run_without_delay_is_its_first_step() -> None:
    run = start(unified(plan("TP1"), closed(1, 1, 50, 2)))
    assert not run.advance(0)
    (request,) = run.journal().requests.to_dicts()
    assert request["admitted"] == 0
    assert request["first"] == c.NOBODY


def test_an_unsent_request_has_no_times() -> None:
    tokens = pl.Series([5, 6]).to_numpy()
    table = request_table(tokens, tokens, tokens, tokens - 4)
    assert table[:, c.LEFT].tolist() == [4, 4]
    assert set(table[:, c.ARRIVAL : c.END + 1].ravel().tolist()) == {c.NOBODY}
    assert not table[:, c.OWN_PREFILL :].any()
    assert not empty_ledger(3).any()


def test_columns_are_where_their_names_say() -> None:
    assert c.REQUEST.index("arrival") == c.ARRIVAL
    assert c.REQUEST.index("interference") == c.INTERFERENCE
    assert c.REQUEST.index("prefill_matrix") == c.PREFILL_PARTS
    assert c.REQUEST.index("decode_matrix") == c.DECODE_PARTS
    assert c.SEGMENT_INTEGERS.index("matrix_first") == c.S_PARTS
    assert c.SEGMENT_INTEGERS.index("matrix_growth") == c.S_GROWTHS
    assert c.WORKER_TABLE.index("idle_since") == c.W_IDLE_SINCE
    assert c.RANK_TABLE.index("assigned_tail") == c.R_ASSIGNED_TAIL
    assert c.RANK_TABLE.index("returning_tail") == c.R_RETURNING_TAIL
    assert c.WORKER_TABLE.index("queue_tail") == c.W_QUEUE_TAIL
    assert c.POOL_TABLE.index("swap_token") == c.P_SWAP_TOKEN
    assert c.STAGE_TABLE.index("queue_tail") == c.G_QUEUE_TAIL
    assert c.REQUEST.index("recompute") == c.RECOMPUTE
    assert c.CLOCK.index("router") == c.C_ROUTER
    assert c.STATUSES.index("done") == c.DONE


# ---- where segments are kept


def test_segments_in_a_folder_are_those_in_memory(tmp_path: Path) -> None:
    kept, stored = simulate(small()), simulate(small(), tmp_path)
    assert stored.segment_table().equals(kept.segment_table())
    assert stored.requests.equals(kept.requests)
    assert isinstance(kept.segments, KeptSegments)
    assert isinstance(stored.segments, StoredSegments)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["segments-00000.parquet"]


def test_segments_are_handed_over_in_batches(tmp_path: Path) -> None:
    run = start(small(), tmp_path)
    state = run.state
    run.state = state._replace(segments=state.segments[:3], energies=state.energies[:3])
    run.advance()
    journal = run.journal()
    heights = [batch.height for batch in journal.segments.batches()]
    assert len(heights) > 2
    assert set(heights[:-1]) == {3}
    assert journal.segment_table().equals(simulate(small()).segment_table())


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"nowhere/segments-00000\.parquet: cannot be written: "):
        simulate(small(), tmp_path / "nowhere")


def test_a_folder_that_another_run_wrote_to_is_refused(tmp_path: Path) -> None:
    first = simulate(small(), tmp_path)
    before = first.segment_table()
    with pytest.raises(OutputError, match=r"another run's segments lie here.*: choose an empty"):
        simulate(small(5), tmp_path)
    assert first.segment_table().equals(before)


def test_a_journal_is_as_it_was_when_it_was_asked_for() -> None:
    run = start(small())
    run.advance(10**10)
    early = run.journal()
    before = early.segment_table().height
    run.advance()
    assert early.segment_table().height == before < run.journal().segment_table().height
    assert "done" not in set(early.requests["status"])


def test_a_journal_of_a_run_that_has_not_begun_has_no_segments() -> None:
    table = start(small()).journal().segment_table()
    assert table.height == 0
    assert table.columns == simulate(small()).segment_table().columns


def test_a_run_may_be_longer_than_the_buffer_of_segments() -> None:
    # Each arrival cuts a segment: more of them than the loop may write at once.
    traffic = poisson(40_000, 3_000.0, 4, 6)
    journal = simulate(unified(plan("TP1", max_running=16), traffic, replicas=16))
    batches = list(journal.segments.batches())
    assert len(batches) > 1
    assert (journal.requests["status"] == "done").all()
