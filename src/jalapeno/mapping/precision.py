"""Number formats, and which one each tensor class of a model is served in."""

from __future__ import annotations

from dataclasses import dataclass, fields

from jalapeno.catalogue import FORMATS, OPERANDS, WEIGHTS, Chip, Engine, Model, weight_classes
from jalapeno.errors import BadPlan


def stored_bytes(name: str) -> float:
    """Bytes an element takes in memory, scales included."""
    return FORMATS[name][1] / 8.0


def operand_bits(name: str) -> int:
    """Width at which the matrix engine takes the format."""
    return FORMATS[name][0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """Format of weights and activations by tensor class; ``*_act`` is what enters the GEMM."""

    experts: str
    experts_act: str
    shared: str
    shared_act: str
    dense: str
    dense_act: str
    attention: str
    """Weights of the attention projections."""
    attention_act: str
    core: str
    """Operands of the attention core (queries, keys, probabilities, values)."""
    kv: str
    """KV cache as stored."""
    head: str
    """LM head and embedding."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value not in FORMATS:
                raise BadPlan(
                    f"precision.{field.name}: no format {value!r}; there are {', '.join(FORMATS)}"
                )

    @classmethod
    def as_served(cls, engine: Engine, model: Model, chip: Chip) -> Precision:
        """What *engine* serves *model* in on *chip* by default.

        Weights are as published and activations what the engine lets meet them there, but where
        ``Engine.formats`` says otherwise; classes that the model does not have are as its
        attention.  Raises :class:`BadPlan` where the engine has no kernel for a format.
        """
        weights = {name: _chosen(engine, model, name) for name in WEIGHTS}
        chosen = dict(weights)
        for name in ("experts", "shared", "dense", "attention"):
            own = _said(engine, model, f"{name}_act")
            chosen[f"{name}_act"] = own or _operand(engine, model, chip, weights[name])
        for name in OPERANDS:
            chosen[name] = _said(engine, model, name) or _operand(engine, model, chip, name)
        return cls(**chosen)


def _said(engine: Engine, model: Model, name: str) -> str | None:
    """What the engine says of class *name* for the model, or for all models; None: nothing."""
    return engine.formats.get(f"{model.name}/{name}") or engine.formats.get(f"*/{name}")


def _chosen(engine: Engine, model: Model, name: str) -> str:
    """Format of the weights of class *name*."""
    held = name if name in weight_classes(model) else "attention"
    return _said(engine, model, name) or _said(engine, model, held) or model.weights[held]


def _operand(engine: Engine, model: Model, chip: Chip, what: str) -> str:
    """What meets weights of format *what* on *chip*, or the format of an attention operand."""
    found = engine.activations.get(f"{chip.name}/{what}", engine.activations.get(what))
    if found is None:
        known = sorted({key.rpartition("/")[2] for key in engine.activations} - set(OPERANDS))
        raise BadPlan(
            f"{engine.name} has no kernel for {what} weights, as {model.name} has; it has them for "
            f"{', '.join(known)}: name a precision in the plan, or another engine"
        )
    return found
