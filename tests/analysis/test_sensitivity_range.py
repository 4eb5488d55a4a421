"""All uncertain facts at once: the draws, their distribution, their bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from jalapeno.analysis.sensitivity_answers import answer_of, closed_form
from jalapeno.analysis.sensitivity_facts import Case, case_of, numbers_of
from jalapeno.analysis.sensitivity_range import (
    Shape,
    combined,
    is_uncertain,
    latin_hypercube,
    quantile,
)
from jalapeno.catalogue import Fact, Kind
from jalapeno.errors import UsageError
from tests.metrics import journals

CASE = case_of(journals.scenario(journals.unified(tp=2)))
FACTS = numbers_of(CASE)


def quiet(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def fact(low: float, value: float, high: float) -> Fact:
    return Fact(value, str(value), "", Kind.ASSUMED, "a test", low=low, high=high)


@given(st.integers(1, 60), st.integers(1, 5), st.integers(0, 2**32))
def test_every_slice_of_every_fact_is_drawn_once(samples: int, facts: int, seed: int) -> None:
    places = latin_hypercube(samples, facts, seed)
    assert places.shape == (samples, facts)
    for column in places.T:
        assert sorted((column * samples).astype(int).tolist()) == list(range(samples))


def test_a_seed_gives_its_draws_again_and_another_gives_others() -> None:
    assert (latin_hypercube(9, 3, 4) == latin_hypercube(9, 3, 4)).all()
    assert (latin_hypercube(9, 3, 4) != latin_hypercube(9, 3, 5)).any()


def test_facts_are_drawn_independently() -> None:
    places = latin_hypercube(4000, 3, 1)
    assert np.abs(np.corrcoef(places.T) - np.eye(3)).max() < 0.06


spans = st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)).filter(
    lambda span: max(span) - min(span) > 1e-3
)


@given(spans, st.floats(0.0, 1.0))
def test_quantiles_are_those_of_scipy(span: tuple[float, float, float], place: float) -> None:
    low, peak, high = sorted(span)
    width = high - low
    triangular = stats.triang((peak - low) / width, loc=low, scale=width).ppf(place)
    found = quantile(fact(low, peak, high), place, Shape.TRIANGULAR)
    assert found == pytest.approx(triangular, abs=1e-6)
    uniform = quantile(fact(low, peak, high), place, Shape.UNIFORM)
    assert uniform == pytest.approx(low + place * width)
    assert low <= found <= high


def test_counts_are_drawn_whole() -> None:
    rows = FACTS["chip.matrix.tile_rows"]
    drawn = {quantile(rows, place, Shape.TRIANGULAR) for place in np.linspace(0.0, 1.0, 99)}
    assert all(value == int(value) for value in drawn)
    assert min(drawn) == rows.low
    assert max(drawn) == rows.high


def test_only_facts_with_two_different_ends_are_uncertain() -> None:
    assert is_uncertain(fact(1.0, 2.0, 3.0))
    assert not is_uncertain(fact(2.0, 2.0, 2.0))
    assert not is_uncertain(replace(fact(1.0, 2.0, 3.0), low=None))
    assert not is_uncertain(FACTS["chip.hbm.bandwidth"])


def test_a_linear_answer_has_the_distribution_of_its_fact() -> None:
    def ask(of: Case) -> float:
        return of.scenario.engine.vector_efficiency

    only = {"engine.vector_efficiency": FACTS["engine.vector_efficiency"]}
    found = combined(ask, CASE, only, samples=400, seed=0, shape=Shape.TRIANGULAR, tick=quiet)
    low, high = 0.2, 0.8
    reference = stats.triang(0.5, loc=low, scale=high - low)
    for place, value in found.percentiles.items():
        assert value == pytest.approx(reference.ppf(place / 100), abs=2e-3)
    assert low <= found.answers[0] <= found.answers[-1] <= high
    assert (found.refused, found.why) == (0, "")


def test_draws_that_contradict_themselves_are_counted_and_quoted() -> None:
    ask = closed_form(answer_of("mean_tbt_ms"))
    names = ("engine.issue_layer_rest", "engine.issue_layer_load")
    pair = {name: FACTS[name] for name in names}
    found = combined(ask, CASE, pair, samples=60, seed=0, shape=Shape.UNIFORM, tick=quiet)
    assert found.refused > 0
    assert found.refused + len(found.answers) == 60
    assert "must be at least issue_layer_rest" in found.why
    assert list(found.answers) == sorted(found.answers)
    assert found.facts == names


def test_the_same_seed_gives_the_same_answers() -> None:
    ask = closed_form(answer_of("mean_tbt_ms"))
    some = {path: each for path, each in FACTS.items() if path.startswith("chip.matrix")}
    runs = [
        combined(ask, CASE, some, samples=12, seed=seed, shape=Shape.TRIANGULAR, tick=quiet)
        for seed in (3, 3, 4)
    ]
    assert runs[0] == runs[1]
    assert runs[0].answers != runs[2].answers


def test_one_sample_is_no_range() -> None:
    with pytest.raises(UsageError, match="at least 2 samples, got 1"):
        combined(lambda of: 1.0, CASE, FACTS, samples=1, seed=0, shape=Shape.UNIFORM, tick=quiet)


def test_facts_without_ranges_cannot_be_drawn() -> None:
    only = {"chip.hbm.bandwidth": FACTS["chip.hbm.bandwidth"]}
    with pytest.raises(UsageError, match="nothing can be drawn"):
        combined(lambda of: 1.0, CASE, only, samples=4, seed=0, shape=Shape.UNIFORM, tick=quiet)


def test_where_no_draw_has_an_answer_the_first_says_why() -> None:
    with pytest.raises(UsageError, match=r"no draw has an answer.*would be nan"):
        combined(
            lambda of: float("nan"), CASE, FACTS, samples=2, seed=0, shape=Shape.UNIFORM, tick=quiet
        )
