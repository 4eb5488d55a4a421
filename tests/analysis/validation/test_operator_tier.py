"""Tier T1: judged by its targets, and silent about what is not installed."""

from __future__ import annotations

import importlib.util

import polars as pl
import pytest

from jalapeno.analysis.validation import operator_tier
from jalapeno.analysis.validation.operator_tier import SITE_MOST, SYSTEM_MOST, TIER, finding, scored
from jalapeno.analysis.validation.operators import TABLES, scores
from jalapeno.analysis.validation.tiers import Data
from jalapeno.cost.tables import table_files
from tests.cost.tables.worlds import OPS, needs_ops

DATA = Data(rows=pl.DataFrame(), excluded=pl.DataFrame(), source="none")


def errors(family: str, *values: float) -> pl.DataFrame:
    count = len(values)
    return pl.DataFrame(
        {
            "family": [family] * count,
            "dtype": ["fp8"] * count,
            "regime": ["to 64 rows"] * count,
            "system": ["gb300"] * count,
            "error": values,
        }
    )


def test_sites_are_judged_by_their_median_and_systems_by_their_mean() -> None:
    frame = pl.concat(
        [
            scores("site held out", [errors("gemm", 0.01, -0.03, 0.9)]),
            scores("load held out", [errors("gemm", 0.9)]),
            scores("system left out", [errors("gemm", 0.01, 0.02, 0.9)]),
        ]
    )
    found = finding(frame)
    site, system = found.verdicts
    assert site.measure == "gemm, site held out: median error"
    assert (site.target, site.points, site.met) == (0.04, 3, True)
    assert site.reached == pytest.approx(0.03)
    assert system.measure == "gemm, system left out: mean error"
    assert system.reached == pytest.approx(0.31)
    assert not system.met
    assert set(found.tables["By dtype"]["dtype"]) == {"fp8"}
    assert set(found.tables["By system"]["system"]) == {"gb300"}


def test_every_scored_family_has_its_targets() -> None:
    assert set(SITE_MOST) == set(SYSTEM_MOST) == set(TABLES)


def test_without_the_extra_nothing_is_judged_and_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    found = TIER.run(DATA)
    assert not found.verdicts
    assert "jalapeno-twin[tables]" in found.notes[0]


@needs_ops
def test_two_measured_systems_meet_the_targets_of_products(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(operator_tier, "TABLES", ("gemm",))
    files = [each for each in table_files(OPS) if each.system in ("h200_sxm", "h100_sxm")]
    some = [each for each in files if each.version == "1.3.0rc20"]
    seen: list[int] = []
    data = Data(
        rows=pl.DataFrame(),
        excluded=pl.DataFrame(),
        source="none",
        on_progress=lambda stage, done, total: seen.append(done),
    )
    found = scored(some, data)
    assert seen == [0, 1]
    missed = [(each.measure, each.reached) for each in found.verdicts if not each.met]
    assert not missed
    assert len(found.verdicts) == 4
