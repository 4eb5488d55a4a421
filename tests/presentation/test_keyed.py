"""Small texts of options."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno.errors import UsageError
from jalapeno.presentation.keyed import decimal, keyed, whole

KEYS = ("tp", "ep", "running")


@given(st.dictionaries(st.sampled_from(KEYS), st.integers(0, 99).map(str)))
def test_pairs_are_read_back(pairs: dict[str, str]) -> None:
    text = ",".join(f"{key}={value}" for key, value in pairs.items())
    assert keyed(text, KEYS, "--pool") == pairs


def test_blanks_do_not_matter() -> None:
    assert keyed(" tp = 4 , ep=2 ", KEYS, "--pool") == {"tp": "4", "ep": "2"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tp", "--pool: 'tp' is not KEY=VALUE"),
        ("tp=", "--pool: 'tp=' is not KEY=VALUE"),
        ("=4", "--pool: '=4' is not KEY=VALUE"),
        ("tp=1,tp=2", "--pool: tp is given twice"),
        ("runing=1", "--pool: no key 'runing'; did you mean 'running'?\nknown: tp, ep, running"),
    ],
)
def test_what_is_no_pair_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        keyed(text, KEYS, "--pool")
    assert str(caught.value) == said


def test_numbers_are_read_and_what_is_none_is_refused() -> None:
    assert whole("12", "--x") == 12
    assert decimal("1e3", "--x") == 1000.0
    with pytest.raises(UsageError, match=r"^--x: '1.5' is not a whole number$"):
        whole("1.5", "--x")
    with pytest.raises(UsageError, match=r"^--x: 'two' is not a number$"):
        decimal("two", "--x")
