"""Pools: workers of one plan, where they stand, what they do, and who of the waiting they take."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jalapeno.errors import BadPlan
from jalapeno.mapping import Plan

MAIN = "main"
"""Name of the site that ``Scenario.system`` and ``Scenario.engine`` are."""

MOST_REPLICAS = 100_000
"""Of one pool: each has tables of its own, and a worker more makes every event dearer."""


class Role(StrEnum):
    """What a pool does for a request."""

    UNIFIED = "unified"
    PREFILL = "prefill"
    DECODE = "decode"


class Router(StrEnum):
    """Which worker of a stage computes a request."""

    SHARED = "shared"
    """One queue for all workers: whoever has room takes its head (late binding)."""
    ROUND_ROBIN = "round_robin"
    """Bound on arrival to the workers in turn; each has a queue of its own."""
    LEAST_LOADED = "least_loaded"
    """Bound on arrival to the worker with the fewest unfinished requests; each has a queue."""


class Preemption(StrEnum):
    """What gives way when the KV cache of a rank is full."""

    NONE = "none"
    """Nothing: a request is admitted when blocks for its prompt and its longest answer are free."""
    RECOMPUTE = "recompute"
    """The youngest sequence: its blocks are dropped, and it is prefilled again later."""
    SWAP = "swap"
    """The youngest sequence: its KV cache waits in the host's memory (recomputed if full)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Workers of one plan and role."""

    role: Role
    plan: Plan
    replicas: int
    site: str = MAIN
    """Name of the scenario's site whose system and engine the workers are of."""
    preemption: Preemption = Preemption.NONE
    prefix_caching: bool = False
    """Whether blocks that were given up keep what is in them until others take them, longest free
    first: who comes back prefills only what was taken."""

    def __post_init__(self) -> None:
        if self.replicas < 1:
            raise BadPlan(f"a pool needs at least one replica, got {self.replicas}")
        if self.replicas > MOST_REPLICAS:
            raise BadPlan(f"a pool has at most {MOST_REPLICAS:,} replicas, got {self.replicas:,}")
        if self.role is Role.PREFILL and self.preemption is not Preemption.NONE:
            raise BadPlan(
                f"a prefill pool with preemption {self.preemption.value!r}: prompts do not grow, "
                "so nothing in it ever gives way: let it be 'none', and preempt in the decode pool"
            )

        if self.prefix_caching and self.preemption is not Preemption.RECOMPUTE:
            raise BadPlan(
                f"a pool with prefix caching and preemption {self.preemption.value!r}: it helps "
                "whoever prefills again: let preemption be 'recompute'"
            )

    @property
    def chips(self) -> int:
        """Chips of all workers."""
        return self.replicas * self.plan.chips

    @property
    def label(self) -> str:
        """Such as ``5xTEP4``, with the site where it is not the main one: ``5xTEP4@west``."""
        place = "" if self.site == MAIN else f"@{self.site}"
        return f"{self.replicas}x{self.plan.label}{place}"


def check_roles(pools: tuple[Pool, ...]) -> None:
    """Raise :class:`BadPlan` unless all are unified, or prefill pools come before decode pools."""
    roles = [pool.role for pool in pools]
    prefill = roles.count(Role.PREFILL)
    decode = len(roles) - prefill
    split = [Role.PREFILL] * prefill + [Role.DECODE] * decode
    if roles and (set(roles) == {Role.UNIFIED} or (prefill and decode and roles == split)):
        return
    raise BadPlan(
        "pools must be one or more unified, or one or more prefill and then one or more decode; "
        f"got {', '.join(roles) or 'none'}"
    )
