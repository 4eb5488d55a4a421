"""Columns of the integer tables that the loop works on; times are picoseconds.

Tables of int64 with named columns keep the compiled loop small (numba compiles one array type)
and a request's numbers side by side in memory.
"""

from __future__ import annotations

from jalapeno.cost import PARTS, RESOURCES

PICOSECONDS = 1e12
NEVER = 2**62
NOBODY = -1

REQUEST_TIMES = ("arrival", "ready", "admitted", "prefilled", "assigned", "moved", "first", "end")
REQUEST_LABELS = ("own_prefill", "others_prefill", "others_decode", "own_decode", "interference")
"""Whose tokens a step's time was for: up to the prompt's end, then after the first token."""
REQUEST = (
    "prompt",
    "output",
    "limit",
    "blocks",  # KV blocks where the prompt is computed
    "decode_blocks",  # and where the answer is, if that is elsewhere
    "left",  # prompt tokens still to prefill
    "chunk",  # prompt tokens in the current step
    "rank",  # where the prompt was computed
    "decode_rank",  # where the answer was
    "status",
    "next",  # next request of the list it is in
    *REQUEST_TIMES,
    *REQUEST_LABELS,
    *(f"prefill_{part}" for part in PARTS),
    *(f"decode_{part}" for part in PARTS),
)
(
    PROMPT,
    OUTPUT,
    LIMIT,
    BLOCKS,
    DECODE_BLOCKS,
    LEFT,
    CHUNK,
    RANK,
    DECODE_RANK,
    STATUS,
    NEXT,
    ARRIVAL,
    READY,
    ADMITTED,
    PREFILLED,
    ASSIGNED,
    MOVED,
    FIRST,
    END,
    OWN_PREFILL,
    OTHERS_PREFILL,
    OTHERS_DECODE,
    OWN_DECODE,
    INTERFERENCE,
    PREFILL_PARTS,
) = range(25)
DECODE_PARTS = PREFILL_PARTS + len(PARTS)

STATUSES = ("unsent", "sent", "queued", "assigned", "prefilling", "moving", "decoding", "done")
UNSENT, SENT, QUEUED, TAKEN, PREFILLING, MOVING, DECODING, DONE = range(len(STATUSES))

RANK_TABLE = (
    "worker",
    "running",  # sequences that hold a slot
    "decoding",
    "reads",  # sum of (cached + 1) over decoding sequences
    "counter",  # decode steps done
    "free_blocks",
    "heap",  # length of the finish heap
    "prefill_head",
    "prefill_tail",
    "assigned_head",
    "assigned_tail",
)
(
    R_WORKER,
    R_RUNNING,
    R_DECODING,
    R_READS,
    R_COUNTER,
    R_FREE,
    R_HEAP,
    R_PREFILL_HEAD,
    R_PREFILL_TAIL,
    R_ASSIGNED_HEAD,
    R_ASSIGNED_TAIL,
) = range(len(RANK_TABLE))

WORKER_TABLE = (
    "pool",
    "first_rank",
    "time",  # of the next event, NEVER when idle
    "event",
    "start",  # of the running segment
    "steps",  # planned
    "seconds",  # first step, ps
    "growth",  # of the step, ps a step
    "decode_seconds",  # the same without prefill
    "decode_growth",
    "prefill",  # prompt tokens in the step
    "sampled",
    "decoding",
    "idle_since",
)
(
    W_POOL,
    W_FIRST_RANK,
    W_TIME,
    W_EVENT,
    W_START,
    W_STEPS,
    W_SECONDS,
    W_GROWTH,
    W_DECODE_SECONDS,
    W_DECODE_GROWTH,
    W_PREFILL,
    W_SAMPLED,
    W_DECODING,
    W_IDLE_SINCE,
) = range(len(WORKER_TABLE))

POOL_TABLE = (
    "role",
    "price",
    "first_rank",
    "ranks",
    "ranks_worker",
    "max_running",
    "max_tokens",
    "queue_head",
    "queue_tail",
)
(
    P_ROLE,
    P_PRICE,
    P_FIRST_RANK,
    P_RANKS,
    P_RANKS_WORKER,
    P_MAX_RUNNING,
    P_MAX_TOKENS,
    P_QUEUE_HEAD,
    P_QUEUE_TAIL,
) = range(len(POOL_TABLE))
UNIFIED, PREFILL_ROLE, DECODE_ROLE = range(3)

SEGMENT_INTEGERS = (
    "worker",
    "start",
    "steps",
    "decoding",
    "prefill",
    "sampled",
    "stall",  # idle time of the worker before it
    "reads",  # KV entries that decode reads in the first step
    "blocks_used",  # of the worker, while it ran
    "decode_first",  # step without its prefill, ps
    "decode_growth",
    *(f"{part}_first" for part in PARTS),
    *(f"{part}_growth" for part in PARTS),
)
S_PARTS = 11
S_GROWTHS = S_PARTS + len(PARTS)
SEGMENT_FLOATS = (
    *(f"{name}_busy_first" for name in RESOURCES),
    "joules_first",
    *(f"{name}_busy_growth" for name in RESOURCES),
    "joules_growth",
)

EVENTS = ("step end", "KV transfer done", "arrival", "step start")
"""Events at one instant, in order: a step that ends frees slots before anyone asks for one, a
moved cache frees blocks before an arrival needs them, and a step starts when all are seated."""
STEP_END, TRANSFER_DONE, ARRIVE, STEP_START = range(len(EVENTS))

CLOCK = (
    "now",
    "sent",
    "arrived",
    "requests",
    "closed",
    "delay",
    "transfers",
    "segments",
    "finished",
)
C_NOW, C_SENT, C_ARRIVED, C_REQUESTS, C_CLOSED, C_DELAY, C_TRANSFERS, C_SEGMENTS, C_FINISHED = (
    range(len(CLOCK))
)
