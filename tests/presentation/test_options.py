"""A command whose options are a dataclass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from jalapeno.presentation.options import takes


@dataclass(frozen=True, kw_only=True)
class Asked:
    name: Annotated[str, typer.Argument()]
    many: Annotated[int, typer.Option("--many", help="How many.")] = 2
    loud: Annotated[bool, typer.Option("--loud")] = False


@takes(Asked)
def greet(asked: Asked) -> None:
    """Greet somebody."""
    print(asked)


app = typer.Typer()
app.command()(greet)


def said(*arguments: str) -> str:
    return CliRunner().invoke(app, arguments).output


def test_fields_become_arguments_and_options() -> None:
    assert said("you", "--many", "3", "--loud") == f"{Asked(name='you', many=3, loud=True)}\n"


def test_defaults_are_the_dataclasses() -> None:
    assert said("you") == f"{Asked(name='you')}\n"


def test_a_field_without_a_default_must_be_given() -> None:
    assert CliRunner().invoke(app, []).exit_code == 2


def test_help_is_the_commands() -> None:
    text = said("--help")
    assert "Greet somebody." in text
    assert "How many." in text
