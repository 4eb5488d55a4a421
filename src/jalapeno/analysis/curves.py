"""Curves of throughput per kW against speed a user: simulated, measured and published points."""

from __future__ import annotations

from collections.abc import Sequence

from jalapeno import catalogue
from jalapeno.analysis.reproduction import (
    Comparison,
    Curve,
    CurvePoint,
    Outcome,
    RowResult,
)
from jalapeno.catalogue import Claim, Row


def curves_of(
    comparisons: Sequence[Comparison],
    results: Sequence[RowResult],
    mtp_rows: Sequence[Row],
    drawn: Sequence[Outcome],
) -> tuple[Curve, ...]:
    """All curves of a reproduction, model by model."""
    curves = []
    for comparison in comparisons:
        claim = comparison.claim
        ours = [item for item in drawn if item.scenario.model.name == claim.model]
        ours += [number.outcome for number in comparison.jalapeno]
        theirs = [item for item in results if _of(item.row, claim)]
        curves += [
            _curve(claim.model, claim.system, "simulated", [_simulated(item) for item in ours]),
            _curve(
                claim.model,
                claim.reference,
                "simulated",
                [_simulated(item.outcome) for item in theirs],
            ),
            _curve(
                claim.model,
                claim.reference,
                "measured",
                [_measured(item.row) for item in theirs if item.row.measured],
            ),
            _curve(
                claim.model,
                claim.reference,
                "measured, MTP",
                [_measured(row) for row in mtp_rows if _of(row, claim)],
            ),
            *_published(comparison),
        ]
    return tuple(curve for curve in curves if curve.points)


def _of(row: Row, claim: Claim) -> bool:
    return (row.model, row.system) == (claim.model, claim.reference)


def _curve(model: str, system: str, source: str, points: Sequence[CurvePoint]) -> Curve:
    ordered = sorted(points, key=lambda point: (point.tokens_per_s_per_user, -point.tps_per_kw))
    return Curve(model=model, system=system, source=source, points=tuple(ordered))


def _simulated(outcome: Outcome) -> CurvePoint:
    return CurvePoint(
        tokens_per_s_per_user=outcome.tokens_per_s_per_user,
        tps_per_kw=outcome.tps_per_kw,
        label=f"{outcome.name}: {outcome.scenario.label}",
    )


def _measured(row: Row) -> CurvePoint:
    """A measured row at the package's TDP, as the vendor divides."""
    tdp_kw = catalogue.system(row.system).chip.power.tdp / 1e3
    return CurvePoint(
        tokens_per_s_per_user=1000.0 / row.measured["mean_tpot_ms"],
        tps_per_kw=row.measured["tput_per_gpu"] / tdp_kw,
        label=row.name,
    )


def _published(comparison: Comparison) -> list[Curve]:
    """What OpenAI published with both coordinates: throughput at the reference's best TBT."""
    claim = comparison.claim
    speed = 1.0 / claim.reference_min_tbt
    ours = CurvePoint(
        tokens_per_s_per_user=speed,
        tps_per_kw=claim.tps_per_kw_at_reference_tbt,
        label="at the reference's best TBT",
    )
    theirs = CurvePoint(
        tokens_per_s_per_user=speed,
        tps_per_kw=claim.reference_tps_per_kw_at_its_tbt,
        label="reference at its best TBT",
    )
    return [
        _curve(claim.model, claim.system, "published", [ours]),
        _curve(claim.model, claim.reference, "published", [theirs]),
    ]
