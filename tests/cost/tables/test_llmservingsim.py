"""LLMServingSim's profiles as tables: what was measured is there, and what was not follows."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from importlib.resources import files
from itertools import product

import polars as pl
import pytest

from jalapeno.cost.tables.find import find_tables, reference_to
from jalapeno.cost.tables.llmservingsim import read_profile
from jalapeno.cost.tables.table import Axis, StepTable, StepTables
from jalapeno.errors import BadFact
from tests.cost.tables.profiles import CONTENTS

SHIPPED = tuple(
    f"{chip}/{model}"
    for chip, model in (
        ("rtx-4090", "llama-3.1-8b/tp1"),
        ("rtx-pro-6000", "llama-3.1-8b/tp1"),
        ("rtx-pro-6000", "qwen3-32b/tp2"),
        ("rtx-pro-6000", "qwen3-30b-a3b/tp1"),
    )
)


def tables(contents: Mapping[str, bytes] = CONTENTS) -> dict[str, StepTable]:
    return {table.name: table for table in read_profile("here", "", contents).tables}


def shipped(place: str) -> StepTables:
    return find_tables(reference_to(f"catalogue:llmservingsim/profiles/{place}"))


def rows(place: str, name: str) -> pl.DataFrame:
    folder = files("jalapeno.catalogue") / "data" / "measured" / "llmservingsim" / "profiles"
    return pl.read_csv(gzip.decompress((folder / place / f"{name}.csv.gz").read_bytes()))


# ---- sums


def test_layers_that_go_together_are_added() -> None:
    head = tables()["LM head and sampler"]
    assert head.axes == (Axis.SEQUENCES,)
    assert head.stands_for == ("LM head",)
    assert head.grid.seconds.tolist() == pytest.approx([105e-6, 117e-6])


def test_a_table_stands_for_an_operator_of_the_lowering() -> None:
    found = tables()
    assert found["qkv"].stands_for == ("qkv",)
    assert found["qkv"].grid.at((2.0,)) == pytest.approx(12e-6)
    assert found["norm"].grid.at((1.0,)) == pytest.approx(1e-6)
    assert found["experts"].axes == (Axis.EXPERT_TOKENS, Axis.EXPERTS)


# ---- planes of attention


def test_attention_says_what_was_measured() -> None:
    grid = tables()["attention"].grid
    for new, cached, context in product((16, 32), (0, 64), (16, 64)):
        expected = 10 + new + 0.1 * new * cached + 0.1 * context
        assert grid.at((new, cached, 1, context)) == pytest.approx(expected * 1e-6)


def test_without_a_prompt_nothing_is_cached_and_without_sequences_there_is_no_context() -> None:
    grid = tables()["attention"].grid
    assert grid.at((0, 64, 1, 16)) == grid.at((0, 0, 1, 16)) == pytest.approx(11.6e-6)
    assert grid.at((32, 64, 0, 64)) == grid.at((32, 64, 0, 0)) == pytest.approx(246.8e-6)


def test_more_sequences_beside_a_prompt_add_what_they_add_without_one() -> None:
    grid = tables()["attention"].grid
    assert grid.at((32, 0, 2, 64)) == pytest.approx((10 + 32 + 0.1 * 2 * 64) * 1e-6)


def test_experts_that_few_tokens_cannot_reach_are_as_the_most_that_they_do() -> None:
    grid = tables()["experts"].grid
    assert grid.at((1.0, 16.0)) == grid.at((1.0, 8.0)) == pytest.approx(50e-6)
    assert grid.at((2.0, 12.0)) == pytest.approx(90e-6)


@pytest.mark.parametrize("place", SHIPPED)
def test_all_that_a_shipped_profile_measured_is_in_its_tables(place: str) -> None:
    found = {table.name: table.grid for table in shipped(place).tables}
    for *point, time in rows(place, "attention").sample(500, seed=1).iter_rows():
        assert found["attention"].at(point) == pytest.approx(time * 1e-6, rel=1e-12)
    dense = rows(place, "dense").filter(pl.col("layer") == "down_proj")
    for _, tokens, time in dense.iter_rows():
        assert found["FFN down"].at((tokens,)) == pytest.approx(time * 1e-6, rel=1e-12)
    assert ("experts" in found) == ("a3b" in place)


# ---- refusals


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("dense.csv", b"layer,tokens,time_us\nwarp_drive,1,1\n", "no operator is known for warp_"),
        ("dense.csv", b"layer,tokens,time_us\nqkv_proj,1,1\nqkv_proj,1,2\n", "measured twice"),
        ("dense.csv", b"layer,tokens,time_us\nqkv_proj,1,fast\n", "not a CSV of a profile"),
        ("dense.csv", b"layer,sequences,time_us\nqkv_proj,1,1\n", "columns layer, sequences"),
        ("dense.csv", b"layer,tokens\nqkv_proj,1\n", "not a CSV of a profile"),
        ("dense.csv", b"layer,tokens,time_us\nqkv_proj,1,-1\n", "must be finite and above zero"),
        ("moe.csv.gz", b"not gzip", "moe.csv.gz: not a CSV of a profile"),
        ("per_sequence.csv", b"layer,sequences,time_us\nlm_head,1,1\nsampler,2,1\n", "different"),
        (
            "attention.csv",
            b"prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n0,0,2,16,1\n16,0,1,16,1\n",
            "were not measured, and nothing says what they take",
        ),
    ],
)
def test_a_profile_that_is_not_one_is_refused(name: str, content: bytes, says: str) -> None:
    with pytest.raises(BadFact) as caught:
        tables({name: content})
    assert "here: " in str(caught.value)
    assert says in str(caught.value)
