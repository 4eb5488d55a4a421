"""Rates: what an engine achieves on a system for one model, in SI, ready for the operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from jalapeno.catalogue import Engine, Kind, Model, System
from jalapeno.mapping.plan import Plan, domains
from jalapeno.mapping.precision import operand_bits


@dataclass(frozen=True, slots=True)
class Rates:
    """Achieved rates: peak x stepping x efficiency x maturity, and the energies."""

    system: System
    engine: Engine
    """As it is for this model on this chip: issue costs scaled."""
    maturity: float
    """Factor on matrix rates: how far the kernels of this model have come on this chip."""

    weakest: Kind
    """The weakest evidence among the facts that a price rests on."""

    @classmethod
    def of(cls, system: System, engine: Engine, model: Model) -> Rates:
        """Rates of *engine* on *system* for *model*."""
        kinds = [fact.kind for fact in (*system.chip.facts.values(), *engine.facts.values())]
        weakest = max(kinds, default=Kind.ASSUMED)
        slower = factor(engine.issue_scale, system, model)
        if slower != 1.0:
            engine = replace(
                engine,
                issue_phase=engine.issue_phase * slower,
                issue_layer_rest=engine.issue_layer_rest * slower,
                issue_layer_load=engine.issue_layer_load * slower,
            )
        return cls(system, engine, factor(engine.maturity, system, model), weakest)

    def matrix(self, activations: str, weights: str, efficiency: float) -> tuple[float, float]:
        """(FLOP/s as achieved, J/FLOP) for a pair of formats.

        The wider operand decides, except that 8 x 4 has a rate of its own; weights narrower than
        16-bit activations are widened on the way in.
        """
        peaks, energy = self.system.chip.matrix, self.system.chip.energy
        match operand_bits(activations), operand_bits(weights):
            case 4, 4:
                peak, joules = peaks.peak_4x4, energy.per_flop_4x4
            case 8, 4:
                peak, joules = peaks.peak_8x4, energy.per_flop_8x4
            case (4, 8) | (8, 8):
                peak, joules = peaks.peak_8x8, energy.per_flop_8x8
            case _:
                peak, joules = peaks.peak_16x16, energy.per_flop_16x16
        return peak * self.system.chip.speed * efficiency * self.maturity, joules

    def common(self) -> dict[str, float]:
        """Numbers that every operator on the chip shares."""
        chip, engine = self.system.chip, self.engine
        return {
            "vector_rate": chip.vector.peak * chip.speed * engine.vector_efficiency,
            "bandwidth": chip.hbm.bandwidth * engine.memory_efficiency,
            "kv_bandwidth": chip.hbm.bandwidth * engine.kv_efficiency,
            "cores": float(chip.cores),
            "tile_rows": float(chip.matrix.tile_rows),
            "rate": chip.matrix.peak_16x16,
            "joules_vector": chip.energy.per_flop_vector,
            "joules_byte": chip.energy.per_hbm_byte,
        }

    def link(self, group: int, latency: float) -> dict[str, float]:
        """Numbers of a collective among *group* chips on the nearest level that joins them."""
        level = self.system.level(group)
        return {
            "group": float(group),
            "latency": latency + level.latency,
            "link_rate": level.bandwidth * self.engine.link_efficiency,
            "fused": 1.0 if level.reduces else 0.0,
            "exposed": 1.0 - self.engine.overlap,
            "joules_link": self.system.chip.energy.per_link_byte,
        }

    def domains(self, plan: Plan) -> int:
        """Domains of the nearest fabric level that a worker of *plan* is laid over."""
        return domains(plan, self.system)

    def exchange(self, plan: Plan, latency: float) -> dict[str, float]:
        """Numbers of an all-to-all among the chips of a stage, wherever they lie.

        Within one domain it is :meth:`link`.  Over several, every chip sends to all others alike,
        ``(m - 1) / (n - 1)`` of it inside its domain of m of the n chips and the rest over the
        next level; where that is rail-only, all but one in ``rails`` of the rest takes a hop inside
        first, and shares the port.  Both levels work at once, so the slower of the two sets the
        rate.
        """
        chips = plan.tp * plan.dp
        spread = self.domains(plan)
        numbers = self.link(chips, latency)
        if spread == 1:
            return numbers
        near, far = self.system.nearest, self.system.beyond(chips)
        inside = (chips / spread - 1.0) / (chips - 1.0)
        outside = 1.0 - inside
        detour = outside * (1.0 - 1.0 / far.rails)
        slower = max((inside + detour) / near.bandwidth, outside / far.bandwidth)
        return numbers | {
            "latency": latency + far.latency + (near.latency if far.rails > 1 else 0.0),
            "link_rate": self.engine.link_efficiency / slower,
            "joules_link": self.system.chip.energy.per_link_byte * (1.0 + detour),
        }


def factor(table: Mapping[str, float], system: System, model: Model) -> float:
    """Product of what *table* holds for the model, for the chip and for ``"chip/model"``."""
    chip = system.chip.name
    found = 1.0
    for key in (model.name, chip, f"{chip}/{model.name}"):
        found *= table.get(key, 1.0)
    return found
