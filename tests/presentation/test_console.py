"""Results to stdout, the rest to stderr; JSON that any reader takes."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.presentation import console
from jalapeno.presentation.tables import Table

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text() | st.floats(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def finite(value: Any) -> Any:
    """What comes back from JSON: null for what is no number."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [finite(item) for item in value]
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return value


@given(value=values)
def test_anything_finite_survives_json_and_the_rest_is_null(value: Any) -> None:
    assert json.loads(console.to_json(value)) == finite(value)


@given(value=values)
def test_json_is_ascii_so_that_no_terminal_can_spoil_it(value: Any) -> None:
    assert console.to_json(value).isascii()


def test_json_files_end_with_a_line_break() -> None:
    assert console.to_json({"a": (1, 2.5)}) == '{\n "a": [\n  1,\n  2.5\n ]\n}\n'


def test_tables_go_to_stdout_and_remarks_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    console.show([Table(title="results", headers=("a",), align="l", rows=(("1",),))])
    console.remark("files: out")
    out, err = capsys.readouterr()
    assert "results" in out
    assert "files" not in out
    assert err == "files: out\n"


def test_a_pipe_is_wide_unless_someone_says_how_wide(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert console.results().width == console.messages().width == console.WIDE
    monkeypatch.setenv("COLUMNS", "72")
    assert console.results().width == 72


def test_json_is_printed_alone(capsys: pytest.CaptureFixture[str]) -> None:
    console.show_json({"rate": math.nan})
    out, err = capsys.readouterr()
    assert json.loads(out) == {"rate": None}
    assert err == ""
