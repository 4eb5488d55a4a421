"""Unknowns and priors: where they come from, and how scores become values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, triang

from jalapeno import catalogue
from jalapeno.analysis.posterior.unknowns import (
    ALONE,
    FAR,
    GQA,
    HYPER,
    LOAD,
    MLA,
    PATHS,
    REST,
    SYSTEM,
    Shape,
    named,
    place_of,
    scores_of,
    triangle,
    ttft_scale,
    unknowns,
    values_of,
)
from jalapeno.analysis.published import ENGINE
from jalapeno.catalogue import Kind
from jalapeno.errors import UnknownName

score = st.floats(-4.0, 4.0)
scores = st.lists(score, min_size=len(PATHS), max_size=len(PATHS))
FEW = settings(max_examples=10)  # for each of two dozen unknowns
each = pytest.mark.parametrize("unknown", unknowns(), ids=PATHS)


@each
@FEW
@given(score)
def test_no_score_leaves_the_range(unknown, at: float) -> None:  # type: ignore[no-untyped-def]
    value = float(unknown.values(np.array([at]))[0])
    if unknown.choices:
        assert value in range(len(unknown.choices))
    elif unknown.shape is not Shape.LOG_NORMAL:
        assert unknown.low * (1 - 1e-12) <= value <= unknown.high * (1 + 1e-12)


@each
@FEW
@given(score, score)
def test_a_higher_score_is_never_a_lower_value(  # type: ignore[no-untyped-def]
    unknown, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    values = unknown.values(np.array([low, high]))
    assert values[0] <= values[1]


@each
@FEW
@given(st.floats(-FAR + 0.01, FAR - 0.01))
def test_a_value_gives_its_score_back(unknown, at: float) -> None:  # type: ignore[no-untyped-def]
    value = float(unknown.values(np.array([at]))[0])
    again = unknown.score(value)
    assert float(unknown.values(np.array([again]))[0]) == pytest.approx(value, rel=1e-6)


@each
def test_the_prior_of_an_unknown_is_what_its_evidence_allows(unknown) -> None:  # type: ignore[no-untyped-def]
    assert unknown.source
    assert unknown.kind is not Kind.EMULATED
    if unknown.path in HYPER or unknown.path in (MLA, GQA):
        return
    root, _, rest = unknown.path.partition(".")
    facts = catalogue.engine(ENGINE).facts if root == "engine" else catalogue.system(SYSTEM).facts
    fact = facts[rest if root == "engine" else unknown.path]
    if fact.kind is Kind.FITTED:  # its value came from the numbers that are the evidence
        assert unknown.shape in (Shape.UNIFORM, Shape.LOG_UNIFORM)
    if unknown.choices:
        ends = [float(word) for word in unknown.choices]
        assert fact.low is not None
        assert fact.high is not None
        assert fact.low <= min(ends) <= max(ends) <= fact.high


def test_what_was_read_off_the_evidence_is_replaced_by_a_wider_range() -> None:
    facts = catalogue.engine(ENGINE).facts
    for path in (REST, LOAD, "engine.first_token_delay", "engine.matrix_efficiency"):
        unknown = unknowns()[place_of(path)]
        fact = facts[path.removeprefix("engine.")]
        assert fact.low is not None
        assert fact.high is not None
        assert unknown.low <= fact.low
        assert unknown.high >= fact.high


@given(st.floats(0.001, 0.999), st.floats(0.05, 0.95))
def test_a_triangle_is_scipys(place: float, peak: float) -> None:
    found = triangle(np.array([place]), 2.0, 2.0 + 3.0 * peak, 5.0)
    assert found[0] == pytest.approx(triang.ppf(place, peak, loc=2.0, scale=3.0))


def test_scores_of_the_prior_are_standard_normal_whatever_the_range() -> None:
    values = values_of(np.random.default_rng(0).standard_normal((4000, len(PATHS))))
    rest = unknowns()[place_of(REST)]
    assert np.mean(values[:, place_of(REST)] < 0.25 * rest.high) == pytest.approx(0.25, abs=0.03)
    alone = np.log(values[:, place_of(ALONE)])
    assert alone.std() == pytest.approx(np.log(2.0), abs=0.03)
    words = values[:, place_of(GQA)]
    assert [float(np.mean(words == at)) for at in range(3)] == pytest.approx([1 / 3] * 3, abs=0.03)


@given(scores)
def test_a_loaded_layer_costs_no_less_than_one_at_rest(drawn: list[float]) -> None:
    values = values_of(np.array(drawn))[0]
    assert values[place_of(REST)] <= values[place_of(LOAD)] * (1 + 1e-12)
    assert values[place_of(LOAD)] <= unknowns()[place_of(LOAD)].high * (1 + 1e-12)


@FEW
@given(st.lists(st.floats(-1.4, 1.4), min_size=len(PATHS), max_size=len(PATHS)))
def test_scores_of_values_lead_back_to_them(drawn: list[float]) -> None:
    values = values_of(np.array(drawn))[0]
    again = values_of(scores_of(named(values)))[0]
    assert again == pytest.approx(values, rel=1e-5)


def test_an_unknown_that_there_is_not_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"engine\.overlap"):
        place_of("engine.overlapp")


def test_the_error_of_ttft_is_larger_than_that_of_what_was_published() -> None:
    assert ttft_scale() > unknowns()[place_of(ALONE)].peak


def test_the_normal_scores_are_those_of_scipy() -> None:
    unknown = unknowns()[place_of("engine.kv_efficiency")]
    found = unknown.values(np.array([-1.0, 0.0, 2.0]))
    expected = 0.5 + norm.cdf([-1.0, 0.0, 2.0]) * 0.47
    assert found == pytest.approx(expected)
