"""How many tokens steps give, exactly: the schedule that the sequences of a rank share.

A verification step gives a decoding sequence ``a`` tokens on the mean, ``a = yielded / GRAIN``.
After s steps of a rank, a sequence that decoded in all of them has ``floor(s a)`` tokens more, so
whoever decodes from step s to step t has ``floor(t a) - floor(s a)`` of them: all that decode on a
rank get equally many at each step, none gets more than one too many or too few, and in the long run
the mean is exact.  Without speculation a = 1.

A rank keeps ``floor(s a)``, its counter, and what is over, its rest; when nobody is left who
decodes, the rest is dropped, so a request alone has ``floor(s a)`` tokens after s steps.
"""

from __future__ import annotations

from jalapeno.jit import inlined
from jalapeno.mapping.plan import GRAIN


@inlined
def tokens_of(yielded: int, rest: int, steps: int) -> int:
    """Tokens that *steps* steps from now on give each decoding sequence."""
    return (rest + steps * yielded) // GRAIN


@inlined
def rest_after(yielded: int, rest: int, steps: int) -> int:
    """The rest after *steps* steps from now on."""
    return (rest + steps * yielded) % GRAIN


@inlined
def steps_for(yielded: int, rest: int, tokens: int) -> int:
    """The fewest steps that give *tokens* tokens (at least one)."""
    return (tokens * GRAIN - rest + yielded - 1) // yielded


@inlined
def steps_within(yielded: int, rest: int, tokens: int) -> int:
    """The most steps that give at most *tokens* tokens."""
    return ((tokens + 1) * GRAIN - rest - 1) // yielded
