"""Commands that take seconds, run once for all tests that look at what they did."""

from __future__ import annotations

import contextlib
import io
import signal
import sys

import pytest

from jalapeno.analysis import frontier as analysis
from jalapeno.analysis.frontier import Space
from jalapeno.presentation.cli import main
from tests.analysis.fronts import SPACE
from tests.presentation.conftest import Called


def small_space(*_: object) -> Space:
    """The little space of the tests, whatever is asked."""
    return SPACE


def run(*arguments: object) -> Called:
    """``jalapeno`` with these *arguments* over the little space."""
    before = signal.getsignal(signal.SIGTERM)
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis, "space_for", small_space)
        patch.setattr(sys, "argv", ["jalapeno", *map(str, arguments)])
        patch.delenv("COLUMNS", raising=False)
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.raises(SystemExit) as end,
        ):
            main()
    signal.signal(signal.SIGTERM, before)
    assert isinstance(end.value.code, int)
    return Called(end.value.code, out.getvalue(), err.getvalue())
