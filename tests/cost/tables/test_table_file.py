"""Tables of one's own: written, read back, and refused by name where they are wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jalapeno.cost.tables import FAMILIES, Origin, checked, read_table, write_table
from jalapeno.cost.tables.families import family
from jalapeno.errors import BadTable, UnknownName
from tests.cost.tables.worlds import gemm_table, origin

GOOD = pl.DataFrame(
    {
        "dtype": ["bf16", "bf16"],
        "kernel": ["a", "a"],
        "n": [64, 128],
        "k": [64, 64],
        "rows": [1, 1],
        "time_us": [5.0, 6.0],
    }
)


def put(name: str, values: list[object], dtype: type[pl.DataType] | None = None) -> pl.DataFrame:
    return GOOD.with_columns(pl.Series(name, values, dtype=dtype))


def test_a_table_comes_back_as_it_was_written(tmp_path: Path) -> None:
    table = gemm_table()
    write_table(table, tmp_path / "gemm.parquet")
    back = read_table(tmp_path / "gemm.parquet")
    assert back.origin == table.origin
    assert back.rows.equals(table.rows)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 10**6), st.floats(1e-3, 1e9)),
        min_size=1,
        max_size=20,
        unique_by=lambda pair: pair[0],
    )
)
def test_any_lawful_rows_survive_and_are_sorted(pairs: list[tuple[int, float]]) -> None:
    rows = pl.DataFrame(
        {
            "dtype": ["fp8"] * len(pairs),
            "kernel": ["a"] * len(pairs),
            "n": [64] * len(pairs),
            "k": [64] * len(pairs),
            "rows": [count for count, _ in pairs],
            "time_us": [time for _, time in pairs],
        }
    )
    table = checked(origin("gemm"), rows)
    assert table.rows["rows"].to_list() == sorted(count for count, _ in pairs)
    assert sorted(table.rows["time_us"].to_list()) == sorted(time for _, time in pairs)


def test_a_failed_write_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: pl.DataFrame, path: Path, **kept: object) -> None:
        path.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(OSError, match="disk full"):
        write_table(gemm_table(), tmp_path / "gemm.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["dtype", "n", "rows", "time_us"])
def test_a_missing_column_is_named_with_all_that_are_needed(name: str) -> None:
    with pytest.raises(BadTable, match=rf"no column '{name}'[\s\S]*needed: dtype, kernel, n, k"):
        checked(origin("gemm"), GOOD.drop(name))


@pytest.mark.parametrize("wrong", ["time_ms", "time", "latency", "seconds"])
def test_a_time_with_another_unit_is_not_taken_for_microseconds(wrong: str) -> None:
    with pytest.raises(BadTable, match=f"'{wrong}' has another unit or none: convert it"):
        checked(origin("gemm"), GOOD.rename({"time_us": wrong}))


def test_a_message_in_elements_is_not_taken_for_bytes() -> None:
    rows = pl.DataFrame(
        {
            "operation": ["all_reduce"],
            "dtype": ["fp16"],
            "kernel": ["NCCL"],
            "chips": [8],
            "message_elements": [1024],
            "time_us": [9.0],
        }
    )
    with pytest.raises(BadTable, match="'message_elements' has another unit"):
        checked(origin("collective"), rows)


REFUSED: tuple[tuple[Callable[[], pl.DataFrame], str], ...] = (
    (
        lambda: put("time_us", [float("nan"), 1.0]),
        "1 times are not above zero and finite, first nan",
    ),
    (lambda: put("time_us", [-1.0, 1.0]), "first -1.0 at dtype=bf16, kernel=a, n=64"),
    (lambda: put("time_us", [0.0, 0.0]), "2 times are not above zero"),
    (lambda: put("time_us", [float("inf"), 1.0]), "first inf"),
    (lambda: put("time_us", [None, 1.0], pl.Float64), "column 'time_us' has 1 empty cells"),
    (lambda: put("time_us", ["5 us", "6 us"]), "column 'time_us' is String, not a number"),
    (lambda: put("n", [64, 64]), "2 rows share a key with another, first: dtype=bf16"),
    (lambda: put("n", [-64, 64]), "column 'n' has a negative number"),
    (lambda: put("n", [64.5, 64.0]), "column 'n' is Float64, not whole numbers"),
    (lambda: put("n", [None, 64], pl.Int64), "column 'n' has 1 empty cells"),
    (lambda: put("dtype", [1, 2]), "column 'dtype' is Int64, not text"),
    (lambda: put("power_w", [1.0, 2.0]), "unknown columns power_w"),
    (lambda: GOOD.clear(), "no rows"),
)


@pytest.mark.parametrize(("make", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_wrong_rows_are_refused_by_name(make: Callable[[], pl.DataFrame], says: str) -> None:
    with pytest.raises(BadTable, match=says):
        checked(origin("gemm"), make())


@pytest.mark.parametrize("name", ["system", "framework", "version", "source"])
def test_who_measured_where_must_be_said(name: str) -> None:
    said = {"system": "a", "framework": "b", "version": "c", "source": "d", name: " "}
    with pytest.raises(BadTable, match=f"metadata '{name}' is empty"):
        checked(Origin(family="gemm", **said), GOOD)


def test_a_family_that_does_not_exist_names_those_that_do() -> None:
    with pytest.raises(UnknownName, match=r"no family of operators 'gem'; did you mean 'gemm'\?"):
        checked(origin("gem"), GOOD)


def test_a_parquet_file_without_our_metadata_says_how_to_make_one(tmp_path: Path) -> None:
    GOOD.write_parquet(tmp_path / "plain.parquet")
    with pytest.raises(BadTable, match=r"metadata lacks jalapeno\.format.*write_table"):
        read_table(tmp_path / "plain.parquet")


def test_a_file_of_a_newer_format_is_not_guessed_at(tmp_path: Path) -> None:
    said = {f"jalapeno.{name}": "x" for name in ("system", "framework", "version", "source")}
    said |= {"jalapeno.format": "2", "jalapeno.family": "gemm"}
    GOOD.write_parquet(tmp_path / "new.parquet", metadata=said)
    with pytest.raises(BadTable, match="format '2'; this version reads '1'"):
        read_table(tmp_path / "new.parquet")


@pytest.mark.parametrize("text", [b"", b"PAR1 but no more", b"\x00" * 64])
def test_what_is_no_parquet_file_is_said(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "bad.parquet").write_bytes(text)
    with pytest.raises(BadTable, match=r"bad\.parquet: not a readable Parquet file"):
        read_table(tmp_path / "bad.parquet")


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadTable, match="not a readable Parquet file"):
        read_table(tmp_path / "none.parquet")


# ---- families


@pytest.mark.parametrize("name", FAMILIES)
def test_no_column_of_a_family_stands_twice(name: str) -> None:
    key = family(name).key
    assert len(set(key)) == len(key)
    assert family(name).axes


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_has_work_and_coordinates(name: str) -> None:
    from jalapeno.cost.tables.coordinates import COORDINATES
    from jalapeno.cost.tables.work import WORK

    assert name in WORK
    assert name in COORDINATES
