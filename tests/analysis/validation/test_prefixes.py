"""Prefix hits, against a cache that remembers whole prefixes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.analysis.validation.block_traces import (
    NAMES,
    Conversation,
    Request,
    conversation,
    trace,
    whole,
)
from jalapeno.analysis.validation.frames import COLUMNS
from jalapeno.analysis.validation.prefixes import (
    MEASURED,
    TOLERANCE,
    Hits,
    hits_of,
    prefix_hits,
    statistics_of,
)
from jalapeno.errors import JalapenoError, UsageError

SHARED = Path(__file__).parents[4] / "shared" / "data"
Ids = tuple[int, ...]


def spelled(made: Conversation) -> list[list[Ids]]:
    """Every id of every request, thread by thread."""
    threads = []
    for thread in made:
        before: Ids = ()
        listed = []
        for request in thread:
            before = before[: request.shared] + request.rest
            listed.append(before)
        threads.append(listed)
    return threads


def slow(threads: list[list[Ids]]) -> Hits:
    """A cache of whole prefixes, each remembered as what it is: quadratic, and obvious."""
    known: set[Ids] = set()
    hit = blocks = 0
    for thread in threads:
        for ids in thread:
            prefixes = [ids[:length] for length in range(1, len(ids) + 1)]
            hit += max((len(p) for p in prefixes if p in known), default=0)
            blocks += len(ids)
            known.update(prefixes)
    return Hits(hit, blocks)


@st.composite
def chained(draw: st.DrawFn) -> list[Ids]:
    """Requests whose ids name whole prefixes, as those of the traces do."""
    names: dict[Ids, int] = {}
    requests = []
    for words in draw(st.lists(st.lists(st.integers(0, 2), max_size=6), min_size=1, max_size=8)):
        prefixes = [tuple(words[:length]) for length in range(1, len(words) + 1)]
        requests.append(tuple(names.setdefault(prefix, len(names)) for prefix in prefixes))
    return requests


def session(requests: list[Ids]) -> list[dict[str, Any]]:
    return [{"type": "n", "hash_ids": list(ids)} for ids in requests]


@given(chained())
def test_hits_are_those_of_a_cache_of_whole_prefixes(requests: list[Ids]) -> None:
    assert hits_of(whole(requests)) == slow([requests])


@given(chained())
def test_it_does_not_matter_how_requests_are_written(requests: list[Ids]) -> None:
    raw = conversation(session(requests))
    assert hits_of(raw) == hits_of(whole(requests))
    assert spelled(raw) == [requests]


@given(chained(), chained())
def test_a_sub_agent_finds_what_its_session_left_and_the_other_way_round(
    first: list[Ids], second: list[Ids]
) -> None:
    nested = [*session(first), {"type": "subagent", "requests": session(first + second)}]
    flat = session([*first, *first, *second])
    assert hits_of(conversation(nested)) == hits_of(conversation(flat))


@given(chained())
def test_the_same_requests_again_are_all_hits(requests: list[Ids]) -> None:
    once, twice = hits_of(whole(requests)), hits_of(whole(requests + requests))
    assert twice.hit - once.hit == once.blocks
    assert 0 <= once.hit <= once.blocks


def test_runs_and_shared_blocks_mean_what_the_original_ids_are() -> None:
    made = conversation(
        [
            {"pfx": 0, "new": [[0, 3]]},
            {"pfx": 2, "new": [[7, 2], [1, 1]]},
        ]
    )
    assert spelled(made) == [[(0, 1, 2), (0, 1, 7, 8, 1)]]
    assert hits_of(made) == Hits(2, 8)


def test_a_block_behind_a_miss_is_no_hit() -> None:
    made = ((Request(0, (1, 2, 3)), Request(0, (9, 2, 3))),)
    assert hits_of(made) == Hits(0, 6)


def test_statistics_are_over_blocks_and_over_conversations() -> None:
    all_hit, none = whole([(1, 2), (1, 2)]), whole([(1,), (2,)])
    found = statistics_of([all_hit, none, ()])
    assert found["all"] == pytest.approx(2 / 6)
    assert found["mean"] == found["median"] == pytest.approx(0.25)
    assert found["P25"] == pytest.approx(0.125)


# ---- the traces themselves


@pytest.fixture(scope="module")
def frame() -> Any:
    return prefix_hits()


def test_counted_hits_are_within_a_point_of_what_is_stated(frame: Any) -> None:
    assert len(frame) == sum(map(len, MEASURED.values()))
    assert list(frame.columns) == list(COLUMNS)
    assert frame["error"].abs().max() <= TOLERANCE


def test_the_shipped_traces_are_whole() -> None:
    sizes = {name: trace(name) for name in NAMES[:2]}
    assert [len(made[0][0]) for made in sizes.values()] == [12_031, 3_993]


@pytest.mark.skipif(not SHARED.exists(), reason="the traces are not beside the checkout")
@pytest.mark.parametrize("name", NAMES[:2])
def test_the_shipped_traces_spell_the_original_ids(name: str) -> None:
    assert trace(name) == trace(name, SHARED)


def test_the_first_requests_of_a_shipped_trace_agree_with_the_slow_cache() -> None:
    (thread,) = trace("mooncake-synthetic")[0]
    first = (thread[:400],)
    assert hits_of(first) == slow(spelled(first))


def test_files_are_read_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "mooncake").mkdir()
    (tmp_path / "agentic_weka").mkdir()
    lines = [{"hash_ids": [0, 1]}, {"hash_ids": [0, 1, 2, 3]}]
    text = "\n".join(map(json.dumps, lines))
    (tmp_path / "mooncake" / "conversation_trace.jsonl").write_text(text)
    packed = gzip.compress(text.encode())
    (tmp_path / "mooncake" / "synthetic_trace.jsonl.gz").write_bytes(packed)
    raw = {"id": "trace_0001", "requests": session([(5, 6), (5, 6, 7)])}
    (tmp_path / "agentic_weka" / "trace_0001.json").write_text(json.dumps(raw))
    found = prefix_hits(tmp_path)
    shares = dict(zip(found["row"], found["predicted"], strict=True))
    assert shares["mooncake-conversation/all"] == shares["mooncake-synthetic/all"]
    assert shares["mooncake-synthetic/all"] == pytest.approx(2 / 6)
    assert shares["weka/median"] == pytest.approx(2 / 5)


def test_what_is_missing_or_wrong_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="conversation_trace"):
        trace("mooncake-conversation", tmp_path)
    (tmp_path / "mooncake").mkdir()
    (tmp_path / "mooncake" / "conversation_trace.jsonl").write_text('{"ids": 1}')
    with pytest.raises(UsageError, match="hash_ids"):
        trace("mooncake-conversation", tmp_path)
    with pytest.raises(JalapenoError, match="mooncake-synthetic"):
        trace("mooncake-synthetik")
