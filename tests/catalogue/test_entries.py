"""Every entry of the catalogue loads, and every number in it says where it comes from."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import Fact, Facts, Kind
from jalapeno.errors import UnknownName
from jalapeno.units import UNITS, parse

LOADERS: dict[str, Callable[[str], Any]] = {
    "chips": catalogue.chip,
    "systems": catalogue.system,
    "models": catalogue.model,
    "engines": catalogue.engine,
    "tariffs": catalogue.tariff,
    "claims": catalogue.claim,
    "references": catalogue.row,
}
FROM_TREES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "chips": catalogue.chip_of,
    "systems": catalogue.system_of,
    "models": catalogue.model_of,
    "engines": catalogue.engine_of,
    "tariffs": catalogue.tariff_of,
    "claims": catalogue.claim_of,
    "references": catalogue.row_of,
}
ALL = [(shelf, name) for shelf in catalogue.SHELVES for name in catalogue.names(shelf)]
WITH_FACTS = [(shelf, name) for shelf, name in ALL if shelf != "references"]
EXPECTED = {
    "chips": ("b200", "gb200", "gb300", "jalapeno"),
    "systems": ("b200-hgx", "gb200-nvl72", "gb300-nvl72", "jalapeno-pod", "jalapeno-rack"),
    "models": ("deepseek-r1", "gpt-oss-120b", "kimi-k2.5"),
    "engines": ("jalapeno-engine", "tensorrt-llm"),
    "tariffs": ("b200", "gb200", "gb300", "jalapeno"),
    "claims": ("deepseek-r1", "deepseek-r1-mtp", "gpt-oss-120b", "kimi-k2.5"),
}


def facts_of(shelf: str, name: str) -> Facts:
    facts: Facts = LOADERS[shelf](name).facts
    return facts


# ---- everything is there


def test_there_is_a_loader_for_each_shelf() -> None:
    assert tuple(LOADERS) == catalogue.SHELVES == tuple(FROM_TREES)


@pytest.mark.parametrize(("shelf", "names"), EXPECTED.items())
def test_the_first_slice_is_on_its_shelf(shelf: str, names: tuple[str, ...]) -> None:
    assert set(names) <= set(catalogue.names(shelf))


@pytest.mark.parametrize(("shelf", "name"), ALL)
def test_every_entry_loads_under_its_own_name(shelf: str, name: str) -> None:
    assert LOADERS[shelf](name).name == name


@pytest.mark.parametrize(("shelf", "name"), ALL)
def test_an_entry_is_built_from_its_tree_alone(shelf: str, name: str) -> None:
    assert FROM_TREES[shelf](catalogue.tree(shelf, name)) == LOADERS[shelf](name)


@pytest.mark.parametrize(("shelf", "name"), ALL)
def test_an_entry_travels_between_processes(shelf: str, name: str) -> None:
    entry = LOADERS[shelf](name)
    assert pickle.loads(pickle.dumps(entry)) == entry


@pytest.mark.parametrize(("shelf", "loader"), LOADERS.items())
def test_a_misspelt_name_is_answered_with_the_nearest(
    shelf: str, loader: Callable[[str], Any]
) -> None:
    right = catalogue.names(shelf)[0]
    with pytest.raises(UnknownName, match=f"did you mean '{right}'") as caught:
        loader(right + "x")
    assert all(name in str(caught.value) for name in catalogue.names(shelf))


def test_entries_are_read_once() -> None:
    assert catalogue.system("gb200-nvl72") is catalogue.system("gb200-nvl72")


def test_entries_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        catalogue.chip("b200").hbm.bandwidth = 1.0  # type: ignore[misc]


# ---- every number has its evidence


@pytest.mark.parametrize(("shelf", "name"), WITH_FACTS)
def test_every_fact_has_a_source(shelf: str, name: str) -> None:
    nameless = [path for path, fact in facts_of(shelf, name).items() if len(fact.source) < 8]
    assert not nameless


@pytest.mark.parametrize(("shelf", "name"), WITH_FACTS)
def test_sources_are_public_places(shelf: str, name: str) -> None:
    private = [p for p, fact in facts_of(shelf, name).items() if "/work" in fact.source]
    assert not private


@pytest.mark.parametrize(("shelf", "name"), WITH_FACTS)
def test_every_value_lies_in_its_range(shelf: str, name: str) -> None:
    for path, fact in facts_of(shelf, name).items():
        if isinstance(fact.value, str | bool):
            continue
        low = fact.value if fact.low is None else fact.low
        high = fact.value if fact.high is None else fact.high
        assert low <= fact.value <= high, path


@pytest.mark.parametrize(("shelf", "name"), WITH_FACTS)
def test_every_value_is_its_text_in_si(shelf: str, name: str) -> None:
    for path, fact in facts_of(shelf, name).items():
        assert fact.unit in UNITS, path
        if not isinstance(fact.value, str | bool):
            assert parse(fact.text, fact.unit) == fact.value, path


@pytest.mark.parametrize(("shelf", "name"), WITH_FACTS)
def test_nothing_in_the_files_is_overridden(shelf: str, name: str) -> None:
    assert not any(fact.overridden for fact in facts_of(shelf, name).values())


@pytest.mark.parametrize(("shelf", "name"), WITH_FACTS)
def test_alternatives_are_real_alternatives(shelf: str, name: str) -> None:
    for path, fact in facts_of(shelf, name).items():
        for alternative in fact.alternatives:
            assert alternative.value != fact.value or alternative.source != fact.source, path
            assert len(alternative.source) > 8, path


@pytest.mark.parametrize("name", catalogue.names("chips"))
def test_what_is_estimated_or_assumed_of_a_chip_has_a_range(name: str) -> None:
    weak = {p: f for p, f in catalogue.chip(name).facts.items() if f.kind >= Kind.ESTIMATED}
    assert weak
    assert not [path for path, fact in weak.items() if fact.low is None or fact.high is None]


@pytest.mark.parametrize("name", catalogue.names("engines"))
def test_what_is_estimated_or_assumed_of_an_engine_has_a_range(name: str) -> None:
    weak = {p: f for p, f in catalogue.engine(name).facts.items() if f.kind >= Kind.ESTIMATED}
    assert not [path for path, fact in weak.items() if fact.low is None or fact.high is None]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("matrix.peak_4x4", Kind.PUBLISHED),
        ("matrix.peak_16x16", Kind.ESTIMATED),
        ("vector.peak", Kind.ASSUMED),
        ("steppings.A0", Kind.ESTIMATED),
        ("hbm.bandwidth", Kind.PUBLISHED),
        ("power.tdp", Kind.PUBLISHED),
        ("power.static", Kind.ESTIMATED),
        ("energy.per_hbm_byte", Kind.ESTIMATED),
    ],
)
def test_guesses_about_jalapeno_are_marked_as_guesses(path: str, kind: Kind) -> None:
    assert catalogue.chip("jalapeno").facts[path].kind is kind


def test_the_facts_of_a_system_hold_those_of_its_chip() -> None:
    system = catalogue.system("jalapeno-rack")
    for path, fact in system.chip.facts.items():
        assert system.facts[f"chip.{path}"] == fact


def test_the_facts_of_a_system_name_its_levels() -> None:
    facts = catalogue.system("jalapeno-pod").facts
    assert facts["fabric.local.bandwidth"].value == 600e9
    assert facts["fabric.global.bandwidth"].value == 200e9


# ---- a sum is as weak as its weakest part


def fact(kind: Kind) -> Fact:
    return Fact(value=1.0, text="1", unit="", kind=kind, source="this test")


def test_the_weakest_kind_wins() -> None:
    kinds = (Kind.MEASURED, Kind.ESTIMATED, Kind.PUBLISHED)
    assert catalogue.weakest([fact(kind) for kind in kinds]) is Kind.ESTIMATED
    assert catalogue.weakest({kind.name: fact(kind) for kind in kinds}) is Kind.ESTIMATED


def test_of_no_facts_nothing_is_assumed() -> None:
    assert catalogue.weakest([]) is Kind.MEASURED


def test_models_are_as_published() -> None:
    for name in EXPECTED["models"]:
        assert catalogue.weakest(catalogue.model(name).facts) is Kind.PUBLISHED


def test_kinds_are_ordered_from_strong_to_weak() -> None:
    strong, *others, weak = sorted(Kind)
    assert (strong, weak) == (Kind.MEASURED, Kind.ASSUMED)
    assert others == [
        Kind.PUBLISHED, Kind.DERIVED, Kind.FITTED, Kind.EMULATED, Kind.ESTIMATED,
    ]  # fmt: skip
