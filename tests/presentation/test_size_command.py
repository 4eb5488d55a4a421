"""``jalapeno size``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jalapeno.presentation.size_command import OURS
from jalapeno.simulation import read_scenario, simulate
from tests.presentation.conftest import Call

SHORT = ("--isl", 1024, "--osl", 128)
QUICK = (*SHORT, "--chips-per-replica", "1,2", "--percentile", 90)
ASKED = ("--rate", 30, "--ttft-ms", 1000, "--tbt-ms", 8)
MODEL, RACK = "gpt-oss-120b", "jalapeno-rack"


def test_it_prints_the_answer_and_keeps_it(call: Call, tmp_path: Path) -> None:
    called = call("size", MODEL, RACK, *ASKED, *QUICK, "--out", tmp_path / "out")
    assert called.code == 0
    assert "gpt-oss-120b on jalapeno-rack: 30 requests/s, P90 TTFT ≤ 1000 ms" in called.out
    assert "binds" in called.out
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(OURS)
    assert called.err.splitlines()[-1] == f"files: {tmp_path / 'out'}"


def test_json_is_all_of_stdout_and_the_file(call: Call, tmp_path: Path) -> None:
    called = call("size", MODEL, RACK, *ASKED, *QUICK, "--json", "--out", tmp_path / "out")
    assert json.loads(called.out) == json.loads((tmp_path / "out" / "answer.json").read_text())
    assert json.loads(called.out)["requests_per_s"] == 30.0


def test_the_kept_scenario_is_the_verifying_run(call: Call, tmp_path: Path) -> None:
    called = call("size", MODEL, RACK, *ASKED, *QUICK, "--json", "--out", tmp_path / "out")
    data = json.loads(called.out)
    scenario = read_scenario(tmp_path / "out" / "scenario.json")
    assert scenario.digest == data["verified"]["scenario"]
    assert len(simulate(scenario).requests) == data["verified"]["requests"]


def test_the_same_question_gives_the_same_bytes(call: Call, tmp_path: Path) -> None:
    outs = [
        call("size", MODEL, RACK, *ASKED, *QUICK, "--out", tmp_path / name).out
        for name in ("a", "b")
    ]
    assert outs[0] == outs[1]
    for name in OURS:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_speed_is_a_limit_on_tbt(call: Call, tmp_path: Path) -> None:
    asked = ("--rate", 30, "--speed", 125)
    called = call("size", MODEL, RACK, *asked, *QUICK, "--json", "--out", tmp_path / "out")
    (limit,) = json.loads(called.out)["limits"]
    assert (limit["metric"], limit["limit_s"]) == ("TBT", 0.008)


def test_an_overridden_fact_changes_the_answer_and_is_said(call: Call, tmp_path: Path) -> None:
    def sized(*more: object) -> tuple[float, str]:
        called = call(
            *("size", MODEL, RACK, *ASKED, *QUICK, *more, "--json", "--out", tmp_path / "out")
        )
        return json.loads(called.out)["saturates_at_requests_per_s"], called.err

    plain, _ = sized()
    slow, said = sized("--set", "chip.hbm.bandwidth=4 TB/s")
    assert slow < plain
    assert "overridden: chip.hbm.bandwidth = 4 TB/s" in said


def test_several_systems_are_ranked_by_what_is_to_be_least(call: Call, tmp_path: Path) -> None:
    called = call(
        *("size", MODEL, "gb200-nvl72", RACK, *ASKED, *QUICK, "--least", "kw", "--json"),
        *("--out", tmp_path / "out"),
    )
    data = json.loads(called.out)
    (other,) = data["others"]
    assert {data["system"], other["system"]} == {"gb200-nvl72", RACK}
    assert data["bill"]["all_in_kw"]["value"] <= other["bill"]["all_in_kw"]["value"]


def test_a_system_that_cannot_is_left_out_and_said_why(call: Call, tmp_path: Path) -> None:
    # one request alone takes longer on the one than on the other
    limits = ("--rate", 1, "--ttft-ms", 250)
    called = call(
        *("size", MODEL, RACK, "gb200-nvl72", *limits, *QUICK, "--json", "--out", tmp_path / "o")
    )
    assert called.code == 0
    assert json.loads(called.out)["system"] == "gb200-nvl72"
    assert "jalapeno-rack is left out: P90 TTFT of 250 ms is out of reach" in called.err


def test_a_limit_out_of_reach_says_what_can_be_reached(call: Call, tmp_path: Path) -> None:
    called = call(
        *("size", MODEL, RACK, "--rate", 1, "--ttft-ms", 5, *QUICK, "--out", tmp_path / "out")
    )
    assert called.code == 1
    assert called.out == ""
    assert called.complaint.startswith("P90 TTFT of 5 ms is out of reach: one request alone needs")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--rate", 1), "give a limit at least: --ttft-ms"),
        (("--rate", 0, "--ttft-ms", 500), "the rate must be positive"),
        (("--rate", 1, "--ttft-ms", -5), "TTFT limit must be positive"),
        (("--rate", 1, "--ttft-ms", 5, "--percentile", 100), "between 0 and 100"),
        (("--rate", 1, "--tbt-ms", 5, "--speed", 200), "in two ways: give one"),
        (("--rate", 1, "--ttft-ms", 5, "--spare", -1), "spare replicas"),
        (("--rate", 1, "--ttft-ms", 5, "--least", "watts"), "no quantity (in --least) 'watts'"),
        (("--rate", 1, "--ttft-ms", 5, "--chips-per-replica", "4,x"), "between commas"),
        (("--rate", 1, "--ttft-ms", 5, "--chips-per-replica", "0"), "between commas"),
        (("--rate", 1, "--ttft-ms", 5, "--chips-per-replica", "4,²"), "between commas"),
        (("--rate", 1, "--ttft-ms", 5, "--chips-per-replica", "9" * 5000), "between commas"),
    ],
)
def test_what_is_typed_wrong_is_refused(
    call: Call, tmp_path: Path, options: tuple[object, ...], complaint: str
) -> None:
    called = call("size", MODEL, RACK, *options, "--out", tmp_path / "out")
    assert called.code == 2
    assert complaint in called.complaint
    assert not (tmp_path / "out").exists()


def test_an_unknown_system_is_named_with_the_nearest(call: Call, tmp_path: Path) -> None:
    called = call("size", MODEL, "jalapeno-rak", *ASKED, "--out", tmp_path / "out")
    assert called.code == 2
    assert "did you mean 'jalapeno-rack'?" in called.complaint


def test_someone_s_folder_is_not_written_over(call: Call, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    called = call("size", MODEL, RACK, *ASKED, *QUICK, "--out", tmp_path)
    assert called.code == 1
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_help_says_what_tbt_is(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "240")
    called = call("size", "--help")
    assert called.code == 0
    assert "not the percentile over single gaps" in called.out
    assert "Example: jalapeno size deepseek-r1" in called.out
