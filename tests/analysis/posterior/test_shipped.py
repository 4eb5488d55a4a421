"""The draws that ship: what they say of themselves, and whether they still hold."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from jalapeno.analysis.posterior.quoted import name_of
from jalapeno.analysis.posterior.shipped import (
    NAME,
    SHIPPED,
    as_written,
    physics_digest,
    read_draws,
    shipped,
)
from jalapeno.analysis.posterior.unknowns import PATHS, Shape, place_of, unknowns
from jalapeno.errors import BadFact
from tests.analysis.worlds import Whole

TEXT = (files("jalapeno.catalogue") / "data" / "posterior" / NAME).read_text("utf-8")


def test_the_draws_say_where_they_come_from() -> None:
    found = shipped()
    assert found.kind == "fitted"
    assert "published numbers" in found.source
    assert found.as_of
    assert found.version
    assert len(found.values) == SHIPPED
    assert len(found.numbers) == 12


def test_the_draws_are_of_the_physics_that_ship_with_them() -> None:
    assert not shipped().stale, "make posterior writes them anew"


def test_other_draws_or_facts_give_another_digest() -> None:
    values = shipped().values
    moved = values.copy()
    moved[0, place_of("engine.memory_efficiency")] *= 0.97
    assert physics_digest(moved) != physics_digest(values) == shipped().digest
    old = TEXT.replace(shipped().digest, "0" * 16)
    assert read_draws(old, "old").stale


def test_every_draw_lies_inside_its_prior() -> None:
    values = shipped().values
    for place, unknown in enumerate(unknowns()):
        column = values[:, place]
        if unknown.choices:
            assert set(column) <= set(range(len(unknown.choices)))
        elif unknown.shape is not Shape.LOG_NORMAL:
            assert column.min() >= unknown.low * (1 - 1e-5)
            assert column.max() <= unknown.high * (1 + 1e-5)


def test_draws_of_other_unknowns_are_refused() -> None:
    with pytest.raises(BadFact, match=r"engine\.overlap.*posterior --ship"):
        read_draws(TEXT.replace('"engine.overlap"', '"engine.overlaps"'), "posterior/odd")


def test_draws_that_are_no_rows_are_refused() -> None:
    head, _, tail = TEXT.partition("draws = [")
    with pytest.raises(BadFact, match=f"rows of {len(PATHS)} numbers"):
        read_draws(head + "draws = [\n[1.0, 2.0]," + tail.partition("],\n")[2][-0:0] + "]", "odd")


def test_a_number_is_read_back_as_it_was_written() -> None:
    values = np.array([[1.23456789e-6, 0.5, 13.0]])
    assert as_written(as_written(values)) == pytest.approx(as_written(values), rel=0)
    assert as_written(values) == pytest.approx(values, rel=1e-5)


@pytest.mark.xdist_group("reproduction")
def test_shipped_draws_still_hold_the_published_numbers(whole: Whole) -> None:
    bands = whole.made.bands
    assert len(bands) == 12
    held = [one for one in bands if one.low <= one.published <= one.high]
    missed = [f"{one.model}/{one.objective}" for one in bands if one not in held]
    assert len(held) >= 10, missed
    for one in bands:
        assert one.low < one.lower < one.median < one.upper < one.high
        assert one.high / one.low < 6.0


@pytest.mark.xdist_group("reproduction")
def test_every_quoted_number_has_the_interval_it_was_left_out_with(whole: Whole) -> None:
    known = {one.name: one for one in shipped().numbers}
    for comparison in whole.made.comparisons:
        for number in comparison.jalapeno:
            left = known[name_of(comparison.claim.model, number)]
            scale = 1e3 if number.objective == "min_tbt" else 1.0
            assert left.published * scale == pytest.approx(number.published)
    for one in whole.made.bands:
        assert one.left_out is not None
