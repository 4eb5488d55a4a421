"""Contenders: a stored one repeats what it said, the peer's answers are those that ship."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from jalapeno.analysis.validation.cleaned import read_cleaned
from jalapeno.analysis.validation.contenders import (
    TWIN,
    baselines,
    peer,
    peer_says,
    stored,
)
from jalapeno.analysis.validation.protocols import play, protocol
from jalapeno.analysis.validation.scores import score
from tests.analysis.validation.points import grid, predicted

TABLE = (
    Path(__file__).parents[4]
    / "shared"
    / "data"
    / "aiconfigurator"
    / "inferencex_silicon_clean.csv"
)
needs_shared = pytest.mark.skipif(
    not TABLE.is_file(), reason="the measured points beside the project are not there"
)


def test_a_stored_contender_says_what_it_said_and_nothing_more() -> None:
    rows = predicted(grid(), 1.1)
    said = rows.select("id", "predicted_ttft_ms", "predicted_tpot_ms").head(10)
    played = play(protocol("curves")(grid()), stored(said))
    assert score(played)["points"] == 10
    assert score(played)["mape"] == pytest.approx(0.1)


def test_names_are_told_apart_and_none_is_the_twins() -> None:
    names = [who.name for who in (*baselines(), peer())]
    assert len(set(names)) == len(names)
    assert TWIN not in names


def test_the_peer_gives_times_or_a_reason() -> None:
    said = peer_says()
    silent = pl.col("predicted_tpot_ms").is_null()
    assert said["id"].n_unique() == len(said) > 400
    assert said.filter(silent & pl.col("refusal").is_null()).is_empty()
    assert said.filter(~silent & pl.col("refusal").is_not_null()).is_empty()
    assert said.filter(~silent & (pl.col("predicted_ttft_ms") <= 0.0)).is_empty()


@needs_shared
def test_the_peer_scores_about_what_was_found_of_it_on_all_its_points() -> None:
    rows = read_cleaned(TABLE)
    asked = rows.join(peer_says().select("id"), on="id", how="semi")
    played = play(protocol("datasheet")(asked), peer().fit)
    found = score(played)
    assert found["points"] > 250
    assert found["mape"] == pytest.approx(0.354, abs=0.05)  # 35.4 % on 420 points
    assert found["median"] == pytest.approx(0.209, abs=0.04)
    assert score(played, "throughput")["mape"] == pytest.approx(0.231, abs=0.05)


@needs_shared
def test_baselines_score_about_what_was_found_of_them_on_unified_points() -> None:
    rows = read_cleaned(TABLE).filter(pl.col("mode") == "unified")
    found = {who.name: score(play(protocol("curves")(rows), who.fit)) for who in baselines()}
    assert found["roofline"]["mape"] == pytest.approx(0.63, abs=0.03)
    assert found["affine"]["mape"] == pytest.approx(0.26, abs=0.03)
    assert found["linear"]["mape"] == pytest.approx(0.15, abs=0.04)
    assert found["linear"]["median"] < found["affine"]["median"] < found["roofline"]["median"]
