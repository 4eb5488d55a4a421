"""Bands: deployments moved by draws, and fronts read at common speeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.analysis.frontier_points import Option
from jalapeno.analysis.posterior.bands import (
    REACHED,
    REPEATS,
    Moved,
    band,
    covers,
    draws_for,
    facts_of,
    moved_by,
    read_front,
)
from jalapeno.analysis.posterior.shipped import Draws, shipped
from jalapeno.analysis.posterior.unknowns import (
    GQA,
    HYPER,
    LOADED,
    MLA,
    PATHS,
    SYSTEM,
    named,
    place_of,
    unknowns,
)
from jalapeno.analysis.published import ENGINE
from jalapeno.analysis.subject import Subject, subject
from jalapeno.mapping import Load, Plan, compile_price, estimate
from jalapeno.simulation import Pool, Role

SHIPPED = shipped()


def asked(model: str = "gpt-oss-120b", **overrides: str) -> Subject:
    facts = {path.replace("__", "."): text for path, text in overrides.items()}
    return subject(model, SYSTEM, ENGINE, overrides=facts)


def option(of: Subject, concurrency: int = 64, tp: int = 4) -> Option:
    plan = Plan(tp=tp, max_running=concurrency, max_tokens=2048, precision=of.precision)
    pools = (Pool(role=Role.UNIFIED, plan=plan, replicas=1),)
    price = compile_price(of.model, plan, of.system, of.engine)
    prompt, output = of.mean_lengths
    load = Load(concurrency=concurrency, prompt=prompt, output=output)
    return Option(pools, concurrency, estimate((price,), (1,), load))


def as_catalogued() -> dict[str, float]:
    """The draw that says what the catalogue says."""
    facts = facts_of(catalogue.system(SYSTEM), catalogue.engine(ENGINE))
    values = {MLA: 0.0, GQA: 0.0, **dict.fromkeys(HYPER, 0.05)}
    for unknown in unknowns():
        if unknown.path not in values:
            value = facts[unknown.path].value
            places = unknown.choices
            values[unknown.path] = float(places.index(str(value)) if places else value)
    return values


def test_draws_that_say_what_the_catalogue_says_move_nothing() -> None:
    of = asked()
    moved = Moved(of, (as_catalogued(),))
    factors = moved.factors([option(of), option(of, 1)])
    assert factors.shape == (2, 1, 4)
    assert factors == pytest.approx(1.0, rel=1e-9)


def test_factors_are_the_closed_form_under_the_draw_over_that_of_the_catalogue() -> None:
    of = asked()
    slower = {**as_catalogued(), "engine.issue_layer_rest": 40e-6, "engine.issue_layer_load": 60e-6}
    tbt, throughput, _, e2e = Moved(of, (slower,)).factors([option(of)])[0, 0]
    assert tbt > 1.3
    assert throughput < 0.8
    assert e2e > 1.2


def test_an_option_is_looked_at_once() -> None:
    of = asked()
    moved = Moved(of, (as_catalogued(),))
    one = option(of)
    first = moved.factors([one])
    moved.seen[one.key] = 2.0 * first[0]
    assert np.array_equal(moved.factors([one]), 2.0 * first)


def test_what_does_not_fit_under_a_draw_is_no_number() -> None:
    # BF16 attention keeps a BF16 cache, which is more than half of what one chip of R1's two holds
    of = asked("gpt-oss-120b")
    tight = option(of, 850, 1)
    wide = {**as_catalogued(), GQA: 2.0}
    factors = Moved(of, (as_catalogued(), wide)).factors([tight])
    assert np.isfinite(factors[0, 0]).all()
    assert factors[0, 1, 1] != 1.0 or np.isnan(factors[0, 1, 1])


def test_facts_that_a_user_set_stay_as_he_set_them() -> None:
    of = asked(engine__overlap="0.5")
    drawn = draws_for(SHIPPED, facts_of(of.system, of.engine), 3)
    assert len(drawn) == 3
    for values, row in zip(drawn, SHIPPED.values, strict=False):
        assert set(PATHS) - set(values) == {"engine.overlap"}
        assert values["engine.imbalance"] == row[place_of("engine.imbalance")]


def test_a_choice_of_formats_stays() -> None:
    of = asked()
    chosen = replace(of, precision=replace(of.precision, head="bf16"))
    wide = {**as_catalogued(), GQA: 2.0}
    served = Moved(of, (wide,)).factors([option(of)])
    kept = Moved(chosen, (wide,)).factors([option(chosen)])
    assert served[0, 0, 1] != pytest.approx(1.0, abs=1e-3)
    assert kept[0, 0] == pytest.approx(1.0, rel=1e-9)


def test_draws_are_of_jalapeno_on_its_own_engine_only() -> None:
    assert covers("jalapeno-rack", ENGINE)
    assert covers("jalapeno-pod", ENGINE)
    assert not covers("jalapeno-rack", "vllm")
    assert not covers("gb300-nvl72", "tensorrt-llm")
    other = subject("gpt-oss-120b", "gb200-nvl72")
    assert moved_by(other, SHIPPED) is None


def test_errors_are_centred_and_as_wide_as_their_scale() -> None:
    narrow, wide = as_catalogued(), {**as_catalogued(), LOADED: 0.2}
    errors = Moved(asked(), (narrow, wide)).errors(LOADED)
    assert errors.shape == (2, REPEATS)
    assert np.median(errors, axis=1) == pytest.approx(1.0)
    assert np.log(errors[1]) == pytest.approx(4.0 * np.log(errors[0]))


# ---- fronts


fronts = st.lists(
    st.tuples(st.floats(1.0, 500.0), st.floats(10.0, 1e5)),
    min_size=2,
    max_size=8,
    unique_by=lambda p: p[0],
)


@given(fronts, st.floats(0.5, 600.0))
def test_a_front_read_at_a_speed_is_what_the_best_points_say(
    points: list[tuple[float, float]], speed: float
) -> None:
    speeds, rates = map(np.array, zip(*points, strict=True))
    found = read_front(speeds, rates, np.array([speed]))[0]
    if speed > speeds.max() * (1 + 1e-9):
        assert np.isnan(found)
        return
    as_fast = rates[speeds >= speed]
    if len(as_fast):
        assert found >= as_fast.max() * (1 - 1e-9)  # what a faster point does, a slower one may
    assert found <= rates.max() * (1 + 1e-9)


def test_points_that_do_not_fit_are_left_out_of_a_front() -> None:
    speeds, rates = np.array([10.0, np.nan, 40.0]), np.array([100.0, np.nan, 20.0])
    assert read_front(speeds, rates, np.array([20.0]))[0] == pytest.approx(np.sqrt(2000.0))
    nothing = np.array([np.nan])
    assert np.isnan(read_front(nothing, nothing, np.array([1.0]))).all()


@given(fronts)
def test_a_band_of_draws_that_move_nothing_is_the_front_itself(
    points: list[tuple[float, float]],
) -> None:
    speeds, rates = map(np.array, zip(*sorted(points), strict=True))
    still = np.ones((5, 1))
    found = band(
        np.tile(speeds[:, None], 5), np.tile(rates[:, None], 5), still, list(map(float, speeds))
    )
    at = np.array([one.speed for one in found])
    expected = read_front(speeds, rates, at)
    for ends in ("low", "median", "high"):
        assert [getattr(one.rate, ends) for one in found] == pytest.approx(expected)


def test_a_band_ends_where_draws_are_not_as_fast_any_more() -> None:
    speeds = np.stack([np.linspace(50.0, 150.0, 40), np.linspace(100.0, 300.0, 40)])
    rates = np.stack([np.full(40, 1000.0), np.full(40, 100.0)])
    found = band(speeds, rates, np.ones((40, 1)), [100.0, 200.0])
    reached = [one.reached for one in found]
    assert reached == sorted(reached, reverse=True)
    assert min(reached) >= REACHED
    assert max(one.speed for one in found) < 110.0


def test_wider_errors_make_a_wider_band() -> None:
    speeds, rates = np.full((2, 6), [[10.0], [20.0]]), np.full((2, 6), [[100.0], [50.0]])
    narrow = band(speeds, rates, np.tile([0.95, 1.0, 1.05], (6, 1)), [10.0, 20.0])
    wide = band(speeds, rates, np.tile([0.8, 1.0, 1.25], (6, 1)), [10.0, 20.0])
    assert wide[0].rate.ratio > narrow[0].rate.ratio > 1.0


def test_shipped_draws_move_real_deployments_by_factors_near_one() -> None:
    of = asked()
    moved = moved_by(of, SHIPPED, 12)
    assert isinstance(moved, Moved)
    factors = moved.factors([option(of)])[0]
    assert np.all(np.isfinite(factors))
    assert 0.4 < float(np.median(factors[:, 1])) < 2.5


def test_draws_are_rows_by_path() -> None:
    assert isinstance(SHIPPED, Draws)
    assert (
        named(SHIPPED.values[0])["chip.steppings.A0"]
        == SHIPPED.values[0][place_of("chip.steppings.A0")]
    )
