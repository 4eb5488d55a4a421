"""Files of benchmarks become rows; what cannot be one is named with why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from jalapeno.analysis.evidence.sources.export import plain, read_export
from jalapeno.analysis.evidence.sources.files import KNOWN, read_points
from jalapeno.analysis.evidence.sources.points import COLUMNS, Points, Told, nominal, points
from jalapeno.analysis.validation.rows import LAYOUT, MEASURED, mean_length, require
from jalapeno.analysis.validation.sift import sift
from jalapeno.errors import BadFact, UnknownName, UsageError
from tests.analysis.evidence.sources.made import (
    AGGREGATED,
    EXPORT_HEAD,
    EXPORT_ROW,
    PROFILE,
    RAW,
    SPLIT,
    written,
)

TOLD = Told(system="b200-hgx", engine="vllm", precision="fp4", tp=2)


def read(folder: Path, content: Any, told: Told = TOLD, name: str = "run.json") -> Points:
    return read_points([written(folder, name, content)], told)


def only(found: Points) -> dict[str, Any]:
    (row,) = found.rows.to_dicts()
    return row


# ---- the client's own result


def test_a_result_of_the_client_is_a_point_of_the_deployment_that_was_told(tmp_path: Path) -> None:
    row = only(read(tmp_path, RAW))
    assert row["model"] == "gpt-oss-120b"
    assert (row["system"], row["engine"], row["precision"]) == ("b200-hgx", "vllm", "fp4")
    assert (row["concurrency"], row["gpus"], row["decode_tp"]) == (64, 2, 2)
    assert (row["measured_ttft_ms"], row["measured_tpot_ms"]) == (100.0, 6.0)
    assert row["measured_tokens_per_s_per_gpu"] == pytest.approx(4_915.0)
    assert row["statistic"] == "mean"
    assert "20260401" in row["source"]


def test_lengths_are_those_whose_draws_have_its_mean_unless_they_are_told(tmp_path: Path) -> None:
    row = only(read(tmp_path, RAW))
    assert (row["isl"], row["osl"]) == (1024, 1024)
    told = Told(system="b200-hgx", engine="vllm", precision="fp4", tp=2, isl=1000, osl=900)
    row = only(read(tmp_path, RAW, told))
    assert (row["isl"], row["osl"]) == (1000, 900)


def test_medians_are_taken_where_no_mean_is_stated(tmp_path: Path) -> None:
    bare = {key: value for key, value in RAW.items() if not key.startswith("mean_")}
    row = only(read(tmp_path, bare))
    assert (row["measured_ttft_ms"], row["measured_tpot_ms"]) == (90.0, 5.9)
    assert row["statistic"] == "median"


def test_a_mean_beside_a_median_is_no_pair(tmp_path: Path) -> None:
    mixed = {k: v for k, v in RAW.items() if k not in ("mean_ttft_ms", "median_tpot_ms")}
    with pytest.raises(UsageError, match="no mean and no median of both"):
        read(tmp_path, mixed)


@pytest.mark.parametrize("missing", ["system", "precision", "tp"])
def test_what_neither_the_file_nor_anybody_says_is_asked_for(tmp_path: Path, missing: str) -> None:
    told = {"system": "b200-hgx", "engine": "vllm", "precision": "fp4", "tp": 2}
    del told[missing]
    with pytest.raises(UsageError, match=f"does not say its {missing}: say it with --{missing}"):
        read(tmp_path, RAW, Told(**told))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, -1.0, "many", None])
def test_times_that_are_no_times_are_refused(tmp_path: Path, value: Any) -> None:
    bad = {**RAW, "mean_tpot_ms": value, "median_tpot_ms": value}
    with pytest.raises(UsageError, match=r"run\.json"):
        read(tmp_path, bad)


# ---- aggregated rows


def test_an_aggregated_row_says_all_there_is_to_know(tmp_path: Path) -> None:
    row = only(read(tmp_path, [AGGREGATED], Told()))
    assert (row["model"], row["system"], row["engine"]) == (
        "gpt-oss-120b",
        "b200-hgx",
        "tensorrt-llm",
    )
    assert row["engine_version"] == "1.2.0rc2"
    assert (row["mode"], row["gpus"], row["decode_workers"]) == ("unified", 2, 1)
    assert (row["decode_tp"], row["decode_dp"], row["decode_ep"]) == (1, 2, 2)
    assert row["prefill_tp"] is None
    assert row["measured_ttft_ms"] == pytest.approx(140.8)
    assert row["measured_tpot_ms"] == pytest.approx(5.66)


def test_tensor_parallel_attention_is_not_spread(tmp_path: Path) -> None:
    row = only(read(tmp_path, {**AGGREGATED, "dp_attention": "false"}, Told()))
    assert (row["decode_tp"], row["decode_dp"]) == (2, 1)


def test_split_pools_keep_their_layouts_and_output_is_over_all_gpus(tmp_path: Path) -> None:
    row = only(read(tmp_path, [SPLIT], Told()))
    assert (row["mode"], row["gpus"], row["engine"]) == ("split", 5, "tensorrt-llm")
    assert (row["prefill_workers"], row["prefill_tp"], row["prefill_dp"]) == (1, 1, 1)
    assert (row["decode_workers"], row["decode_tp"], row["decode_dp"]) == (2, 1, 2)
    assert row["measured_tokens_per_s_per_gpu"] == pytest.approx(12_000.0 * 4 / 5)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"hw": "rtx6000pro"}, "hw 'rtx6000pro'"),
        ({"framework": "tilert"}, "framework 'tilert'"),
        ({"infmax_model_prefix": "x", "model": "y"}, "model 'y'"),
        ({"pp": 2}, "pp is 2"),
        ({"is_multinode": True}, "over nodes"),
        ({"conc": 0}, "conc: 0"),
        ({"tp": 1.5}, "not a whole number"),
        ({"precision": "fp6"}, "precision 'fp6'"),
    ],
)
def test_a_row_that_cannot_be_one_is_left_out_by_name(
    tmp_path: Path, changes: dict[str, Any], why: str
) -> None:
    found = read(tmp_path, [AGGREGATED, {**AGGREGATED, **changes}], Told())
    assert found.rows["id"].to_list() == ["run.json#1"]
    ((name, reason),) = found.left_out.iter_rows()
    assert name == "run.json#2"
    assert why in reason


def test_drafting_is_marked(tmp_path: Path) -> None:
    assert only(read(tmp_path, {**AGGREGATED, "spec_decoding": "mtp"}, Told()))["speculative"]


# ---- CSV export


def test_an_export_is_read_below_its_remarks(tmp_path: Path) -> None:
    row = only(read(tmp_path, EXPORT_HEAD + EXPORT_ROW, Told(), "chart.csv"))
    same = only(read(tmp_path, [AGGREGATED], Told()))
    for name in COLUMNS:
        if name not in ("id", "source", "engine_version"):
            assert row[name] == pytest.approx(same[name]), name


def test_headers_that_say_ms_over_seconds_are_not_believed(tmp_path: Path) -> None:
    old = EXPORT_HEAD.replace("(s)", "(ms)").replace("Chip", "GPU")
    row = only(read(tmp_path, old + EXPORT_ROW, Told(), "chart.csv"))
    assert row["measured_tpot_ms"] == pytest.approx(5.66)


def test_milliseconds_are_milliseconds() -> None:
    text = EXPORT_HEAD + EXPORT_ROW.replace("0.1408,0.1098,0.00566,0.00524", "140.8,109.8,5.66,5.2")
    assert only(read_export(text, "chart.csv"))["measured_ttft_ms"] == pytest.approx(140.8)


def test_split_deployments_of_an_export_are_left_out_by_name() -> None:
    text = EXPORT_HEAD + EXPORT_ROW + EXPORT_ROW.replace(",false,2,2", ",true,1,4")
    found = read_export(text, "chart.csv")
    assert len(found.rows) == 1
    assert "prefill workers" in found.left_out["reason"][0]


def test_a_key_that_ends_in_mtp_drafts() -> None:
    text = EXPORT_HEAD + EXPORT_ROW.replace("b200_trt,", "b200_trt_mtp,")
    assert only(read_export(text, "chart.csv"))["speculative"]


def test_a_missing_column_is_named() -> None:
    with pytest.raises(UsageError, match="no column concurrency"):
        read_export((EXPORT_HEAD + EXPORT_ROW).replace("Concurrency", "Users"), "chart.csv")


def test_columns_are_compared_without_units() -> None:
    assert plain("Throughput/GPU (tok/s)") == plain("Throughput/Chip (tok/s)") == "throughput/chip"


# ---- AIPerf


def test_a_profile_is_a_point_of_the_deployment_that_was_told(tmp_path: Path) -> None:
    row = only(read(tmp_path, PROFILE))
    assert (row["model"], row["concurrency"], row["gpus"]) == ("gpt-oss-120b", 16, 2)
    assert (row["measured_ttft_ms"], row["measured_tpot_ms"]) == (120.0, 8.0)
    assert (row["isl"], row["osl"]) == (1000, 500)
    assert row["measured_tokens_per_s_per_gpu"] == pytest.approx(950.0)
    assert "2026-04-01" in row["source"]


def test_units_of_a_profile_are_read(tmp_path: Path) -> None:
    seconds = {**PROFILE, "time_to_first_token": {"unit": "sec", "avg": 0.12}}
    assert only(read(tmp_path, seconds))["measured_ttft_ms"] == pytest.approx(120.0)
    odd = {**PROFILE, "time_to_first_token": {"unit": "fortnights", "avg": 0.12}}
    with pytest.raises(UsageError, match="fortnights"):
        read(tmp_path, odd)


def test_a_profile_with_medians_alone(tmp_path: Path) -> None:
    bare = {
        **PROFILE,
        "time_to_first_token": {"unit": "ms", "p50": 110.0},
        "inter_token_latency": {"unit": "ms", "p50": 7.9},
    }
    row = only(read(tmp_path, bare))
    assert (row["measured_tpot_ms"], row["statistic"]) == (7.9, "median")


def test_a_cancelled_run_is_no_point(tmp_path: Path) -> None:
    found = read(tmp_path, {**PROFILE, "was_cancelled": True})
    assert found.rows.is_empty()
    assert found.left_out["reason"].to_list() == ["the run was cancelled"]


def test_a_run_at_a_rate_has_no_number_in_flight(tmp_path: Path) -> None:
    rate = {**PROFILE, "input_config": {"loadgen": {"request_rate": 5.0}}}
    told = Told(system="b200-hgx", engine="vllm", precision="fp4", tp=2, model="gpt-oss-120b")
    with pytest.raises(UsageError, match="--concurrency"):
        read(tmp_path, rate, told)


def test_newer_configurations_name_the_model_elsewhere(tmp_path: Path) -> None:
    config = {"models": {"items": [{"name": "openai/gpt-oss-20b"}]}, "loadgen": {"concurrency": 4}}
    assert only(read(tmp_path, {**PROFILE, "input_config": config}))["model"] == "gpt-oss-20b"


def test_no_streaming_is_guessed_where_there_are_no_times_between_tokens(tmp_path: Path) -> None:
    bare = {key: value for key, value in PROFILE.items() if key != "inter_token_latency"}
    with pytest.raises(UsageError, match="streaming"):
        read(tmp_path, bare)


# ---- all of them


def test_rows_of_all_files_are_in_the_frame_of_validation(tmp_path: Path) -> None:
    paths = [
        written(tmp_path, "a.json", RAW),
        written(tmp_path, "b.json", [AGGREGATED, SPLIT]),
        written(tmp_path, "c.csv", EXPORT_HEAD + EXPORT_ROW),
        written(tmp_path, "d.json", PROFILE),
    ]
    found = read_points(paths, TOLD)
    require(found.rows, {**MEASURED, **LAYOUT}, "points")
    assert found.rows.columns == list(COLUMNS)
    assert len(found.rows) == 5
    assert found.rows["curve"].null_count() == 0
    assert set(sift(found.rows).rows["mode"]) == {"unified", "split"}


def test_the_same_file_twice_has_ids_of_its_own(tmp_path: Path) -> None:
    path = written(tmp_path, "a.json", RAW)
    assert read_points([path, path], TOLD).rows["id"].to_list() == ["a.json (1)", "a.json (2)"]


def test_without_a_file_the_points_that_ship_are_read() -> None:
    found = read_points([], Told())
    assert len(found.rows) > 1000
    assert set(found.rows["statistic"]) == {"mean", "median"}
    assert found.left_out.is_empty()


@pytest.mark.parametrize(
    "content", ["a,b\n1,2\n", "", "{}", "[]", '[{"a": 1}]', "[1, 2]", '"text"', "# only\n"]
)
def test_what_is_none_of_the_known_is_refused_with_the_list(tmp_path: Path, content: str) -> None:
    with pytest.raises(UsageError, match="known here") as error:
        read(tmp_path, content)
    assert KNOWN in str(error.value)


def test_broken_json_is_refused_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"run\.json: not JSON"):
        read(tmp_path, '{"hw": ')


@pytest.mark.parametrize("content", [b"\xff\xfe{", None])
def test_what_cannot_be_read_is_said(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "x.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match="cannot be read"):
        read_points([path], TOLD)


def test_a_cleaned_table_with_a_slip_is_refused_as_validation_does(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"points\.csv: no column"):
        read(tmp_path, "id,silicon_ttft_ms\na,1\n", TOLD, "points.csv")


# ---- what is told


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({"system": "b200"}, UnknownName),
        ({"model": "gpt"}, UnknownName),
        ({"engine": "vlm"}, UnknownName),
        ({"precision": "fp6"}, UnknownName),
        ({"tp": 0}, UsageError),
        ({"isl": -1}, UsageError),
    ],
)
def test_what_is_told_is_checked(told: dict[str, Any], error: type[UsageError]) -> None:
    with pytest.raises(error):
        Told(**told)


@pytest.mark.parametrize("length", [1024, 8192, 1000])
def test_a_nominal_length_has_the_mean_that_was_measured(length: int) -> None:
    mean = pl.DataFrame({"n": [length]}).select(mean_length("n")).item()
    assert nominal(mean) == pytest.approx(length, abs=1)


def test_no_points_at_all_are_an_error() -> None:
    with pytest.raises(UsageError, match="holds no measured point"):
        points([], {}, "x.json")


def test_slips_of_a_table_keep_their_sort(tmp_path: Path) -> None:
    from tests.presentation.calibration.files import table

    twice = table(2).with_columns(pl.lit("same").alias("id"))
    with pytest.raises(BadFact, match=r"points\.csv.*more than once"):
        read(tmp_path, twice.write_csv(), TOLD, "points.csv")
