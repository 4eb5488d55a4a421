"""Errors are interface: one tree, exit codes, and messages that help."""

from __future__ import annotations

import pickle

import pytest

from jalapeno import errors
from jalapeno.errors import (
    BadFact,
    BadPlan,
    BadScenario,
    BadTable,
    DoesNotFit,
    JalapenoError,
    LawBroken,
    MissingExtra,
    OutOfReach,
    OutputError,
    UnknownName,
    UsageError,
    nearest,
    unknown_name,
)

USAGE = (UnknownName, BadFact, BadTable, MissingExtra, BadPlan, BadScenario)
OTHER = (DoesNotFit, OutOfReach, OutputError, LawBroken)


def own_classes() -> list[type]:
    found = [each for each in vars(errors).values() if isinstance(each, type)]
    return [each for each in found if each.__module__ == errors.__name__]


def test_every_class_of_the_module_is_a_jalapeno_error() -> None:
    assert len(own_classes()) == 12
    assert all(issubclass(kind, JalapenoError) for kind in own_classes())


def test_the_drawing_in_the_docstring_shows_every_error() -> None:
    assert all(kind.__name__ in str(errors.__doc__) for kind in own_classes())


@pytest.mark.parametrize("kind", USAGE)
def test_what_the_user_typed_wrong_exits_with_two(kind: type[JalapenoError]) -> None:
    assert issubclass(kind, UsageError)
    assert kind.exit_code == 2


@pytest.mark.parametrize("kind", OTHER)
def test_what_is_nobodys_typing_exits_with_one(kind: type[JalapenoError]) -> None:
    assert not issubclass(kind, UsageError)
    assert kind.exit_code == 1


def test_the_nearest_name_is_suggested() -> None:
    assert nearest("gb200-nvl27", ["gb200-nvl72", "jalapeno-rack"]) == (
        "; did you mean 'gb200-nvl72'?"
    )


def test_nothing_is_suggested_where_nothing_is_near() -> None:
    assert nearest("tpu", ["gb200-nvl72", "jalapeno-rack"]) == ""


def test_an_unknown_name_lists_the_nearest_and_all() -> None:
    error = unknown_name("system", "jalapeno-rak", ["gb200-nvl72", "jalapeno-rack"])
    assert str(error) == (
        "no system 'jalapeno-rak'; did you mean 'jalapeno-rack'?\nknown: gb200-nvl72, jalapeno-rack"
    )


def test_an_unknown_name_takes_its_names_from_any_iterable_once() -> None:
    error = unknown_name("chip", "b20", (name for name in ("b200", "gb200")))
    assert "did you mean 'b200'?" in str(error)
    assert str(error).endswith("known: b200, gb200")


def test_an_unknown_name_on_an_empty_shelf_says_that_there_is_none() -> None:
    assert str(unknown_name("chip", "b200", [])) == "no chip 'b200'\nknown: none"


@pytest.mark.parametrize("kind", [*USAGE, *OTHER])
def test_errors_travel_between_processes(kind: type[JalapenoError]) -> None:
    copy = pickle.loads(pickle.dumps(kind("what, and how to mend it")))
    assert type(copy) is kind
    assert str(copy) == "what, and how to mend it"
