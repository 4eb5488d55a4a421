"""The rows of the audit, and their doubt."""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path

import pytest

from jalapeno import catalogue
from jalapeno.analysis.claims.measured import (
    COLUMNS,
    Baseline,
    around,
    baselines,
    rounded,
    spreads,
)
from jalapeno.catalogue import Fact, Kind

FOLDER = files("jalapeno.catalogue") / "data" / "audit"
POINTS = Path(__file__).parents[4] / "shared" / "data" / "inferencex" / "inferencex_points.csv"


def shipped() -> list[dict[str, str]]:
    return list(csv.DictReader((FOLDER / "rows.csv").read_text("utf-8").splitlines()))


def of(model: str, name: str) -> Baseline:
    (found,) = (one for one in baselines() if (one.model, one.name) == (model, name))
    return found


def fact(text: str, value: float) -> Fact:
    return Fact(value=value, text=text, unit="s", kind=Kind.PUBLISHED, source="test")


def test_every_row_is_of_a_known_model_and_system_and_says_where_it_is_from() -> None:
    models, systems = catalogue.names("models"), catalogue.names("systems")
    for row in shipped():
        assert row["model"] in models
        assert row["system"] in systems
        assert row["source"]
        assert row["date"]
        assert row["tput_kind"] in ("measured", "derived")
        assert row["speed_stat"] in ("mean", "median")
        assert bool(row["e2e_s"]) == bool(row["e2e_stat"])


def test_no_row_is_from_a_repository_without_a_licence() -> None:
    sources = {row["source"].partition("@")[0] for row in shipped()}
    assert sources == {
        "ai-dynamo/aiconfigurator",
        "SemiAnalysisAI/InferenceX-app",
        "vngcloud/InferenceX-app",
    }


def test_derived_throughput_follows_from_littles_law() -> None:
    derived = [row for row in shipped() if row["tput_kind"] == "derived"]
    assert derived
    for row in derived:
        tokens = int(row["concurrency"]) * (7372.5 + 921.5)
        rate = tokens / (float(row["e2e_s"]) * int(row["chips"]))
        assert float(row["tput_per_gpu"]) == pytest.approx(rate, rel=1e-3)


def test_derived_throughput_may_be_too_high_but_not_too_low() -> None:
    (point,) = (
        p
        for p in of("gpt-oss-120b", "b200-hgx fp4").points
        if p.concurrency == 256 and p.throughput and p.throughput.value > 60_000
    )
    assert point.throughput is not None
    assert point.throughput.kind is Kind.DERIVED
    assert point.throughput.high == point.throughput.value
    # InferenceX states 61,612.7 for this very run
    assert point.throughput.low < 61_612.7 < point.throughput.high


def test_rows_of_the_references_are_baselines_too() -> None:
    with_mtp = of("deepseek-r1", "gb300-nvl72 fp4 + MTP")
    assert max(p.throughput.value for p in with_mtp.points if p.throughput) == 18131.5558
    gb200 = of("gpt-oss-120b", "gb200-nvl72 fp4")
    assert max(p.throughput.value for p in gb200.points if p.throughput) == pytest.approx(53952.468)


def test_a_reference_without_rows_is_known_by_what_the_claim_says() -> None:
    kimi = of("kimi-k2.5", "gb300-nvl72 fp4")
    assert [p.throughput.value for p in kimi.points if p.throughput] == pytest.approx(
        [11862 * 1.4, 120 * 1.4]
    )
    assert [p.e2e.value for p in kimi.points if p.e2e] == [5.31]
    assert all("OpenAI" in p.source for p in kimi.points)


def test_eight_bit_rows_are_not_of_equal_precision() -> None:
    assert not of("deepseek-r1", "h200-hgx fp8").equal_precision
    assert of("kimi-k2.5", "h200-hgx int4").equal_precision


@pytest.mark.parametrize(
    ("text", "value", "half"),
    [
        ("0.69 ms", 0.69e-3, 0.005e-3),
        ("85448 token/s/kW", 85448.0, 0.5),
        ("1.80 s", 1.8, 0.005),
    ],
)
def test_a_published_number_is_known_to_half_a_unit_of_its_last_digit(
    text: str, value: float, half: float
) -> None:
    found = rounded(fact(text, value))
    assert found.value - found.low == pytest.approx(half)
    assert found.high - found.value == pytest.approx(half)


def test_around_is_even_to_both_sides() -> None:
    found = around(200.0, 0.01, Kind.MEASURED)
    assert (found.low, found.value, found.high) == (198.0, 200.0, 202.0)


def test_every_doubt_has_a_source() -> None:
    facts = spreads().facts
    assert set(facts) == {
        *("run.throughput", "run.time", "little.excess_least", "little.excess_most"),
        *("draw.busy_share", "draw.light_share"),
    }
    assert all(len(one.source) > 20 for one in facts.values())


@pytest.mark.skipif(not POINTS.exists(), reason="the measured points are not beside the checkout")
def test_rows_of_the_dashboard_are_those_of_the_collected_points() -> None:
    known = {
        (
            line["date"],
            float(line["concurrency"]),
            line["tput_per_gpu"] and float(line["tput_per_gpu"]),
        )
        for line in csv.DictReader(POINTS.read_text("utf-8").splitlines())
        if line["concurrency"]
    }
    checked = [row for row in shipped() if row["tput_kind"] == "measured"]
    assert len(checked) > 80
    for row in checked:
        assert (row["date"], float(row["concurrency"]), float(row["tput_per_gpu"])) in known


def test_the_table_has_the_columns_that_are_read() -> None:
    (first, *_) = (FOLDER / "rows.csv").read_text("utf-8").splitlines()
    assert tuple(first.split(",")) == COLUMNS
