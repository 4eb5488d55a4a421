"""Which requests come, and when."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.errors import BadScenario
from jalapeno.simulation import ClosedLoop, Lengths, Poisson, Traffic

# ---- lengths


@pytest.mark.parametrize("count", [8, 10, 40, 640, 5120])
@pytest.mark.parametrize(("isl", "osl"), [(8192, 1024), (1024, 1024), (1024, 8192)])
@pytest.mark.parametrize("template", [0, 4, 67])
def test_lengths_are_those_that_inferencex_sends(
    isl: int, osl: int, template: int, count: int
) -> None:
    # benchmark_serving.py, as it stands
    np.random.seed(0)
    bare = isl - template
    prompts = np.random.randint(int(bare * 0.8), bare + 1, size=count)
    outputs = np.random.randint(int(osl * 0.8), osl + 1, size=count)
    drawn = Lengths(isl=isl, osl=osl, template_tokens=template).draw(count)
    assert drawn[0].tolist() == (prompts + template).tolist()
    assert drawn[1].tolist() == outputs.tolist()


def test_the_first_requests_of_the_8k_1k_benchmark_are_known() -> None:
    prompts, outputs = Lengths(isl=8192, osl=1024).draw(10)
    assert prompts.tolist() == [7237, 7112, 7769, 7388, 7316, 7936, 7586, 6830, 7152, 7647]
    assert outputs.tolist() == [907, 959, 877, 1012, 858, 906, 993, 907, 900, 984]


def test_mean_lengths_of_the_8k_1k_benchmark_are_not_8192_and_1024() -> None:
    prompts, outputs = Lengths(isl=8192, osl=1024).draw(100_000)
    assert prompts.mean() == pytest.approx(7373, abs=5)
    assert outputs.mean() == pytest.approx(921.5, abs=1)


def test_a_longer_list_is_not_a_shorter_one_continued() -> None:
    # All prompts are drawn before all answers, so the answers depend on how many there are.
    short, long = Lengths(isl=100, osl=100).draw(5), Lengths(isl=100, osl=100).draw(6)
    assert short[0].tolist() == long[0].tolist()[:5]
    assert short[1].tolist() != long[1].tolist()[:5]


@given(
    st.integers(1, 9000),
    st.integers(1, 9000),
    st.floats(0.001, 1.0),
    st.integers(0, 80),
    st.integers(0, 2**32 - 1),
)
def test_lengths_lie_between_ratio_times_nominal_and_nominal(
    bare: int, osl: int, ratio: float, template: int, seed: int
) -> None:
    isl = bare + template
    lengths = Lengths(isl=isl, osl=osl, ratio=ratio, template_tokens=template, seed=seed)
    prompts, outputs = lengths.draw(20)
    assert max(1, int(bare * ratio)) + template <= prompts.min()
    assert prompts.max() <= isl
    assert max(1, int(osl * ratio)) <= outputs.min()
    assert outputs.max() <= osl
    assert prompts.dtype == outputs.dtype == np.int64


def test_a_ratio_of_one_makes_all_requests_equal() -> None:
    prompts, outputs = Lengths(isl=70, osl=9, ratio=1.0, template_tokens=5).draw(50)
    assert set(prompts.tolist()) == {70}
    assert set(outputs.tolist()) == {9}


def test_another_seed_draws_other_lengths() -> None:
    one, other = Lengths(isl=999, osl=99), Lengths(isl=999, osl=99, seed=1)
    assert one.draw(30)[0].tolist() != other.draw(30)[0].tolist()


def test_drawing_leaves_numpys_global_generator_alone() -> None:
    np.random.seed(5)
    expected = np.random.random()
    np.random.seed(5)
    Lengths(isl=100, osl=10).draw(3)
    assert np.random.random() == expected


@pytest.mark.parametrize(
    ("isl", "osl", "template"), [(0, 1, 0), (67, 1, 67), (10, 0, 0), (10, 5, -1), (-3, 5, 0)]
)
def test_lengths_without_a_token_are_refused(isl: int, osl: int, template: int) -> None:
    message = (
        rf"^lengths: isl={isl} must exceed template_tokens={template} "
        rf"\(at least 0\), and osl={osl} must be at least 1$"
    )
    with pytest.raises(BadScenario, match=message):
        Lengths(isl=isl, osl=osl, template_tokens=template)


@pytest.mark.parametrize("ratio", [0.0, -0.1, 1.01, float("nan"), float("inf")])
def test_a_ratio_outside_of_zero_to_one_is_refused(ratio: float) -> None:
    with pytest.raises(BadScenario, match=rf"^lengths: ratio must be in \(0, 1\], got {ratio}$"):
        Lengths(isl=10, osl=10, ratio=ratio)


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_the_generator_does_not_take_is_refused(seed: int) -> None:
    with pytest.raises(BadScenario, match=rf"^lengths: seed must be in \[0, 2\^32\), got {seed}$"):
        Lengths(isl=10, osl=10, seed=seed)


# ---- arrivals


def test_a_closed_loop_needs_somebody_in_it() -> None:
    assert ClosedLoop(concurrency=1).concurrency == 1
    with pytest.raises(BadScenario, match=r"^concurrency must be at least 1, got 0$"):
        ClosedLoop(concurrency=0)


@pytest.mark.parametrize("rate", [0.0, -2.0, float("inf"), float("nan")])
def test_a_rate_that_is_none_is_refused(rate: float) -> None:
    with pytest.raises(BadScenario, match=rf"^rate must be positive and finite, got {rate}$"):
        Poisson(rate=rate)


def test_arrivals_are_as_frequent_and_as_irregular_as_poisson_says() -> None:
    gaps = np.diff(Poisson(rate=200.0).times(100_000, seed=3)) / 1e12
    assert gaps.mean() == pytest.approx(1 / 200, rel=0.01)
    assert gaps.std() == pytest.approx(1 / 200, rel=0.02)
    # memoryless: who has waited a while waits as long again
    late = gaps[gaps > 1 / 200]
    assert (late - 1 / 200).mean() == pytest.approx(1 / 200, rel=0.02)


@given(st.floats(1e-3, 1e7), st.integers(1, 200), st.integers(0, 2**63))
def test_arrivals_are_in_order_and_in_the_future(rate: float, count: int, seed: int) -> None:
    times = Poisson(rate=rate).times(count, seed)
    assert len(times) == count
    assert times.dtype == np.int64
    assert times.min() >= 0
    assert (np.diff(times) >= 0).all()


def test_a_longer_stream_is_a_shorter_one_continued() -> None:
    stream = Poisson(rate=7.0)
    assert stream.times(20, 4).tolist()[:5] == stream.times(5, 4).tolist()


def test_twice_the_rate_is_the_same_stream_in_half_the_time() -> None:
    slow, fast = Poisson(rate=5.0).times(100, 1), Poisson(rate=10.0).times(100, 1)
    assert fast == pytest.approx(slow / 2, abs=1)


def test_each_seed_has_a_stream_of_its_own() -> None:
    streams = [tuple(Poisson(rate=5.0).times(10, seed).tolist()) for seed in range(20)]
    assert len(set(streams)) == 20


def test_a_stream_that_outlasts_the_clock_is_refused() -> None:
    message = (
        r"^the last of 1,000 requests would come after [\d,]+ days; the clock ends after 53: "
        r"raise the rate or send fewer$"
    )
    assert Poisson(rate=1e-3).times(1000, 0)[-1] > 0
    with pytest.raises(BadScenario, match=message):
        Poisson(rate=1e-5).times(1000, 0)


def test_traffic_without_requests_is_refused() -> None:
    with pytest.raises(BadScenario, match=r"^requests must be at least 1, got 0$"):
        Traffic(lengths=Lengths(isl=9, osl=9), arrivals=ClosedLoop(concurrency=1), requests=0)
