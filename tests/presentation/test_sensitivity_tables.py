"""Sentences and tables of sensitivities."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jalapeno.analysis.sensitivity import Elasticity, Sensitivity, Side, Swing
from jalapeno.analysis.sensitivity_answers import answer_of
from jalapeno.analysis.sensitivity_range import Combined, Shape
from jalapeno.catalogue import Fact, Kind
from jalapeno.presentation.sensitivity_json import sensitivity_json
from jalapeno.presentation.sensitivity_tables import (
    Found,
    elasticity_table,
    range_table,
    refusal,
    sensitivity_tables,
    sentences,
    shown_swings,
    signed,
    tornado_table,
)

FAST = Fact(15.4e12, "15.4 TB/s", "B/s", Kind.PUBLISHED, "a test")
SHARE = Fact(0.5, "0.5", "", Kind.ASSUMED, "a test", low=0.25, high=1.0)
NOTHING = Fact(0.0, "0 us", "s", Kind.ESTIMATED, "a test", low=0.0, high=2e-6)


def slope(path: str, fact: Fact, value: float, side: Side = Side.BOTH) -> Elasticity:
    return Elasticity(path=path, fact=fact, value=value, side=side, over_range=fact.value == 0.0)


SLOPES = (
    slope("engine.issue", NOTHING, 2.5, Side.ABOVE),
    slope("chip.bandwidth", FAST, -0.75),
    slope("engine.share", SHARE, 0.5, Side.BELOW),
)
SWINGS = (
    Swing(path="engine.share", fact=SHARE, base=10.0, low=5.0, high="too much"),
    Swing(path="engine.issue", fact=NOTHING, base=10.0, low=10.0, high=12.0),
    Swing(path="engine.stuck", fact=SHARE, base=10.0, low="too little", high=10.0),
)
DRAWN = Combined(
    shape=Shape.UNIFORM,
    seed=4,
    facts=("engine.share", "engine.issue"),
    answers=tuple(float(number) for number in range(101)),
    refused=7,
    why="it does not fit",
)


def found(combined: Combined | None = DRAWN) -> Found:
    return Found(
        answer=answer_of("mean_tbt_ms"),
        run="a run",
        by="closed form",
        why="",
        simulated=8.0,
        sensitivity=Sensitivity(
            base=10.0,
            elasticities=SLOPES,
            without_effect=("chip.a", "chip.b"),
            not_tried={"chip.c": "it has no chips"},
            swings=SWINGS,
            still=("chip.d",),
            without_range=("chip.bandwidth", "chip.a", "chip.b"),
        ),
        combined=combined,
    )


# ---- sentences


def test_the_first_sentence_names_what_matters_most_percent_for_percent() -> None:
    assert sentences(found())[0] == (
        "mean_tbt_ms = 10.00 ms (closed form): for 1 % more of a fact, "
        "chip.bandwidth -0.750 %, engine.share +0.500 %"
    )


def test_the_second_says_how_far_off_the_closed_form_is() -> None:
    said = "the simulation says 8.000 ms; this is +25.0 % off"
    assert sentences(found())[1] == said
    assert said not in sentences(replace(found(), simulated=None))


def test_the_range_is_that_of_nine_in_ten_draws() -> None:
    assert sentences(found())[-1] == (
        "with all 2 uncertain facts drawn at once it lies between 5.00 and 95.0 ms in nine of ten "
        "draws"
    )
    assert len(sentences(found(None))) == 2


def test_why_it_was_simulated_is_said() -> None:
    assert "simulated, for reasons" in sentences(replace(found(), why="reasons"))


@pytest.mark.parametrize(("value", "text"), [(0.5, "+0.500"), (-2.0, "-2.00"), (0.0, "0")])
def test_effects_have_signs(value: float, text: str) -> None:
    assert signed(value) == text


# ---- elasticities


def test_a_row_is_a_fact_its_evidence_and_its_effect() -> None:
    rows = elasticity_table(found(), 9).rows
    assert rows[1] == ("chip.bandwidth", "15.4 TB/s", "published", "-0.750", "")
    assert rows[2] == (
        "engine.share",
        "0.5",
        "! assumed",
        "+0.500",
        "from below: more is refused",
    )


def test_a_zero_says_that_its_effect_is_over_its_range() -> None:
    first = elasticity_table(found(), 9).rows[0]
    assert first[:4] == ("engine.issue", "0 us", "~ estimated", "+2.50")
    assert first[4].startswith("zero here: relative change on the way to 2 us")


def test_the_note_counts_what_is_not_shown_and_what_has_no_effect() -> None:
    note = elasticity_table(found(), 1).note
    assert "2 more facts of less effect; 2 facts without effect, tried one by one." in note
    assert "more fact" not in elasticity_table(found(), 3).note


# ---- the tornado


def test_ends_and_answers_stand_side_by_side() -> None:
    rows = tornado_table(found(), 9).rows
    assert rows[0] == (
        *("engine.share", "! assumed", "0.25", "5.000", "0.5", "10.00", "1", "refused", "5.00"),
    )
    assert rows[1][2:] == ("0 s", "10.00", "0 us", "10.00", "2 us", "12.00", "2.00")


def test_refusals_and_what_is_not_known_are_in_the_note() -> None:
    note = tornado_table(found(), 9).note
    assert "1 fact with a range that changes nothing" in note
    assert "3 facts without a range, of which no swing is known." in note
    assert note.endswith("Refused: engine.share: too much; engine.stuck: too little.")


def test_an_end_that_the_catalogue_does_not_have_is_a_dash() -> None:
    swing = Swing(path="x", fact=replace(SHARE, low=None), base=10.0, low=None, high=11.0)
    only = replace(found(), sensitivity=replace(found().sensitivity, swings=(swing,)))
    assert tornado_table(only, 1).rows[0][2:4] == ("–", "–")
    assert refusal(swing) == ""


def test_pictures_show_what_moves() -> None:
    assert shown_swings(SWINGS, 9) == list(SWINGS[:2])
    assert shown_swings(SWINGS, 1) == list(SWINGS[:1])


# ---- the range


def test_percentiles_are_beside_the_answer_as_it_is() -> None:
    table = range_table(found().answer, DRAWN, 50.0)
    assert table.rows[0] == ("lowest", "0", "-100.0")
    assert table.rows[3] == ("P50", "50.00", "+0.0")
    assert table.rows[-1] == ("highest", "100.0", "+100.0")


def test_the_note_says_how_it_was_drawn_and_what_was_refused() -> None:
    note = range_table(found().answer, DRAWN, 50.0).note
    assert "2 facts drawn independently, uniform between low and high, 108 samples" in note
    assert "seed 4. 7 draws without an answer, such as: it does not fit." in note
    clean = range_table(found().answer, replace(DRAWN, refused=0, why=""), 50.0).note
    assert "without an answer" not in clean


def test_tables_come_with_what_there_is() -> None:
    assert len(sensitivity_tables(found(), 5)) == 4
    plain = replace(found().sensitivity, not_tried={})
    assert len(sensitivity_tables(replace(found(None), sensitivity=plain), 5)) == 2
    last = sensitivity_tables(found(), 5)[-1]
    assert last.rows == (("chip.c", "it has no chips"),)


# ---- JSON


def test_json_tells_the_two_kinds_of_effect_apart() -> None:
    zero, plain, _ = sensitivity_json(found())["elasticities"]
    assert (zero["elasticity"], zero["relative_change_to_high"]) == (None, 2.5)
    assert (plain["elasticity"], plain["relative_change_to_high"]) == (-0.75, None)
    assert (plain["fact"], plain["value"], plain["unit"]) == ("chip.bandwidth", 15.4e12, "B/s")


def test_json_has_refusals_and_ranges() -> None:
    data = sensitivity_json(found())
    assert data["tornado"][0]["refused"] == {"at_high": "too much"}
    assert data["tornado"][0]["at_high"] is None
    assert data["not_tried"] == {"chip.c": "it has no chips"}
    assert data["combined"]["percentiles"]["50"] == 50.0
    assert data["combined"]["refused"] == 7
    assert sensitivity_json(found(None))["combined"] is None
