"""``jalapeno compare``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jalapeno.analysis.objectives import Per
from jalapeno.errors import UsageError
from jalapeno.presentation.compare_command import OURS, settings_by_system
from jalapeno.presentation.digits import times
from tests.presentation.conftest import Call, Called
from tests.presentation.once import run

BOTH = ("jalapeno-rack", "gb200-nvl72")
REST = ("--model", "gpt-oss-120b", "--isl", "2048", "--osl", "128", "--unified")
ASK = ("compare", *BOTH, *REST)


@dataclass(frozen=True)
class Made:
    """A call, and the folder that it left."""

    called: Called
    folder: Path

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "comparison.json").read_text())
        return found

    @property
    def words(self) -> str:
        return " ".join(self.called.out.split())


def make(places: pytest.TempPathFactory, *arguments: str) -> Made:
    out = places.mktemp("compare") / "out"
    return Made(run(*arguments, "--out", out), out)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """At equal formats, with a speed within and one beyond."""
    return make(tmp_path_factory, *ASK, "--precision", "equal", "--at", "300", "--at", "1e6")


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Each as it is shipped, as JSON."""
    return make(tmp_path_factory, *ASK, "--json")


def test_it_prints_systems_questions_latencies_and_who_wins(asked: Made) -> None:
    assert asked.called.code == 0
    for said in (
        "OpenAI gpt-oss-120b: 2 systems, lengths up to 2,048 in and 128 out",
        "mxfp4×mxfp8",
        "! assumed",
        "highest throughput",
        "throughput at 300 token/s/user",
        "token/s/kW of modelled package draw",
        "Mtoken/$",
        "Highest throughput: ",
        "does most per ",
        "Ranges are over what the tariffs' sources say",
        "unreachable: 1,000,000 token/s/user",
        "No system does this.",
        "lowest mean TBT, ms",
        "Less is better.",
    ):
        assert said in asked.words, said


def test_ratios_are_to_the_first_system(asked: Made) -> None:
    cells = asked.data["questions"][0]["answers"]["chip"]["systems"]
    ours, theirs = (cells[name]["rate"]["value"] for name in BOTH)
    lines = [line for line in asked.called.out.splitlines() if "token/s/chip" in line]
    assert times(theirs / ours) in lines[0]


def test_json_is_what_is_written(shipped: Made) -> None:
    assert json.loads(shipped.called.out) == shipped.data
    assert [one["name"] for one in shipped.data["systems"]] == list(BOTH)


def test_every_denominator_says_who_does_most(shipped: Made) -> None:
    for question in shipped.data["questions"]:
        assert set(question["answers"]) == {per.value for per in Per}
        for found in question["answers"].values():
            rates = {name: cell["rate"]["value"] for name, cell in found["systems"].items()}
            assert found["most"] == max(rates, key=lambda name: rates[name])
            assert found["lead"] == pytest.approx(max(rates.values()) / min(rates.values()))


def test_formats_are_equal_unless_each_has_its_own(asked: Made, shipped: Made) -> None:
    equal, own = ([one["precision"] for one in made.data["systems"]] for made in (asked, shipped))
    assert equal[0] == equal[1]
    assert own[0] != own[1]


def test_it_writes_tables_data_pictures_and_scenarios(asked: Made) -> None:
    assert {path.name for path in asked.folder.iterdir()} == set(OURS)
    assert {path.name for path in (asked.folder / "scenarios").iterdir()} == set(BOTH)
    for one in asked.data["systems"]:
        kept = {path.stem for path in (asked.folder / "scenarios" / one["name"]).iterdir()}
        assert {point["digest"] for point in one["front"]} <= kept
        assert {point["digest"] for point in one["lowest"].values()} <= kept


def test_limits_answer_who_serves_it_for_least_power(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    limits = ("--ttft-ms", "900", "--percentile", "p99", "--speed", "100")
    found = make(tmp_path_factory, *ASK, *limits)
    condition = "with P99 TTFT at most 900 ms and at least 100 token/s/user (P99 TBT)"
    assert f"Highest throughput {condition}: " in found.words
    assert "per kW of facility power" in found.words


def test_a_system_that_cannot_says_so_beside_one_that_can(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    found = make(tmp_path_factory, *ASK, "--tbt-ms", "1.2")
    assert "no plan of gpt-oss-120b on gb200-nvl72 has mean TBT at most 1.2 ms" in found.words
    assert "Jalapeño rack does most per chip" in found.words
    assert found.data["questions"][0]["answers"]["chip"]["systems"]["gb200-nvl72"]["rate"] is None


def test_engines_of_one_system_can_be_compared(tmp_path_factory: pytest.TempPathFactory) -> None:
    found = make(tmp_path_factory, "compare", "gb200-nvl72", "gb200-nvl72/sglang", *REST)
    assert [one["engine"] for one in found.data["systems"]] == ["tensorrt-llm", "sglang"]
    assert "NVIDIA GB200 NVL72, sglang" in found.words


# ---- facts of one system, or of all


def test_a_fact_is_replaced_in_one_system_or_in_all() -> None:
    found = settings_by_system(["gb200-nvl72:chip.cores=10", "engine.overlap=0.5"], BOTH)
    assert found == {
        "jalapeno-rack": {"engine.overlap": "0.5"},
        "gb200-nvl72": {"chip.cores": "10", "engine.overlap": "0.5"},
    }
    assert settings_by_system([], BOTH) == {name: {} for name in BOTH}


def test_a_fact_of_a_system_that_is_not_compared_is_refused() -> None:
    with pytest.raises(UsageError, match="'b200-hgx' is not compared here"):
        settings_by_system(["b200-hgx:chip.cores=10"], BOTH)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("compare", "gb200-nvl72", *REST), "a comparison is of two to 4 systems, got 1"),
        (("compare", *BOTH, BOTH[0], *REST), "a system is named twice"),
        (("compare", *BOTH, "x", "y", "z", *REST), "a comparison is of two to 4 systems, got 5"),
        (("compare", "gb200-nvl72", "gb999", *REST), "no system 'gb999'"),
        (("compare", "gb200-nvl72", "gb300-nvl72/teacup", *REST), "no engine 'teacup'"),
        ((*ASK, "--precision", "bf16"), "jalapeno-engine on jalapeno has no kernel for 16-bit"),
    ],
)
def test_what_is_wrong_is_one_line(
    call: Call, tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    called = call(*arguments, "--out", tmp_path / "out")
    assert (called.code, called.out) == (2, "")
    assert called.complaint.startswith(complaint)
    assert not (tmp_path / "out").exists()


def test_limits_that_nobody_keeps_are_one_line(tmp_path: Path) -> None:
    called = run(*ASK, "--ttft-ms", "1", "--out", tmp_path / "out")
    assert (called.code, called.out) == (1, "")
    assert "on jalapeno-rack has mean TTFT at most 1 ms" in called.complaint
    assert "on gb200-nvl72 has mean TTFT at most 1 ms" in called.complaint
