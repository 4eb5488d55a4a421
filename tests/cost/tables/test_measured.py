"""Measured systems: floors, rates and ramps against our formulas and among sources."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from scipy.optimize import least_squares

from jalapeno.cost.formulas import all_reduce_seconds, all_to_all_seconds
from jalapeno.cost.tables import Basis, choose, fastest_grid, grid_for, read, table_files
from jalapeno.cost.tables.monotone import monotone
from tests.cost.tables.worlds import OPS, SHARED, measured, needs_ops

Array = npt.NDArray[np.float64]
Formula = Callable[[float, float, float], float]
COMM = SHARED / "comm_kv"
pytestmark = needs_ops

BUSES = [
    ("h200_sxm", 8, {"all_reduce": 460, "all_gather": 337, "alltoall": 311}, (7, 17)),
    ("b200_sxm", 8, {"all_reduce": 704, "all_gather": 617, "alltoall": 563}, (10, 26)),
    ("gb200", 4, {"all_reduce": 628, "all_gather": 564, "alltoall": 488}, (10, 17)),
    ("gb300", 4, {"all_reduce": 635, "all_gather": 572, "alltoall": 512}, (10, 17)),
]
"""Bus bandwidth at 512 MB in GB/s, and the range of floors in microseconds."""


def nccl(system: str, operation: str, chips: int) -> tuple[Array, Array]:
    """(bytes, seconds) of NCCL 2.29.2 in FP16."""
    rows = read(choose(table_files(OPS), system, "nccl", "nccl", "2.29.2")).rows.filter(
        pl.col("operation") == operation, pl.col("dtype") == "fp16", pl.col("chips") == chips
    )
    return rows["message_bytes"].cast(pl.Float64).to_numpy(), rows["time_us"].to_numpy() * 1e-6


@pytest.mark.parametrize(("system", "chips", "buses", "floors"), BUSES)
def test_nccl_has_the_floors_and_bus_bandwidths_that_are_known(
    system: str, chips: int, buses: dict[str, float], floors: tuple[float, float]
) -> None:
    for operation, bus in buses.items():
        size, seconds = nccl(system, operation, chips)
        times = 2.0 if operation == "all_reduce" else 1.0
        rate = times * (chips - 1) / chips * size[-1] / seconds[-1] / 1e9
        assert rate == pytest.approx(bus, rel=0.01)
        assert floors[0] < seconds.min() * 1e6 < floors[1]


def fitted(model: Formula, size: Array, seconds: Array) -> Array:
    """Relative errors of a formula with its latency and rate fitted."""

    def predict(logs: Array) -> Array:
        return np.array([model(x, *np.exp(logs)) for x in size])

    start = np.log([1e-5, 3e11])

    def residuals(logs: Array) -> Array:
        result: Array = np.log(predict(logs) / seconds)
        return result

    found = least_squares(residuals, start, loss="soft_l1", f_scale=0.1)
    result: Array = np.abs(predict(found.x) / seconds - 1.0)
    return result


@pytest.mark.parametrize(("system", "chips"), [(row[0], row[1]) for row in BUSES])
def test_a_latency_and_a_rate_explain_all_reduce_over_six_decades(system: str, chips: int) -> None:
    size, seconds = nccl(system, "all_reduce", chips)
    errors = fitted(
        lambda x, latency, rate: all_reduce_seconds(x, chips, latency, rate, 0.0), size, seconds
    )
    assert np.median(errors) < 0.08
    assert errors.mean() < 0.12


@pytest.mark.parametrize(("system", "chips"), [(row[0], row[1]) for row in BUSES])
def test_a_latency_and_a_rate_explain_all_to_all(system: str, chips: int) -> None:
    size, seconds = nccl(system, "alltoall", chips)
    errors = fitted(
        lambda x, latency, rate: all_to_all_seconds(x * (chips - 1) / chips, chips, latency, rate),
        size,
        seconds,
    )
    assert np.median(errors) < 0.2
    assert errors.mean() < 0.2


def test_the_engines_own_all_reduce_starts_several_times_earlier() -> None:
    for system in ("h200_sxm", "b200_sxm", "gb300"):
        custom = read(choose(table_files(OPS), system, "custom_allreduce", "trtllm")).rows
        least = float(custom.select(pl.col("time_us").min()).item())
        assert 2.5 < least < 6.0
        assert least < 0.5 * nccl(system, "all_reduce", 4)[1].min() * 1e6


def test_deepep_across_nodes_agrees_with_what_its_makers_published() -> None:
    if not COMM.is_dir():
        pytest.skip("published measurements of DeepEP do not lie beside this checkout")
    published = pl.read_csv(COMM / "deepep_published.csv").filter(
        pl.col("kernel") == "low-latency", pl.col("ep").is_between(16, 64)
    )
    file = choose(table_files(OPS), "h100_sxm", "wideep_deepep_ll", "sglang", "0.5.6.post2")
    rows = read(file).rows.filter(
        pl.col("hidden") == 7168, pl.col("tokens") == 128, pl.col("experts") == 256
    )
    for ep, dispatch, combine in published.select("ep", "dispatch_us", "combine_us").iter_rows():
        ours = dict(
            rows.filter(pl.col("nodes") == ep // 8).select("operation", "time_us").iter_rows()
        )
        assert ours["dispatch"] == pytest.approx(dispatch, rel=0.15)
        assert ours["combine"] == pytest.approx(combine, rel=0.15)


@pytest.mark.parametrize(
    "name",
    ["mooncake_vllm_pd_kv_transfer_h800_qwen3-8b", "mooncake_sglang_pd_kv_transfer_h20_qwen3-235b"],
)
def test_a_latency_and_a_rate_explain_the_ramp_of_kv_transfers(name: str) -> None:
    if not COMM.is_dir():
        pytest.skip("published KV transfers do not lie beside this checkout")
    table = pl.read_csv(COMM / f"{name}.csv")
    size, seconds = table["kv_mb"].to_numpy() * 1e6, table["transfer_ms"].to_numpy() * 1e-3
    errors = fitted(
        lambda x, latency, rate: all_to_all_seconds(x, 2.0, latency, rate), size, seconds
    )
    assert errors[size >= 0.5e9].max() < 0.15
    assert errors[size < 0.5e9].max() < 0.30


# ---- answers on measured tables


GPT_OSS: dict[str, str | int] = {
    "dtype": "w4a8_mxfp4_mxfp8",
    "kernel": "moe_torch_flow",
    "distribution": "power_law_1.2",
    "hidden": 2880,
    "intermediate": 2880,
    "top_k": 4,
    "experts": 128,
    "tp": 1,
    "ep": 1,
}


def test_noise_moves_few_measured_times_when_it_is_taken_out() -> None:
    table = measured("gb300", "gemm").table
    rows = table.rows.filter(pl.col("dtype") == "nvfp4")
    moved = [
        np.abs(monotone(site["time_us"].to_numpy()) / site["time_us"].to_numpy() - 1.0)
        for _, site in rows.group_by("n", "k", maintain_order=True)
    ]
    assert np.median(np.concatenate(moved)) < 0.01
    assert np.concatenate(moved).mean() < 0.02


def test_decode_attention_on_a_large_batch_nears_the_memory_roofline() -> None:
    table = measured("b200_sxm", "generation_attention")
    shape: dict[str, str | int] = {"attention_dtype": "bf16", "kv_dtype": "bf16"}
    shape |= {"kernel": "torch_flow", "head_dim": 128, "window_tokens": 0}
    answer = table.seconds({**shape, "heads": 64, "kv_heads": 8}, [32, 8192])
    assert answer.basis is Basis.MEASURED
    moved = 32 * 8192 * 8 * 128 * 2 * 2
    assert 0.8 < moved / answer.seconds / 7.7e12 < 0.97


def test_a_window_makes_decode_attention_flat() -> None:
    table = measured("gb300", "generation_attention")
    shape: dict[str, str | int] = {"attention_dtype": "bf16", "kv_dtype": "fp8"}
    shape |= {"kernel": "torch_flow", "head_dim": 64, "window_tokens": 128}
    grid = grid_for(table, {**shape, "heads": 64, "kv_heads": 8})
    assert grid.at([32, 32768]) < 1.3 * grid.at([32, 256])


def test_the_experts_of_a_known_model_are_answered_by_measurements() -> None:
    grid = grid_for(measured("gb300", "moe"), GPT_OSS)
    assert grid.kind.name == "MEASURED"
    assert 10e-6 < grid.at([1]) < 60e-6


def test_of_two_kernels_for_experts_the_faster_is_taken() -> None:
    table = measured("b200_sxm", "moe")
    shape: dict[str, str | int] = {**GPT_OSS, "dtype": "nvfp4", "hidden": 7168}
    shape |= {"intermediate": 2048, "top_k": 8, "experts": 256, "ep": 8}
    best = fastest_grid(table, shape)
    for kernel in ("moe_torch_flow_cutlass", "moe_torch_flow_min_latency"):
        each = grid_for(table, {**shape, "kernel": kernel})
        assert all(best.at([x]) <= each.at([x]) * (1 + 1e-9) for x in (1, 64, 1024, 16384))


def test_an_all_to_all_of_a_whole_domain_is_answered() -> None:
    table = measured("gb200", "trtllm_alltoall")
    row = table.variants().row(0, named=True)
    shape = {**row, "hidden": 7168, "top_k": 8, "experts": 256}
    few, many = (table.seconds({**shape, "ep": ep}, [128]).seconds for ep in (4, 64))
    assert 5e-6 < few < many * 1.5
    assert table.seconds({**shape, "ep": 48}, [128]).basis is Basis.INTERPOLATED


@pytest.mark.parametrize("name", ["mla_context_module", "mla_generation_module", "context_mla"])
def test_mla_is_answered_at_and_between_its_heads(name: str) -> None:
    table = measured("gb200", name)
    shape = table.variants().row(0, named=True)
    at, between = (table.seconds({**shape, "heads": heads}, [4, 1024]) for heads in (16, 24))
    assert at.basis in (Basis.MEASURED, Basis.INTERPOLATED)
    assert between.basis is Basis.INTERPOLATED
    assert between.seconds >= 0.95 * at.seconds
