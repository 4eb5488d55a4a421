"""Speculation from options: how many tokens are drafted, and what a step gives then."""

from __future__ import annotations

from typing import Any

from jalapeno.catalogue import Model
from jalapeno.errors import UsageError
from jalapeno.mapping import acceptance_length, measured_acceptance
from jalapeno.mapping.draft import said_acceptance
from jalapeno.presentation.deployment_arguments import DeploymentOptions


def speculation(options: DeploymentOptions, model: Model) -> dict[str, Any]:
    """The fields of a plan that ``--draft`` and ``--accept`` say; none where neither is given.

    Raises :class:`UsageError` for one without the other, and where rates are not as many as tokens.
    """
    if not options.draft and options.accept is None:
        return {}
    if not options.draft:
        raise UsageError(
            f"--accept {options.accept} without --draft: say how many tokens are drafted"
        )
    if options.accept is None:
        raise UsageError(
            f"--draft {options.draft} without --accept: what is accepted depends on the workload, "
            f"and has no default; of {model.name}, in the catalogue there {said_acceptance(model)}"
        )
    length = _length(options.accept, options.draft, model)
    return {"draft_tokens": options.draft, "acceptance_length": length}


def _length(text: str, drafted: int, model: Model) -> float:
    """Mean tokens a step, from a number, rates by position or the name of a workload."""
    words = [word.strip() for word in text.split(",")]
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        return measured_acceptance(model, text.strip(), drafted)
    if len(numbers) == drafted and all(number <= 1.0 for number in numbers):
        return acceptance_length(numbers)
    if len(numbers) == 1:
        return numbers[0]
    raise UsageError(
        f"--accept {text}: with --draft {drafted}, write {drafted} rates from 0 to 1, or one "
        f"number of tokens a step from 1 to {drafted + 1}"
    )
