"""Cuts use all chips, each in one way, and are all that the brief of a planner asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.mapping import Plan
from jalapeno.mapping.cuts import RANK_CHIPS, Ways, cuts, sizes
from tests.mapping.worlds import FEW, in_bf16

ALL = Ways(pipelines=(1, 2, 4, 8), contexts=(1, 2, 4, 8), whole_shared=(False, True))
PRECISION = in_bf16()


def made(model: str, chips: int, ways: Ways = ALL) -> list[Plan]:
    return list(cuts(catalogue.model(model), chips, PRECISION, ways))


def labels(model: str, chips: int, ways: Ways = ALL) -> set[str]:
    return {plan.label for plan in made(model, chips, ways)}


@FEW
@given(st.integers(1, 80), st.sampled_from(("deepseek-r1", "gpt-oss-120b", "llama-3.1-70b")))
def test_every_cut_uses_all_chips_and_none_comes_twice(chips: int, model: str) -> None:
    found = made(model, chips)
    assert found
    assert len(set(found)) == len(found)
    for plan in found:
        assert plan.chips == chips
        assert chips % plan.pp == 0
        assert plan.tp % plan.cp == 0


@FEW
@given(st.integers(1, 80))
def test_experts_come_out_even_with_the_fewest_copies(chips: int) -> None:
    for plan in made("deepseek-r1", chips):
        assert (256 + plan.redundant) % plan.ep == 0
        assert plan.redundant < plan.ep


def test_wide_parallelism_over_72_chips_takes_32_copies() -> None:
    (wide,) = [plan for plan in made("deepseek-r1", 72, Ways()) if plan.dp == 72]
    assert (wide.redundant, wide.label) == (32, "DEP72+32")


def test_eight_chips_of_the_plain_sort() -> None:
    assert labels("deepseek-r1", 8, Ways()) == {
        *("TP8", "TP8EP2", "TP8EP4", "TEP8"),
        *("DEP8", "TP2DP4EP8", "TP4DP2EP8"),
    }


def test_pipelines_and_shared_contexts_are_tried_where_asked() -> None:
    piped = labels("deepseek-r1", 8, Ways(pipelines=(1, 2)))
    assert piped - labels("deepseek-r1", 8, Ways()) == {"TP4PP2", "TP4EP2PP2", "TEP4PP2"}
    shared = labels("deepseek-r1", 4, Ways(contexts=(1, 2)))
    assert {"TP4CP2", "TEP4CP2", "TP2DP2EP4CP2"} <= shared
    assert "DEP4CP2" not in shared


def test_shared_experts_may_be_whole_only_where_there_are_some() -> None:
    whole = Ways(whole_shared=(False, True))
    assert any(plan.whole_shared for plan in made("deepseek-r1", 8, whole))
    assert not any(plan.whole_shared for plan in made("gpt-oss-120b", 8, whole))
    assert not any(plan.whole_shared for plan in made("deepseek-r1", 1, whole))


def test_a_dense_model_has_no_experts_to_spread() -> None:
    assert labels("llama-3.1-70b", 8, Ways(pipelines=(1, 2))) == {"TP8", "TP4PP2"}


def test_attention_ranks_lie_inside_a_tray() -> None:
    assert {plan.tp for plan in made("deepseek-r1", 64, Ways()) if plan.dp > 1} == set(RANK_CHIPS)


@pytest.mark.parametrize(
    ("most", "found"),
    [
        (1, (1,)),
        (8, (1, 2, 4, 8)),
        (72, (1, 2, 4, 8, 16, 24, 32, 36, 64, 72)),
        (128, (1, 2, 4, 8, 16, 32, 64, 128)),
        (7, (1, 2, 4, 7)),
    ],
)
def test_sizes_are_powers_of_two_and_large_shares(most: int, found: tuple[int, ...]) -> None:
    assert sizes(most) == found


@FEW
@given(st.integers(1, 3000))
def test_sizes_rise_from_one_to_the_most(most: int) -> None:
    found = sizes(most)
    assert found == tuple(sorted(set(found)))
    assert (found[0], found[-1]) == (1, most)
