"""Options of speculation: numbers, rates, workloads, and what does not go together."""

from __future__ import annotations

from typing import Any

import pytest

from jalapeno import catalogue
from jalapeno.errors import BadPlan, UsageError
from jalapeno.presentation.deployment_arguments import DeploymentOptions
from jalapeno.presentation.speculation import speculation


def said(draft: int | None = None, accept: str | None = None, model: str = "deepseek-r1") -> Any:
    return speculation(DeploymentOptions(draft=draft, accept=accept), catalogue.model(model))


def test_nothing_said_is_no_speculation() -> None:
    assert said() == {}
    assert said(draft=0) == {}


@pytest.mark.parametrize(
    ("drafted", "text", "length"),
    [
        (3, "2.8", 2.8),
        (3, "1", 1.0),
        (3, "0.9,0.5,0.2", 1 + 0.9 + 0.45 + 0.09),
        (3, " 0.9, 0.5, 0.2 ", 1 + 0.9 + 0.45 + 0.09),
        (1, "0.8", 1.8),
        (1, "1.8", 1.8),
        (3, "tensorrt-llm-1k-2k", 2.82),
    ],
)
def test_acceptance_is_a_number_or_rates_or_a_workload(
    drafted: int, text: str, length: float
) -> None:
    found = said(drafted, text)
    assert found == {"draft_tokens": drafted, "acceptance_length": pytest.approx(length)}


def test_acceptance_has_no_default_and_what_is_known_is_listed() -> None:
    with pytest.raises(UsageError, match=r"has no default; .* are tensorrt-llm-1k-2k with 1, 2, 3"):
        said(3)
    with pytest.raises(UsageError, match=r"of llama-3.1-8b, in the catalogue there is none$"):
        said(3, model="llama-3.1-8b")


def test_acceptance_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^--accept 2.8 without --draft: say how many tokens"):
        said(accept="2.8")


def test_an_unknown_workload_is_refused_with_those_known() -> None:
    with pytest.raises(BadPlan, match=r"on 'chats' is measured; there are tensorrt-llm-1k-2k"):
        said(3, "chats")


@pytest.mark.parametrize("text", ["0.9,0.5", "0.9,0.5,1.2", "2.8,1"])
def test_rates_must_be_as_many_as_tokens(text: str) -> None:
    with pytest.raises(UsageError, match=r"with --draft 3, write 3 rates from 0 to 1, or one numb"):
        said(3, text)
