"""Rooflines that ship: complete, plausible, and what the data say."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import polars as pl
import pytest

from jalapeno import catalogue
from jalapeno.cost.tables import Peaks, choose, read, table_files
from jalapeno.cost.tables.families import FAMILIES
from jalapeno.cost.tables.shipped import (
    CLASSES,
    GENERATIONS,
    PATH,
    class_names,
    fit_classes,
    shipped,
    toml_lines,
)
from jalapeno.cost.tables.work import work
from jalapeno.errors import BadTable, UnknownName
from tests.cost.tables.worlds import LAW, OPS, PEAKS, attention_table, gemm_table, needs_ops


@pytest.mark.parametrize("generation", sorted(set(GENERATIONS.values())))
@pytest.mark.parametrize("family", CLASSES)
def test_every_family_has_plausible_constants(generation: str, family: str) -> None:
    for name, roofline in shipped(generation, family).items():
        assert 0.02 <= roofline.matrix_efficiency <= 1.2, name
        assert 0.05 <= roofline.memory_efficiency <= 1.2, name
        assert 1e-7 <= roofline.floor <= 1e-4, name


def test_every_fact_of_the_file_has_its_evidence() -> None:
    text = PATH.read_text(encoding="utf-8")
    assert 'kind = "fitted"' in text
    assert "aiconfigurator-core 0.12.0" in text


def test_narrower_formats_are_faster_for_large_products() -> None:
    frame = pl.DataFrame({"rows": [8192], "n": [8192], "k": [8192]})
    peaks = Peaks.of(catalogue.chip("gb300"))
    seconds = [
        shipped("blackwell", "gemm")[name]
        .seconds(work("gemm", frame.with_columns(pl.lit(name).alias("dtype")), peaks))
        .item()
        for name in ("bf16", "fp8", "nvfp4")
    ]
    assert seconds == sorted(seconds, reverse=True)


def test_every_generation_is_of_chips_of_the_catalogue() -> None:
    for chip in GENERATIONS:
        assert catalogue.chip(chip).name == chip


def test_an_unknown_generation_or_family_names_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="no generation of chips 'volta'"):
        shipped("volta", "gemm")
    with pytest.raises(BadTable, match="no roofline of 'layer' on hopper; there are: gemm"):
        shipped("hopper", "layer")


def test_classes_tell_dtypes_and_kernel_regimes_apart() -> None:
    rows = attention_table().rows
    names = class_names(FAMILIES["generation_attention"], rows)
    groups = dict(zip(rows["heads"], names, strict=True))
    assert groups == {8: "fp8 alone", 16: "fp8 grouped", 32: "fp8 grouped", 64: "fp8 grouped"}


def test_fitted_classes_find_the_law_and_can_be_written() -> None:
    table = gemm_table()
    found = fit_classes([(table, PEAKS), (table, PEAKS)])
    assert list(found) == ["bf16"]
    assert found["bf16"].matrix_efficiency == pytest.approx(LAW.matrix_efficiency, rel=0.1)
    lines = toml_lines("round", "gemm", found)
    assert '[round.gemm."bf16"]' in lines[0]
    assert len(lines) == 1 + len(astuple(LAW))


@needs_ops
@pytest.mark.parametrize(
    ("system", "generation"), [("h200_sxm", "hopper"), ("b200_sxm", "blackwell")]
)
def test_the_shipped_constants_are_those_of_the_data(system: str, generation: str) -> None:
    table = read(choose(table_files(OPS), system, "gemm", "trtllm"))
    peaks = Peaks.of(catalogue.chip(system.removesuffix("_sxm")))
    rows = table.rows.gather_every(97)
    names = class_names(table.family, rows)
    for name, roofline in fit_classes([(table, peaks)]).items():
        load = work("gemm", rows.filter(names == name), peaks)
        kept = shipped(generation, "gemm")[name].seconds(load)
        np.testing.assert_allclose(kept, roofline.seconds(load), rtol=0.02)
