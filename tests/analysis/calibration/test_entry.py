"""A fitted engine as an entry: read back, it is the engine that was fitted."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from jalapeno import catalogue
from jalapeno.analysis.calibration.certainty import certainty
from jalapeno.analysis.calibration.constants import CONSTANTS, LAYER, engine_with, factors
from jalapeno.analysis.calibration.entry import entry_text, entry_tree
from jalapeno.analysis.calibration.fit import Fit
from jalapeno.analysis.calibration.residuals import Problem
from jalapeno.catalogue import Engine, Kind, engine_of
from tests.analysis.calibration.small import CONSTANTS as SMALL

NAMED = {
    "name": "mine",
    "version": "1.2",
    "source": "made up: 13 points on 7 curves",
    "as_of": "2026-11-30",
}


def tree_of(fit: Fit, base: str = "vllm") -> dict[str, Any]:
    return entry_tree(fit, certainty(fit).interval, base, NAMED)


def read_back(tree: dict[str, Any]) -> Engine:
    return engine_of(tomllib.loads(entry_text(tree, "a remark")))


def test_what_is_written_reads_back_as_the_engine_that_was_fitted(exact: Fit) -> None:
    found = read_back(tree_of(exact))
    fitted = engine_with(catalogue.engine("vllm"), SMALL, exact.values.tolist())
    for field in fields(Engine):
        value, expected = getattr(found, field.name), getattr(fitted, field.name)
        match field.name:
            case "name" | "title" | "version" | "facts":
                continue
            case "issue_scale":
                assert set(value) == set(expected)
                assert value == pytest.approx(expected, rel=1e-5)
            case _ if isinstance(expected, float):
                assert value == pytest.approx(expected, rel=1e-5), field.name
            case _:
                assert value == expected, field.name
    assert (found.name, found.title, found.version) == ("mine", "vLLM, fitted", "1.2")


def test_every_fitted_constant_is_a_fact_of_that_kind_with_its_interval(exact: Fit) -> None:
    facts = read_back(tree_of(exact)).facts
    low, high = certainty(exact).interval
    for place, constant in enumerate(SMALL):
        fact = facts[constant.path]
        assert (fact.kind, fact.source, fact.as_of) == (
            Kind.FITTED,
            NAMED["source"],
            NAMED["as_of"],
        )
        assert fact.low is not None
        assert fact.high is not None
        assert isinstance(fact.value, float)
        assert fact.low <= fact.value <= fact.high
        assert fact.low == pytest.approx(low[place], rel=0.01)
        assert fact.high == pytest.approx(high[place], rel=0.01)


def test_all_else_keeps_the_evidence_of_the_base(exact: Fit) -> None:
    facts, before = read_back(tree_of(exact)).facts, catalogue.engine("vllm").facts
    fitted = {constant.path for constant in SMALL} | set(LAYER)
    for path, fact in before.items():
        if path not in fitted and not path.startswith(("maturity.", "issue_scale.")):
            assert facts[path] == fact, path


def test_what_is_not_fitted_beside_phases_says_so(exact: Fit) -> None:
    found = read_back(tree_of(exact))
    for path in LAYER:
        assert found.facts[path].value == 0.0
        assert "issue_phase" in found.facts[path].source


def test_the_catalogue_is_not_changed(exact: Fit) -> None:
    before = catalogue.tree("engines", "vllm")
    tree_of(exact)["activations"]["bf16"] = "fp8"
    assert catalogue.tree("engines", "vllm") == before


def test_factors_of_the_base_do_not_stay(exact: Fit) -> None:
    assert catalogue.engine("jalapeno-engine").maturity, "or this tests nothing"
    found = read_back(tree_of(exact, "jalapeno-engine"))
    assert found.maturity == {}
    assert set(found.issue_scale) == {"h200", "b200"}


def everywhere(clean: list[dict[str, Any]], x: Any) -> Fit:
    unknown = (*CONSTANTS, *factors(clean))
    problem = Problem(catalogue.engine("sglang"), clean, unknown)
    left = np.full((len(clean), 2), 0.02)
    return Fit(problem, x(problem), left, np.ones((len(clean), 2, len(unknown))))


@pytest.mark.parametrize("side", [0, 1])
def test_values_at_their_bounds_can_be_written(clean: list[dict[str, Any]], side: int) -> None:
    fit = everywhere(clean, lambda problem: problem.bounds[side])
    found = read_back(tree_of(fit, "sglang"))
    bounds = [constant.low if side == 0 else constant.high for constant in CONSTANTS]
    for constant, bound in zip(CONSTANTS, bounds, strict=True):
        assert getattr(found, constant.path) == pytest.approx(bound, rel=1e-5)


def test_any_values_within_the_bounds_can_be_written(clean: list[dict[str, Any]]) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        fit = everywhere(clean, lambda problem: rng.uniform(*problem.bounds))
        found = read_back(tree_of(fit, "sglang"))
        assert found.host_step == pytest.approx(fit.engine.host_step, rel=1e-5)
        assert found.maturity == pytest.approx(fit.engine.maturity, rel=1e-5)


def test_a_narrow_interval_still_holds_the_value(exact: Fit) -> None:
    values = exact.values
    tree = entry_tree(exact, (values, values), "vllm", NAMED)
    fact = engine_of(tree).facts["host_step"]
    assert fact.low == fact.value == fact.high


@pytest.mark.parametrize("name", catalogue.names("engines"))
def test_every_entry_of_the_catalogue_is_written_as_it_is(name: str) -> None:
    tree = catalogue.tree("engines", name)
    assert tomllib.loads(entry_text(tree)) == tree
    assert tomllib.loads(entry_text(tree, "One.\nTwo.")) == tree
    assert entry_text(tree, "One.\nTwo.").startswith("# One.\n# Two.\n")
    assert list(tomllib.loads(entry_text(tree))) == [
        *(key for key, value in tree.items() if key not in tables(tree)),
        *tables(tree),
    ]


def tables(tree: dict[str, Any]) -> list[str]:
    return [
        key
        for key, value in tree.items()
        if isinstance(value, dict) and not {"value", "source"} & set(value)
    ]
