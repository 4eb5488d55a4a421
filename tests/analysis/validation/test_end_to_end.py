"""T2: everyone plays by the same rules, and targets are judged for the twin alone."""

from __future__ import annotations

import polars as pl
import pytest

from jalapeno.analysis.validation.contenders import TWIN, Contender, baselines, stored
from jalapeno.analysis.validation.end_to_end import (
    EVERYONE,
    TARGETS,
    plays,
    run,
    verdicts,
    with_part,
)
from jalapeno.analysis.validation.protocols import PROTOCOLS
from jalapeno.analysis.validation.rows import LAYOUT_OF_POOL
from jalapeno.analysis.validation.scores import QUANTITIES
from jalapeno.analysis.validation.tiers import Data
from jalapeno.errors import UsageError
from tests.analysis.validation.points import grid, predicted


def twin(rows: pl.DataFrame, factor: float) -> Contender:
    """A twin that is *factor* times as slow as measured."""
    said = predicted(rows, factor).select("id", "predicted_ttft_ms", "predicted_tpot_ms")
    return Contender(TWIN, "the twin", stored(said), needs_rows=False)


def data(rows: pl.DataFrame, *contenders: Contender, **changes: object) -> Data:
    given: dict[str, object] = {"protocols": ("curves", "systems", "models")}
    given |= {"rows": rows, "excluded": rows.head(0), "source": "made up"}
    return Data(contenders=contenders, **(given | changes))  # type: ignore[arg-type]


def mixed() -> pl.DataFrame:
    """Unified rows of NVIDIA, split ones, and AMD's."""
    rows = grid(48)
    number = pl.int_range(pl.len())
    return rows.with_columns(
        pl.when(number >= 40).then(pl.lit("mi355x-oam")).otherwise("system").alias("system"),
        pl.when(number < 8).then(pl.lit("split")).otherwise("mode").alias("mode"),
        *(
            pl.when(number < 8).then(pl.lit(1, pl.Int64)).alias(f"prefill_{what}")
            for what in LAYOUT_OF_POOL
        ),
    )


def test_rows_are_of_one_part_each() -> None:
    assert with_part(mixed())["part"].to_list() == ["split"] * 8 + ["unified"] * 32 + ["AMD"] * 8


def test_a_perfect_twin_meets_every_target() -> None:
    rows = mixed()
    found = run(data(rows, twin(rows, 1.0)))
    assert len(found.verdicts) == len(TARGETS) + 1
    assert all(verdict.met for verdict in found.verdicts)
    assert found.verdicts[-1].reached == pytest.approx(1.0)


def test_a_slow_twin_misses_all_but_the_ranking() -> None:
    rows = mixed()
    found = run(data(rows, twin(rows, 1.5))).verdicts
    assert [verdict.met for verdict in found] == [False] * len(TARGETS) + [True]
    assert found[0].reached == pytest.approx(0.5)


def test_targets_of_protocols_that_were_not_played_are_not_judged() -> None:
    rows = mixed()
    found = run(data(rows, twin(rows, 1.0), protocols=("systems",))).verdicts
    assert [verdict.measure.split(": ")[0] for verdict in found] == [
        "unified rows, leave one system out"
    ]


def test_rows_without_a_prediction_are_named_in_the_verdict() -> None:
    rows = mixed()
    said = predicted(rows).select("id", "predicted_ttft_ms", "predicted_tpot_ms").tail(30)
    found = run(data(rows, Contender(TWIN, "", stored(said), needs_rows=False))).verdicts
    assert found[0].note == "10 without a prediction"
    assert found[0].points == 22


def test_baselines_are_scored_and_not_judged() -> None:
    found = run(data(grid(), *baselines()))
    assert found.verdicts == ()
    assert set(found.tables["by part"]["contender"]) == {"roofline", "affine", "linear"}


def test_every_contender_answers_about_the_same_points() -> None:
    rows = mixed()
    played = plays(data(rows, twin(rows, 1.0), *baselines(), protocols=tuple(PROTOCOLS)))
    for (name,), group in played.group_by("protocol"):
        ids = [set(one["id"]) for _, one in group.group_by("contender")]
        assert all(one == ids[0] for one in ids), name
    assert set(played.filter(pl.col("protocol") == "datasheet")["contender"]) == {TWIN, "roofline"}


def test_slices_cover_every_quantity() -> None:
    rows = mixed()
    tables = run(data(rows, twin(rows, 1.1))).tables
    for column in ("model", "system", "engine", "mode", "band"):
        assert set(tables[f"by {column}"]["quantity"]) == set(QUANTITIES)
    assert EVERYONE not in tables  # the peer was not asked about made-up points


def test_nobody_to_ask_is_said() -> None:
    needy = [who for who in baselines() if who.needs_rows]
    with pytest.raises(UsageError, match="nobody to ask"):
        plays(data(grid(), *needy, protocols=("datasheet",)))


def test_a_twin_that_did_not_play_is_not_judged() -> None:
    played = with_part(plays(data(grid(), *baselines())))
    assert verdicts(played) == ()


def test_no_points_are_said() -> None:
    with pytest.raises(UsageError, match="no measured points"):
        run(data(grid().clear(), *baselines()))


def test_each_system_and_model_is_scored_while_it_is_left_out() -> None:
    rows = mixed()
    slow = pl.col("system") == "h100-hgx"
    bent = predicted(rows).with_columns(
        pl.when(slow)
        .then(pl.col("predicted_tpot_ms") * 2.0)
        .otherwise("predicted_tpot_ms")
        .alias("predicted_tpot_ms")
    )
    said = bent.select("id", "predicted_ttft_ms", "predicted_tpot_ms")
    found = run(data(rows, Contender(TWIN, "", stored(said), needs_rows=False))).tables
    table = found["each system left out"].filter(pl.col("quantity") == "tpot")
    by_system = dict(zip(table["slice"], table["mape"], strict=True))
    assert by_system.pop("h100-hgx") == pytest.approx(1.0)
    assert set(by_system.values()) == {0.0}
    assert set(found["each model left out"]["slice"]) == set(rows["model"])
