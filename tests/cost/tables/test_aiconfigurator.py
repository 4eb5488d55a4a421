"""The tables of aiconfigurator-core: found without its code, read in our units, nothing else."""

from __future__ import annotations

import builtins
import importlib.util
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from jalapeno.cost.tables import (
    CHIPS,
    FAMILIES,
    aiconfigurator,
    choose,
    installed_root,
    read,
    table_files,
)
from jalapeno.cost.tables.aiconfigurator_columns import SHAPES
from jalapeno.errors import BadTable, MissingExtra
from tests.cost.tables.worlds import OPS, needs_ops

SOURCES = Path(aiconfigurator.__file__).parents[2]

GEMM: dict[str, list[Any]] = {
    "kernel_source": ["x", "x"],
    "m": [1, 2],
    "n": [8, 8],
    "k": [16, 16],
    "latency": [0.5, 1.0],
}


def put(root: Path, place: str, columns: dict[str, list[Any]]) -> Path:
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(columns).write_parquet(path)
    return path


def package(tmp_path: Path) -> Path:
    """A package with two tables, and with data that no one may read."""
    root = tmp_path / aiconfigurator.PACKAGE
    (root / "systems" / "data").mkdir(parents=True)
    (root / "__init__.py").write_text("raise ImportError('its code is not to be run')")
    (root / "systems" / "silicon_sample.csv").write_text("ttft,tpot\n1,2\n")
    data = {**GEMM, "gemm_dtype": ["bfloat16", "bfloat16"]}
    put(root, "systems/data/h200_sxm/gemm/trtllm/1.0/gemm_perf.parquet", data)
    put(root, "systems/data/h200_sxm/gemm/vllm/0.9/gemm_perf.parquet", data)
    put(root, "systems/data/h200_sxm/sparse/vllm/0.9/dsa_perf.parquet", data)
    return tmp_path


def test_the_installed_package_is_found_without_running_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(package(tmp_path)))
    monkeypatch.delitem(sys.modules, aiconfigurator.PACKAGE, raising=False)
    files = table_files()
    assert installed_root() == tmp_path / aiconfigurator.PACKAGE / "systems" / "data"
    assert [(each.system, each.table, each.framework) for each in files] == [
        ("h200_sxm", "gemm", "trtllm"),
        ("h200_sxm", "gemm", "vllm"),
    ]
    assert aiconfigurator.PACKAGE not in sys.modules


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for ask in (installed_root, aiconfigurator.installed_version, table_files):
        with pytest.raises(MissingExtra, match=r"pip install 'jalapeno-twin\[tables\]'"):
            ask()


def test_importing_the_product_does_not_need_the_package() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py"))
    assert f"import {aiconfigurator.PACKAGE}" not in text
    assert f"from {aiconfigurator.PACKAGE}" not in text


def test_the_end_to_end_measurements_are_never_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(package(tmp_path)))
    opened: list[str] = []

    def watched(real: Callable[..., Any]) -> Callable[..., Any]:
        def open_(path: Any, *said: Any, **kept: Any) -> Any:
            opened.append(str(path))
            return real(path, *said, **kept)

        return open_

    for module, name in ((pl, "scan_parquet"), (builtins, "open"), (io, "open")):
        monkeypatch.setattr(module, name, watched(getattr(module, name)))
    for name in ("read_csv", "scan_csv", "read_parquet"):
        monkeypatch.setattr(pl, name, lambda *said, **kept: pytest.fail("reads something else"))
    for file in table_files():
        read(file)
    assert sorted(Path(path).name for path in opened) == ["gemm_perf.parquet"] * 2


def test_only_one_module_knows_the_package_and_it_does_not_name_that_file() -> None:
    knowing = {
        path.name: path.read_text(encoding="utf-8")
        for path in SOURCES.rglob("*.py")
        if aiconfigurator.PACKAGE in path.read_text(encoding="utf-8")
    }
    assert set(knowing) == {"aiconfigurator.py"}
    assert "silicon_sample" not in knowing["aiconfigurator.py"]


def test_a_flat_folder_of_tables_is_read_too(tmp_path: Path) -> None:
    put(tmp_path, "mine/gemm__trtllm_1.3.parquet", {**GEMM, "gemm_dtype": ["fp8", "fp8"]})
    (file,) = table_files(tmp_path)
    assert (file.system, file.framework, file.version) == ("mine", "trtllm", "1.3")
    assert read(file).rows["time_us"].to_list() == [500.0, 1000.0]


def test_rows_that_say_the_same_twice_are_merged_and_counted(tmp_path: Path) -> None:
    twice = {name: values[:1] * 3 for name, values in GEMM.items()} | {"latency": [1.0, 3.0, 8.0]}
    put(tmp_path, "mine/gemm__a_1.parquet", {**twice, "gemm_dtype": ["fp8"] * 3})
    table = read(table_files(tmp_path)[0])
    assert table.rows["time_us"].to_list() == [3000.0]
    assert table.origin.source.endswith("2 repeated rows merged to medians")


def test_a_table_without_its_columns_is_named(tmp_path: Path) -> None:
    put(tmp_path, "mine/gemm__a_1.parquet", {"m": [1]})
    with pytest.raises(BadTable, match="not a table 'gemm'"):
        read(table_files(tmp_path)[0])


def test_a_time_of_zero_is_refused(tmp_path: Path) -> None:
    bad = {**GEMM, "latency": [0.0, 1.0], "gemm_dtype": ["fp8", "fp8"]}
    put(tmp_path, "mine/gemm__a_1.parquet", bad)
    with pytest.raises(BadTable, match="1 times are not above zero"):
        read(table_files(tmp_path)[0])


def test_a_message_of_elements_becomes_bytes(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {
        "op_name": ["all_reduce", "all_reduce"],
        "kernel_source": ["NCCL", "NCCL"],
        "nccl_dtype": ["half", "int8"],
        "num_gpus": [8, 8],
        "message_size": [1024, 1024],
        "latency": [0.01, 0.01],
    }
    put(tmp_path, "mine/nccl__nccl_2.parquet", columns)
    rows = read(table_files(tmp_path)[0]).rows
    assert dict(rows.select("dtype", "message_bytes").iter_rows()) == {"fp16": 2048, "int8": 1024}


def test_the_new_token_counts_among_those_that_decode_reads(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {
        "kernel_source": ["a"],
        "mla_dtype": ["bfloat16"],
        "kv_cache_dtype": ["fp8"],
        "num_heads": [16],
        "batch_size": [4],
        "isl": [1],
        "step": [1023],
        "latency": [0.01],
    }
    put(tmp_path, "mine/generation_mla__a_1.parquet", columns)
    rows = read(table_files(tmp_path)[0]).rows
    assert rows["context_tokens"].to_list() == [1024]
    assert rows["dtype"].to_list() == ["bf16"]


def test_prompts_with_a_cached_prefix_are_left_out_and_counted(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {
        "kernel_source": ["a"] * 3,
        "mla_dtype": ["bfloat16"] * 3,
        "kv_cache_dtype": ["fp8"] * 3,
        "num_heads": [16] * 3,
        "batch_size": [4] * 3,
        "isl": [128] * 3,
        "step": [0, 1024, 2048],
        "latency": [0.01, 0.02, 0.03],
    }
    put(tmp_path, "mine/context_mla__a_1.parquet", columns)
    table = read(table_files(tmp_path)[0])
    assert table.rows["time_us"].to_list() == [10.0]
    assert table.origin.source.endswith("2 rows of prompts with a cached prefix left out")


def test_dispatch_and_combine_become_rows_and_notices_are_added(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {
        "kernel_source": ["deepep"],
        "node_num": [2],
        "hidden_size": [7168],
        "num_token": [64],
        "num_topk": [8],
        "num_experts": [256],
        "dispatch_sms": [20],
        "dispatch_transmit_us": [90.0],
        "dispatch_notify_us": [10.0],
        "combine_sms": [24],
        "combine_transmit_us": [150.0],
        "combine_notify_us": [0.0],
    }
    put(tmp_path, "mine/wideep_deepep_normal__sglang_1.parquet", columns)
    rows = read(table_files(tmp_path)[0]).rows
    assert rows.select("operation", "cores", "time_us").rows() == [
        ("combine", 24, 150.0),
        ("dispatch", 20, 100.0),
    ]


# ---- choosing


def test_a_table_is_chosen_by_what_tells_it_apart(tmp_path: Path) -> None:
    for version in ("1", "2"):
        put(tmp_path, f"a/gemm__x_{version}.parquet", {"m": [1]})
    files = table_files(tmp_path)
    assert choose(files, "a", "gemm", version="2").version == "2"
    with pytest.raises(
        BadTable, match="2 files fit framework None, version None; there are: x 1, x 2"
    ):
        choose(files, "a", "gemm")
    with pytest.raises(BadTable, match=r"no tables of system 'b'[\s\S]*known: a"):
        choose(files, "b", "gemm")
    with pytest.raises(BadTable, match=r"no table 'moe' of system 'a'[\s\S]*known: gemm"):
        choose(files, "a", "moe")


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadTable, match="no such folder of tables"):
        table_files(tmp_path / "none")


def test_every_table_that_is_read_becomes_a_known_family() -> None:
    assert {shape.family for shape in SHAPES.values()} <= set(FAMILIES)


# ---- the real ones


@needs_ops
def test_every_measured_table_of_one_system_of_each_generation_is_lawful() -> None:
    files = [each for each in table_files(OPS) if each.system in ("h200_sxm", "gb200")]
    tables = [read(each) for each in files]
    assert {each.origin.family for each in tables} == set(FAMILIES) - {"layer"}
    assert sum(len(each.rows) for each in tables) > 700_000


@needs_ops
def test_every_chip_of_the_catalogue_has_its_tables() -> None:
    assert {each.system for each in table_files(OPS)} == set(CHIPS)


@pytest.mark.skipif(
    importlib.util.find_spec(aiconfigurator.PACKAGE) is None,
    reason="the package of the extra [tables], 80 MB, is not installed",
)
def test_the_installed_tables_can_be_read() -> None:
    files = table_files()
    rows = read(choose(files, "gb300", "gemm", "trtllm", "1.3.0rc20")).rows
    assert len(rows) > 100_000
    assert aiconfigurator.installed_version().startswith("0.12.")
