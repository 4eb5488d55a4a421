"""Jalapeño's constants as an inverse problem: what is fitted, to what, and what that is worth."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.analysis.inverse import (
    CHOSEN,
    CONSTANTS,
    DELAY,
    Evidence,
    Floats,
    closed_form,
    constants_of,
    constants_text,
    engine_with,
    fit,
    gather,
)
from jalapeno.analysis.published import ENGINE
from jalapeno.analysis.reproduction import OBJECTIVES, Number
from jalapeno.catalogue import Kind
from tests.analysis.worlds import MODELS, Whole

pytestmark = pytest.mark.xdist_group("reproduction")
"""In one process, so that the reproduction is made once."""

TEACUP = catalogue.engine(ENGINE)
PATHS = [constant.path for constant in CONSTANTS]
FEW = settings(max_examples=25)

inside = st.tuples(*(st.floats(constant.low, constant.high) for constant in CONSTANTS))


@pytest.fixture(scope="module")
def evidence(whole: Whole) -> Evidence:
    return gather(whole.made.comparisons)


def published_as(evidence: Evidence, values: Floats) -> Evidence:
    """The evidence there would be if *values* were the truth."""
    twins = [number.published for number in evidence.numbers] * np.exp(evidence.residuals(values))
    numbers = [
        replace(number, published=float(twin))
        for number, twin in zip(evidence.numbers, twins, strict=True)
    ]
    return replace(evidence, numbers=tuple(numbers))


def with_published(evidence: Evidence, place: int, factor: float) -> Evidence:
    """*evidence* with one published number times *factor*."""
    numbers = list(evidence.numbers)
    numbers[place] = replace(numbers[place], published=numbers[place].published * factor)
    return replace(evidence, numbers=tuple(numbers))


def place_of(evidence: Evidence, model: str, objective: str) -> int:
    keys = [(n.outcome.scenario.model.name, n.objective) for n in evidence.numbers]
    return keys.index((model, objective))


# ---- the constants


def test_the_engines_constants_lie_inside_the_bounds_of_their_fit() -> None:
    for constant, value in zip(CONSTANTS, constants_of(TEACUP), strict=True):
        assert constant.low <= value <= constant.high, constant.path


@given(inside)
def test_an_engine_has_the_constants_it_was_given(values: tuple[float, ...]) -> None:
    found = constants_of(engine_with(TEACUP, values))
    assert found == pytest.approx(np.array(values), rel=1e-9, abs=1e-15)


def test_an_engine_given_its_own_constants_is_the_same() -> None:
    again = engine_with(TEACUP, constants_of(TEACUP))
    assert again.issue_layer_load == pytest.approx(TEACUP.issue_layer_load)
    assert replace(again, issue_layer_load=TEACUP.issue_layer_load) == TEACUP


@given(inside)
def test_nothing_but_the_constants_is_changed(values: tuple[float, ...]) -> None:
    changed = {path.partition(".")[0] for path in PATHS} | {"kv_efficiency"}
    other = engine_with(TEACUP, values)
    for each in fields(TEACUP):
        if each.name not in changed:
            assert getattr(other, each.name) == getattr(TEACUP, each.name)


@given(inside)
def test_reads_of_the_cache_are_as_efficient_as_those_of_weights(
    values: tuple[float, ...],
) -> None:
    other = engine_with(TEACUP, values)
    assert other.kv_efficiency == other.memory_efficiency


@given(inside)
def test_a_loaded_layer_never_costs_less_than_one_at_rest(values: tuple[float, ...]) -> None:
    other = engine_with(TEACUP, values)
    assert other.issue_layer_load >= other.issue_layer_rest


@given(inside)
def test_the_kernels_of_r1_are_the_measure_of_the_others(values: tuple[float, ...]) -> None:
    assert engine_with(TEACUP, values).maturity["deepseek-r1"] == 1.0


def test_a_constant_too_few_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        engine_with(TEACUP, constants_of(TEACUP)[:-1])


def test_what_is_fitted_says_so_in_the_catalogue() -> None:
    assert {TEACUP.facts[path].kind for path in PATHS} == {Kind.FITTED}


def test_the_range_of_a_fact_is_not_the_bound_of_a_fit_but_both_hold_its_value() -> None:
    for path in PATHS:
        fact = TEACUP.facts[path]
        assert fact.low is not None
        assert fact.high is not None
        assert isinstance(fact.value, float)
        assert fact.low <= fact.value <= fact.high


def test_the_delay_is_the_last_constant() -> None:
    assert PATHS[DELAY] == PATHS[-1] == "first_token_delay"


# ---- the closed form


@pytest.mark.parametrize("place", range(12))
def test_the_closed_form_is_near_the_simulation(evidence: Evidence, place: int) -> None:
    found = evidence.numbers[place]
    assert closed_form(found, evidence.engine) == pytest.approx(found.twin, rel=0.25)


def moved(evidence: Evidence, path: str, by: float) -> Floats:
    """Closed form with one constant moved, over the closed form as it is, number by number."""
    values = constants_of(evidence.engine)
    begin = evidence.residuals(values)
    values[PATHS.index(path)] += by
    found: Floats = np.exp(evidence.residuals(values) - begin)
    return found


@pytest.mark.parametrize("model", MODELS)
def test_a_delay_lengthens_a_request_by_itself_and_no_token(evidence: Evidence, model: str) -> None:
    values = constants_of(evidence.engine)
    whole_time = evidence.numbers[place_of(evidence, model, "min_e2e")]
    between = evidence.numbers[place_of(evidence, model, "min_tbt")]
    values[DELAY] += 0.1
    later = engine_with(evidence.engine, values)
    added = closed_form(whole_time, later) - closed_form(whole_time, evidence.engine)
    assert added == pytest.approx(0.1)
    assert closed_form(between, later) == pytest.approx(closed_form(between, evidence.engine))


@pytest.mark.parametrize("model", ["gpt-oss-120b", "kimi-k2.5"])
def test_maturity_touches_its_own_model_only(evidence: Evidence, model: str) -> None:
    ratios = moved(evidence, f"maturity.{model}", 0.05)
    for number, change in zip(evidence.numbers, ratios, strict=True):
        if number.outcome.scenario.model.name != model:
            assert change == 1.0
        elif number.objective == "peak":
            assert change > 1.01


def test_dearer_layers_make_all_numbers_worse(evidence: Evidence) -> None:
    ratios = moved(evidence, "issue_layer_rest", 2e-6)
    for number, change in zip(evidence.numbers, ratios, strict=True):
        is_latency = number.objective in ("min_e2e", "min_tbt")
        assert change > 1.0 if is_latency else change < 1.0


# ---- the evidence


def test_the_evidence_is_the_twelve_numbers_in_order(evidence: Evidence, whole: Whole) -> None:
    assert evidence.numbers == whole.numbers
    assert len(evidence.numbers) == 12
    assert evidence.engine == TEACUP


def test_a_ramp_is_the_simulation_over_the_closed_form(evidence: Evidence) -> None:
    steady = [closed_form(number, evidence.engine) for number in evidence.numbers]
    twins = [number.twin for number in evidence.numbers]
    assert evidence.ramps * steady == pytest.approx(np.array(twins))


def test_at_the_catalogues_constants_residuals_are_those_of_the_twin(evidence: Evidence) -> None:
    expected = [math.log1p(number.residual) for number in evidence.numbers]
    found = evidence.residuals(constants_of(evidence.engine))
    assert found == pytest.approx(np.array(expected), abs=1e-9)


def test_a_twin_that_says_what_was_published_leaves_no_residuals(whole: Whole) -> None:
    def perfect(number: Number) -> Number:
        return replace(number, published=number.twin)

    met = [
        replace(one, jalapeno=tuple(map(perfect, one.jalapeno))) for one in whole.made.comparisons
    ]
    evidence = gather(met)
    assert evidence.residuals(constants_of(evidence.engine)) == pytest.approx(0.0, abs=1e-9)


@FEW
@given(place=st.integers(0, 11), factor=st.floats(0.1, 10.0))
def test_a_residual_is_the_logarithm_of_its_own_published_number(
    evidence: Evidence, place: int, factor: float
) -> None:
    values = constants_of(evidence.engine)
    change = with_published(evidence, place, factor).residuals(values) - evidence.residuals(values)
    expected = np.zeros(12)
    expected[place] = -math.log(factor)
    assert change == pytest.approx(expected, abs=1e-9)


# ---- the fit


TRUTH = np.array([1.1, 0.9, 1.1, 0.97, 1.1, 1.1, 0.8])
"""Factors on the constants, for a fit to find again."""


@pytest.fixture(scope="module")
def found_again(evidence: Evidence) -> tuple[Evidence, Floats, Floats]:
    """Evidence made by known constants; these, and those that a fit finds."""
    truth = constants_of(evidence.engine) * TRUTH
    made = published_as(evidence, truth)
    return made, truth, fit(made)


def test_a_fit_explains_what_known_constants_made(
    found_again: tuple[Evidence, Floats, Floats],
) -> None:
    made, truth, found = found_again
    assert made.residuals(truth) == pytest.approx(0.0, abs=1e-9)
    assert np.abs(made.residuals(found)).max() < 0.01
    begin = constants_of(made.engine)
    assert np.abs(made.residuals(begin)).max() > 0.05


def test_a_fit_finds_the_constants_that_made_the_numbers(
    found_again: tuple[Evidence, Floats, Floats],
) -> None:
    _, truth, found = found_again
    assert found == pytest.approx(truth, rel=0.1)


def test_a_fit_to_what_the_constants_say_already_stays(evidence: Evidence) -> None:
    begin = constants_of(evidence.engine)
    assert fit(published_as(evidence, begin)) == pytest.approx(begin, rel=0.01)


def test_a_number_left_out_has_no_say(evidence: Evidence) -> None:
    plain = fit(evidence, without=3)
    assert fit(with_published(evidence, 3, 2.0), without=3) == pytest.approx(plain)


@pytest.fixture(scope="module")
def fitted(evidence: Evidence) -> Floats:
    return fit(evidence)


def test_a_fit_stays_inside_its_bounds(fitted: Floats) -> None:
    for constant, value in zip(CONSTANTS, fitted, strict=True):
        assert constant.low <= value <= constant.high, constant.path


def test_a_fit_without_a_delay_has_none(evidence: Evidence) -> None:
    assert fit(evidence, delay=False)[DELAY] == 0.0


def test_a_fit_is_no_worse_than_where_it_began(evidence: Evidence, fitted: Floats) -> None:
    begin = constants_of(evidence.engine)
    assert np.square(evidence.residuals(fitted)).sum() <= np.square(evidence.residuals(begin)).sum()


def test_the_catalogue_holds_about_what_a_fit_finds(evidence: Evidence, fitted: Floats) -> None:
    # Plans are held here and searched in the catalogue's fit, so they agree but roughly.
    for constant, now, then in zip(CONSTANTS, fitted, constants_of(evidence.engine), strict=True):
        if constant.path != "issue_layer_load":  # small, and traded for all of the others
            assert now == pytest.approx(then, rel=0.35), constant.path


# ---- leave one out


def test_each_of_the_twelve_is_left_out_once(whole: Whole) -> None:
    found = [(one.model, one.objective) for one in whole.made.left_out]
    assert found == [(n.outcome.scenario.model.name, n.objective) for n in whole.numbers]
    assert set(found) == {(model, objective) for model in MODELS for objective in OBJECTIVES}
    assert [one.published for one in whole.made.left_out] == [n.published for n in whole.numbers]


def test_what_is_fitted_comes_of_the_fit_to_all_twelve(
    whole: Whole, evidence: Evidence, fitted: Floats
) -> None:
    ratios = [one.fitted / one.published for one in whole.made.left_out]
    assert np.log(ratios) == pytest.approx(evidence.residuals(fitted), abs=1e-9)


def test_what_is_left_out_is_predicted_worse_than_what_is_fitted(whole: Whole) -> None:
    # Nine choices explain twelve numbers: this is what tells a forecast from a fit.
    fits = [abs(math.log(one.fitted / one.published)) for one in whole.made.left_out]
    guesses = [abs(math.log(one.predicted / one.published)) for one in whole.made.left_out]
    assert sum(guesses) > sum(fits)


def test_without_a_first_token_delay_the_numbers_fit_worse(whole: Whole) -> None:
    def size(values: list[float]) -> float:
        return math.sqrt(sum(math.log(value) ** 2 for value in values))

    left_out = whole.made.left_out
    bare = size([one.without_delay / one.published for one in left_out])
    assert bare > size([one.fitted / one.published for one in left_out])


# ---- the text


def test_every_fitted_and_chosen_constant_is_told(whole: Whole) -> None:
    assert list(constants_text()) == [*PATHS, *CHOSEN]
    assert dict(whole.made.constants) == dict(constants_text())


@pytest.mark.parametrize("path", PATHS)
def test_a_fitted_constant_is_told_with_its_unit_and_kind(path: str) -> None:
    assert constants_text()[path] == f"{TEACUP.facts[path].text} (fitted)"


@pytest.mark.parametrize("path", CHOSEN)
def test_a_chosen_constant_is_not_called_fitted(path: str) -> None:
    assert constants_text()[path].endswith(("(assumed)", "(estimated)"))


def test_nine_choices_are_made_for_twelve_numbers() -> None:
    assert len(CONSTANTS) + len(CHOSEN) == 9 == len(constants_text())
