"""Draft layers of models: what the catalogue says of them, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import Kind, Row, model_of
from jalapeno.catalogue.check import check_row
from jalapeno.errors import BadFact

DRAFTERS = ("deepseek-r1", "deepseek-v3.1", "deepseek-v3.2", "glm-5", "qwen3.5-397b-a17b")


def with_acceptance(lengths: dict[str, Any]) -> dict[str, Any]:
    tree = catalogue.tree("models", "deepseek-r1")
    default = {"kind": "measured", "source": "a test"}
    tree["draft"] = tree["draft"] | {"acceptance": {"chats": {"default": default, **lengths}}}
    return tree


def test_only_models_whose_makers_ship_such_layers_have_them() -> None:
    names = [name for name in catalogue.names("models") if catalogue.model(name).draft]
    assert tuple(names) == DRAFTERS


@pytest.mark.parametrize("name", DRAFTERS)
def test_their_shape_is_published_and_their_acceptance_measured(name: str) -> None:
    facts = catalogue.model(name).facts
    for part in ("layers", "modules", "joined"):
        assert facts[f"draft.{part}"].kind is Kind.PUBLISHED
    measured = [path for path in facts if path.startswith("draft.acceptance")]
    assert all(facts[path].kind is Kind.MEASURED for path in measured)
    assert bool(measured) == (name in ("deepseek-r1", "qwen3.5-397b-a17b"))


def test_the_acceptance_of_r1_is_what_nvidia_measured() -> None:
    draft = catalogue.model("deepseek-r1").draft
    assert draft is not None
    lengths = draft.acceptance["tensorrt-llm-1k-2k"]
    assert lengths == {"1": 1.92, "2": 2.58, "3": 2.82, "4": 2.99, "5": 3.01}


def test_a_model_may_state_acceptance_of_its_own() -> None:
    made = model_of(with_acceptance({"1": 1.5, "3": "2.5"}))
    assert made.draft is not None
    assert made.draft.acceptance == {"chats": {"1": 1.5, "3": 2.5}}
    assert made.facts["draft.acceptance.chats.3"].source == "a test"


@pytest.mark.parametrize(
    ("lengths", "why"),
    [
        ({"1": 2.5}, r"a step gives from 1 \(as with fewer drafted\) to 2 tokens, got 2.5$"),
        (
            {"2": 0.9},
            r"chats.2: a step gives from 1 \(as with fewer drafted\) to 3 tokens, got 0.9",
        ),
        ({"1": 1.8, "2": 1.7}, r"chats.2: a step gives from 1.8 \(as with fewer drafted\) to 3"),
        ({"many": 1.5}, r"chats.many: 'many' is no number of drafted tokens, such as 1, 2, 3$"),
        ({"0": 1.0}, r"chats.0: '0' is no number of drafted tokens"),
        ({"1": "fast"}, r"draft.acceptance.chats.1: "),
    ],
)
def test_what_a_step_cannot_give_is_refused(lengths: dict[str, Any], why: str) -> None:
    with pytest.raises(BadFact, match=why):
        model_of(with_acceptance(lengths))


@pytest.mark.parametrize("part", ["layers", "modules", "joined"])
def test_a_draft_without_layers_is_none(part: str) -> None:
    tree = catalogue.tree("models", "deepseek-r1")
    tree["draft"] = tree["draft"] | {part: {"value": 0, "kind": "assumed", "source": "a test"}}
    with pytest.raises(BadFact, match=rf"draft.{part}: must be more than zero"):
        model_of(tree)


def test_acceptance_can_be_replaced_like_any_fact() -> None:
    path = "draft.acceptance.tensorrt-llm-1k-2k.3"
    made = model_of(catalogue.override(catalogue.tree("models", "deepseek-r1"), path, "2.7"))
    assert made.draft is not None
    assert made.draft.acceptance["tensorrt-llm-1k-2k"]["3"] == 2.7


# ---- rows


ROWS = catalogue.rows("gb300-deepseek-r1-mtp")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_rows_draft_what_their_recipes_say(row: Row) -> None:
    # mtp1 where a rank runs 256 sequences, mtp3 elsewhere
    assert row.draft_tokens == (1 if row.decode.slots == 256 else 3)
    assert row.decode.slots_kind == "recipe"


def test_a_row_drafts_where_multi_token_prediction_is_on_and_only_there() -> None:

    for wrong in (replace(ROWS[0], mtp=False), replace(ROWS[0], draft_tokens=0)):
        with pytest.raises(BadFact, match=r"^here: draft_tokens is \d, but mtp is (true|false): "):
            check_row(wrong, "here")
