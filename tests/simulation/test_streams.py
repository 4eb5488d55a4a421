"""Streams of random numbers: one for each seed and purpose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.errors import BadScenario
from jalapeno.simulation.streams import ARRIVALS, OUTPUTS, PROMPTS, ROWS, check_seed, stream

SEEDS = st.integers(0, 2**64 - 1)
PURPOSES = (ARRIVALS, PROMPTS, OUTPUTS, ROWS)


@given(SEEDS)
def test_purposes_of_a_seed_have_streams_of_their_own(seed: int) -> None:
    assert len({stream(seed, purpose).random() for purpose in PURPOSES}) == len(PURPOSES)


@given(SEEDS, st.integers(1, 2000))
def test_neighbouring_seeds_have_streams_of_their_own(seed: int, away: int) -> None:
    other = (seed + away) % 2**64
    assert stream(seed, ARRIVALS).random() != stream(other, ARRIVALS).random()


@given(SEEDS, st.sampled_from(PURPOSES))
def test_the_same_stream_is_the_same_again(seed: int, purpose: int) -> None:
    one, other = stream(seed, purpose), stream(seed, purpose)
    assert one.random(5).tolist() == other.random(5).tolist()


def test_streams_do_not_know_of_each_other() -> None:
    drawn = np.array([stream(7, purpose).random(20_000) for purpose in PURPOSES])
    off_diagonal = np.corrcoef(drawn)[~np.eye(len(PURPOSES), dtype=bool)]
    assert abs(off_diagonal).max() < 5 / np.sqrt(20_000)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_beyond_the_generator_is_refused(seed: int) -> None:
    check_seed(0, "x")
    check_seed(2**64 - 1, "x")
    with pytest.raises(BadScenario, match=rf"^x: seed must be in \[0, 2\^64\), got {seed}$"):
        check_seed(seed, "x")
