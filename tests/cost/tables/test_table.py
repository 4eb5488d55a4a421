"""Tables: axes that go together, and operators that are measured once."""

from __future__ import annotations

import numpy as np
import pytest

from jalapeno.catalogue import Kind
from jalapeno.cost import Operator, price
from jalapeno.cost.operator import MEASURED
from jalapeno.cost.tables import Grid
from jalapeno.cost.tables.table import Axis, StepTable, StepTables, weakest_of
from jalapeno.errors import BadFact
from tests.cost.tables.profiles import line

SQUARE = Grid((np.array([1.0, 2.0]), np.array([1.0, 2.0])), np.ones((2, 2)), Kind.FITTED, "by hand")


def test_a_table_names_every_axis_of_its_grid_once() -> None:
    for axes in ((Axis.PROMPT,), (Axis.PROMPT, Axis.PROMPT), (Axis.PROMPT, *[Axis.CACHED] * 2)):
        with pytest.raises(BadFact, match=r"table it: axes prompt.* name each axis"):
            StepTable("it", axes, SQUARE)


def test_attention_does_not_go_by_tokens() -> None:
    with pytest.raises(BadFact, match=r"tokens, context: those of attention"):
        StepTable("it", (Axis.TOKENS, Axis.CONTEXT), SQUARE)


def test_missing_axes_come_first() -> None:
    table = StepTable("it", (Axis.DECODING, Axis.CONTEXT), SQUARE)
    assert table.placed == (-1, -1, Axis.DECODING, Axis.CONTEXT)
    assert table.attends
    assert not line().attends


def test_no_operator_is_measured_twice() -> None:
    with pytest.raises(BadFact, match=r"here: two tables stand for qkv"):
        StepTables("here", "", (line("one"), line("two")))
    with pytest.raises(BadFact, match=r"here: it has no table"):
        StepTables("here", "", ())


def test_tables_are_as_weak_as_the_weakest() -> None:
    weak = StepTable("weak", (Axis.DECODING, Axis.CONTEXT), SQUARE, ("decode attention, full",))
    assert StepTables("here", "", (line(), weak)).kind is Kind.FITTED
    assert weakest_of([line()]) is weakest_of([]) is Kind.MEASURED


def test_a_measured_operator_has_no_price_without_its_table() -> None:
    with pytest.raises(ValueError, match=r"operator it: a table says what it costs"):
        price(Operator("it", {"family": MEASURED}), 1.0)
