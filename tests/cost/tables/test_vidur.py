"""Vidur's profiles: shapes of projections, milliseconds, bytes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from jalapeno.cost.tables.vidur import LAYER, read_collective, read_layer, read_projections
from jalapeno.errors import BadTable
from tests.cost.tables.worlds import SHARED

PROFILES = SHARED / "vidur" / "profiling"

needs_profiles = pytest.mark.skipif(
    not PROFILES.is_dir(), reason="Vidur's profiles do not lie beside this checkout"
)

MODEL = {
    "n_head": 64,
    "n_kv_head": 8,
    "n_embd": 8192,
    "n_expanded_embd": 28672,
    "use_gated_mlp": True,
}
OPERATORS = ("attn_pre_proj", "attn_post_proj", "mlp_up_proj", "mlp_down_proj", *LAYER)


def mlp(path: Path, tokens: list[int], tp: int = 1, **other: object) -> Path:
    """A profile in which the operator number i takes i + 1 ms."""
    columns = {name: [value] * len(tokens) for name, value in {**MODEL, **other}.items()}
    times = {
        f"time_stats.{name}.median": [float(at + 1)] * len(tokens)
        for at, name in enumerate(OPERATORS)
    }
    pl.DataFrame(
        {
            **times,
            **columns,
            "num_tokens": tokens,
            "num_tensor_parallel_workers": [tp] * len(tokens),
        }
    ).write_csv(path)
    return path


def test_projections_have_the_shapes_of_the_model_and_microseconds(tmp_path: Path) -> None:
    table = read_projections(mlp(tmp_path / "mlp.csv", [4]), "a100", "7d47513")
    assert table.rows.select("n", "k", "time_us").rows() == [
        (8192, 8192, 2000.0),
        (8192, 28672, 4000.0),
        (10240, 8192, 1000.0),
        (57344, 8192, 3000.0),
    ]
    assert table.rows["dtype"].unique().to_list() == ["fp16"]


def test_tensor_parallelism_cuts_columns_of_the_first_and_rows_of_the_second(
    tmp_path: Path,
) -> None:
    table = read_projections(mlp(tmp_path / "mlp.csv", [4], tp=8), "a100", "1")
    assert table.rows.select("n", "k").rows() == [
        (1280, 8192),
        (7168, 8192),
        (8192, 1024),
        (8192, 3584),
    ]


def test_an_mlp_without_a_gate_has_one_projection_up(tmp_path: Path) -> None:
    plain = mlp(tmp_path / "mlp.csv", [4], use_gated_mlp=False)
    assert 28672 in read_projections(plain, "a100", "1").rows["n"].to_list()


def test_small_operators_keep_their_names(tmp_path: Path) -> None:
    table = read_layer(mlp(tmp_path / "mlp.csv", [4, 8]), "a100", "1")
    assert set(table.rows["operation"]) == set(LAYER)
    assert len(table.rows) == 2 * len(LAYER)


def test_repeated_rows_are_merged_and_counted(tmp_path: Path) -> None:
    table = read_projections(mlp(tmp_path / "mlp.csv", [4, 4]), "a100", "1")
    assert len(table.rows) == 4
    assert "4 repeated rows merged" in table.origin.source


def collective(path: Path, **other: object) -> Path:
    said = {
        "time_stats.all_reduce.median": 0.05,
        "num_workers": 8,
        "size": 4096,
        "collective": "all_reduce",
        "devices_per_node": 4,
    }
    pl.DataFrame({name: [value] for name, value in {**said, **other}.items()}).write_csv(path)
    return path


def test_collectives_keep_their_bytes_and_say_how_they_were_placed(tmp_path: Path) -> None:
    table = read_collective(collective(tmp_path / "all_reduce.csv"), "a100", "1")
    assert table.rows.row(0, named=True) == {
        "operation": "all_reduce",
        "dtype": "fp16",
        "kernel": "nccl, 4 a node",
        "chips": 8,
        "message_bytes": 4096,
        "time_us": 50.0,
    }


@pytest.mark.parametrize("gone", ["n_head", "num_tokens", "time_stats.mlp_up_proj.median"])
def test_a_profile_without_a_column_is_named(tmp_path: Path, gone: str) -> None:
    path = mlp(tmp_path / "mlp.csv", [4])
    pl.read_csv(path).drop(gone).write_csv(path)
    with pytest.raises(BadTable, match=f"not a profile of Vidur: no column .*{gone}"):
        read_projections(path, "a100", "1")


def test_a_time_that_is_not_positive_is_refused(tmp_path: Path) -> None:
    path = collective(tmp_path / "all_reduce.csv", **{"time_stats.all_reduce.median": -1.0})
    with pytest.raises(BadTable, match=r"first -1000\.0"):
        read_collective(path, "a100", "1")


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadTable, match="not a readable CSV file"):
        read_layer(tmp_path / "none.csv", "a100", "1")


@needs_profiles
@pytest.mark.parametrize("path", sorted(PROFILES.glob("compute/*/*/*/mlp.csv.gz")), ids=str)
def test_the_real_projections_stay_below_the_peak(path: Path) -> None:
    rows = read_projections(path, "x", "1").rows
    peak = 989e12 if "h100" in path.parts else 312e12
    rate = rows.select(2.0 * pl.col("rows") * pl.col("n") * pl.col("k") / pl.col("time_us") * 1e6)
    assert 0.5 * peak < float(rate.max().item()) < peak


@needs_profiles
def test_sizes_are_bytes_for_no_link_is_faster_than_it_is() -> None:
    for machine, one_way in (("a100_dgx", 300.0), ("h100_dgx", 450.0)):
        path = PROFILES / "network" / machine / "send_recv.csv.gz"
        rows = read_collective(path, machine, "1").rows
        rate = rows.select(pl.col("message_bytes") / pl.col("time_us") / 1e3).max().item()
        assert 0.6 * one_way < rate < one_way
