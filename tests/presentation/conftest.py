"""The command line, called in this process."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from jalapeno.presentation.cli import main


@dataclass(frozen=True)
class Called:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The one line on stderr that says what is wrong."""
        assert "Traceback" not in self.err
        (line,) = (line for line in self.err.splitlines() if line.startswith("jalapeno: "))
        return line.removeprefix("jalapeno: ")


Call = Callable[..., Called]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Call]:
    """``call("list", "chips")`` runs ``jalapeno list chips``."""
    before = signal.getsignal(signal.SIGTERM)

    monkeypatch.delenv("COLUMNS", raising=False)  # as wide as a page where nobody says

    def run(*arguments: object) -> Called:
        monkeypatch.setattr(sys, "argv", ["jalapeno", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        assert isinstance(end.value.code, int)
        return Called(end.value.code, out, err)

    yield run
    signal.signal(signal.SIGTERM, before)
