"""How far a long command is."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from jalapeno.presentation import progress


def test_a_pipe_gets_one_line_a_stage_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.stages() as report:
        for done in range(3):
            report("measured rows", done, 34)
        report("search of plans", 0, 3)
        report("measured rows", 34, 34)
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "measured rows: 34 to do\nsearch of plans: 3 to do\n"


def test_a_terminal_gets_a_bar_a_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=100, color_system=None)
    monkeypatch.setattr(progress, "messages", lambda: terminal)
    with progress.stages() as report:
        report("measured rows", 0, 34)
        report("measured rows", 17, 34)
        report("search of plans", 3, 3)
    assert "measured rows" in screen.getvalue()
    assert "17/34" in screen.getvalue()
    assert "3/3" in screen.getvalue()


def test_a_failure_goes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        with progress.stages() as report:
            report("measured rows", 0, 34)
            raise KeyError("x")

    with pytest.raises(KeyError):
        fail()
