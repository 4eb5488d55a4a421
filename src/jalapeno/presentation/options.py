"""A command with many options: a dataclass of them, taken apart for the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import wraps
from typing import Any, TypeVar, get_type_hints

Asked = TypeVar("Asked")


def takes(shape: type[Asked]) -> Callable[[Callable[[Asked], None]], Callable[..., None]]:
    """Let a command that takes one *shape*, a dataclass, have its fields as its parameters.

    Fields are annotated as Typer wants parameters; one without a default must be given.
    """

    def unpacked(command: Callable[[Asked], None]) -> Callable[..., None]:
        hints = get_type_hints(shape, include_extras=True)

        @wraps(command)
        def call(**given: Any) -> None:
            command(shape(**given))

        parameters = [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if field.default is MISSING else field.default,
                annotation=hints[field.name],
            )
            for field in fields(shape)  # type: ignore[arg-type]
        ]
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {name: hints[name] for name in hints}
        del call.__wrapped__
        return call

    return unpacked
