"""How far a long command is: bars on a terminal, a line a stage elsewhere; always on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from jalapeno.presentation.console import messages, remark

Report = Callable[[str, int, int], None]
"""What to call with a stage, how much of it is done, and how much there is."""


@contextmanager
def stages() -> Iterator[Report]:
    """Show progress while the block runs."""
    console = messages()
    if not console.is_terminal:
        yield _lines()
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as bars:
        yield _bars(bars)


def _lines() -> Report:
    seen: set[str] = set()

    def report(stage: str, done: int, total: int) -> None:
        if stage not in seen:
            seen.add(stage)
            remark(f"{stage}: {total:,} to do")

    return report


def _bars(bars: Progress) -> Report:
    tasks = {}

    def report(stage: str, done: int, total: int) -> None:
        if stage not in tasks:
            tasks[stage] = bars.add_task(stage, total=total)
        bars.update(tasks[stage], completed=done, total=total)

    return report
