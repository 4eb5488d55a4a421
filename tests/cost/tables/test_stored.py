"""Tables in a file: what is written is read, and what is wrong is named."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest

from jalapeno.cost.tables.find import digest_of, find_tables, reference_to
from jalapeno.cost.tables.llmservingsim import read_profile
from jalapeno.cost.tables.stored import parse_tables, tables_bytes
from jalapeno.cost.tables.table import Axis
from jalapeno.errors import BadFact
from tests.cost.tables.profiles import CONTENTS, line

PROFILE = read_profile("here", "", CONTENTS).tables


def changed(**columns: pl.Expr) -> bytes:
    frame = pl.read_parquet(io.BytesIO(tables_bytes([line()]))).with_columns(**columns)
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def test_tables_are_read_as_they_were_written() -> None:
    assert parse_tables("mine", "", tables_bytes(PROFILE)).tables == PROFILE


def test_a_table_that_stands_for_nothing_is_kept_so() -> None:
    lone = line("sampler", Axis.SEQUENCES, stands_for=())
    assert parse_tables("mine", "", tables_bytes([lone])).tables == (lone,)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"no parquet", "mine: not a Parquet file of tables"),
        (changed(more=pl.lit(1)), "mine: columns"),
        (changed(axes=pl.lit("tokes")), "table qkv: no axis 'tokes'; did you mean 'tokens'?"),
        (changed(kind=pl.lit("seen")), "table qkv: no kind 'seen'"),
        (changed(source=pl.col("x0").cast(pl.String)), "must be alike in all rows"),
        (changed(seconds=-pl.col("seconds")), "above zero"),
    ],
)
def test_a_file_that_is_not_one_is_refused(content: bytes, says: str) -> None:
    with pytest.raises(BadFact) as caught:
        parse_tables("mine", "", content)
    assert says in str(caught.value)


# ---- finding them


def test_tables_are_those_that_were_meant(tmp_path: Path) -> None:
    path = tmp_path / "mine.parquet"
    path.write_bytes(tables_bytes([line()]))
    reference = reference_to(str(path))
    assert find_tables(reference).tables == (line(),)
    assert find_tables(reference).sha256 == digest_of(str(path))
    path.write_bytes(tables_bytes([line(seconds=(1e-5, 2e-5, 8e-5))]))
    find_tables.cache_clear()
    with pytest.raises(
        BadFact, match=r"have changed: sha256 is [0-9a-f]{64}, and [0-9a-f]{64} was"
    ):
        find_tables(reference)


def test_tables_without_a_digest_are_refused_with_the_one_to_write(tmp_path: Path) -> None:
    for name, content in CONTENTS.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(BadFact, match=f"say which ones are meant.*{digest_of(str(tmp_path))}"):
        find_tables(str(tmp_path))
    assert len(find_tables(reference_to(str(tmp_path))).tables) == len(PROFILE)


def test_a_place_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFact, match=r"a folder without any of attention\.csv"):
        digest_of(str(tmp_path))
    with pytest.raises(BadFact, match="cannot be read: No such file"):
        digest_of(str(tmp_path / "none"))
    with pytest.raises(BadFact, match="cannot be read: No such file"):
        digest_of("catalogue:none")


def test_a_digest_follows_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "dense.csv").write_bytes(CONTENTS["dense.csv"])
    one = digest_of(str(tmp_path))
    (tmp_path / "notes.txt").write_text("nothing of the profile")
    assert digest_of(str(tmp_path)) == one
    (tmp_path / "moe.csv").write_bytes(CONTENTS["moe.csv"])
    assert digest_of(str(tmp_path)) != one
