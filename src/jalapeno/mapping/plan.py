"""Plan: how a model is cut over the chips of one worker, and what a worker takes on."""

from __future__ import annotations

from dataclasses import dataclass

from jalapeno.catalogue import Gqa, Model, System
from jalapeno.errors import BadPlan
from jalapeno.mapping.precision import Precision


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Parallelism, precision and limits of one worker (a replica, or a member of a pool).

    A worker has ``dp`` attention ranks of ``tp`` chips.  Routed experts are spread over ``ep``
    groups of chips and cut inside a group.  In the field's short hand: TPn is tp=n, TEPn is
    tp=n ep=n, DEPn is dp=n ep=n.
    """

    tp: int = 1
    """Chips that share an attention rank: heads, and dense and shared FFN, are cut."""
    ep: int = 1
    """Groups that the routed experts are spread over."""
    dp: int = 1
    """Attention ranks with requests and KV cache of their own."""
    max_running: int
    """Sequences an attention rank may run."""
    max_tokens: int
    """Tokens an attention rank may take in a step: decode first, the rest for prefill."""
    precision: Precision

    def __post_init__(self) -> None:
        for name in ("tp", "ep", "dp", "max_running", "max_tokens"):
            if getattr(self, name) < 1:
                raise BadPlan(f"plan.{name} must be at least 1, got {getattr(self, name)}")
        if self.max_tokens < self.max_running:
            raise BadPlan(
                f"plan.max_tokens={self.max_tokens} is less than plan.max_running="
                f"{self.max_running}: every running sequence takes a token a step; raise it"
            )
        if self.chips % self.ep:
            raise BadPlan(
                f"plan.ep={self.ep} does not divide the worker's {self.chips} chips (tp x dp); "
                f"choose a divisor, such as {self.chips}"
            )
        if self.dp > 1 and self.ep != self.chips:
            raise BadPlan(
                f"attention data parallelism (dp={self.dp}) dispatches tokens to experts on every "
                f"chip: plan.ep must be {self.chips}, not {self.ep}"
            )

    @property
    def chips(self) -> int:
        """Chips of one worker."""
        return self.tp * self.dp

    @property
    def label(self) -> str:
        """The field's short hand: TP8, TEP8, DEP16, or all three numbers."""
        if self.dp == 1:
            if self.ep == 1:
                return f"TP{self.tp}"
            return f"TEP{self.tp}" if self.ep == self.tp else f"TP{self.tp}EP{self.ep}"
        return f"DEP{self.dp}" if self.tp == 1 else f"TP{self.tp}DP{self.dp}EP{self.ep}"


def check_plan(plan: Plan, model: Model, system: System) -> None:
    """Raise :class:`BadPlan` where *plan* does not divide *model* or does not fit in *system*."""
    heads = model.attention.heads
    if heads % plan.tp:
        raise BadPlan(
            f"plan.tp={plan.tp} does not divide the {heads} attention heads of {model.name}"
        )
    if isinstance(model.attention, Gqa):
        kv_heads = model.attention.kv_heads
        if kv_heads % plan.tp and plan.tp % kv_heads:
            raise BadPlan(
                f"plan.tp={plan.tp} neither divides nor is divided by the {kv_heads} KV heads "
                f"of {model.name}"
            )
    if model.moe.experts % plan.ep:
        raise BadPlan(
            f"plan.ep={plan.ep} does not divide the {model.moe.experts} experts of {model.name}"
        )
    cut = plan.chips // plan.ep
    widths = (model.dense_width, model.moe.shared * model.moe.width)
    if model.moe.width % cut or any(width % plan.tp for width in widths):
        raise BadPlan(
            f"{plan.label} cuts an expert of width {model.moe.width} into {cut}, and FFNs of width "
            f"{', '.join(str(width) for width in widths)} into {plan.tp}: not whole; raise plan.ep "
            "or lower plan.tp"
        )
    if plan.chips > system.chips:
        raise BadPlan(f"{plan.label} needs {plan.chips} chips; {system.name} has {system.chips}")
