"""A picture in one file."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import pytest

from jalapeno.errors import OutputError, UsageError
from jalapeno.presentation.picture_file import FORMS, check_picture, write_picture
from jalapeno.presentation.pictures import inline

BEGINS = {".svg": b"<svg", ".png": b"\x89PNG", ".html": b"<!DOCTYPE html>"}


def chart() -> alt.VConcatChart:
    made: alt.VConcatChart = alt.vconcat(
        alt.Chart(inline([{"x": 1.0}])).mark_point().encode(x="x:Q")
    )
    return made


@pytest.mark.parametrize("form", FORMS)
def test_the_name_says_the_form(tmp_path: Path, form: str) -> None:
    path = tmp_path / "new" / f"picture{form}"
    check_picture(path)
    write_picture(path, chart(), "a title")
    assert path.read_bytes().startswith(BEGINS[form])


@pytest.mark.parametrize("name", ["picture", "picture.pdf", "picture.SVG"])
def test_another_form_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"ends in \.svg, \.png, \.html"):
        check_picture(tmp_path / name)


def test_a_place_that_cannot_be_written_is_refused_before_long_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="a file is where a folder should be"):
        check_picture(tmp_path / "file" / "picture.svg")
