"""The reproduction from beginning to end, and what the project promises of it."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import pytest

from jalapeno import catalogue
from jalapeno.analysis.published import MARGINS
from jalapeno.analysis.reproduce import FRONTIER_POINTS, Bench
from jalapeno.analysis.reproduction import OBJECTIVES, Number, Outcome
from jalapeno.metrics import measure
from jalapeno.simulation import Journal, Scenario, simulate
from tests.analysis.worlds import MODELS, Told, Whole
from tests.presentation import samples

pytestmark = pytest.mark.xdist_group("reproduction")
"""In one process, so that the reproduction is made once."""

PROMISE = 0.20
"""How near the twin comes to each of the published numbers."""

TWELVE = [(model, objective) for model in MODELS for objective in OBJECTIVES]
every_number = pytest.mark.parametrize(("model", "objective"), TWELVE)


def number(whole: Whole, model: str, objective: str, side: str = "jalapeno") -> Number:
    (one,) = (one for one in whole.made.comparisons if one.claim.model == model)
    found: Number = getattr(one, side)[OBJECTIVES.index(objective)]
    return found


def theirs(whole: Whole, model: str) -> list[Outcome]:
    """The runs of the reference on *model*."""
    results = (*whole.made.rows, *whole.made.layouts)
    return [result.outcome for result in results if result.row.model == model]


# ---- the promise


@every_number
def test_a_published_number_of_jalapeno_is_met_within_a_fifth(
    whole: Whole, model: str, objective: str
) -> None:
    assert abs(number(whole, model, objective).residual) <= PROMISE


@every_number
def test_a_published_number_of_the_reference_is_met_within_a_fifth(
    whole: Whole, model: str, objective: str
) -> None:
    assert abs(number(whole, model, objective, "reference").residual) <= PROMISE


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_layouts_of_kimi_were_never_measured_and_still_meet_what_was_published(
    whole: Whole, objective: str
) -> None:
    found = number(whole, "kimi-k2.5", objective, "reference")
    (layout,) = (r for r in whole.made.layouts if r.outcome is found.outcome)
    assert not layout.row.measured
    assert abs(found.residual) <= PROMISE


@every_number
def test_jalapeno_wins_by_the_twin_as_it_does_by_what_was_published(
    whole: Whole, model: str, objective: str
) -> None:
    (one,) = (one for one in whole.made.comparisons if one.claim.model == model)
    published, twin = one.ratios(objective)
    assert published > 1.0
    assert twin > 1.0


# ---- what is compared


def test_every_claim_without_multi_token_prediction_is_compared(whole: Whole) -> None:
    claims = {name for name in catalogue.names("claims") if not name.endswith("-mtp")}
    assert {one.claim.name for one in whole.made.comparisons} == claims == set(MODELS)


def test_each_comparison_has_all_objectives_in_order(whole: Whole) -> None:
    for one in whole.made.comparisons:
        assert tuple(found.objective for found in one.jalapeno) == OBJECTIVES
        assert tuple(found.objective for found in one.reference) == OBJECTIVES


@pytest.mark.parametrize("model", MODELS)
def test_published_numbers_are_the_claims_with_tbt_in_milliseconds(
    whole: Whole, model: str
) -> None:
    claim = catalogue.claim(model)
    assert [number(whole, model, name).published for name in OBJECTIVES] == [
        claim.peak_tps_per_kw,
        claim.min_e2e,
        pytest.approx(claim.min_tbt * 1e3),
        claim.tps_per_kw_at_reference_tbt,
    ]
    assert [number(whole, model, name, "reference").published for name in OBJECTIVES] == [
        claim.reference_peak_tps_per_kw,
        claim.reference_min_e2e,
        pytest.approx(claim.reference_min_tbt * 1e3),
        claim.reference_tps_per_kw_at_its_tbt,
    ]


@pytest.mark.parametrize("side", ["jalapeno", "reference"])
@every_number
def test_the_twins_number_is_that_of_its_run(
    whole: Whole, model: str, objective: str, side: str
) -> None:
    found = number(whole, model, objective, side)
    assert found.twin == found.outcome.value(objective)
    assert found.outcome.scenario.model.name == model


@pytest.mark.parametrize("model", MODELS)
def test_each_number_of_the_reference_is_its_best_by_itself(whole: Whole, model: str) -> None:
    runs = theirs(whole, model)
    best = {name: number(whole, model, name, "reference").twin for name in OBJECTIVES}
    assert best["peak"] == max(run.tps_per_kw for run in runs)
    assert best["min_e2e"] == min(run.report.latency.e2e_ms.mean for run in runs) / 1e3
    assert best["min_tbt"] == min(run.report.latency.tpot_ms.mean for run in runs)


@pytest.mark.parametrize("model", MODELS)
def test_the_reference_is_quoted_at_its_own_best_tbt(whole: Whole, model: str) -> None:
    fastest = number(whole, model, "min_tbt", "reference")
    assert number(whole, model, "at_reference_tbt", "reference").outcome is fastest.outcome


@pytest.mark.parametrize("model", MODELS)
def test_jalapeno_keeps_to_the_references_tbt_where_it_is_quoted_at_it(
    whole: Whole, model: str
) -> None:
    found = number(whole, model, "at_reference_tbt").outcome.report.latency.tpot_ms.mean
    assert found <= catalogue.claim(model).reference_min_tbt * 1e3


# ---- the rows


def test_measured_rows_and_public_layouts_are_all_there(whole: Whole) -> None:
    rows = catalogue.rows()
    made = whole.made
    assert [r.row for r in made.rows] == [row for row in rows if row.measured and not row.mtp]
    assert [r.row for r in made.layouts] == [row for row in rows if not row.measured]
    assert [r.row for r in made.mtp_rows] == [row for row in rows if row.mtp]


def test_the_errors_of_a_row_are_of_what_was_measured(whole: Whole) -> None:
    for result in whole.made.rows:
        report, measured, errors = result.outcome.report, result.row.measured, result.errors
        rate = report.throughput.tokens_per_s_per_chip
        tpot = report.latency.tpot_ms.mean
        assert errors["tput_per_gpu"] == pytest.approx(rate / measured["tput_per_gpu"] - 1.0)
        assert errors["mean_tpot_ms"] == pytest.approx(tpot / measured["mean_tpot_ms"] - 1.0)
        assert set(errors) <= set(measured)


def test_what_nobody_measured_has_no_errors(whole: Whole) -> None:
    assert all(not result.errors for result in whole.made.layouts)


# ---- the runs


def test_every_run_ends_and_keeps_the_laws(whole: Whole) -> None:
    broken = [
        (run.name, check.name, check.detail)
        for run in whole.told.runs
        for check in run.report.checks
        if not check.holds
    ]
    assert not broken
    assert all(run.report.requests_done == run.report.requests for run in whole.told.runs)


def test_every_run_is_handed_out_once_with_its_own_journal(whole: Whole) -> None:
    names = Counter(run.name for run in whole.told.runs)
    assert set(names.values()) == {1}
    assert whole.told.digests == [run.scenario.digest for run in whole.told.runs]
    assert whole.told.digests == [run.report.digest for run in whole.told.runs]


def test_whatever_is_quoted_was_handed_out(whole: Whole) -> None:
    handed = {id(run) for run in whole.told.runs}
    quoted = [n.outcome for one in whole.made.comparisons for n in (*one.jalapeno, *one.reference)]
    quoted += [result.outcome for result in (*whole.made.rows, *whole.made.layouts)]
    assert {id(run) for run in quoted} <= handed


def test_runs_along_the_frontier_repeat_none_that_is_quoted(whole: Whole) -> None:
    drawn = [run for run in whole.told.runs if "/frontier-" in run.name]
    digests = {run.scenario.digest for run in drawn}
    assert len(digests) == len(drawn)
    assert not digests & {found.outcome.scenario.digest for found in whole.numbers}
    assert len(drawn) <= FRONTIER_POINTS * len(MODELS)


def test_only_rows_that_were_measured_so_have_multi_token_prediction(whole: Whole) -> None:
    drafting = {
        run.name
        for run in whole.told.runs
        if any(pool.plan.draft_tokens for pool in run.scenario.pools)
    }
    assert drafting == {result.row.name for result in whole.made.mtp_rows}


def test_rows_with_multi_token_prediction_are_near_what_was_measured(whole: Whole) -> None:
    errors = [abs(result.errors["mean_tpot_ms"]) for result in whole.made.mtp_rows]
    assert sum(errors) / len(errors) < 0.15
    assert max(errors) < 0.25


def test_runs_are_named_by_what_they_are_for(whole: Whole) -> None:
    for found in whole.numbers:
        run = found.outcome
        assert run.name == f"jalapeno-rack/{run.scenario.model.name}/{found.objective}"


def test_a_quoted_scenario_gives_the_same_report_again(whole: Whole) -> None:
    run = number(whole, "gpt-oss-120b", "at_reference_tbt").outcome
    assert measure(simulate(run.scenario)).as_dict() == run.report.as_dict()


# ---- the progress


def test_each_stage_is_counted_up_to_its_total(whole: Whole) -> None:
    for stage, told in groupby(whole.told.progress, key=lambda item: item[0]):
        counts = [(done, total) for _, done, total in told]
        (total,) = {total for _, total in counts}
        dones = list(dict.fromkeys(done for done, _ in counts))
        assert dones == list(range(total + 1)), stage


def test_stages_come_one_after_the_other(whole: Whole) -> None:
    assert [stage for stage, _ in groupby(whole.told.progress, key=lambda item: item[0])] == [
        "measured rows and public layouts",
        "search of plans",
        "Jalapeño's published points",
        "Jalapeño's frontier",
        "leave one out",
    ]


def test_curves_are_drawn_of_every_run(whole: Whole) -> None:
    labels = {
        point.label.partition(":")[0]
        for curve in whole.made.curves
        if curve.source == "simulated"
        for point in curve.points
    }
    drafting = {result.row.name for result in whole.made.mtp_rows}
    assert labels == {run.name for run in whole.told.runs} - drafting


# ---- the bench, on runs made by hand


def choose(
    monkeypatch: pytest.MonkeyPatch, runs: list[tuple[float, float]], limit: float
) -> tuple[Outcome, Told]:
    """Choose among *runs* (mean TBT in ms, tokens/s/kW); the winner, and what was told."""
    played: dict[str, tuple[Outcome, Journal]] = {}
    for place, (tbt, rate) in enumerate(runs):
        of = samples.scenario(concurrency=4 + place)
        made = samples.report(of, per_kw=rate, e2e_s=9.0, tbt_ms=tbt)
        played[of.digest] = Outcome("a job", of, made), samples.journal(of)

    def job(asked: tuple[str, Scenario]) -> tuple[Outcome, Journal]:
        return played[asked[1].digest]

    monkeypatch.setattr("jalapeno.analysis.reproduce._job", job)
    told = Told()
    listed = [outcome.scenario for outcome, _ in played.values()]
    bench = Bench(told.on_run, told.on_progress)
    (chosen,) = bench.choose("a stage", [("a job", listed)], [limit])
    return chosen, told


def test_within_the_limit_most_throughput_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, _ = choose(monkeypatch, [(5.1, 900.0), (4.9, 700.0), (4.0, 800.0)], limit=5.0)
    assert chosen.tps_per_kw == 800.0


def test_a_run_exactly_at_the_limit_is_within_it(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, _ = choose(monkeypatch, [(5.0, 900.0), (4.0, 800.0)], limit=5.0)
    assert chosen.tps_per_kw == 900.0


def test_where_none_is_within_the_limit_the_fastest_is_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen, _ = choose(monkeypatch, [(7.0, 900.0), (5.5, 100.0), (6.0, 950.0)], limit=5.0)
    assert chosen.tps_per_kw == 100.0


def test_only_the_chosen_run_is_handed_out_but_all_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen, told = choose(monkeypatch, [(7.0, 900.0), (4.0, 100.0), (4.5, 300.0)], limit=5.0)
    assert told.runs == [chosen]
    assert told.progress == [("a stage", done, 3) for done in range(4)]


def test_runs_come_back_in_the_order_they_were_asked_for() -> None:
    told = Told()
    jobs = [(f"run-{tp}", samples.scenario(tp=tp, concurrency=1)) for tp in (4, 1, 2)]
    outcomes = Bench(told.on_run, told.on_progress).run("a stage", jobs)
    assert [(run.name, run.scenario) for run in outcomes] == jobs
    assert told.runs == outcomes
    assert told.progress == [("a stage", done, 3) for done in range(4)]


def test_the_margins_are_those_of_the_short_list(whole: Whole) -> None:
    points = [total for stage, _, total in whole.told.progress if "published points" in stage]
    most = len(MODELS) * (len(OBJECTIVES) - 1 + len(MARGINS))
    assert len(TWELVE) <= points[0] <= most
