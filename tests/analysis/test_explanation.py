"""An explanation: the right requests, the right number, the joules of the run."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest

from jalapeno.analysis.explain import Metric, around, split
from jalapeno.analysis.explain_energy import energy
from jalapeno.analysis.explanation import BANDS, Explanation, Scope, explain
from jalapeno.errors import UsageError
from jalapeno.metrics import band, measure
from jalapeno.simulation import Journal
from tests.analysis.runs import SCENARIOS, run
from tests.metrics import journals


def asked(name: str, metric: Metric, **scope: object) -> Explanation:
    journal = run(name)
    return explain(journal, measure(journal), metric, Scope(**scope))  # type: ignore[arg-type]


@pytest.mark.parametrize("metric", Metric)
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_is_all_of_its_requests_and_their_mean(name: str, metric: Metric) -> None:
    found = asked(name, metric)
    latency = measure(run(name)).latency
    means = {Metric.TTFT: latency.ttft_ms, Metric.TBT: latency.tpot_ms, Metric.E2E: latency.e2e_ms}
    assert found.chosen == split(run(name).requests, metric)
    assert found.value / 1e9 == pytest.approx(means[metric].mean, rel=1e-12)
    assert found.life is None
    assert found.energy is not None


def test_a_percentile_is_the_requests_around_it_and_its_value() -> None:
    found = asked("slots", Metric.TTFT, percentile=99.0)
    done = run("slots").requests
    assert found.chosen == split(around(done, Metric.TTFT, 99.0), Metric.TTFT)
    assert found.value / 1e9 == pytest.approx(measure(run("slots")).latency.ttft_ms.p99)
    assert found.energy is None


def test_a_band_is_the_requests_of_the_band_and_their_mean() -> None:
    found = asked("slots", Metric.E2E, band=(80.0, 100.0))
    assert found.chosen == split(band(run("slots").requests, "e2e", 80.0, 100.0), Metric.E2E)
    assert found.value == pytest.approx(float(found.chosen.mean(found.chosen.total)))


def test_a_request_is_itself() -> None:
    found = asked("split", Metric.E2E, request=7)
    row = run("split").requests.row(7, named=True)
    assert found.value == found.chosen.total == row["end"] - row["arrival"]
    assert found.life is not None
    assert found.life.request == 7


def test_the_contrast_is_the_middle_fifth() -> None:
    found = asked("ranks", Metric.TTFT, percentile=99.0)
    assert found.median == split(band(run("ranks").requests, "ttft", 40.0, 60.0), Metric.TTFT)
    slow, usual = found.chosen, found.median
    gaps = [slow.mean(slow.by_cause[n]) - usual.mean(usual.by_cause[n]) for n in slow.by_cause]
    assert sum(gaps, Fraction(0)) == slow.mean(slow.total) - usual.mean(usual.total)


def test_bars_are_the_bands_of_the_picture() -> None:
    found = asked("ranks", Metric.E2E)
    for ends, each in zip(BANDS, found.bands, strict=True):
        assert each == split(band(run("ranks").requests, "e2e", *ends), Metric.E2E)
    means = [each.mean(each.total) for each in found.bands]
    assert means == sorted(means)


def test_tbt_has_no_waits() -> None:
    assert asked("split", Metric.TBT).waits == ()
    assert len(asked("split", Metric.TTFT).waits) == 2


@pytest.mark.parametrize(
    "scope",
    [
        {"percentile": 9.0, "request": 1},
        {"band": (1.0, 2.0), "percentile": 9.0},
        {"band": (1.0, 2.0), "request": 0},
    ],
)
def test_one_thing_is_asked_at_a_time(scope: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="one of the three"):
        Scope(**scope)  # type: ignore[arg-type]


def test_a_run_in_which_nothing_is_done_is_refused() -> None:
    hand = journals.two_requests()
    status = pl.lit("queued", hand.requests.schema["status"]).alias("status")
    stopped = Journal(
        hand.scenario, hand.requests.with_columns(status), hand.segments, hand.workers
    )
    with pytest.raises(UsageError, match="nothing to explain"):
        explain(stopped, measure(stopped), Metric.E2E, Scope())


def test_a_request_of_one_token_has_no_tbt() -> None:
    hand = journals.two_requests()
    one = pl.when(pl.col("prompt") == 10).then(1).otherwise(pl.col("output")).alias("output")
    journal = Journal(hand.scenario, hand.requests.with_columns(one), hand.segments, hand.workers)
    with pytest.raises(UsageError, match="request 0 has a TBT"):
        explain(journal, measure(journal), Metric.TBT, Scope(request=0))


# ---- joules


@pytest.mark.parametrize("name", SCENARIOS)
def test_joules_add_up_to_the_reports(name: str) -> None:
    power = measure(run(name)).power
    found = energy(run(name), power)
    assert found.total == pytest.approx(power.step_joules + power.idle_joules, rel=1e-12)
    assert found.dynamic > 0.0
    assert min(found.static_by_part.values()) >= 0.0


def test_static_joules_are_static_watts_while_a_step_runs() -> None:
    journal = journals.two_requests()
    found = energy(journal, measure(journal).power)
    watts = 2 * journal.scenario.system.chip.power.static
    assert {part: joules for part, joules in found.static_by_part.items() if joules} == {
        "matrix": pytest.approx(watts * 9e-3),
        "issue": pytest.approx(watts * 1e-3),
        "memory": pytest.approx(watts * 12e-3),
    }
