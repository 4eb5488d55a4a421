"""Tiers that compare figure by figure: their frames fit their bounds."""

from __future__ import annotations

import pytest

from jalapeno.analysis.validation import figures
from jalapeno.analysis.validation.framed import NEEDED, Bound, framed, judged
from jalapeno.analysis.validation.offline import offline_throughput, rows
from jalapeno.analysis.validation.prefixes import TOLERANCE
from jalapeno.analysis.validation.rack import entries, rack_scale
from tests.analysis.validation.test_framed import data


def test_prefix_hits_are_within_a_point() -> None:
    found = figures.PREFIXES.run(data())
    (verdict,) = found.verdicts
    assert verdict.target == TOLERANCE == 0.01
    assert verdict.met
    assert verdict.points == len(found.frame) == 5
    assert verdict.note == ""


def test_the_bound_on_racks_is_the_worst_runs() -> None:
    few = [entry.name for entry in entries() if entry.scenario == "Offline"][:2]
    frame = rack_scale(lambda entry: entry.name in few)
    tier = framed("T4", "", "", lambda: frame, ())
    assert set(NEEDED) <= set(tier.run(data()).frame.columns)
    known = frame.filter(frame["quantity"] == "output throughput")["error"].abs()
    bound = Bound("tokens/s", 0.2, "output throughput", "max")
    assert judged("T4", frame, bound).reached == pytest.approx(known.max())


def test_offline_throughput_counts_what_it_cannot_predict() -> None:
    names = [row.name for row in rows()]
    kept = {names[0], names[-1]}
    frame = offline_throughput(lambda row: row.name in kept)
    assert set(NEEDED) <= set(frame.columns)
    assert len(frame) == 2
