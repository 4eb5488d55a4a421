"""``jalapeno posterior``: a small inference from beginning to end."""

from __future__ import annotations

import builtins
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jalapeno.analysis.posterior.infer import Effort, Posterior, infer
from jalapeno.analysis.posterior.shipped import read_draws
from jalapeno.analysis.posterior.summary import (
    answers,
    best_measurements,
    marginals,
    plan_shares,
    shares,
    twin_answers,
)
from jalapeno.analysis.posterior.unknowns import PATHS
from jalapeno.presentation.posterior import command
from jalapeno.presentation.posterior.command import OURS, effort_of
from tests.presentation.conftest import Call, Called
from tests.presentation.once import run

pytestmark = pytest.mark.xdist_group("posterior")
"""In one process, so that the inference is made once."""

SMALL = Effort(steps=2, burn=1, prior=12, kept=60, played=1, checked=0, pilots=1, tried=60)


@dataclass(frozen=True)
class Made:
    """A call, what it inferred, and what it wrote."""

    called: Called
    found: Posterior
    folder: Path

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "out" / "posterior.json").read_text())
        return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("posterior")
    kept: list[Posterior] = []

    def keeping(effort: Effort, seed: int, tick: Any) -> Posterior:
        kept.append(infer(effort, seed, tick))
        return kept[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "effort_of", lambda samples: SMALL)
        patch.setattr("jalapeno.analysis.posterior.infer.infer", keeping)
        called = run(
            *("posterior", "--samples", "2", "--seed", "3", "--out", folder / "out"),
            *("--ship", folder / "draws.toml", "--docs", folder / "docs" / "posterior.md"),
        )
    return Made(called, kept[0], folder)


def test_it_prints_every_table_and_tells_how_far_it_is(made: Made) -> None:
    assert made.called.code == 0
    words = " ".join(made.called.out.split())
    for title in (
        "published numbers, and how each is predicted",
        "how good the 90 % intervals are",
        "unknowns, before and after the evidence",
        "plans that the numbers may have been measured with",
        "unknowns that the evidence cannot tell apart",
        "what was never published",
        "which unknown matters most for which answer",
        "the one new measurement that would shrink an answer's interval most",
        "simulated over closed form",
    ):
        assert title in words, title
    assert "walking through the posterior: 3 to do" in made.called.err
    assert made.called.err.splitlines()[-1] == f"files: {made.folder / 'out'}"


def test_it_writes_tables_data_draws_and_pictures(made: Made) -> None:
    out = made.folder / "out"
    assert {path.name for path in out.iterdir()} == set(OURS)
    for name in command.PICTURES:
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (out / f"{name}.svg").read_text("utf-8").startswith("<svg")


def test_the_data_hold_every_number_and_unknown(made: Made) -> None:
    data = made.data
    assert len(data["numbers"]) == 13
    assert sum(one["evidence"] for one in data["numbers"]) == 12
    assert [one["path"] for one in data["unknowns"]] == list(PATHS)
    assert data["seed"] == 3
    assert data["left_out"]["count"] == 12
    assert set(data["variance_shares"]) == set(data["best_measurements"])


def test_the_page_shows_the_pictures_that_lie_beside_it(made: Made) -> None:
    docs = made.folder / "docs"
    page = (docs / "posterior.md").read_text("utf-8")
    assert page.startswith("# What the published numbers say of Jalapeño\n")
    assert "What this does not prove" in page
    for name in command.PICTURES:
        assert f"(posterior-{name}.png)" in page
        assert (docs / f"posterior-{name}.png").is_file()


def test_shipped_draws_can_be_read_and_are_of_this_physics(made: Made) -> None:
    draws = read_draws((made.folder / "draws.toml").read_text("utf-8"), "draws")
    assert not draws.stale
    assert draws.values.shape == (60, len(PATHS))
    assert draws.values == pytest.approx(made.found.kept.values, rel=1e-5)
    assert [one.name for one in draws.numbers] == [n.name for n in made.found.judge.numbers]


# ---- what is inferred


def test_intervals_are_in_order_and_of_the_number(made: Made) -> None:
    for one in (*made.found.predicted, *made.found.derived):
        for each in (one.prior, one.all_in, one.left_out):
            assert each.low <= each.lower <= each.median <= each.upper <= each.high
        assert 1.0 <= one.effective <= len(made.found.chain.scores) + 1e-6


def test_ramps_are_of_the_simulation_and_near_one(made: Made) -> None:
    for check in made.found.checks:
        assert 0.8 < check.taken.value < 1.25
        assert check.found == ()  # none was asked for


def test_shares_of_plans_add_up_to_one(made: Made) -> None:
    for which, number in enumerate(made.found.judge.numbers):
        plans = plan_shares(made.found, which)
        assert sum(plan.share for plan in plans) == pytest.approx(1.0)
        for plan in plans:
            tp, _, dp = plan.one.layout
            assert plan.chips == tp * dp
        if number.name == "deepseek-r1/min_tbt":
            assert {plan.chips for plan in plans} == {8}


def test_marginals_know_prior_and_posterior_of_every_choice(made: Made) -> None:
    for one in marginals(made.found):
        if one.unknown.choices:
            assert sum(before for _, before, _ in one.shares) == pytest.approx(1.0)
            assert sum(after for _, _, after in one.shares) == pytest.approx(1.0)


def test_tails_are_no_better_than_means(made: Made) -> None:
    told = {one.name: one.value.median for one in answers(made.found)}
    for one in made.found.answers:
        played = one.played
        assert np.all(played["P99 TTFT"] >= played["mean TTFT"] * 0.999)
        assert np.all(played["P99 TBT"] >= played["mean TBT"] * 0.999)
        assert told[f"{one.situation.name}: throughput"] > 0.0


def test_every_answer_has_shares_between_none_and_all(made: Made) -> None:
    found = shares(made.found)
    assert set(found) == set(twin_answers(made.found))
    for each in found.values():
        assert all(0.0 <= share <= 1.0 for share in each.values())


def test_a_measurement_is_never_of_the_answer_itself(made: Made) -> None:
    name = "deepseek-r1, 8k/1k, DEP8, 64 in flight: throughput"
    gains = best_measurements(made.found, twin_answers(made.found)[name], name)
    assert name not in [gain.measurement for gain in gains]
    assert [gain.variance for gain in gains] == sorted((g.variance for g in gains), reverse=True)
    assert all(math.isfinite(gain.shrunk) for gain in gains)


# ---- the command


def test_fewer_samples_are_less_work_all_over() -> None:
    little, much = effort_of(30), effort_of(300)
    assert (much.steps, much.kept, much.played) == (300, 400, 40)
    assert little.steps == 30
    for name in ("burn", "prior", "played", "checked", "pilots"):
        assert getattr(little, name) < getattr(much, name)
    assert effort_of(10_000).burn == much.burn


def test_without_the_extra_it_says_how_to_get_it(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "emcee":
            raise ImportError(name)
        return whole(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    called = call("posterior", "--samples", "2", "--out", tmp_path / "out")
    assert called.code == 2
    assert "pip install 'jalapeno-twin[posterior]'" in called.err
    assert not (tmp_path / "out").exists()


def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    call: Call, tmp_path: Path
) -> None:
    called = call("posterior", "--ship", tmp_path, "--out", tmp_path / "out")
    assert called.code == 1
    assert str(tmp_path) in called.err
