"""What a validation gathers: every kind of file, and what cannot be predicted by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from jalapeno.analysis.validation.suite import DRAFTED, gather
from jalapeno.errors import UsageError
from tests.analysis.evidence.sources.made import (
    AGGREGATED,
    EXPORT_HEAD,
    EXPORT_ROW,
    RAW,
    SPLIT,
    written,
)


def quiet(stage: str, done: int, total: int) -> None:
    pass


def test_results_of_inferencex_are_points(tmp_path: Path) -> None:
    found = gather(written(tmp_path, "runs.json", [AGGREGATED, SPLIT]), (), quiet)
    assert found.rows["mode"].to_list() == ["unified", "split"]
    assert found.rows["measured_tpot_ms"].to_list() == pytest.approx([5.66, 9.659])
    assert found.source == "runs.json"


def test_its_dashboards_export_is_too(tmp_path: Path) -> None:
    found = gather(written(tmp_path, "export.csv", EXPORT_HEAD + EXPORT_ROW), (), quiet)
    assert found.rows["measured_ttft_ms"].to_list() == pytest.approx([140.8])


def test_points_that_draft_are_named_and_left_out(tmp_path: Path) -> None:
    drafts = AGGREGATED | {"spec_decoding": "mtp", "conc": 32}
    found = gather(written(tmp_path, "runs.json", [AGGREGATED, drafts]), (), quiet)
    assert len(found.rows) == 1
    assert found.excluded["reason"].to_list() == [DRAFTED]


def test_a_file_that_does_not_say_its_layout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not say its"):
        gather(written(tmp_path, "run.json", RAW), (), quiet)


def test_other_points_than_those_that_ship_are_predicted_with_what_ships(tmp_path: Path) -> None:
    path = written(tmp_path, "runs.json", [AGGREGATED])
    assert gather(path, (), quiet).protocols == ("datasheet",)
    assert gather(path, ("models",), quiet).protocols == ("models",)
    assert len(gather(None, (), quiet).protocols) == 5
