"""Lengths: how many tokens each prompt and each answer has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jalapeno.errors import BadScenario
from jalapeno.simulation.lognormal import Law, law
from jalapeno.simulation.streams import OUTPUTS, PROMPTS, ROWS, check_seed, stream
from jalapeno.simulation.trace import Trace
from jalapeno.simulation.trace_table import MOST_TOKENS

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
        if max(self.isl, self.osl) > MOST_TOKENS:
            raise BadScenario(
                f"lengths: isl={self.isl} and osl={self.osl} must be at most {MOST_TOKENS:,} tokens"
            )
        if not 0.0 < self.ratio <= 1.0:
            raise BadScenario(f"lengths: ratio must be in (0, 1], got {self.ratio}")
        if not 0 <= self.seed < 2**32:
            raise BadScenario(f"lengths: seed must be in [0, 2^32), got {self.seed}")

    @property
    def label(self) -> str:
        """In a few words."""
        return f"up to {self.isl:,} in and {self.osl:,} out, from {self.ratio:g} of them up"

    @property
    def means(self) -> tuple[float, float]:
        """Expected (prompt, answer) tokens."""
        bare = self.isl - self.template_tokens
        prompt = (max(1, int(bare * self.ratio)) + bare) / 2.0 + self.template_tokens
        return prompt, (max(1, int(self.osl * self.ratio)) + self.osl) / 2.0

    def cached(self, count: int) -> Integers:
        """Tokens of each prompt that are in the cache when it comes: none."""
        return np.zeros(count, dtype=np.int64)

    def draw(self, count: int) -> tuple[Integers, Integers]:
        """(prompt tokens, answer tokens) of *count* requests, template included."""
        generator = np.random.RandomState(self.seed)
        bare = self.isl - self.template_tokens
        prompts = generator.randint(max(1, int(bare * self.ratio)), bare + 1, size=count)
        outputs = generator.randint(max(1, int(self.osl * self.ratio)), self.osl + 1, size=count)
        return prompts.astype(np.int64) + self.template_tokens, outputs.astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogNormal:
    """Lengths with a long tail: prompts and answers log-normal, each for itself, and cut off.

    A length is ``round(exp(mu + sigma z))``, z standard normal, *given* that it lies between 1 and
    the maximum: what would be longer is drawn anew and not cut down to it.  mu and sigma are such
    that mean and coefficient of variation (standard deviation over mean) of what is drawn, the cut
    and the rounding allowed for, are those stated, to 0.5 % and 5 %; where that cannot be,
    :class:`BadScenario`.  Prompts and answers have a stream each, and a longer list begins with
    the shorter one.
    """

    prompt_mean: float
    """Tokens."""
    prompt_cv: float
    output_mean: float
    """Tokens."""
    output_cv: float
    prompt_max: int
    """Tokens."""
    output_max: int
    """Tokens."""
    seed: int = 0

    def __post_init__(self) -> None:
        check_seed(self.seed, "lengths")
        _ = self.laws  # refuses what cannot be

    @property
    def laws(self) -> tuple[Law, Law]:
        """Of prompts and of answers."""
        return (
            law(self.prompt_mean, self.prompt_cv, self.prompt_max, "lengths: prompts"),
            law(self.output_mean, self.output_cv, self.output_max, "lengths: answers"),
        )

    @property
    def label(self) -> str:
        """In a few words."""
        return (
            f"log-normal, {self.prompt_mean:,g} in (cv {self.prompt_cv:g}, at most "
            f"{self.prompt_max:,}) and {self.output_mean:,g} out (cv {self.output_cv:g}, at most "
            f"{self.output_max:,})"
        )

    @property
    def means(self) -> tuple[float, float]:
        """Expected (prompt, answer) tokens of what is drawn, summed over all lengths."""
        prompts, outputs = self.laws
        return prompts.rounded()[0], outputs.rounded()[0]

    def cached(self, count: int) -> Integers:
        """Tokens of each prompt that are in the cache when it comes: none."""
        return np.zeros(count, dtype=np.int64)

    def draw(self, count: int) -> tuple[Integers, Integers]:
        """(prompt tokens, answer tokens) of *count* requests."""
        prompts, outputs = self.laws
        return (
            prompts.tokens(stream(self.seed, PROMPTS).random(count)),
            outputs.tokens(stream(self.seed, OUTPUTS).random(count)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceLengths:
    """The lengths of a trace: in its order, or drawn from it.

    Without a *seed*, request *i* is row *i*; where more requests are asked for than there are rows
    the trace begins again.  With one, each request is a row drawn at random with replacement (so
    an answer stays with its prompt), and a longer list begins with the shorter one.
    """

    trace: Trace
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.seed is not None:
            check_seed(self.seed, "lengths")

    @property
    def label(self) -> str:
        """In a few words."""
        how = "in order" if self.seed is None else "drawn at random"
        return f"those of {self.trace.name}, {how}"

    @property
    def means(self) -> tuple[float, float]:
        """Mean (prompt, answer) tokens of the whole trace."""
        return float(self.trace.prompts.mean()), float(self.trace.outputs.mean())

    def cached(self, count: int) -> Integers:
        """Tokens of each prompt that are in the cache when it comes, as the trace has them."""
        return self.trace.cached[self._rows(count)]

    def draw(self, count: int) -> tuple[Integers, Integers]:
        """(prompt tokens, answer tokens) of *count* requests."""
        rows = self._rows(count)
        return self.trace.prompts[rows], self.trace.outputs[rows]

    def _rows(self, count: int) -> Integers:
        if self.seed is None:
            return np.arange(count) % len(self.trace)
        return stream(self.seed, ROWS).integers(len(self.trace), size=count)


AnyLengths = Lengths | LogNormal | TraceLengths
