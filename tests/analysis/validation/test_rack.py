"""MLPerf on racks as runs of the twin."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

from jalapeno import catalogue
from jalapeno.analysis.validation.frames import COLUMNS
from jalapeno.analysis.validation.rack import (
    SHAPES,
    SPECULATES,
    Entry,
    entries,
    rack_scale,
    scenario_for,
    traffic_of,
)
from jalapeno.simulation import ClosedLoop, Poisson, Role

RESULTS = Path(__file__).parents[4] / "shared" / "data" / "mlperf" / "mlperf_inference_v6.0_llm.csv"
OSL = RESULTS.with_name("mlperf_osl_distribution.csv")


def one(system: str, model: str, scenario: str, chips: int = 72) -> Entry:
    (found,) = (
        entry
        for entry in entries()
        if (entry.system, entry.model, entry.scenario, entry.chips)
        == (system, model, scenario, chips)
    )
    return found


def test_every_run_has_a_name_of_its_own_and_a_known_system() -> None:
    assert len({entry.name for entry in entries()}) == len(entries()) == 18
    for entry in entries():
        assert entry.system in catalogue.names("systems")
        assert entry.model in SHAPES


@pytest.mark.skipif(not RESULTS.exists(), reason="the results are not beside the checkout")
def test_the_measured_numbers_are_those_of_the_results() -> None:
    known = {
        (line["ID"], line["Model"], line["Scenario"], float(line["Performance_Result"]))
        for line in csv.DictReader(RESULTS.read_text("utf-8").splitlines())
        if line["Submitter"] == "NVIDIA"
    }
    for entry in entries():
        parts = (entry.name.split("/")[0], entry.model, entry.scenario, entry.tokens_per_s)
        assert parts in known


def test_a_layout_uses_all_chips_of_its_system() -> None:
    for entry in entries():
        pools = scenario_for(entry).pools
        assert (
            sum(pool.plan.chips * pool.replicas for pool in pools) * entry.replicas == entry.chips
        )


def test_the_layouts_of_the_racks_are_those_that_were_submitted() -> None:
    interactive = scenario_for(one("gb300-nvl72", "gpt-oss-120b", "Interactive"))
    assert [pool.role for pool in interactive.pools] == [Role.PREFILL, Role.DECODE]
    assert interactive.label == "P 20xTP1 + D 13xDEP4"
    r1 = scenario_for(one("gb300-nvl72", "deepseek-r1", "Interactive"))
    assert r1.label == "P 4xDEP2 MTP3 + D 4xDEP16 MTP3"
    assert scenario_for(one("gb300-nvl72", "deepseek-r1", "Offline")).label == "1xDEP8"


def test_offline_sends_all_at_once_and_others_their_share_of_the_load() -> None:
    offline = one("gb300-nvl72", "gpt-oss-120b", "Offline")
    traffic = traffic_of(offline)
    assert traffic.arrivals == ClosedLoop(concurrency=offline.samples // 72)
    server = one("gb300-nvl72", "gpt-oss-120b", "Server")
    arrivals = traffic_of(server).arrivals
    assert isinstance(arrivals, Poisson)
    assert server.offered_per_s is not None
    assert arrivals.rate == pytest.approx(server.offered_per_s / 72)


def test_answers_are_as_long_as_in_the_run() -> None:
    for entry in entries():
        _, output = traffic_of(entry).lengths.means
        assert output == pytest.approx(entry.tokens_per_s / entry.samples_per_s, rel=0.01)


@pytest.mark.skipif(not OSL.exists(), reason="the quantiles are not beside the checkout")
def test_long_answers_of_r1_are_as_common_as_in_the_data_set() -> None:
    said = {
        line["quantile"]: float(line["output_tokens"])
        for line in csv.DictReader(OSL.read_text("utf-8").splitlines())
        if line["dataset"] == "mlperf-deepseek-r1"
    }
    _, answers = traffic_of(one("gb300-nvl72", "deepseek-r1", "Offline")).lengths.draw(20_000)
    drawn = pl.Series(answers)
    for share in (0.5, 0.75, 0.9):
        quantile = drawn.quantile(share)
        assert quantile == pytest.approx(said[f"p{share * 100:.0f}"], rel=0.25)


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return rack_scale(
        lambda entry: (
            entry.system == "gb300-nvl72"
            and entry.chips == 72
            and (entry.scenario != "Interactive" or entry.mtp)
        )
    )


def row(frame: pl.DataFrame, model: str, scenario: str, quantity: str) -> dict[str, object]:
    found = frame.filter(
        (pl.col("model") == model)
        & (pl.col("scenario") == scenario)
        & (pl.col("quantity") == quantity)
    )
    return dict(found.row(0, named=True))


@pytest.mark.parametrize("scenario", ["Offline", "Server"])
def test_throughput_of_a_rack_on_gpt_oss_comes_within_a_fifth(
    frame: pl.DataFrame, scenario: str
) -> None:
    error = row(frame, "gpt-oss-120b", scenario, "output throughput")["error"]
    assert isinstance(error, float)
    assert abs(error) < 0.2


def test_a_run_that_speculates_says_whose_acceptance_was_taken(frame: pl.DataFrame) -> None:
    drafted = frame.filter(pl.col("assumptions").str.starts_with(SPECULATES))
    assert drafted.height == 3
    assert set(drafted["scenario"]) == {"Interactive"}
    assert drafted["layout"].str.contains("MTP3").all()


def test_a_run_that_speculates_is_as_fast_as_measured_within_fifteen_percent(
    frame: pl.DataFrame,
) -> None:
    # nothing is fitted to it, and without speculation the twin is half as slow again
    for quantity in ("output throughput", "mean TPOT"):
        error = row(frame, "deepseek-r1", "Interactive", quantity)["error"]
        assert isinstance(error, float)
        assert abs(error) < 0.15


def test_only_runs_in_which_requests_arrive_have_latencies(frame: pl.DataFrame) -> None:
    offline = frame.filter(pl.col("scenario") == "Offline")
    assert set(offline["quantity"]) == {"output throughput"}
    server = frame.filter(pl.col("scenario") == "Server")
    assert set(server["quantity"]) == {"output throughput", "mean TTFT", "mean TPOT"}


def test_what_is_assumed_is_said_of_every_prediction(frame: pl.DataFrame) -> None:
    told = frame.filter(pl.col("predicted").is_not_null())
    assert told["assumptions"].str.contains("prompts of .* tokens on the mean").all()
    assert told["assumptions"].str.contains("of [0-9,]+ samples").all()
    assert frame.columns == [*COLUMNS, "scenario", "layout"]


def test_an_open_loop_serves_no_more_than_is_offered(frame: pl.DataFrame) -> None:
    server = one("gb300-nvl72", "gpt-oss-120b", "Server")
    predicted = row(frame, "gpt-oss-120b", "Server", "output throughput")["predicted"]
    assert isinstance(predicted, float)
    assert server.offered_per_s is not None
    assert predicted < server.offered_per_s * server.output * 1.02
