"""The cleaned table, read: names are the catalogue's, bad files are refused with the place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from jalapeno import catalogue
from jalapeno.analysis.validation.cleaned import (
    ENGINES,
    MODELS,
    REQUIRED,
    SYSTEMS,
    THROUGHPUT,
    read_cleaned,
)
from jalapeno.analysis.validation.protocols import HELD_OUT, leaks, protocol
from jalapeno.analysis.validation.rows import LAYOUT, MEASURED, require
from jalapeno.analysis.validation.sift import sift
from jalapeno.errors import BadFact, UsageError

SHARED = Path(__file__).parents[4] / "shared" / "data" / "aiconfigurator"
TABLE = SHARED / "inferencex_silicon_clean.csv"
needs_shared = pytest.mark.skipif(
    not TABLE.is_file(), reason="the measured points beside the project are not there"
)

AGG = {
    "id": "a",
    "src": "inferencex-2026-04-06",
    "model_path": "openai/gpt-oss-120b",
    "system": "b200_sxm",
    "backend": "trtllm",
    "precision": "fp4",
    "mode": "agg",
    "split": "calib",
    "isl": "1024",
    "osl": "1024",
    "conc": "64.0",
    "gpus": "8.0",
    "tp_size": "8.0",
    "attention_dp_size": "1.0",
    "moe_ep_size": "8.0",
    "silicon_ttft_ms": "81.5",
    "silicon_tpot_ms": "5.25",
}
SPLIT = AGG | {
    "id": "s",
    "mode": "disagg",
    "gpus": "12.0",
    "tp_size": "",
    "attention_dp_size": "",
    "moe_ep_size": "",
    "prefill_num_workers": "1.0",
    "prefill_tp_size": "1.0",
    "prefill_attention_dp_size": "4.0",
    "prefill_moe_ep_size": "4.0",
    "decode_num_workers": "1.0",
    "decode_tp_size": "8.0",
    "decode_attention_dp_size": "1.0",
    "decode_moe_ep_size": "8.0",
}

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """``write(row, ...)`` makes a file of these rows."""

    def made(*rows: dict[str, str], more: tuple[str, ...] = ()) -> Path:
        names = [*REQUIRED, *more]
        lines = [",".join(names), *(",".join(row.get(name, "") for name in names) for row in rows)]
        path = tmp_path / "points.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return made


def test_a_unified_row_has_its_layout_as_that_of_decode(write: Write) -> None:
    (row,) = read_cleaned(write(AGG)).iter_rows(named=True)
    assert (row["model"], row["system"], row["engine"]) == (
        *("gpt-oss-120b", "b200-hgx", "tensorrt-llm"),
    )
    assert (row["mode"], row["concurrency"], row["gpus"]) == ("unified", 64, 8)
    assert (row["decode_workers"], row["decode_tp"], row["decode_ep"]) == (1, 8, 8)
    assert row["prefill_tp"] is None
    assert row["engine_version"] == "unknown"
    assert not row["speculative"]


def test_a_split_row_has_both_pools(write: Write) -> None:
    (row,) = read_cleaned(write(SPLIT)).iter_rows(named=True)
    assert row["mode"] == "split"
    assert (row["prefill_workers"], row["prefill_dp"], row["decode_tp"]) == (1, 4, 8)


def test_points_that_differ_in_concurrency_alone_are_one_curve(write: Write) -> None:
    rows = [
        AGG,
        AGG | {"id": "b", "conc": "128.0"},
        AGG | {"id": "c", "tp_size": "4.0", "gpus": "4.0"},
        AGG | {"id": "d", "precision": "fp8"},
    ]
    first, second, *others = read_cleaned(write(*rows))["curve"].to_list()
    assert first == second
    assert len({first, *others}) == 3


def test_the_same_deployment_measured_again_is_the_same_curve(write: Write) -> None:
    again = AGG | {"id": "b", "measured": "2026-05-01", "backend_version": "9.9"}
    found = read_cleaned(write(AGG, again, more=("measured", "backend_version")))
    assert found["curve"].n_unique() == 1
    assert found["engine_version"].to_list() == ["unknown", "9.9"]


def test_only_marked_rows_are_taken_where_rows_are_marked(write: Write) -> None:
    rows = [AGG | {"headline": "true"}, AGG | {"id": "b", "headline": "false"}]
    assert read_cleaned(write(*rows, more=("headline",)))["id"].to_list() == ["a"]


def test_a_missing_column_is_named(write: Write, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("id,conc\na,4\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"few\.csv: no column src"):
        read_cleaned(path)


def test_a_file_that_is_not_there_is_said() -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_cleaned(Path("nowhere.csv"))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("silicon_tpot_ms", "-1.0"),
        ("silicon_ttft_ms", "NaN"),
        ("silicon_ttft_ms", ""),
        ("conc", "0"),
        ("gpus", "inf"),
    ],
)
def test_what_is_no_measurement_is_refused_with_its_row(
    write: Write, column: str, value: str
) -> None:
    with pytest.raises(BadFact, match=f"{column} of 1 rows is not a positive number"):
        read_cleaned(write(AGG | {column: value}, AGG | {"id": "b"}))


def test_an_id_twice_is_refused(write: Write) -> None:
    with pytest.raises(BadFact, match="1 ids come more than once, such as 'a'"):
        read_cleaned(write(AGG, AGG))


def test_an_unknown_name_is_refused_with_the_nearest(write: Write) -> None:
    with pytest.raises(UsageError, match="did you mean 'b200_sxm'"):
        read_cleaned(write(AGG | {"system": "b200_sxn"}))


def test_names_of_the_catalogue_are_taken_as_they_are(write: Write) -> None:
    (row,) = read_cleaned(
        write(AGG | {"system": "mi355x-oam", "backend": "sglang-rocm", "model_path": "deepseek-r1"})
    ).iter_rows(named=True)
    assert (row["system"], row["engine"], row["model"]) == (
        *("mi355x-oam", "sglang-rocm", "deepseek-r1"),
    )


def test_an_unknown_precision_is_refused(write: Write) -> None:
    with pytest.raises(UsageError, match="no precision 'fp5'; did you mean"):
        read_cleaned(write(AGG | {"precision": "fp5"}))


def test_throughput_is_as_stated_where_it_is_and_follows_where_not(write: Write) -> None:
    rows = [AGG | {THROUGHPUT: "321.5"}, AGG | {"id": "b"}]
    first, second = read_cleaned(write(*rows, more=(THROUGHPUT,)))["measured_tokens_per_s_per_gpu"]
    assert first == 321.5
    osl = (819 + 1024) / 2
    assert second == pytest.approx(64 * osl / (0.0815 + 0.00525 * (osl - 1)) / 8)


def test_a_stated_throughput_that_littles_law_forbids_is_sifted_out(write: Write) -> None:
    rows = [AGG | {THROUGHPUT: "3.0"}, AGG | {"id": "b"}]
    found = sift(read_cleaned(write(*rows, more=(THROUGHPUT,))))
    assert found.excluded["id"].to_list() == ["a"]


@pytest.mark.parametrize(
    ("names", "shelf"), [(MODELS, "models"), (SYSTEMS, "systems"), (ENGINES, "engines")]
)
def test_every_name_is_the_catalogues(names: dict[str, str], shelf: str) -> None:
    assert set(names.values()) <= set(catalogue.names(shelf))


@needs_shared
def test_all_measured_points_are_read_and_few_contradict_their_curve() -> None:
    rows = read_cleaned(TABLE)
    require(rows, MEASURED | LAYOUT, "the table")
    assert len(rows) > 1000
    assert rows["id"].n_unique() == len(rows)
    assert set(rows["mode"]) == {"unified", "split"}
    excluded = sift(rows).excluded
    assert len(excluded) < 0.01 * len(rows)
    assert excluded["reason"].str.contains("on its curve").all()
    for name, column in HELD_OUT.items():
        assert not any(leaks(fold, column) for fold in protocol(name)(rows))


@needs_shared
def test_gpus_are_those_of_the_pools() -> None:
    rows = read_cleaned(TABLE)
    sizes = [
        (pl.col(f"{pool}_workers") * pl.col(f"{pool}_tp") * pl.col(f"{pool}_dp")).fill_null(0)
        for pool in ("prefill", "decode")
    ]
    assert rows.filter(sizes[0] + sizes[1] != pl.col("gpus")).is_empty()


def test_a_row_says_whether_its_times_are_means_or_medians(write: Write) -> None:
    rows = [AGG | {"statistic": "median"}, AGG | {"id": "b"}]
    found = read_cleaned(write(*rows, more=("statistic",)))
    assert found["statistic"].to_list() == ["median", "mean"]
    assert read_cleaned(write(AGG))["statistic"].to_list() == ["mean"]


def test_another_statistic_is_refused_with_the_list(write: Write) -> None:
    with pytest.raises(UsageError, match="known: mean, median"):
        read_cleaned(write(AGG | {"statistic": "mode"}, more=("statistic",)))
