"""Number formats, and which one each tensor class of a model is served in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from jalapeno.catalogue import FORMATS
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
    def as_served(cls, formats: Mapping[str, str], model: str) -> Precision:
        """The engine's default for *model*: keys ``model/class`` of ``Engine.formats``."""
        wanted = [field.name for field in fields(cls)]
        missing = [name for name in wanted if f"{model}/{name}" not in formats]
        if missing:
            known = sorted({key.partition("/")[0] for key in formats})
            raise BadPlan(
                f"the engine has no default precision for {model} ({', '.join(missing)} missing); "
                f"it serves {', '.join(known)}; name a precision in the plan"
            )
        return cls(**{name: formats[f"{model}/{name}"] for name in wanted})
