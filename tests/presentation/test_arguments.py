"""``--set path=value``."""

from __future__ import annotations

import pytest

from jalapeno.errors import UsageError
from jalapeno.presentation.arguments import assignments


def test_a_setting_is_a_path_and_a_value() -> None:
    assert assignments(["chip.hbm.bandwidth=20 TB/s", " model.layers = 36 "]) == {
        "chip.hbm.bandwidth": "20 TB/s",
        "model.layers": "36",
    }


def test_a_value_may_hold_an_equals_sign() -> None:
    assert assignments(["chip.vendor=a=b"]) == {"chip.vendor": "a=b"}


def test_no_settings_are_none() -> None:
    assert assignments([]) == {}


@pytest.mark.parametrize("text", ["chip.hbm.bandwidth", "=20 TB/s", "chip.cores=", "", "="])
def test_half_a_setting_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        assignments([text])
    assert str(caught.value) == (
        f"--set {text}: write path=value, as in --set chip.hbm.bandwidth='20 TB/s'"
    )


def test_setting_a_fact_twice_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^--set chip.cores: given twice$"):
        assignments(["chip.cores=1", "chip.cores=2"])
