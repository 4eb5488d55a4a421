"""Traffic: which requests come, and when."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jalapeno.errors import BadScenario
from jalapeno.simulation.columns import NEVER, PICOSECONDS

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """Prompt and answer lengths as InferenceX draws them, reproducible to the request.

    Uniform between ``int(ratio x nominal)`` and nominal, both included, from NumPy's legacy
    generator with its own seed (InferenceX benchmark_serving.py, seed 0); chat-template tokens
    are taken off the prompt before and added back after.  ``ratio = 1`` gives equal requests.
    """

    isl: int
    """Nominal prompt tokens."""
    osl: int
    """Nominal answer tokens."""
    ratio: float = 0.8
    template_tokens: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.isl <= self.template_tokens or self.osl < 1 or self.template_tokens < 0:
            raise BadScenario(
                f"lengths: isl={self.isl} must exceed template_tokens={self.template_tokens} "
                f"(at least 0), and osl={self.osl} must be at least 1"
            )
        if not 0.0 < self.ratio <= 1.0:
            raise BadScenario(f"lengths: ratio must be in (0, 1], got {self.ratio}")
        if not 0 <= self.seed < 2**32:
            raise BadScenario(f"lengths: seed must be in [0, 2^32), got {self.seed}")

    @property
    def means(self) -> tuple[float, float]:
        """Expected (prompt, answer) tokens."""
        bare = self.isl - self.template_tokens
        prompt = (max(1, int(bare * self.ratio)) + bare) / 2.0 + self.template_tokens
        return prompt, (max(1, int(self.osl * self.ratio)) + self.osl) / 2.0

    def draw(self, count: int) -> tuple[Integers, Integers]:
        """(prompt tokens, answer tokens) of *count* requests, template included."""
        generator = np.random.RandomState(self.seed)
        bare = self.isl - self.template_tokens
        prompts = generator.randint(max(1, int(bare * self.ratio)), bare + 1, size=count)
        outputs = generator.randint(max(1, int(self.osl * self.ratio)), self.osl + 1, size=count)
        return prompts.astype(np.int64) + self.template_tokens, outputs.astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedLoop:
    """A fixed number of requests in flight: whoever finishes is followed by the next at once.

    A first-in first-out semaphore, as InferenceX's client has it.
    """

    concurrency: int

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise BadScenario(f"concurrency must be at least 1, got {self.concurrency}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Poisson:
    """Requests arrive at random, independent of the answers."""

    rate: float
    """Requests a second."""

    def __post_init__(self) -> None:
        if not 0.0 < self.rate < float("inf"):
            raise BadScenario(f"rate must be positive and finite, got {self.rate}")

    def times(self, count: int, seed: int) -> Integers:
        """Arrival times of *count* requests, picoseconds."""
        stream = np.random.Generator(np.random.Philox(key=[seed, ARRIVALS]))
        gaps = stream.exponential(1.0 / self.rate, size=count)
        times = np.rint(np.cumsum(gaps) * PICOSECONDS)
        if times[-1] >= NEVER:
            raise BadScenario(
                f"the last of {count:,} requests would come after {times[-1] / DAY:,.0f} days; "
                f"the clock ends after {NEVER / DAY:.0f}: raise the rate or send fewer"
            )
        return times.astype(np.int64)


DAY = 86_400 * PICOSECONDS
ARRIVALS = 1
"""Purpose of the random stream of arrivals (one counter-based stream a purpose)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """The requests of a run."""

    lengths: Lengths
    arrivals: ClosedLoop | Poisson
    requests: int

    def __post_init__(self) -> None:
        if self.requests < 1:
            raise BadScenario(f"requests must be at least 1, got {self.requests}")
