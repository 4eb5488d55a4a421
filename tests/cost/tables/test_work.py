"""Work: sums that can be done by hand, and more of anything is never less work."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jalapeno import catalogue
from jalapeno.cost.tables import DTYPES, Peaks
from jalapeno.cost.tables.dtypes import dtype, element_bytes
from jalapeno.cost.tables.work import TILE, Work, work
from jalapeno.errors import BadTable, UnknownName
from tests.cost.tables.worlds import LAW, PEAKS, experts_table, shapes

COUNT = st.integers(1, 5000)


def gemm(rows: int, n: int, k: int, name: str = "bf16") -> Work:
    return work("gemm", shapes(dtype=[name], rows=[rows], n=[n], k=[k]), PEAKS)


def decode(
    sequences: int, context: int, heads: int = 32, kv_heads: int = 8, window: int = 0
) -> Work:
    frame = shapes(
        attention_dtype=["bf16"],
        kv_dtype=["bf16"],
        head_dim=[128],
        window_tokens=[window],
        heads=[heads],
        kv_heads=[kv_heads],
        sequences=[sequences],
        context_tokens=[context],
    )
    return work("generation_attention", frame, PEAKS)


def prompt(new: int, cached: int = 0, window: int = 0, heads: int = 8) -> Work:
    frame = shapes(
        attention_dtype=["bf16"],
        kv_dtype=["bf16"],
        head_dim=[128],
        window_tokens=[window],
        heads=[heads],
        kv_heads=[8],
        sequences=[1],
        new_tokens=[new],
        cached_tokens=[cached],
    )
    return work("context_attention", frame, PEAKS)


def test_a_large_gemm_is_two_flops_a_product_of_rows_n_and_k() -> None:
    # 20 x 20 tiles are four waves of the 100 cores, none of them part empty
    load = gemm(20 * 128, 20 * 128, 4096)
    assert load.matrix[0] == pytest.approx(2.0 * 2560 * 2560 * 4096 / 1e15)
    assert load.memory[0] == pytest.approx(2.0 * (2 * 2560 * 4096 + 2560 * 2560) / 4e12)


def test_a_narrow_gemm_reads_its_weights() -> None:
    load = gemm(1, 4096, 4096, "nvfp4")
    assert load.memory[0] == pytest.approx(4096 * 4096 * 4.5 / 8.0 / 4e12, rel=0.01)


def test_the_last_wave_is_paid_whole() -> None:
    just, over = gemm(1280, 1280, 1024), gemm(1280, 1281, 1024)
    assert just.waves[0] == 1.0
    assert over.waves[0] == 2.0
    assert over.matrix[0] == pytest.approx(2.0 * just.matrix[0])


def test_only_what_is_quantised_has_a_pass_before() -> None:
    assert gemm(64, 256, 256).passes[0] == 0.0
    assert gemm(64, 256, 256, "fp8").passes[0] == pytest.approx(64 * 256 * 5.0 / 4e12)


@given(COUNT, COUNT, COUNT)
def test_more_rows_are_never_cheaper(rows: int, n: int, k: int) -> None:
    more = LAW.seconds(gemm(rows + 1, n, k, "fp8"))[0]
    assert more >= LAW.seconds(gemm(rows, n, k, "fp8"))[0]


@given(st.integers(1, 512), st.integers(1, 200_000), st.sampled_from([0, 128, 1024]))
def test_longer_contexts_are_never_cheaper(sequences: int, context: int, window: int) -> None:
    longer = LAW.seconds(decode(sequences, context + 1, window=window))[0]
    assert longer >= LAW.seconds(decode(sequences, context, window=window))[0] * (1 - 1e-9)


@given(st.integers(1, 20000), st.integers(0, 100_000), st.sampled_from([0, 128, 4096]))
def test_longer_prompts_and_caches_are_never_cheaper(new: int, cached: int, window: int) -> None:
    here = LAW.seconds(prompt(new, cached, window))[0]
    assert LAW.seconds(prompt(new + 1, cached, window))[0] >= here * (1 - 1e-9)
    assert LAW.seconds(prompt(new, cached + 1, window))[0] >= here * (1 - 1e-9)


def test_decode_reads_each_kv_entry_once() -> None:
    load = decode(256, 8192)
    assert load.memory[0] == pytest.approx(256 * 8 * 8192 * 2 * 128 * 2 / 4e12, rel=0.01)


def test_a_window_ends_what_decode_reads() -> None:
    assert decode(256, 128).memory[0] == decode(256, 100_000, window=128).memory[0]


def test_groups_of_more_than_32_heads_read_for_each_head() -> None:
    shared, alone = decode(64, 4096, 32, 1), decode(64, 4096, 64, 1)
    assert alone.memory[0] > 30 * shared.memory[0]


def test_a_prompt_has_half_of_the_square_and_its_cache_whole() -> None:
    tokens, blocks = 64 * 128, 64
    flops = 4.0 * 8 * 128
    half = TILE**2 * blocks * (blocks + 1) / 2
    assert prompt(tokens).matrix[0] == pytest.approx(flops * half / 1e15)
    whole = half + tokens * tokens
    assert prompt(tokens, cached=tokens).matrix[0] == pytest.approx(flops * whole / 1e15)


def test_a_prompt_cut_in_two_has_the_same_pairs() -> None:
    cut = prompt(4096).matrix[0] + prompt(4096, cached=4096).matrix[0]
    assert cut == pytest.approx(prompt(8192).matrix[0])


@pytest.mark.parametrize("family", ["context_mla_module", "generation_mla_module"])
def test_a_module_is_more_than_its_kernel(family: str) -> None:
    load = "new_tokens" if family.startswith("context") else "context_tokens"
    frame = shapes(
        dtype=["bf16"],
        kv_dtype=["fp8"],
        gemm_dtype=["fp8_block"],
        heads=[16, 128],
        sequences=[1, 64],
        **{load: [512]},
    )
    module, kernel = work(family, frame, PEAKS), work(family.removesuffix("_module"), frame, PEAKS)
    assert (module.matrix > kernel.matrix).all()
    assert (module.memory > kernel.memory).all()


def test_an_absorbed_latent_is_read_once_for_all_heads() -> None:
    frame = shapes(
        dtype=["bf16"], kv_dtype=["bf16"], heads=[16, 64], sequences=[128], context_tokens=[4096]
    )
    few, many = work("generation_mla", frame, PEAKS).memory
    assert many == pytest.approx(few, rel=0.1)
    assert few == pytest.approx(128 * 4096 * 576 * 2 / 4e12, rel=0.1)


def test_experts_read_the_weights_of_those_that_are_touched() -> None:
    frame = experts_table().rows.filter(pl.col("ep") == 1, pl.col("hidden") == 4096)
    load = work("moe", frame, PEAKS)
    most = 64 * 3 * 4096 * frame["intermediate"].to_numpy() / 4e12
    assert (load.memory[frame["tokens"].to_numpy() == 1] < 0.1 * most[0] + most[0]).all()
    np.testing.assert_allclose(load.memory[-1], most[-1], rtol=0.5)


def test_a_ring_sends_its_share_twice() -> None:
    frame = shapes(
        operation=["all_reduce", "all_gather", "send_recv"], chips=[8], message_bytes=[8 << 20]
    )
    reduce, gather, send = work("collective", frame, PEAKS).memory
    assert reduce == pytest.approx(2 * 7 / 8 * (8 << 20) / 4e11)
    assert gather == pytest.approx(reduce / 2)
    assert send == pytest.approx(reduce)


def test_dispatch_moves_one_byte_and_combine_two() -> None:
    frame = shapes(
        operation=["dispatch", "combine"],
        nodes=[1],
        hidden=[7168],
        top_k=[8],
        experts=[256],
        tokens=[128],
    )
    there, back = work("deepep_low_latency", frame, PEAKS).memory
    assert back == pytest.approx(2 * there)


def test_wires_need_a_link_rate() -> None:
    frame = shapes(operation=["all_reduce"], chips=[8], message_bytes=[1024])
    with pytest.raises(BadTable, match="need a link rate"):
        work("collective", frame, Peaks.of(catalogue.chip("h200")))


def test_an_unknown_family_names_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="no family with a roofline 'gem'"):
        work("gem", shapes(rows=[1]), PEAKS)


# ---- dtypes and peaks


def test_bytes_are_those_of_the_formats() -> None:
    assert dtype("nvfp4").weight_bytes == 4.5 / 8
    assert dtype("w4a16_mxfp4").activation_bytes == 2.0
    assert element_bytes("fp8") == 1.0


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_meets_a_peak_of_every_chip(name: str) -> None:
    peaks = Peaks.of(catalogue.chip("jalapeno"))
    assert peaks.matrix[dtype(name).operands] > 0.0


def test_peaks_run_at_the_speed_of_the_stepping() -> None:
    chip = catalogue.chip("jalapeno")
    assert Peaks.of(chip).matrix["16x16"] == chip.matrix.peak_16x16 * chip.speed


@pytest.mark.parametrize("ask", [dtype, element_bytes])
def test_an_unknown_dtype_is_named(ask: object) -> None:
    with pytest.raises(UnknownName, match="fp7"):
        ask("fp7")  # type: ignore[operator]
