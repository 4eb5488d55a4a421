"""T1: pooled scores are judged, and where there is no table that is said."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from jalapeno.analysis.validation import operator_tier
from jalapeno.analysis.validation.operator_tier import SITES, SYSTEMS, TARGETS, run, verdicts
from jalapeno.errors import BadTable, MissingExtra
from tests.analysis.validation.test_framed import data


def scored(percent: float) -> pl.DataFrame:
    """Scores of every family under both protocols, pooled and of one system."""
    families = sorted({family for _, family, _, _ in TARGETS})
    lines = [
        {
            "protocol": protocol,
            "family": family,
            "dtype": "all",
            "regime": "all",
            "system": system,
            "n": 100,
            "median_ape_percent": percent if system == "all" else 99.0,
            "mean_ape_percent": 2.0 * percent if system == "all" else 99.0,
            "p90_ape_percent": 5.0 * percent,
            "bias_percent": 0.0,
        }
        for protocol in (SITES, SYSTEMS)
        for family in families
        for system in ("all", "h200_sxm")
    ]
    return pl.DataFrame(lines)


def test_pooled_scores_are_judged_in_shares() -> None:
    found = verdicts(scored(5.0))
    assert [round(verdict.reached, 6) for verdict in found] == [0.05] * 4 + [0.1] * 4
    assert [verdict.met for verdict in found] == [False, False, False, True, True, True, True, True]
    assert {verdict.points for verdict in found} == {100}


def test_a_family_that_nobody_measured_is_a_miss() -> None:
    found = verdicts(scored(1.0).filter(pl.col("family") != "moe"))
    silent = [verdict for verdict in found if math.isnan(verdict.reached)]
    assert [verdict.measure.split(",")[0] for verdict in silent] == ["moe", "moe"]
    assert not any(verdict.met for verdict in silent)


def test_no_tables_are_said_and_nothing_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(root: Path | None) -> None:
        raise MissingExtra("the measured tables need a package")

    monkeypatch.setattr(operator_tier, "table_files", missing)
    found = run(data())
    assert found.verdicts == ()
    assert found.notes == ("Not run: the measured tables need a package.",)


def test_the_folder_that_is_named_is_looked_into(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[Path | None] = []
    monkeypatch.setattr(operator_tier, "validate_operators", lambda files: scored(1.0))
    monkeypatch.setattr(operator_tier, "table_files", seen.append)
    found = run(replace(data(), tables=tmp_path))
    assert seen == [tmp_path]
    assert all(verdict.met for verdict in found.verdicts)
    assert tmp_path.name in found.notes[0]
    assert set(found.tables["by system"]["system"]) == {"all", "h200_sxm"}


def test_a_folder_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadTable, match="no such folder"):
        run(replace(data(), tables=Path("nowhere")))
