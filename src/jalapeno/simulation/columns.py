"""Columns of the integer tables that the loop works on; times are picoseconds.

Tables of int64 with named columns keep the compiled loop small (numba compiles one array type)
and a request's numbers side by side in memory.
"""

from __future__ import annotations

from jalapeno.cost import PARTS, RESOURCES

PICOSECONDS = 1e12
NEVER = 2**62
LAST = NEVER - 1
"""Where the clock stops: whatever would happen there or later happens there, and ends the run."""
NOBODY = -1

REQUEST_TIMES = ("arrival", "ready", "admitted", "prefilled", "assigned", "moved", "first", "end")
REQUEST_LABELS = ("own_prefill", "others_prefill", "others_decode", "own_decode", "interference")
"""Whose tokens a step's time was for: up to the prompt's end, then after the first token.

A request that loses its seat before its first token starts its prompt again: the steps it sat
through before count as prefill like those after.
"""
REQUEST_LOSSES = (
    "preemptions",  # how often it had to give up its blocks, or what was on the way to them
    "resumed",  # how often it was prefilled again after its first token; each ends with a token
    "recomputed",  # tokens prefilled beside those of the prompt
    "preempted",  # ps without a seat after it had one, copies to and from the host included
    "preempted_first",  # ps of those before the first token
    "recompute",  # ps of prefilling again after the first token
)
REQUEST = (
    "prompt",
    "output",
    "limit",
    "blocks",  # KV blocks where the prompt is computed: when seated, and at the end
    "decode_blocks",  # and where the answer is, if that is elsewhere
    "left",  # tokens still to prefill
    "chunk",  # prompt tokens in the current step
    "made",  # answer tokens when it last left or lost its seat, or began to decode
    "paused",  # when its last token came, if it has lost its seat since
    "rank",  # where the prompt was computed
    "decode_rank",  # where the answer was, if that is elsewhere
    "status",
    "next",  # next request of the list it is in
    "cached",  # tokens of the prompt that are in the cache when it comes
    "kept",  # tokens of it that were there when it was last seated
    "mark",  # blocks that are taken before its last one is: see :mod:`.kept`
    *REQUEST_TIMES,
    *REQUEST_LABELS,
    *REQUEST_LOSSES,
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
    MADE,
    PAUSED,
    RANK,
    DECODE_RANK,
    STATUS,
    NEXT,
    CACHED,
    KEPT,
    MARK,
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
    PREEMPTIONS,
    RESUMED,
    RECOMPUTED,
    PREEMPTED,
    PREEMPTED_FIRST,
    RECOMPUTE,
    PREFILL_PARTS,
) = range(36)
DECODE_PARTS = PREFILL_PARTS + len(PARTS)

STATUSES = (
    "unsent",
    "sent",
    "queued",
    "assigned",
    "prefilling",
    "moving",  # the KV cache, from its prefill rank
    "decoding",
    "done",
    "to move again",  # its blocks were given up before the cache was there
    "to prefill again",
    "swapping out",
    "swapped out",
    "swapping in",
    "swapped in",  # and joins at the next step
)
(
    UNSENT,
    SENT,
    QUEUED,
    TAKEN,
    PREFILLING,
    MOVING,
    DECODING,
    DONE,
    UNMOVED,
    LOST,
    SWAPPING_OUT,
    SWAPPED_OUT,
    SWAPPING_IN,
    SWAPPED_IN,
) = range(len(STATUSES))

RANK_TABLE = (
    "worker",
    "running",  # sequences that hold a slot
    "decoding",
    "reads",  # sum of (cached + 1) over decoding sequences
    "counter",  # answer tokens that a sequence which decoded all the time would have had
    "rest",  # and what it is on its way to the next, in units of 1 / GRAIN
    "free_blocks",
    "heap",  # length of the finish heap
    "late",  # decoding sequences that have had no token since they gave way
    "host_room",  # of the host's memory, in ps that copying fills it
    "taken",  # blocks taken so far whose content was lost with it
    "kv_out",  # until when the port is busy; likewise the next three
    "kv_in",
    "host_out",
    "host_in",
    "prefill_head",
    "prefill_tail",
    "assigned_head",
    "assigned_tail",
    "coming_head",  # caches on the way, if the pool preempts
    "coming_tail",
    "returning_head",  # preempted, oldest first
    "returning_tail",
)
(
    R_WORKER,
    R_RUNNING,
    R_DECODING,
    R_READS,
    R_COUNTER,
    R_REST,
    R_FREE,
    R_HEAP,
    R_LATE,
    R_HOST_ROOM,
    R_TAKEN,
    R_KV_OUT,
    R_KV_IN,
    R_HOST_OUT,
    R_HOST_IN,
    R_PREFILL_HEAD,
    R_PREFILL_TAIL,
    R_ASSIGNED_HEAD,
    R_ASSIGNED_TAIL,
    R_COMING_HEAD,
    R_COMING_TAIL,
    R_RETURNING_HEAD,
    R_RETURNING_TAIL,
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
    "bound",  # requests bound to it that it has not finished
    "queue_head",  # of those, who has no seat yet
    "queue_tail",
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
    W_BOUND,
    W_QUEUE_HEAD,
    W_QUEUE_TAIL,
) = range(len(WORKER_TABLE))

POOL_TABLE = (
    "role",
    "price",
    "stage",
    "first_rank",
    "ranks",
    "ranks_worker",
    "max_running",
    "max_tokens",
    "blocks",  # KV blocks of a rank
    "block_tokens",
    "fixed_blocks",  # of a sequence of any length
    "preemption",
    "swap_sequence",  # ps that its fixed part takes to or from the host
    "swap_token",  # and a token, femtoseconds
    "keeps",  # 1 where blocks that were given up keep their content until others take them
    "queries",  # tokens that a decoding sequence brings to a step
    "yielded",  # mean answer tokens that a step gives it, in units of 1 / GRAIN
)
(
    P_ROLE,
    P_PRICE,
    P_STAGE,
    P_FIRST_RANK,
    P_RANKS,
    P_RANKS_WORKER,
    P_MAX_RUNNING,
    P_MAX_TOKENS,
    P_BLOCKS,
    P_BLOCK_TOKENS,
    P_FIXED_BLOCKS,
    P_PREEMPTION,
    P_SWAP_SEQUENCE,
    P_SWAP_TOKEN,
    P_KEEPS,
    P_QUERIES,
    P_YIELDED,
) = range(len(POOL_TABLE))
UNIFIED, PREFILL_ROLE, DECODE_ROLE = range(3)
NO_PREEMPTION, RECOMPUTES, SWAPS = range(3)

STAGE_TABLE = (
    "first_pool",
    "pools",
    "first_worker",
    "workers",
    "turn",  # round robin: whose it is, from the first worker
    "queue_head",  # the shared queue
    "queue_tail",
)
(
    G_FIRST_POOL,
    G_POOLS,
    G_FIRST_WORKER,
    G_WORKERS,
    G_TURN,
    G_QUEUE_HEAD,
    G_QUEUE_TAIL,
) = range(len(STAGE_TABLE))
ENTRY, ANSWER = range(2)
"""Stages: where requests come first, and where split pools compute their answers."""
SHARED, ROUND_ROBIN, LEAST_LOADED = range(3)

SEGMENT_INTEGERS = (
    "worker",
    "start",
    "steps",
    "decoding",
    "prefill",
    "sampled",
    "stall",  # idle time of the worker before it
    "reads",  # tokens of decoding sequences before the first step
    "blocks_used",  # of the worker, while it ran
    "tokens",  # of answers that its decode steps gave, all steps together
    "decode_first",  # step without its prefill, ps
    "decode_growth",
    *(f"{part}_first" for part in PARTS),
    *(f"{part}_growth" for part in PARTS),
)
S_TOKENS = 9
S_PARTS = 12
S_GROWTHS = S_PARTS + len(PARTS)
SEGMENT_FLOATS = (
    *(f"{name}_busy_first" for name in RESOURCES),
    "joules_first",
    "measured_first",  # seconds of the step that a table of measurements says
    *(f"{name}_busy_growth" for name in RESOURCES),
    "joules_growth",
    "measured_growth",
)

PAUSE_TABLE = ("request", "gap", "instead")
"""A token that came late because its sequence had given way: the gap before it, ps, and the step in
which it came, ps, which segments count in its place (0: it came with a prompt prefilled again)."""
U_REQUEST, U_GAP, U_INSTEAD = range(len(PAUSE_TABLE))

EVENTS = ("step end", "KV copy done", "arrival", "step start")
"""Events at one instant, in order: a step that ends frees slots before anyone asks for one, a
moved cache frees blocks before an arrival needs them, and a step starts when all are seated."""
STEP_END, COPY_DONE, ARRIVE, STEP_START = range(len(EVENTS))

CLOCK = (
    "now",
    "sent",
    "arrived",
    "requests",
    "closed",
    "delay",
    "copies",  # under way: KV caches between ranks, or to and from the host
    "segments",
    "finished",
    "router",
    "pauses",  # in the buffer
)
(
    C_NOW,
    C_SENT,
    C_ARRIVED,
    C_REQUESTS,
    C_CLOSED,
    C_DELAY,
    C_COPIES,
    C_SEGMENTS,
    C_FINISHED,
    C_ROUTER,
    C_PAUSES,
) = range(len(CLOCK))
