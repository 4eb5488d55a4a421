"""Answers are the means (or medians) that a full report of the same run would give."""

from __future__ import annotations

import numpy as np
import pytest

from jalapeno import measure, simulate
from jalapeno.analysis.evidence.answers import Answer, answer, answers, predictions
from jalapeno.analysis.evidence.scenarios import scenario_for
from jalapeno.cost import PARTS
from tests.analysis.evidence.test_scenarios import split
from tests.analysis.validation.points import row

SAMPLES = (
    row(1, concurrency=4),
    row(1, concurrency=16, system="h100-hgx", model="llama-3.3-70b", precision="fp8"),
    split(concurrency=16),
)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["system"])
def test_an_answer_has_the_means_and_medians_of_the_report(sample: dict[str, object]) -> None:
    scenario = scenario_for(sample)
    latency = measure(simulate(scenario)).latency
    mean, median = answer(scenario), answer(scenario, "median")
    assert mean.ttft_ms == pytest.approx(latency.ttft_ms.mean, rel=1e-12)
    assert mean.tpot_ms == pytest.approx(latency.tpot_ms.mean, rel=1e-12)
    assert median.ttft_ms == pytest.approx(latency.ttft_ms.median, rel=1e-12)
    assert median.tpot_ms == pytest.approx(latency.tpot_ms.median, rel=1e-12)


def test_shares_are_of_the_parts_of_a_step_and_add_up_to_one() -> None:
    found = answer(scenario_for(SAMPLES[0]))
    assert len(found.shares) == len(PARTS)
    assert sum(found.shares) == pytest.approx(1.0)
    assert min(found.shares) >= 0.0


def test_the_same_run_gives_the_same_answer() -> None:
    assert answer(scenario_for(SAMPLES[0])) == answer(scenario_for(SAMPLES[0]))


def test_answers_come_in_the_order_of_the_rows_and_say_why_there_is_none() -> None:
    large = row(2, model="deepseek-r1", precision="fp8", tp=1)
    seen: list[int] = []
    found = answers([SAMPLES[0], large, SAMPLES[1]], on_done=seen.append)
    assert found[0] == answer(scenario_for(SAMPLES[0]))
    assert isinstance(found[1], str)
    assert "deepseek-r1" in found[1]
    assert found[2] == answer(scenario_for(SAMPLES[1]))
    assert seen == [1, 2, 3]


def test_a_row_that_states_medians_is_answered_with_medians() -> None:
    (found,) = answers([{**SAMPLES[0], "statistic": "median"}])
    assert found == answer(scenario_for(SAMPLES[0]), "median")


def test_predictions_hold_those_rows_that_have_an_answer() -> None:
    shares = tuple(np.full(len(PARTS), 1 / len(PARTS)).tolist())
    said: list[Answer | str] = [Answer(10.0, 2.0, shares), "does not fit"]
    found = predictions([{"id": "a"}, {"id": "b"}], said)
    assert found["id"].to_list() == ["a"]
    assert found["predicted_ttft_ms"].to_list() == [10.0]
    assert found["predicted_tpot_ms"].to_list() == [2.0]
    assert found["share_memory"].to_list() == [shares[0]]


def test_no_answers_at_all_still_have_columns() -> None:
    found = predictions([], [])
    assert found.is_empty()
    assert {"id", "predicted_tpot_ms", *(f"share_{part}" for part in PARTS)} <= set(found.columns)
