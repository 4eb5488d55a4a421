"""A measured row becomes a scenario, and its simulation comes near the measurement."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from jalapeno import catalogue
from jalapeno.analysis.references import ISL, OSL, RATIO, pool, scenario_for, workload
from jalapeno.catalogue import Row, Workers
from jalapeno.mapping import Precision
from jalapeno.metrics import Report, measure
from jalapeno.simulation import ClosedLoop, Lengths, Role, resolve, simulate

ROWS = catalogue.rows()
MEASURED = [row for row in ROWS if row.measured and not row.mtp]
WITH_RATES = [row for row in ROWS if "input_tput_per_prefill_gpu" in row.measured]

MEDIAN_ERROR = 0.15
LARGEST_ERROR = 0.40
"""What the project promises of throughput per GPU and mean TPOT."""

Pairs = list[tuple[Row, Report]]
Errors = Callable[[Pairs], dict[str, float]]

every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
every_measured_row = pytest.mark.parametrize("row", MEASURED, ids=lambda row: row.name)


def chips(workers: Workers) -> int:
    return workers.workers * workers.tp * workers.dp


def mean_lengths(row: Row) -> tuple[float, float]:
    """Mean prompt and answer of the requests of *row*."""
    traffic = workload(row)
    prompts, outputs = traffic.lengths.draw(traffic.requests)
    return float(prompts.mean()), float(outputs.mean())


# ---- the client


@every_row
def test_a_row_keeps_its_concurrency_and_number_of_requests(row: Row) -> None:
    traffic = workload(row)
    assert traffic.arrivals == ClosedLoop(concurrency=row.concurrency)
    assert traffic.requests == row.concurrency * row.requests_per_slot


@every_row
def test_a_row_is_of_the_published_lengths_with_its_own_template(row: Row) -> None:
    lengths = Lengths(isl=8192, osl=1024, ratio=0.8, template_tokens=row.template_tokens, seed=0)
    assert workload(row).lengths == lengths
    assert (ISL, OSL, RATIO) == (8192, 1024, 0.8)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.concurrency > 1000], ids=lambda row: row.name
)
def test_a_long_list_of_requests_has_the_known_mean_lengths(row: Row) -> None:
    prompt, answer = mean_lengths(row)
    assert prompt == pytest.approx(7373 + row.template_tokens / 10, abs=15)
    assert answer == pytest.approx(921, abs=2)


def test_the_eight_prompts_of_the_fastest_gb200_run_are_a_little_unlike_the_mean() -> None:
    row = catalogue.row("gb200-gpt-oss-120b-c1-tp8")
    assert workload(row).requests == 8
    prompt, answer = mean_lengths(row)
    assert prompt == pytest.approx(7409, abs=5)
    assert answer == pytest.approx(907.7, abs=0.3)


@pytest.mark.parametrize("row", WITH_RATES, ids=lambda row: row.name)
def test_prompts_over_answers_are_what_the_published_rates_say(row: Row) -> None:
    # All rates of a run are over one duration, so their ratio is that of the request list.
    found = row.measured
    prompts = found["input_tput_per_prefill_gpu"] * chips(row.prefill)
    answers = found["output_tput_per_decode_gpu"] * chips(row.decode)
    prompt, answer = mean_lengths(row)
    assert prompt / answer == pytest.approx(prompts / answers, rel=1e-5)


@every_measured_row
def test_the_rate_of_all_tokens_says_the_same_of_the_request_list(row: Row) -> None:
    found = row.measured
    everything = found["tput_per_gpu"] * (chips(row.prefill) + chips(row.decode))
    answers = found["output_tput_per_decode_gpu"] * chips(row.decode)
    prompt, answer = mean_lengths(row)
    assert (prompt + answer) / answer == pytest.approx(everything / answers, rel=1e-5)


def test_most_measured_rows_publish_both_rates() -> None:
    both = [row for row in MEASURED if row in WITH_RATES]
    assert len(both) >= 20


# ---- the layout


@every_row
def test_a_row_becomes_a_prefill_and_a_decode_pool_of_its_own_layout(row: Row) -> None:
    made = scenario_for(row)
    assert [pool.role for pool in made.pools] == [Role.PREFILL, Role.DECODE]
    for made_pool, workers in zip(made.pools, (row.prefill, row.decode), strict=True):
        plan = made_pool.plan
        assert (plan.tp, plan.ep, plan.dp) == (workers.tp, workers.ep, workers.dp)
        assert made_pool.replicas == workers.workers
        assert made_pool.chips == chips(workers)


@every_row
def test_a_row_keeps_its_slots_and_budgets(row: Row) -> None:
    prefill, decode = scenario_for(row).pools
    assert (prefill.plan.max_running, decode.plan.max_running) == (
        row.prefill.slots,
        row.decode.slots,
    )
    assert (prefill.plan.max_tokens, decode.plan.max_tokens) == (
        row.prefill.tokens,
        row.decode.tokens,
    )


@every_row
def test_a_row_runs_its_model_on_its_system_with_its_engine(row: Row) -> None:
    made = scenario_for(row)
    assert made.system == catalogue.system(row.system)
    assert made.model == catalogue.model(row.model)
    assert made.engine == catalogue.engine(row.engine)


def as_served(row: Row) -> Precision:
    chip = catalogue.system(row.system).chip
    return Precision.as_served(catalogue.engine(row.engine), catalogue.model(row.model), chip)


@every_row
def test_both_pools_serve_in_the_engines_own_formats(row: Row) -> None:
    served = as_served(row)
    assert {pool.plan.precision for pool in scenario_for(row).pools} == {served}


def test_a_pool_takes_each_number_from_where_it_stands() -> None:
    row = catalogue.row("gb300-deepseek-r1-c3228-3xdep4")
    served = as_served(row)
    made = pool(Role.DECODE, row.decode, served)
    assert made.label == "3xDEP4"
    assert (made.plan.max_running, made.plan.max_tokens) == (row.decode.slots, row.decode.tokens)


def test_no_two_rows_are_the_same_scenario() -> None:
    plain = [row for row in ROWS if not row.mtp]
    assert len({scenario_for(row).digest for row in plain}) == len(plain)


# ---- the facts


@pytest.mark.parametrize("row", MEASURED[::6], ids=lambda row: row.name)
def test_other_facts_change_nothing_but_the_facts(row: Row) -> None:
    trees = resolve(row.system, row.model, row.engine, {"chip.hbm.bandwidth": "9 TB/s"})
    plain, other = scenario_for(row), scenario_for(row, trees)
    assert other.system.chip.hbm.bandwidth == 9e12
    assert other.digest != plain.digest
    assert (other.pools, other.traffic, other.seed) == (plain.pools, plain.traffic, plain.seed)
    assert (other.model, other.engine) == (plain.model, plain.engine)


@pytest.mark.parametrize("row", MEASURED[::6], ids=lambda row: row.name)
def test_the_catalogues_facts_are_taken_where_none_are_given(row: Row) -> None:
    trees = resolve(row.system, row.model, row.engine)
    assert scenario_for(row, trees).digest == scenario_for(row).digest


def test_all_rows_share_one_engine_and_so_its_constants() -> None:
    assert {row.engine for row in ROWS} == {"tensorrt-llm"}
    (engine,) = {id(catalogue.engine(row.engine)) for row in ROWS}
    assert engine == id(catalogue.engine("tensorrt-llm"))


# ---- the accuracy


@pytest.fixture(scope="module")
def played() -> Pairs:
    """Every measured row and its simulation."""
    with ThreadPoolExecutor(2) as threads:
        reports = threads.map(lambda row: measure(simulate(scenario_for(row))), MEASURED)
    return list(zip(MEASURED, reports, strict=True))


def throughput_errors(played: Pairs) -> dict[str, float]:
    return {
        row.name: report.throughput.tokens_per_s_per_chip / row.measured["tput_per_gpu"] - 1.0
        for row, report in played
    }


def tpot_errors(played: Pairs) -> dict[str, float]:
    return {
        row.name: report.latency.tpot_ms.mean / row.measured["mean_tpot_ms"] - 1.0
        for row, report in played
    }


def test_there_are_twenty_three_measurements_to_meet(played: Pairs) -> None:
    assert len(played) == 23
    assert all(report.requests_done == report.requests for _, report in played)


@pytest.mark.parametrize("errors", [throughput_errors, tpot_errors])
def test_half_of_the_rows_are_met_within_fifteen_percent(played: Pairs, errors: Errors) -> None:
    sizes = [abs(error) for error in errors(played).values()]
    assert statistics.median(sizes) <= MEDIAN_ERROR


@pytest.mark.parametrize("errors", [throughput_errors, tpot_errors])
def test_no_row_is_missed_by_more_than_forty_percent(played: Pairs, errors: Errors) -> None:
    missed = {name: e for name, e in errors(played).items() if abs(e) > LARGEST_ERROR}
    assert not missed


@pytest.mark.parametrize("errors", [throughput_errors, tpot_errors])
def test_the_rows_are_missed_on_both_sides(played: Pairs, errors: Errors) -> None:
    # Constants that lean one way for all rows would flatter or slander the reference.
    found = errors(played).values()
    assert min(found) < 0.0 < max(found)
    assert abs(statistics.median(found)) <= 0.05


def test_more_clients_on_one_layout_mean_more_throughput_and_slower_tokens(played: Pairs) -> None:
    layout = [
        (row.concurrency, report.throughput.tokens_per_s, report.latency.tpot_ms.mean)
        for row, report in played
        if row.model == "gpt-oss-120b" and row.name.endswith("tp4") and row.prefill.workers == 1
    ]
    assert layout == sorted(layout)
    assert [rate for _, rate, _ in layout] == sorted(rate for _, rate, _ in layout)
    assert [tpot for *_, tpot in layout] == sorted(tpot for *_, tpot in layout)
    assert len(layout) == 6


def test_every_run_of_a_row_keeps_the_laws(played: Pairs) -> None:
    broken = [
        (row.name, check.name)
        for row, report in played
        for check in report.checks
        if not check.holds
    ]
    assert not broken
