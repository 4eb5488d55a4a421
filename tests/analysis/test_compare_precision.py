"""One precision for all: what every engine has kernels for, and no narrower than asked."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from jalapeno import catalogue
from jalapeno.analysis.compare_precision import Stack, equal, format_named, uniform
from jalapeno.catalogue import FORMATS
from jalapeno.errors import BadPlan, UnknownName
from jalapeno.mapping import Precision
from jalapeno.mapping.precision import operand_bits, stored_bytes


def stack(system: str) -> Stack:
    on = catalogue.system(system)
    return Stack(catalogue.engine(on.engine), on.chip)


OURS, GB200, GB300 = (stack(name) for name in ("jalapeno-rack", "gb200-nvl72", "gb300-nvl72"))
EVERY = [stack(name) for name in catalogue.names("systems")]
WEIGHTS = ("experts", "shared", "dense", "attention", "head")


def test_kernels_are_what_the_engine_takes_or_makes() -> None:
    assert OURS.kernels == {"mxfp4", "mxfp8"}
    assert {"mxfp4", "nvfp4", "fp8", "bf16", "mxfp8"} <= GB200.kernels


def test_a_chip_may_differ_from_the_engine_s_others() -> None:
    engine = replace(GB200.engine, activations={"mxfp4": "mxfp8", "gb200/mxfp4": "bf16"})
    assert Stack(engine, GB200.chip).meets("mxfp4") == "bf16"
    assert Stack(engine, GB300.chip).meets("mxfp4") == "mxfp8"
    assert Stack(engine, GB300.chip).meets("nvfp4") is None


def test_equal_precision_of_the_published_systems() -> None:
    found = equal([OURS, GB200, GB300])
    assert (found.experts, found.experts_act) == ("mxfp4", "mxfp8")
    assert (found.attention, found.attention_act, found.core) == ("mxfp8", "mxfp8", "mxfp8")
    assert (found.head, found.kv) == ("mxfp8", "fp8")


@pytest.mark.parametrize("first", EVERY, ids=lambda one: one.chip.name)
@pytest.mark.parametrize("second", EVERY[::3], ids=lambda one: one.chip.name)
def test_equal_formats_have_kernels_on_both(first: Stack, second: Stack) -> None:
    try:
        found = equal([first, second])
    except BadPlan:
        wide = {name for name in first.kernels & second.kernels if operand_bits(name) >= 8}
        assert not wide
        return
    assert found == equal([second, first])
    for name in WEIGHTS:
        assert getattr(found, name) in first.kernels & second.kernels
    narrowest = min(stored_bytes(name) for name in first.kernels & second.kernels)
    assert stored_bytes(found.experts) == narrowest
    assert operand_bits(found.attention) >= 8


def test_activations_are_the_widest_that_any_engine_takes() -> None:
    wide = Stack(replace(GB200.engine, activations={"mxfp4": "bf16", "bf16": "bf16"}), GB200.chip)
    narrow = Stack(replace(GB200.engine, activations={"mxfp4": "mxfp8", "bf16": "bf16"}), OURS.chip)
    assert equal([wide, narrow]).experts_act == "bf16"


def test_nothing_in_common_is_refused_with_what_each_has() -> None:
    alone = Stack(replace(GB200.engine, activations={"bf16": "bf16"}), GB200.chip)
    with pytest.raises(BadPlan) as caught:
        equal([OURS, alone])
    assert "jalapeno-engine on jalapeno has mxfp4, mxfp8" in str(caught.value)
    assert "compare as shipped, or name one format with --precision" in str(caught.value)


# ---- one format for all


@pytest.mark.parametrize("name", ["fp8", "mxfp8", "mxfp4"])
def test_one_format_is_that_of_all_weights(name: str) -> None:
    found = uniform(name, [OURS, GB200])
    assert {getattr(found, part) for part in WEIGHTS} == {name}
    assert operand_bits(found.core) >= 8
    assert isinstance(found, Precision)


def test_a_format_of_the_same_width_counts_as_a_kernel() -> None:
    assert uniform("fp8", [OURS]).attention == "fp8"


def test_a_width_without_a_kernel_is_refused() -> None:
    with pytest.raises(BadPlan, match="jalapeno-engine on jalapeno has no kernel for 16-bit"):
        uniform("bf16", [GB200, OURS])


def test_a_misspelt_format_has_a_nearest() -> None:
    with pytest.raises(UnknownName, match="no format 'fp9'; did you mean 'fp8'"):
        format_named("fp9")
    assert all(format_named(name) == name for name in FORMATS)


def test_every_class_has_a_format() -> None:
    for part in fields(Precision):
        assert getattr(equal([GB200, GB300]), part.name) in FORMATS
