"""``jalapeno explain``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from jalapeno.metrics import measure
from jalapeno.presentation.explain_command import ends_of, metric_of
from jalapeno.presentation.files import Folder
from jalapeno.presentation.runs import write_run
from jalapeno.simulation import Journal, simulate
from tests.metrics import journals
from tests.presentation.conftest import Call

POOLS = {"unified": journals.unified(tp=2, replicas=2), "split": journals.split(2, 2)}


@pytest.fixture(scope="module", params=POOLS)
def journal(request: pytest.FixtureRequest) -> Journal:
    return simulate(journals.scenario(POOLS[request.param], requests=60, concurrency=24))


@pytest.fixture(scope="module")
def folder(journal: Journal, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("run")
    write_run(Folder(place, place), journal, measure(journal))
    return place


def percents(line: str) -> list[int]:
    return [int(found) for found in re.findall(r"(\d+) %", line)]


@pytest.mark.parametrize("metric", ["ttft", "tbt", "e2e"])
@pytest.mark.parametrize(
    "scope", [(), ("--percentile", 99), ("--band", "90-100"), ("--request", 3)]
)
def test_the_first_line_is_the_sentence_and_its_percentages_add_up_to_100(
    call: Call, folder: Path, metric: str, scope: tuple[object, ...]
) -> None:
    called = call("explain", folder, "--metric", metric, *scope)
    assert called.code == 0, called.err
    first = called.out.splitlines()[0]
    assert metric.upper() in first
    assert sum(percents(first.partition(": ")[2])) == 100
    assert percents(first) == sorted(percents(first), reverse=True)


def test_a_percentile_says_how_many_requests_it_looks_at(call: Call, folder: Path) -> None:
    first = call("explain", folder, "--metric", "ttft", "--percentile", 99).out.splitlines()[0]
    assert re.match(r"P99 TTFT [\d.]+ m?s: \d+ % ", first)
    assert first.endswith("(over the 5 requests around that percentile)")


def test_the_value_is_the_reports(call: Call, folder: Path, journal: Journal) -> None:
    found = json.loads(
        call("explain", folder, "--metric", "ttft", "--percentile", 99, "--json").out
    )
    assert found["value_ms"] == pytest.approx(measure(journal).latency.ttft_ms.p99)
    found = json.loads(call("explain", folder, "--json").out)
    assert found["value_ms"] == pytest.approx(measure(journal).latency.e2e_ms.mean)


def test_the_second_line_is_what_makes_them_slow(call: Call, folder: Path) -> None:
    lines = call("explain", folder, "--metric", "ttft", "--band", "95-100").out.splitlines()
    assert re.match(r".* slower than the \d+ requests of P40 to P60: .*\+", lines[1])


def test_the_median_is_not_slower_than_itself(call: Call, folder: Path) -> None:
    lines = call("explain", folder, "--band", "40-60").out.splitlines()
    assert lines[1].startswith("not slower than the")


def test_every_table_is_there(call: Call, folder: Path) -> None:
    out = call("explain", folder).out
    for words in (
        "mean E2E: whose work it was",
        "mean E2E: what bound the step, and waits",
        "what was short while they waited",
        "what would help",
        "joules of the run, all packages",
        "so they are not split by engine",
    ):
        assert words in out, words


def test_columns_of_percent_add_up_to_a_hundred(call: Call, folder: Path) -> None:
    out = call("explain", folder, "--metric", "ttft", "--percentile", 99).out
    table = out[out.index("whose work it was") : out.index("Here:")].splitlines()[4:]
    rows = [re.split(r"\s{2,}", line.strip()) for line in table if re.search(r"\d", line)]
    for column in (1, 3):
        *parts, whole = [float(row[column]) for row in rows]
        assert sum(parts) == pytest.approx(100.0, abs=1e-9)
        assert whole == 100.0


def test_a_request_has_its_life(call: Call, folder: Path) -> None:
    out = call("explain", folder, "--request", 30).out
    assert "request 30:" in out
    assert "steps it sat through" in out
    assert re.search(r"Beside \d+ other requests, longest with \d+ \(", out)
    assert "joules" not in out


def test_json_holds_whole_picoseconds_that_add_up(call: Call, folder: Path) -> None:
    found = json.loads(call("explain", folder, "--metric", "e2e", "--json").out)
    for part in (found["here"], found["median"], *found["bands"]):
        for by in ("by_cause", "by_part"):
            assert sum(label["ps"] for label in part[by].values()) == part["total_ps"]
            assert sum(label["percent"] for label in part[by].values()) == 100
    waited = found["waits_ps"]["queue"]
    assert sum(waited.values()) == found["here"]["by_cause"]["queue"]["ps"]
    assert found["energy_joules"]["idle"] >= 0.0
    assert found["request"] is None


def test_a_request_in_json(call: Call, folder: Path) -> None:
    found = json.loads(call("explain", folder, "--request", 5, "--json").out)
    assert found["request"]["request"] == 5
    assert found["scope"] == {"percentile": None, "band": None, "request": 5}
    assert found["request"]["stays"][-1]["steps"] == found["request"]["output"] - 1


@pytest.mark.parametrize("ending", ["svg", "png", "html"])
def test_a_picture_is_drawn_beside(call: Call, folder: Path, tmp_path: Path, ending: str) -> None:
    picture = tmp_path / f"why.{ending}"
    called = call("explain", folder, "--out", picture)
    assert called.code == 0
    assert called.err.splitlines()[-1] == f"picture: {picture}"
    assert picture.stat().st_size > 1000


# ---- refusals


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--metric", "tpt"), "--metric: no metric 'tpt'"),
        (("--percentile", "101"), "a percentile is between 0 and 100"),
        (("--band", "95"), "write two percentiles, as in --band 95-100"),
        (("--band", "99-95"), "a band needs 0 <= low <= high <= 100"),
        (("--request", "60"), "no request 60: the run has requests 0 to 59"),
        (("--request", "-1"), "no request -1"),
        (("--request", "1", "--band", "1-2"), "one of the three"),
        (("--out", "why.txt"), "a picture's name ends in .svg, .png, .html"),
    ],
)
def test_what_cannot_be_explained_is_refused_in_a_line(
    call: Call, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    called = call("explain", folder, *arguments)
    assert called.code == 2
    assert called.out == ""
    assert said in called.complaint


def test_a_folder_that_is_no_run_is_refused(call: Call, tmp_path: Path) -> None:
    called = call("explain", tmp_path)
    assert called.code == 2
    assert "is not the folder of a run: it lacks scenario.json" in called.complaint


def test_a_run_that_breaks_a_law_is_not_explained(
    call: Call, journal: Journal, tmp_path: Path
) -> None:
    write_run(Folder(tmp_path, tmp_path), journal, measure(journal))
    broken = journal.requests.with_columns(journal.requests["own_prefill"] + 1)
    broken.write_parquet(tmp_path / "requests.parquet")
    called = call("explain", tmp_path)
    assert called.code == 1
    assert "the journal breaks a law: attribution" in called.complaint


# ---- words


def test_words_become_metrics_and_bands() -> None:
    assert metric_of("tbt").column == "tpot"
    assert ends_of(None) is None
    assert ends_of("99.5-100") == (99.5, 100.0)
