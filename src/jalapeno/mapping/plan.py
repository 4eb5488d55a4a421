"""Plan: how a model is cut over the chips of one worker, and what a worker takes on."""

from __future__ import annotations

from dataclasses import dataclass

from jalapeno.catalogue import Gqa, Model, System
from jalapeno.errors import BadPlan
from jalapeno.mapping.precision import Precision

MOST = 2**31 - 1
"""Sequences or tokens of a rank at once: no engine counts further."""

MOST_DRAFTED = 64
"""Tokens drafted a step: far more than any draft is right about."""

GRAIN = 2**16
"""Units of a token in which mean tokens a step are counted: sums of them are exact as floats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Parallelism, precision and limits of one worker (a replica, or a member of a pool).

    A worker has ``pp`` stages of ``dp`` attention ranks of ``tp`` chips.  Routed experts of a stage
    are spread over ``ep`` groups of its chips and cut inside a group.  In the field's short hand:
    TPn is tp=n, TEPn is tp=n ep=n, DEPn is dp=n ep=n; PPn and CPn follow.
    """

    tp: int = 1
    """Chips that share an attention rank: heads, and dense and shared FFN, are cut."""
    ep: int = 1
    """Groups that the routed experts are spread over."""
    dp: int = 1
    """Attention ranks with requests and KV cache of their own."""
    pp: int = 1
    """Stages of a pipeline: layers are cut.  As many micro-batches are under way, each with
    requests and KV cache of its own, and move on together."""
    cp: int = 1
    """Context parallelism inside a rank: each of *cp* shares of its ``tp`` chips holds a *cp*-th of
    every sequence's KV cache, and partial attention is merged."""
    redundant: int = 0
    """Copies of busy experts beside the model's own, over all groups."""
    whole_shared: bool = False
    """Shared experts are whole on every chip, which takes a ``tp``-th of its rank's tokens, instead
    of being cut."""
    spread: int = 1
    """Domains of the nearest fabric level that the worker's ranks are laid over evenly, at least;
    tensor-parallel chips always lie together."""
    max_running: int
    """Sequences a rank (an attention rank, or a micro-batch) may run."""
    max_tokens: int
    """Tokens a rank may take in a step: decode first, the rest for prefill."""
    precision: Precision
    draft_tokens: int = 0
    """Tokens that are drafted for each verification step; 0: no speculation."""
    acceptance_length: float = 0.0
    """Tokens a verification step gives on the mean, its own included: from 1 to ``draft_tokens +
    1``, in steps of ``1 / GRAIN``.  It depends on model, draft and workload, so it must be given
    where tokens are drafted; 0 where none are."""

    def __post_init__(self) -> None:
        for name in ("tp", "ep", "dp", "pp", "cp", "spread", "max_running", "max_tokens"):
            if getattr(self, name) < 1:
                raise BadPlan(f"plan.{name} must be at least 1, got {getattr(self, name)}")
        for name in ("max_running", "max_tokens"):
            if getattr(self, name) > MOST:
                raise BadPlan(f"plan.{name} must be at most {MOST:,}, got {getattr(self, name):,}")
        if self.redundant < 0:
            raise BadPlan(f"plan.redundant must be at least 0, got {self.redundant}")
        self._check_draft()
        if self.max_tokens < self.max_running * self.queries:
            takes = "a token" if self.queries == 1 else f"{self.queries} tokens"
            times = "" if self.queries == 1 else f" times {self.queries}"
            raise BadPlan(
                f"plan.max_tokens={self.max_tokens} is less than plan.max_running="
                f"{self.max_running}{times}: every running sequence takes {takes} a step; raise it"
            )
        self._check_cuts()

    def _check_draft(self) -> None:
        """Raise :class:`BadPlan` where what is accepted does not go with what is drafted."""
        if not 0 <= self.draft_tokens <= MOST_DRAFTED:
            raise BadPlan(
                f"plan.draft_tokens must be in [0, {MOST_DRAFTED}], got {self.draft_tokens}"
            )
        if self.draft_tokens == 0 and self.acceptance_length:
            raise BadPlan(
                f"plan.acceptance_length={self.acceptance_length:g} with plan.draft_tokens=0: "
                "nothing is drafted that could be accepted; say how many tokens are"
            )
        if self.draft_tokens and not 1.0 <= self.acceptance_length <= self.queries:
            raise BadPlan(
                f"plan.acceptance_length={self.acceptance_length:g} with plan.draft_tokens="
                f"{self.draft_tokens}: a step gives from 1 to {self.queries} tokens; it depends on "
                "the workload and has no default: give what was measured"
            )

    def _check_cuts(self) -> None:
        """Raise :class:`BadPlan` where the degrees do not go together."""
        stage = self.tp * self.dp
        if stage % self.ep:
            raise BadPlan(
                f"plan.ep={self.ep} does not divide the {stage} chips (tp x dp) of a worker's "
                f"stage; choose a divisor, such as {stage}"
            )
        if self.dp > 1 and self.ep != stage:
            raise BadPlan(
                f"attention data parallelism (dp={self.dp}) dispatches tokens to experts on every "
                f"chip: plan.ep must be {stage}, not {self.ep}"
            )
        if self.dp > 1 and self.pp > 1:
            raise BadPlan(
                f"plan.pp={self.pp} with plan.dp={self.dp}: a pipeline of attention ranks is not "
                "modelled; let one of them be 1"
            )
        if self.tp % self.cp:
            raise BadPlan(
                f"plan.cp={self.cp} does not divide plan.tp={self.tp}: the context is shared among "
                "a rank's chips"
            )
        if self.redundant and self.ep == 1:
            raise BadPlan(
                f"plan.redundant={self.redundant} with plan.ep=1: copies of experts serve only to "
                "even out groups; raise plan.ep"
            )
        if self.ranks % self.spread:
            raise BadPlan(
                f"plan.spread={self.spread} does not divide the worker's {self.ranks} ranks "
                "(dp x pp): they are laid evenly over domains"
            )

    @property
    def queries(self) -> int:
        """Tokens that a decoding sequence brings to a step: those drafted and one more."""
        return self.draft_tokens + 1

    @property
    def yielded(self) -> int:
        """Mean tokens that a step gives a decoding sequence, in units of ``1 / GRAIN``."""
        return round(self.acceptance_length * GRAIN) if self.draft_tokens else GRAIN

    @property
    def ranks(self) -> int:
        """Groups of ``tp`` chips with requests and KV cache of their own: attention ranks, or the
        micro-batches of a pipeline."""
        return self.dp * self.pp

    @property
    def chips(self) -> int:
        """Chips of one worker."""
        return self.tp * self.dp * self.pp

    @property
    def label(self) -> str:
        """The field's short hand: TP8, TEP8, DEP16, or all three numbers; then PP, CP and more."""
        more = "".join(
            f"{name}{value}" for name, value in (("PP", self.pp), ("CP", self.cp)) if value > 1
        )
        if self.redundant:
            more += f"+{self.redundant}"
        if self.draft_tokens:
            more += f" MTP{self.draft_tokens}"
        return self._cut + more

    @property
    def _cut(self) -> str:
        if self.dp == 1:
            if self.ep == 1:
                return f"TP{self.tp}"
            return f"TEP{self.tp}" if self.ep == self.tp else f"TP{self.tp}EP{self.ep}"
        return f"DEP{self.dp}" if self.tp == 1 else f"TP{self.tp}DP{self.dp}EP{self.ep}"


def domains(plan: Plan, system: System) -> int:
    """Domains of the nearest fabric level of *system* that a worker of *plan* is laid over.

    As few as hold its ranks evenly, and at least ``plan.spread``; 1 where a single rank is already
    larger than a domain, for then all of it is joined by the next level.
    """
    reach = system.nearest.reach
    if plan.tp > reach:
        return 1
    fitting = (
        count
        for count in range(plan.spread, plan.ranks + 1)
        if plan.ranks % count == 0 and plan.chips // count <= reach
    )
    return next(fitting)


def check_plan(plan: Plan, model: Model, system: System) -> None:
    """Raise :class:`BadPlan` where *plan* does not divide *model* or does not fit in *system*."""
    _check_heads(plan, model)
    held = model.moe.experts + plan.redundant
    if held % plan.ep:
        raise BadPlan(
            f"plan.ep={plan.ep} does not divide the {model.moe.experts} experts of {model.name}"
            + (f" and {plan.redundant} redundant ones" if plan.redundant else "")
            + (
                f"; plan.redundant={-held % plan.ep + plan.redundant} would fill its groups"
                if model.moe.experts
                else ""
            )
        )
    if not model.moe.experts and (plan.ep > 1 or plan.redundant or plan.whole_shared):
        raise BadPlan(
            f"{model.name} has no experts: let plan.ep be 1, plan.redundant 0 and "
            "plan.whole_shared false"
        )
    cut = plan.tp * plan.dp // plan.ep
    shared = 0 if plan.whole_shared else model.moe.shared * model.moe.width
    widths = (model.dense_width, shared)
    if model.moe.width % cut or any(width % plan.tp for width in widths):
        raise BadPlan(
            f"{plan.label} cuts an expert of width {model.moe.width} into {cut}, and FFNs of width "
            f"{', '.join(str(width) for width in widths)} into {plan.tp}: not whole; raise plan.ep "
            "or lower plan.tp"
        )
    if plan.draft_tokens and model.draft is None:
        raise BadPlan(
            f"plan.draft_tokens={plan.draft_tokens}, but nothing comes with {model.name} that "
            "could draft: let it be 0, or add a [draft] table to the model"
        )
    if plan.pp > model.layers:
        raise BadPlan(f"plan.pp={plan.pp} stages for the {model.layers} layers of {model.name}")
    if plan.spread > 1 and len(system.fabric) == 1:
        raise BadPlan(
            f"plan.spread={plan.spread}: {system.name} has a single fabric level, "
            "all of one domain; let it be 1"
        )
    if plan.chips > system.chips:
        raise BadPlan(f"{plan.label} needs {plan.chips} chips; {system.name} has {system.chips}")


def _check_heads(plan: Plan, model: Model) -> None:
    """Raise :class:`BadPlan` where the heads do not come out whole on a chip."""
    heads = model.attention.heads
    if heads % plan.tp:
        raise BadPlan(
            f"plan.tp={plan.tp} does not divide the {heads} attention heads of {model.name}"
        )
    if isinstance(model.attention, Gqa):
        kv_heads = model.attention.kv_heads
        for chips, what in ((plan.tp, "plan.tp"), (plan.tp // plan.cp, "plan.tp / plan.cp")):
            if kv_heads % chips and chips % kv_heads:
                raise BadPlan(
                    f"{what}={chips} neither divides nor is divided by the {kv_heads} KV heads "
                    f"of {model.name}"
                )
    if model.linear:
        for count in (model.linear.key_heads, model.linear.value_heads):
            if count % plan.tp:
                raise BadPlan(
                    f"plan.tp={plan.tp} does not divide the {count} heads of the linear layers "
                    f"of {model.name}"
                )
