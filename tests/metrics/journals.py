"""Journals small enough to be checked by hand, and runs small enough to be had in a blink."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from jalapeno.catalogue import chip, engine, model
from jalapeno.cost import PARTS, RESOURCES
from jalapeno.mapping import Plan, Precision
from jalapeno.simulation import (
    ClosedLoop,
    Journal,
    Lengths,
    Pool,
    Preemption,
    Role,
    Scenario,
    Traffic,
    resolve,
    scenario_of,
)
from jalapeno.simulation.columns import (
    REQUEST,
    SEGMENT_FLOATS,
    SEGMENT_INTEGERS,
    STATUSES,
)
from jalapeno.simulation.journal import KeptSegments

Row = Mapping[str, Any]

IDLE_WATTS, CAP_WATTS = 100.0, 500.0
"""Of a chip in the journals made by hand."""

HIDDEN = ("left", "chunk", "made", "paused", "next", "kept", "mark", "status")
REQUEST_SCHEMA = {name: pl.Int64() for name in REQUEST if name not in HIDDEN} | {
    "status": pl.Enum(STATUSES)
}
SEGMENT_SCHEMA = {name: pl.Int64() for name in SEGMENT_INTEGERS} | {
    name: pl.Float64() for name in SEGMENT_FLOATS
}


def ms(milliseconds: float) -> int:
    """Picoseconds."""
    return round(milliseconds * 1e9)


# ---- scenarios


def plan(tp: int = 1, dp: int = 1, running: int = 8, tokens: int = 512) -> Plan:
    precision = Precision.as_served(
        engine("jalapeno-engine"), model("gpt-oss-120b"), chip("jalapeno")
    )
    return Plan(
        tp=tp,
        ep=dp,
        dp=dp,
        max_running=running,
        max_tokens=tokens,
        precision=precision,
    )


def unified(tp: int = 2, dp: int = 1, replicas: int = 1, tokens: int = 512) -> tuple[Pool, ...]:
    return (Pool(role=Role.UNIFIED, plan=plan(tp, dp, tokens=tokens), replicas=replicas),)


def split(prefill_workers: int = 1, decode_workers: int = 1) -> tuple[Pool, ...]:
    """Prefill workers of one chip, decode workers of two."""
    return (
        Pool(role=Role.PREFILL, plan=plan(1, running=2, tokens=512), replicas=prefill_workers),
        Pool(role=Role.DECODE, plan=plan(2, running=4, tokens=4), replicas=decode_workers),
    )


def tight(preemption: Preemption = Preemption.RECOMPUTE) -> Scenario:
    """A worker of two chips whose KV cache is short, so that sequences give way."""
    (pool,) = unified(tp=2, tokens=300)
    # some 30 blocks of 64 tokens are left, for eight sequences of 8 in the end
    little = {"engine.memory_reserve": "200.318 GB", "model.attention.window_layers": "0"}
    pools = (replace(pool, preemption=preemption),)
    return scenario(pools, lengths=Lengths(isl=100, osl=400), overrides=little)


def scenario(
    pools: tuple[Pool, ...],
    *,
    requests: int = 40,
    concurrency: int = 12,
    lengths: Lengths | None = None,
    overrides: Mapping[str, str] | None = None,
) -> Scenario:
    """gpt-oss-120b on a Jalapeño rack, in a closed loop."""
    trees = resolve("jalapeno-rack", "gpt-oss-120b", "jalapeno-engine", overrides)
    traffic = Traffic(
        lengths=lengths or Lengths(isl=1000, osl=60),
        arrivals=ClosedLoop(concurrency=concurrency),
        requests=requests,
    )
    return scenario_of(trees, pools, traffic)


def by_hand(pools: tuple[Pool, ...]) -> Scenario:
    """A scenario for a journal made by hand: idle and capped power are round numbers."""
    watts = {"chip.power.idle": f"{IDLE_WATTS} W", "chip.power.cap": f"{CAP_WATTS} W"}
    return scenario(pools, overrides=watts)


# ---- rows


def request(**given: int) -> Row:
    """A request that is done; times in ps, by name.

    What is not given: `ready` and `assigned` are when it could be at the earliest, and all prefill
    and decode time is the request's own, spent on the matrix engine and on memory.
    """
    row: dict[str, Any] = dict.fromkeys(REQUEST_SCHEMA, 0)
    row |= {"moved": -1, "decode_rank": -1, "ready": given["arrival"], "status": "done"}
    row["assigned"] = given.get("ready", given["arrival"])
    row["limit"] = given["output"]
    row |= given
    prefill, decode = row["prefilled"] - row["admitted"], row["end"] - row["first"]
    others = row["others_prefill"] + row["others_decode"]
    rest = {
        "own_prefill": prefill - others,
        "own_decode": decode - row["interference"],
        "prefill_matrix": prefill - sum(row[f"prefill_{part}"] for part in PARTS),
        "decode_memory": decode - sum(row[f"decode_{part}"] for part in PARTS),
    }
    return row | {name: value for name, value in rest.items() if name not in given}


def segment(
    *,
    start: int,
    parts: Mapping[str, tuple[int, int]],
    busy: Mapping[str, tuple[float, float]] | None = None,
    joules: tuple[float, float] = (0.0, 0.0),
    **given: int,
) -> Row:
    """A segment: parts, busy seconds and joules as (first, growth); one step unless given, and in
    each a token for every sequence that decodes."""
    row: dict[str, Any] = dict.fromkeys(SEGMENT_SCHEMA, 0)
    row |= {"start": start, "steps": 1, "sampled": given.get("decoding", 0)} | given
    row["tokens"] = given.get("tokens", row["steps"] * row["decoding"])
    assert parts.keys() <= set(PARTS)
    for part, (first, growth) in parts.items():
        row[f"{part}_first"], row[f"{part}_growth"] = first, growth
    assert (busy or {}).keys() <= set(RESOURCES)
    for resource, (seconds, more) in (busy or {}).items():
        row[f"{resource}_busy_first"], row[f"{resource}_busy_growth"] = seconds, more
    row["joules_first"], row["joules_growth"] = joules
    return row


def request_table(rows: Iterable[Row]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=REQUEST_SCHEMA)


def segment_table(rows: Iterable[Row]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=SEGMENT_SCHEMA)


def journal(pools: tuple[Pool, ...], requests: Sequence[Row], segments: Sequence[Row]) -> Journal:
    """A journal of one worker after another of each pool; every worker has 1,000 KV blocks."""
    workers = [
        (number, pool.role.value, pool.plan.label, pool.plan.chips, 1000)
        for number, pool in enumerate(pools)
        for _ in range(pool.replicas)
    ]
    names = ("pool", "role", "plan", "chips", "blocks")
    table = pl.DataFrame(workers, schema=names, orient="row").with_row_index("worker")
    kept = KeptSegments([segment_table(segments)])
    return Journal(by_hand(pools), request_table(requests), kept, table)


# ---- two journals made by hand


def two_requests() -> Journal:
    """One worker of two chips; times in ms.

    ========  =====================================  ==========================================
    0         A is sent, 10 tokens in and 5 out
    1         A is ready
    1 to 5    step: A's prompt, 4 of matrix          A has its first token at 5
    2         B is sent, 20 in and 4 out
    3         B is ready, waits for the step's end
    5 to 11   step: A decodes, B's prompt; 5 matrix  decode alone would take 2; B's first at 11
              and 1 issue
    11 to 23  3 steps: both decode, 3, 4 and 5 of    both end at 23
              memory
    ========  =====================================  ==========================================
    """
    a = request(
        prompt=10,
        output=5,
        arrival=0,
        ready=ms(1),
        admitted=ms(1),
        prefilled=ms(5),
        first=ms(5),
        end=ms(23),
        interference=ms(4),
        decode_matrix=ms(5),
        decode_issue=ms(1),
    )
    b = request(
        prompt=20,
        output=4,
        arrival=ms(2),
        ready=ms(3),
        admitted=ms(5),
        prefilled=ms(11),
        first=ms(11),
        end=ms(23),
        others_decode=ms(2),
        prefill_issue=ms(1),
    )
    segments = [
        segment(
            start=ms(1),
            prefill=10,
            sampled=1,
            blocks_used=100,
            parts={"matrix": (ms(4), 0)},
            busy={"matrix": (3e-3, 0.0), "vector": (1e-3, 0.0)},
            joules=(1.0, 0.0),
        ),
        segment(
            start=ms(5),
            decoding=1,
            prefill=20,
            sampled=2,
            blocks_used=300,
            parts={"matrix": (ms(5), 0), "issue": (ms(1), 0)},
            busy={"matrix": (5e-3, 0.0), "link": (2e-3, 0.0)},
            joules=(2.0, 0.0),
        ),
        segment(
            start=ms(11),
            steps=3,
            decoding=2,
            blocks_used=300,
            parts={"memory": (ms(3), ms(1))},
            busy={"memory": (2e-3, 1e-3)},
            joules=(1.0, 0.5),
        ),
    ]
    return journal(unified(tp=2), [a, b], segments)


def one_moved() -> Journal:
    """A prefill worker of one chip hands a request to a decode worker of two; times in ms.

    ========  ===========================================================
    0         the request is sent, 8 tokens in and 3 out; ready at 1
    1 to 5    its prompt is computed
    7         a decode slot is free: the KV cache moves until 8
    10        the decode worker takes it: the client sees the first token
    10 to 15  2 steps, of 2 and 3
    ========  ===========================================================
    """
    moved = request(
        prompt=8,
        output=3,
        decode_rank=1,
        arrival=0,
        ready=ms(1),
        admitted=ms(1),
        prefilled=ms(5),
        assigned=ms(7),
        moved=ms(8),
        first=ms(10),
        end=ms(15),
    )
    segments = [
        segment(
            worker=0,
            start=ms(1),
            prefill=8,
            sampled=1,
            blocks_used=50,
            parts={"matrix": (ms(4), 0)},
            busy={"matrix": (4e-3, 0.0)},
            joules=(1.0, 0.0),
        ),
        segment(
            worker=1,
            start=ms(10),
            steps=2,
            decoding=1,
            blocks_used=200,
            parts={"memory": (ms(2), ms(1))},
            busy={"memory": (2e-3, 1e-3)},
            joules=(1.0, 0.5),
        ),
    ]
    return journal(split(), [moved], segments)
