"""``jalapeno frontier``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jalapeno.analysis.objectives import UNITS, Per
from jalapeno.presentation.frontier_command import OURS
from jalapeno.presentation.frontier_tables import align, at_table, front_table, headers
from jalapeno.simulation import read_scenario
from tests.analysis.fronts import made
from tests.presentation.conftest import Call, Called
from tests.presentation.once import run

ASK = ("frontier", "gpt-oss-120b", "jalapeno-rack", "--isl", "2048", "--osl", "128", "--unified")


@dataclass(frozen=True)
class Made:
    """A call, and the folder that it left."""

    called: Called
    folder: Path

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "frontier.json").read_text())
        return found


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Tables of throughput a kilowatt."""
    out = tmp_path_factory.mktemp("frontier") / "out"
    return Made(run(*ASK, "--per", "tdp", "--at", "300", "--at", "1e6", "--out", out), out)


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Within limits."""
    out = tmp_path_factory.mktemp("limited") / "out"
    limits = ("--ttft-ms", "900", "--percentile", "p99", "--speed", "200")
    return Made(run(*ASK, *limits, "--out", out), out)


def test_it_prints_the_front_and_the_speeds_that_were_asked_for(asked: Made) -> None:
    assert asked.called.code == 0
    for words in (
        "OpenAI gpt-oss-120b on Jalapeño rack: frontier, lengths up to 2,048 in and 128 out",
        "package TDP",
        "token/s/chip",
        "P99 TTFT ms",
        "$/Mtoken",
        "by the closed form",
        "Nothing limits the time to first token here",
        "! assumed",
        "at given speeds",
        "unreachable: 1,000,000 token/s/user is outside",
        "nothing is extrapolated",
    ):
        assert words in " ".join(asked.called.out.split()), words
    for point in made().front(Per.TDP):
        assert point.label in asked.called.out


def test_progress_and_place_are_told_on_stderr(asked: Made) -> None:
    assert "simulating gpt-oss-120b on jalapeno-rack: " in asked.called.err
    assert asked.called.err.splitlines()[-1] == f"files: {asked.folder}"


def test_it_writes_tables_data_pictures_and_scenarios(asked: Made) -> None:
    folder = asked.folder
    assert {path.name for path in folder.iterdir()} == set(OURS)
    assert (folder / "frontier.png").read_bytes().startswith(b"\x89PNG")
    assert "## OpenAI gpt-oss-120b on Jalapeño rack" in (folder / "frontier.md").read_text()
    digests = {point["digest"] for point in asked.data["front"]}
    assert {path.stem for path in (folder / "scenarios").iterdir()} == digests
    for path in (folder / "scenarios").iterdir():
        assert read_scenario(path).digest == path.stem


def test_json_is_the_same_data(tmp_path: Path) -> None:
    out = tmp_path / "out"
    called = run(*ASK, "--per", "dollar", "--at", "300", "--json", "--out", out)
    data: dict[str, Any] = json.loads(called.out)
    assert data == Made(called, out).data
    assert (data["per"], data["unit"]) == ("dollar", "Mtoken/$")
    assert set(data["front"][0]["rates"]) == {per.value for per in Per}
    speeds = [point["tokens_per_s_per_user"] for point in data["front"]]
    assert speeds == sorted(speeds)
    (at,) = data["at"]
    assert at["reached"]
    assert at["rate"]["low"] <= at["rate"]["value"] <= at["rate"]["high"]
    assert len(data["front"]) + len(data["others"]) == len(made().points)
    assert data["kind"] == "assumed"


def test_within_limits_only_what_keeps_them_is_kept(limited: Made) -> None:
    assert limited.called.code == 0
    assert [limit["what"] for limit in limited.data["limits"]] == ["ttft", "tbt"]
    for point in (*limited.data["front"], *limited.data["others"]):
        assert point["p99_ttft_ms"] <= 900.0
        assert point["tokens_per_s_per_user"] >= 200.0


def test_within_limits_the_best_is_shown(limited: Made) -> None:
    shown = " ".join(limited.called.out.split())
    condition = "P99 TTFT at most 900 ms and at least 200 token/s/user (P99 TBT)"
    assert f"Only runs with {condition}." in shown
    assert f"most token/s/chip with {condition}" in shown
    assert "Simulated: P99 TTFT " in shown


def test_an_impossible_limit_is_one_line_with_the_best(tmp_path: Path) -> None:
    called = run(*ASK, "--ttft-ms", "1", "--out", tmp_path / "out")
    assert (called.code, called.out) == (1, "")
    assert "has mean TTFT at most 1 ms: the lowest reached is mean TTFT of" in called.complaint
    assert not (tmp_path / "out").exists()


def test_a_replaced_fact_changes_the_frontier(asked: Made, tmp_path: Path) -> None:
    out = tmp_path / "out"
    other = Made(run(*ASK, "--set", "chip.hbm.bandwidth=30 TB/s", "--out", out), out)
    fastest = [one.data["front"][-1]["tokens_per_s_per_user"] for one in (asked, other)]
    assert fastest[1] > fastest[0]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--per", "watt"), "--per watt: there are chip"),
        (("--at", "-1"), "--at -1: a speed is positive"),
        (("--chips", "1,x"), "--chips 1,x: write whole numbers"),
        (("--precision", "fp9"), "no format 'fp9'; did you mean 'fp8'"),
        (("--precision", "bf16"), "jalapeno-engine on jalapeno has no kernel for 16-bit weights"),
        (("--percentile", "p99"), "--percentile p99: of which latency"),
        (("--set", "chip.hbm"), "--set chip.hbm: write path=value"),
        (("--isl", "200000"), "requests of up to 200,128 tokens exceed the context window"),
        (("--engine", "teacup"), "no engine 'teacup'"),
    ],
)
def test_what_is_wrong_is_one_line(
    call: Call, tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    called = call(*ASK, *arguments, "--out", tmp_path / "out")
    assert (called.code, called.out) == (2, "")
    assert called.complaint.startswith(complaint)
    assert not (tmp_path / "out").exists()


def test_a_model_too_large_says_what_binds(call: Call, tmp_path: Path) -> None:
    called = call(
        "frontier", "deepseek-r1", "jalapeno-rack", "--chips", "1", "--out", tmp_path / "o"
    )
    assert called.code == 1
    assert "is possible; impossible plans: 1 for memory" in called.complaint


# ---- tables


@pytest.mark.parametrize("per", Per)
def test_headers_have_units_and_the_rate_once(per: Per) -> None:
    assert UNITS[per] in headers(per)
    assert len(set(headers(per))) == len(headers(per)) == len(align(per))
    table = front_table(made(), per)
    assert len(table.rows) == len(made().front(per))
    ranged = "tariff's sources" in table.note
    assert ranged == (not made().bench.rate(per, made().points[0]).certain)


@pytest.mark.parametrize("per", Per)
def test_speeds_have_a_row_each(per: Per) -> None:
    table = at_table(made(), per, (300.0, 1e9))
    assert len(table.rows) == 2
    assert table.rows[1][-1].startswith("unreachable")
