"""The tables and the JSON of a sizing."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from jalapeno.analysis.size import Least, Sizing
from jalapeno.presentation.console import to_json
from jalapeno.presentation.digits import number
from jalapeno.presentation.size_json import size_json
from jalapeno.presentation.size_tables import (
    answer_table,
    bill_table,
    binding_words,
    how_verified,
    limits_table,
    plans_table,
    size_tables,
    systems_table,
    title,
)
from jalapeno.presentation.tables import Table
from tests.analysis.sizings import sized


def cells(table: Table) -> dict[str, str]:
    """The first cell of each row, and the second."""
    return {row[0]: row[1] for row in table.rows}


def test_the_title_is_the_question() -> None:
    assert title(sized()) == (
        "gpt-oss-120b on jalapeno-rack: 300 requests/s, P95 TTFT ≤ 1000 ms, P95 TBT ≤ 8 ms"
    )
    assert "in bursts of cv 4" in title(sized(3000.0, burst=4.0))


def test_the_answer_names_fleet_plan_chips_and_racks() -> None:
    found, shown = sized(), cells(answer_table(sized()))
    plan = found.fleet.prospect.plan
    assert shown["fleet"] == f"{found.fleet.replicas} replicas of {plan.chips} chips"
    assert shown["plan of a replica"].startswith(f"{plan.label}: ")
    assert shown["chips"] == str(found.bill.chips)
    assert shown["racks"] == "1 of 128 chips"
    assert shown["systems"] == "1 jalapeno-rack"


def test_spares_are_said() -> None:
    assert "and 2 spare of" in cells(answer_table(sized(spare=2)))["fleet"]


def test_one_replica_of_one_chip_is_said_in_the_singular() -> None:
    assert cells(answer_table(sized(20.0)))["fleet"] == "1 replica of 1 chip"


def test_the_points_where_it_ends_are_said_with_the_distance() -> None:
    found, shown = sized(), cells(answer_table(sized()))
    breaks, more = found.fleet.breaks_per_s, 100.0 * found.headroom
    assert shown["a limit breaks at"] == f"{number(breaks)} requests/s ({more:+.1f} % of demand)"
    assert shown["saturates at"].startswith(f"{number(found.saturates_per_s)} requests/s")


def test_a_saturation_that_nobody_saw_is_not_made_up() -> None:
    unseen = replace(sized(), saturates_per_s=math.nan)
    assert cells(answer_table(unseen))["saturates at"] == "not seen"


def test_the_binding_limit_and_what_is_left_of_the_others_are_said() -> None:
    found = sized()
    left = 100.0 * (1.0 - found.strains["P95 TTFT"])
    assert binding_words(found) == f"P95 TBT binds; P95 TTFT has {left:.1f} % left"


def test_the_note_says_how_much_of_the_fleet_was_simulated() -> None:
    assert "the whole fleet" in how_verified(sized())
    large = sized(3000.0)
    assert f"{large.fleet.simulated} of its {large.fleet.replicas} replicas" in how_verified(large)
    assert "errs to the safe side" in how_verified(large)


def test_limits_show_what_was_reached_and_what_is_left() -> None:
    found = sized()
    rows = limits_table(found).rows
    assert [row[0] for row in rows] == ["P95 TTFT", "P95 TBT"]
    assert [row[5] for row in rows] == ["", "binds"]
    for row, limit, reached in zip(
        rows, found.slo.limits, found.fleet.verified.reached, strict=True
    ):
        assert float(row[4]) == pytest.approx(100 * (1 - reached / limit.seconds), abs=0.06)


def test_the_bill_has_every_denominator_with_its_evidence() -> None:
    rows = {row[0]: row for row in bill_table(sized()).rows}
    bill = sized().bill
    assert rows["all-in IT"][1] == number(bill.all_in_kw.value)
    assert rows["facility (all-in × PUE)"][5] == "~ estimated"
    assert rows["packages, TDP"][2] == "–"  # nobody says otherwise
    assert rows["packages, modelled draw"][5] == "! assumed"
    assert rows["chip-hours"][4] == "$/h"


def test_plans_are_listed_fewest_chips_first() -> None:
    found = sized()
    chips = [int(row[5].replace(",", "")) for row in plans_table(found).rows]
    assert chips == sorted(chips)
    assert str(found.looked_at) in plans_table(found).note


def test_several_systems_are_compared_and_the_first_is_shown() -> None:
    several = [sized(), sized(system="gb300-nvl72")]
    tables = size_tables(several, Least.KW)
    assert tables[0].title == "systems by all-in IT power"
    assert [row[0] for row in systems_table(several, Least.KW).rows] == [
        "jalapeno-rack",
        "gb300-nvl72",
    ]
    assert tables[1:] == size_tables(several[:1], Least.KW)


@pytest.mark.parametrize("found", [sized(), sized(spare=2), sized(20.0)])
def test_every_table_can_be_drawn(found: Sizing) -> None:
    assert len(size_tables([found], Least.CHIPS)) == 4


# ---- JSON


def test_json_is_the_answer_in_plain_numbers() -> None:
    found = sized()
    data = json.loads(to_json(size_json(found)))
    assert data["replicas"] == found.fleet.replicas
    assert data["bill"]["chips"] == found.bill.chips
    assert data["bill"]["facility_kw"]["kind"] == "estimated"
    assert data["layout"] == found.fleet.prospect.plan.label
    assert data["plan"]["max_running"] == found.fleet.prospect.plan.max_running
    assert data["verified"]["scenario"] == found.fleet.scenario.digest
    assert data["headroom"] == pytest.approx(found.headroom)
    assert data["binding"] == "P95 TBT"


def test_json_has_every_limit_and_the_curve() -> None:
    found = sized()
    data = size_json(found)
    assert [limit["metric"] for limit in data["limits"]] == ["TTFT", "TBT"]
    assert all(limit["left"] >= 0.0 for limit in data["limits"])
    assert len(data["curve"]) == len(found.curve)
    assert set(data["curve"][0]) == {"requests_per_s", "saturated", "ttft_p95_s", "tbt_p95_s"}
    assert any(point["saturated"] for point in data["curve"])


def test_what_was_not_seen_is_null() -> None:
    data = json.loads(to_json(size_json(replace(sized(), saturates_per_s=math.nan))))
    assert data["saturates_at_requests_per_s"] is None
