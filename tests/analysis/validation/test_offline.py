"""Published offline throughput as runs of the twin."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from jalapeno import catalogue
from jalapeno.analysis.validation.frames import COLUMNS
from jalapeno.analysis.validation.offline import (
    KV_SHARE,
    MODELS,
    MOST_RUNNING,
    SYSTEMS,
    Offline,
    offline_throughput,
    plan_for,
    precision_for,
    rows,
    scenario_for,
)
from jalapeno.errors import BadPlan
from jalapeno.mapping.memory import room
from jalapeno.simulation import ClosedLoop

SOURCE = Path(__file__).parents[4] / "shared" / "data" / "trtllm" / "trtllm_perf_overview.csv"


def one(name: str) -> Offline:
    (found,) = (row for row in rows() if row.name == name)
    return found


def covered() -> list[Offline]:
    return [row for row in rows() if row.covered]


def test_all_published_points_are_there_each_by_a_name_of_its_own() -> None:
    assert len(rows()) == len({row.name for row in rows()}) == 360
    assert len(covered()) == 253


def test_names_are_those_of_the_catalogue() -> None:
    assert set(MODELS.values()) <= set(catalogue.names("models"))
    assert set(SYSTEMS.values()) <= set(catalogue.names("systems"))


@pytest.mark.skipif(not SOURCE.exists(), reason="the published table is not beside the checkout")
def test_the_shipped_table_is_the_published_one() -> None:
    shipped = Path("src/jalapeno/catalogue/data/offline/rows.csv")
    assert (Path(__file__).parents[3] / shipped).read_bytes() == SOURCE.read_bytes()


def test_cuts_are_what_the_field_calls_them() -> None:
    for row in covered():
        plan = plan_for(row)
        assert plan.label == row.parallelism
        assert plan.chips == row.gpus


def test_a_cut_of_another_system_is_refused() -> None:
    odd = next(row for row in rows() if "PP" in row.parallelism)
    with pytest.raises(BadPlan, match=odd.parallelism):
        plan_for(odd)


def test_every_point_can_be_laid_out_and_keeps_its_cache() -> None:
    for row in covered():
        scenario = scenario_for(row)
        (pool,) = scenario.pools
        space = room(scenario.model, pool.plan, scenario.system, scenario.engine)
        held = pool.plan.max_running * space.blocks_for(row.isl + row.osl)
        assert held <= KV_SHARE * space.blocks
        assert pool.plan.max_running <= MOST_RUNNING
        assert scenario.traffic.requests == row.requests
        assert scenario.traffic.arrivals == ClosedLoop(concurrency=row.requests)
        prompts, answers = scenario.traffic.lengths.draw(3)
        assert set(prompts.tolist()) == {row.isl}
        assert set(answers.tolist()) == {row.osl}


@pytest.mark.parametrize(
    ("name", "experts", "attention", "kv"),
    [
        ("v1.1/gpt-oss-120b/GB200/TP1/FP4/1000/1000", "mxfp4", "bf16", "bf16"),
        ("v1.1/gpt-oss-120b/H200/TP1/FP8/1000/1000", "mxfp4", "bf16", "bf16"),
        ("v1.1/DeepSeek-R1-0528/B200/DEP4/FP4/1000/1000", "nvfp4", "bf16", "fp8"),
        ("v1.1/DeepSeek-R1-0528/H200/DEP8/FP8/1000/1000", "fp8", "fp8", "bf16"),
        ("v1.0/Llama-3.3-70B/H200/TP1/FP8/1000/1000", "fp8", "fp8", "fp8"),
        ("v1.0/Llama-3.3-70B/B200/TP1/FP4/1000/1000", "nvfp4", "nvfp4", "fp8"),
    ],
)
def test_formats_are_those_of_the_checkpoints(
    name: str, experts: str, attention: str, kv: str
) -> None:
    found = precision_for(one(name))
    assert (found.experts, found.attention, found.kv) == (experts, attention, kv)


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return offline_throughput(
        lambda row: (
            (
                row.gpu == "GB200"
                and row.model in ("Llama-3.3-70B", "gpt-oss-120b")
                and (row.isl, row.osl) in ((1000, 1000), (8192, 1024))
            )
            or row.model == "Llama-4-Scout"
        )
    )


def test_points_of_the_fitted_family_come_within_a_fifth(frame: pl.DataFrame) -> None:
    told = frame.filter(pl.col("predicted").is_not_null())
    assert len(told) == 5
    assert told["error"].abs().max() < 0.2  # type: ignore[operator]
    assert told["assumptions"].str.contains("at once on a rank").all()


def test_what_the_catalogue_lacks_is_named_and_not_left_out(frame: pl.DataFrame) -> None:
    untold = frame.filter(pl.col("predicted").is_null())
    assert set(untold["model"]) == {"Llama-4-Scout"}
    assert untold["assumptions"].str.starts_with("not predicted: ").all()
    assert untold["error"].null_count() == len(untold) == 38


def test_the_frame_has_the_common_columns_first(frame: pl.DataFrame) -> None:
    assert frame.columns == [*COLUMNS, "isl", "osl", "parallelism"]


def test_the_same_question_has_the_same_answer(frame: pl.DataFrame) -> None:
    name = "v1.1/gpt-oss-120b/GB200/TP1/FP4/1000/1000"
    again = offline_throughput(lambda row: row.name == name)
    assert again["predicted"].item() == frame.filter(pl.col("row") == name)["predicted"].item()
