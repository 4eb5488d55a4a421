"""Groups of options: what several commands take, as one value in Python and as options outside."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return *command* as Typer is to see it.

    A parameter that is a dataclass becomes an option for each of its fields; the command is called
    with the dataclass made of them.  Fields are annotated as parameters are.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    shown: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            shown += _options(groups[name])
        else:
            keyword = inspect.Parameter.KEYWORD_ONLY
            shown.append(parameter.replace(annotation=hints[name], kind=keyword))

    def called(**values: Any) -> None:
        made = {
            name: kind(**{field.name: values.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**values, **made)

    called.__name__ = command.__name__
    called.__doc__ = command.__doc__
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    called.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return called


def _options(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
