"""Tiles, experts and the busiest rank: formulas against laws, examples and chance itself."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.cost.formulas import busiest_load, tile_waves, touched_experts
from tests.cost.operators import FEW

SHAPES = [(128, 4), (256, 8), (384, 8)]
"""Experts and top-k of gpt-oss-120b, DeepSeek-R1 and Kimi K2.5."""


def whole(low: int, high: int) -> st.SearchStrategy[float]:
    return st.integers(low, high).map(float)


# ---- waves of tiles


@FEW
@given(whole(0, 4096), whole(1, 512), whole(1, 256))
def test_no_core_does_more_than_one_tile_at_a_time(
    blocks: float, across: float, cores: float
) -> None:
    assert tile_waves(blocks, across, cores) >= blocks * across / cores


@FEW
@given(whole(0, 4096), whole(1, 512), whole(1, 256))
def test_less_than_a_wave_is_lost(blocks: float, across: float, cores: float) -> None:
    assert tile_waves(blocks, across, cores) < blocks * across / cores + 1.0


@FEW
@given(whole(0, 4096), whole(1, 512), whole(1, 256), whole(0, 64))
def test_more_blocks_never_take_fewer_waves(
    blocks: float, across: float, cores: float, more: float
) -> None:
    assert tile_waves(blocks + more, across, cores) >= tile_waves(blocks, across, cores)


@FEW
@given(whole(0, 4096), whole(1, 512), whole(1, 256), whole(0, 64))
def test_wider_blocks_never_take_fewer_waves(
    blocks: float, across: float, cores: float, more: float
) -> None:
    assert tile_waves(blocks, across + more, cores) >= tile_waves(blocks, across, cores)


@FEW
@given(whole(0, 4096), whole(1, 512), whole(1, 256), whole(0, 64))
def test_more_cores_never_take_more_waves(
    blocks: float, across: float, cores: float, more: float
) -> None:
    assert tile_waves(blocks, across, cores + more) <= tile_waves(blocks, across, cores)


@FEW
@given(whole(1, 256), whole(1, 64))
def test_full_waves_lose_nothing(cores: float, waves: float) -> None:
    assert tile_waves(waves, cores, cores) == waves


@pytest.mark.parametrize(
    ("blocks", "across", "cores", "waves"),
    [
        (1, 16, 64, 0.25),  # split-K: a quarter of the tiles, a quarter of the time
        (1, 64, 64, 1.0),
        (1, 65, 64, 2.0),  # one tile too many
        (2, 64, 64, 2.0),
        (3, 45, 64, 3.0),
        (0, 45, 64, 0.0),
    ],
)
def test_waves_of_tiles_by_example(
    blocks: float, across: float, cores: float, waves: float
) -> None:
    assert tile_waves(blocks, across, cores) == waves


# ---- distinct experts


def routed(
    rng: np.random.Generator, experts: int, top_k: int, shape: tuple[int, int]
) -> npt.NDArray[np.int64]:
    """Expert of each slot, uniform and without repetition within a token: (runs, tokens, k)."""
    keys = rng.random((*shape, experts), dtype=np.float32)
    return np.argpartition(keys, top_k, axis=-1)[..., :top_k]


@FEW
@given(st.sampled_from(SHAPES), whole(0, 5000))
def test_touched_experts_follow_the_closed_form(shape: tuple[int, int], tokens: float) -> None:
    experts, top_k = shape
    expected = experts * (1.0 - (1.0 - top_k / experts) ** tokens)
    assert touched_experts(experts, top_k / experts, tokens) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("experts", "top_k"), SHAPES)
@pytest.mark.parametrize("tokens", [1, 7, 40])
def test_touched_experts_are_those_of_chance(experts: int, top_k: int, tokens: int) -> None:
    chosen = routed(np.random.default_rng(1), experts, top_k, (200, tokens))
    counts = np.array([len(np.unique(run)) for run in chosen])
    error = counts.std() / math.sqrt(len(counts))
    expected = touched_experts(float(experts), top_k / experts, float(tokens))
    assert counts.mean() == pytest.approx(expected, abs=4.0 * error + 1e-9)


@FEW
@given(st.sampled_from(SHAPES), whole(0, 5000), whole(0, 100))
def test_more_tokens_never_touch_fewer_experts(
    shape: tuple[int, int], tokens: float, more: float
) -> None:
    experts, share = float(shape[0]), shape[1] / shape[0]
    assert touched_experts(experts, share, tokens + more) >= touched_experts(experts, share, tokens)


@FEW
@given(st.sampled_from(SHAPES), whole(0, 100_000))
def test_no_more_experts_are_touched_than_there_are_or_were_chosen(
    shape: tuple[int, int], tokens: float
) -> None:
    experts, top_k = shape
    touched = touched_experts(experts, top_k / experts, tokens)
    assert 0.0 <= touched <= min(experts, tokens * top_k * (1 + 1e-12))


@FEW
@given(st.sampled_from(SHAPES), whole(1, 5000), st.sampled_from([2, 4, 8, 16]))
def test_a_rank_touches_its_share_of_the_experts(
    shape: tuple[int, int], tokens: float, ranks: int
) -> None:
    experts, share = float(shape[0]), shape[1] / shape[0]
    rank = touched_experts(experts / ranks, share, tokens)
    assert ranks * rank == pytest.approx(touched_experts(experts, share, tokens), rel=1e-12)


def test_one_token_touches_the_experts_it_chose() -> None:
    assert touched_experts(128.0, 4 / 128, 1.0) == pytest.approx(4.0)


def test_no_token_touches_no_expert() -> None:
    assert touched_experts(128.0, 4 / 128, 0.0) == 0.0
    assert touched_experts(8.0, 1.0, 0.0) == 0.0


def test_who_chooses_all_experts_touches_all() -> None:
    assert touched_experts(8.0, 1.0, 1.0) == 8.0


def test_many_tokens_touch_them_all() -> None:
    assert touched_experts(256.0, 8 / 256, 4096.0) == pytest.approx(256.0)


# ---- the busiest rank


@FEW
@given(st.floats(0.0, 1e6), whole(1, 512), st.floats(1.0, 3.0))
def test_the_busiest_rank_has_at_least_the_mean(
    mean: float, ranks: float, imbalance: float
) -> None:
    assert busiest_load(mean, ranks, imbalance) >= mean


@FEW
@given(st.floats(0.0, 1e6), st.floats(1.0, 3.0))
def test_one_rank_has_nobody_to_wait_for(mean: float, imbalance: float) -> None:
    assert busiest_load(mean, 1.0, imbalance) == mean


@FEW
@given(st.floats(0.0, 1e6), st.floats(0.0, 1e3), whole(1, 512), st.floats(1.0, 3.0))
def test_a_fuller_rank_never_carries_less(
    mean: float, more: float, ranks: float, imbalance: float
) -> None:
    assert busiest_load(mean + more, ranks, imbalance) >= busiest_load(mean, ranks, imbalance)


@FEW
@given(st.floats(1.0, 1e6), whole(1, 512), whole(0, 512), st.floats(1.0, 3.0))
def test_the_busiest_of_more_ranks_is_never_less_busy(
    mean: float, ranks: float, more: float, imbalance: float
) -> None:
    assert busiest_load(mean, ranks + more, imbalance) >= busiest_load(mean, ranks, imbalance)


@FEW
@given(st.floats(1.0, 1e4), whole(2, 512))
def test_chance_fades_in_big_batches(mean: float, ranks: float) -> None:
    small = busiest_load(mean, ranks, 1.0) / mean
    big = busiest_load(100.0 * mean, ranks, 1.0) / (100.0 * mean)
    assert big - 1.0 == pytest.approx((small - 1.0) / 10.0)


def test_skew_does_not_fade() -> None:
    assert busiest_load(1e12, 8.0, 1.3) == pytest.approx(1.3e12, rel=1e-4)


@pytest.mark.parametrize(("experts", "top_k"), SHAPES)
@pytest.mark.parametrize("ranks", [2, 8, 32])
@pytest.mark.parametrize("tokens", [64, 256])
def test_the_busiest_of_balanced_ranks_is_that_of_chance(
    experts: int, top_k: int, ranks: int, tokens: int
) -> None:
    # sqrt(2 m ln n) bounds the expected maximum of n Gaussians of variance m from above; for so few
    # ranks it is up to 0.7 standard deviations too careful.
    chosen = routed(np.random.default_rng(2), experts, top_k, (60, tokens))
    rank = chosen.reshape(len(chosen), -1) * ranks // experts
    busiest = np.array([np.bincount(run, minlength=ranks).max() for run in rank]).mean()
    mean = tokens * top_k / ranks
    expected = busiest_load(mean, float(ranks), 1.0)
    assert busiest - 0.1 * math.sqrt(mean) <= expected <= busiest + 0.8 * math.sqrt(mean)
