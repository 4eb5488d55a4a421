"""What a catalogue entry is: frozen facts in SI units, each with its evidence.

Every number that enters the twin is a :class:`Fact` in a TOML file; the dataclasses here hold the
plain values (SI floats, so that physics stays readable) and carry the facts beside them in
``facts``, keyed by dotted path (``"hbm.bandwidth"``).  ``Unit`` in an annotation is the unit that
the loader demands of the text in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Annotated


class Kind(IntEnum):
    """How far a number can be trusted, strongest first; a sum is as weak as its weakest part."""

    MEASURED = 0
    PUBLISHED = 1
    DERIVED = 2
    FITTED = 3
    EMULATED = 4
    ESTIMATED = 5
    ASSUMED = 6


@dataclass(frozen=True, slots=True)
class Alternative:
    """What another source says of the same quantity."""

    value: float
    source: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One value with its unit, its evidence and, where it is uncertain, its range."""

    value: float | int | str | bool
    """SI for numbers."""
    text: str
    """As written in the file or on the command line, such as ``"15.4 TB/s"``."""
    unit: str
    """SI unit, ``""`` for ratios, counts and words."""
    kind: Kind
    source: str
    as_of: str = ""
    low: float | None = None
    high: float | None = None
    alternatives: tuple[Alternative, ...] = ()
    overridden: bool = False
    """True when a user replaced the catalogue's value."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Annotation: the SI unit that a field's text must have."""

    si: str


Facts = Mapping[str, Fact]
Seconds = Annotated[float, Unit("s")]
Bytes = Annotated[float, Unit("B")]
BytesPerSecond = Annotated[float, Unit("B/s")]
FlopPerSecond = Annotated[float, Unit("FLOP/s")]
Watts = Annotated[float, Unit("W")]
JoulePerFlop = Annotated[float, Unit("J/FLOP")]
JoulePerByte = Annotated[float, Unit("J/B")]
DollarsPerHour = Annotated[float, Unit("$/h")]
TokensPerSecondPerKilowatt = Annotated[float, Unit("token/s/kW")]
Ratio = Annotated[float, Unit("")]
Count = Annotated[int, Unit("")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The matrix engine: dense peak of one chip by operand widths, activation x weight bits."""

    peak_4x4: FlopPerSecond
    peak_8x4: FlopPerSecond
    peak_8x8: FlopPerSecond
    peak_16x16: FlopPerSecond
    tile_rows: Count
    """Rows of activations that one pass of the engine takes; a batch is padded to it."""
    tile_columns: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """The SIMD engine."""

    peak: FlopPerSecond


@dataclass(frozen=True, slots=True, kw_only=True)
class Hbm:
    """The memory beside the chip."""

    capacity: Bytes
    bandwidth: BytesPerSecond


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The memory of the host that a chip may put KV blocks into, as its share of it."""

    capacity: Bytes
    bandwidth: BytesPerSecond
    """One direction, one chip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Energy:
    """Dynamic energy of one chip."""

    per_flop_4x4: JoulePerFlop
    per_flop_8x4: JoulePerFlop
    per_flop_8x8: JoulePerFlop
    per_flop_16x16: JoulePerFlop
    per_flop_vector: JoulePerFlop
    per_hbm_byte: JoulePerByte
    per_link_byte: JoulePerByte


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """Power of one package."""

    tdp: Watts
    """Thermal design power, the vendor's denominator."""
    cap: Watts
    """What the package may draw, sustained; the clock falls where more would be drawn."""
    static: Watts
    """Drawn while a step runs, whatever it does: leakage, clocks, SRAM, network idling."""
    idle: Watts
    """Drawn while nothing runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """One accelerator package."""

    name: str
    vendor: str
    stepping: str
    """Which entry of ``steppings`` is installed."""
    steppings: Mapping[str, Ratio]
    """Rate of matrix and SIMD engines relative to the peaks below, by silicon stepping."""
    cores: Count
    """Independent cores (slices, SMs) that share the work of an operator."""
    matrix: Matrix
    vector: Vector
    hbm: Hbm
    host: Host
    energy: Energy
    power: Power
    facts: Facts = field(default_factory=dict, compare=False)

    @property
    def speed(self) -> float:
        """Rate of the engines of the installed stepping relative to the peaks."""
        return self.steppings[self.stepping]


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One tier of the fabric: what a chip reaches over it."""

    reach: Count
    """Chips in the domain, the asker included."""
    bandwidth: BytesPerSecond
    """One direction, one chip, all its links of this tier together."""
    latency: Seconds
    """Port to port, one way, switch included."""
    reduces: bool
    """True where the switch sums (in-network reduction)."""
    rails: Count = 1
    """Planes of a rail-only level: a chip reaches directly only every *rails*-th chip of another
    domain, and the rest by way of the level below.  1: it reaches all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """Chips and the fabric that joins them, nearest level first."""

    name: str
    title: str
    chip: Chip
    engine: str
    """Name of the engine that its users run by default."""
    chips: Count
    """Chips of the whole system."""
    chips_per_tray: Count
    chips_per_rack: Count
    fabric: Mapping[str, Level]
    """Level name to level, in order of reach."""
    facts: Facts = field(default_factory=dict, compare=False)

    @property
    def nearest(self) -> Level:
        """The level that a chip reaches first."""
        return next(iter(self.fabric.values()))

    def beyond(self, group: int) -> Level:
        """The level above the nearest that joins *group* chips; the last where none does."""
        levels = list(self.fabric.values())[1:]
        return next((level for level in levels if level.reach >= group), levels[-1])

    def level(self, group: int) -> Level:
        """The nearest level that joins *group* chips; the last level is the whole system's."""
        for level in self.fabric.values():
            if level.reach >= group:
                return level
        return list(self.fabric.values())[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gqa:
    """Grouped-query attention; every second layer may be a sliding window."""

    heads: Count
    kv_heads: Count
    head_dim: Count
    window: Count
    """Tokens a sliding-window layer sees; 0 where the model has none."""
    window_layers: Count
    """How many layers are sliding-window ones."""
    sinks: bool
    """A learned extra logit per head (no key, no value): vector work only."""
    gated: bool = False
    """The query projection also makes a gate on the output, as wide again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dsa:
    """DeepSeek sparse attention: an indexer scores all keys, attention reads the best of them."""

    heads: Count
    dim: Count
    top_k: Count
    """Cached entries that a query attends to, at the most."""
    key_bytes: Bytes
    """Bytes of one indexer key in the cache, scale included."""
    layers: Count
    """Layers that have an indexer of their own; the others use the choice of the one before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedDelta:
    """Gated DeltaNet layers (arXiv 2412.06464): a state of fixed size in place of a KV cache."""

    layers: Count
    """How many of the model's layers are of this kind."""
    key_heads: Count
    value_heads: Count
    key_dim: Count
    value_dim: Count
    conv_width: Count
    """Taps of the short convolution over queries, keys and values."""
    state: str
    """Format of the recurrent state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mla:
    """Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434)."""

    heads: Count
    q_rank: Count
    kv_rank: Count
    nope_dim: Count
    rope_dim: Count
    value_dim: Count
    index: Dsa | None = None
    """Sparse attention; None: every query attends to all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moe:
    """Routed and shared experts of one layer."""

    experts: Count
    top_k: Count
    shared: Count
    width: Count
    """Intermediate width of one expert."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Layers that come with a model and propose its next tokens: multi-token prediction.

    DeepSeek-V3 technical report, arXiv 2412.19437, 2.2.  One projection makes one hidden vector of
    ``joined``, layers like the model's last ones follow, and the model's own embedding and LM head
    serve them.
    """

    layers: Count
    """Layers of one pass, each as the model's last: attention in full, experts where it has any."""
    modules: Count
    """Passes that have weights of their own; further ones take the last's again."""
    joined: Count
    """Vectors that become one: the hidden state and the embedding of the token after it."""
    acceptance: Mapping[str, Mapping[str, Ratio]] = field(default_factory=dict)
    """Measured tokens a verification step gives, its own included, by workload and then by how many
    were drafted: ``"mt-bench" = { "1" = 1.9, "2" = 2.5 }``."""


NO_EXPERTS = Moe(experts=0, top_k=0, shared=0, width=0)
"""Of a dense model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A decoder-only transformer, dense or a mixture of experts."""

    name: str
    title: str
    layers: Count
    dense_layers: Count
    """Leading layers with a dense FFN in place of experts."""
    hidden: Count
    dense_width: Count
    """Intermediate width of the dense layers; 0 where there are none."""
    vocab: Count
    context: Count
    """Longest prompt plus answer, tokens."""
    attention: Gqa | Mla
    """Of the layers that keep a KV cache: all but the ``linear`` ones."""
    moe: Moe = NO_EXPERTS
    linear: GatedDelta | None = None
    draft: Draft | None = None
    """None: nothing comes with the model that could draft."""
    tied: bool = False
    """Whether embedding and LM head are one matrix."""
    published_parameters: Count
    """Total parameters as the makers state them (billions rounded), for the test."""
    published_active: Count
    weights: Mapping[str, str]
    """Format of each tensor class as published: attention, head, and of experts, shared and dense
    those that the model has."""
    facts: Facts = field(default_factory=dict, compare=False)

    @property
    def cached_layers(self) -> int:
        """Layers with a KV cache."""
        return self.layers - (self.linear.layers if self.linear else 0)

    @property
    def caps(self) -> tuple[int, ...]:
        """Context caps W of the model's layers beside full context (physics: a batch is sums)."""
        match self.attention:
            case Gqa(window=window, window_layers=layers) if window and layers:
                return (window,)
            case Mla(index=Dsa(top_k=top_k)):
                return (top_k,)
            case _:
                return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A serving stack on a chip family and what it achieves there."""

    name: str
    title: str
    version: str
    matrix_efficiency: Ratio
    """Achieved fraction of the dense peak by large GEMMs and experts."""
    prefill_attention_efficiency: Ratio
    decode_attention_efficiency: Ratio
    memory_efficiency: Ratio
    """Achieved fraction of the HBM bandwidth on weights and activations."""
    kv_efficiency: Ratio
    """Achieved fraction of the HBM bandwidth on KV blocks."""
    vector_efficiency: Ratio
    link_efficiency: Ratio
    """Achieved fraction of a link's rate by large collectives."""
    issue_phase: Seconds
    """Fixed cost of one dependent phase (launch gap, synchronisation)."""
    issue_layer_rest: Seconds
    """Fixed cost of a layer when a step has a single token."""
    issue_layer_load: Seconds
    """Fixed cost of a layer in a full step; in between it rises as 1 - 1/tokens."""
    host_step: Seconds
    """Host time a step that nothing hides."""
    host_sequence: Seconds
    """Host time a step and running sequence."""
    all_reduce_latency: Seconds
    """Software latency of one phase of an all-reduce, beside the fabric's."""
    all_to_all_latency: Seconds
    """Software latency of one dispatch or combine, beside the fabric's."""
    overlap: Ratio
    """Share of communication hidden behind compute."""
    imbalance: Ratio
    """Load of the busiest expert rank over the mean."""
    first_token_delay: Seconds
    """From the client's send to the scheduler's queue: parsing, tokenising, routing."""
    transfer_latency: Seconds
    """Set-up time of one KV transfer between workers."""
    transfer_efficiency: Ratio
    """Achieved fraction of the link's rate by KV transfers."""
    memory_reserve: Bytes
    """HBM a chip keeps back for activations, buffers and the runtime."""
    block_tokens: Count
    """Tokens of one KV block."""
    stream_interval: Count = 1
    """Steps of a sequence between two chunks that its client is sent."""
    activations: Mapping[str, str]
    """Format in which activations meet weights of a format, by ``"format"`` or, where a chip
    differs, ``"chip/format"``; ``"core"`` and ``"kv"`` are those of attention and of its cache."""
    formats: Mapping[str, str] = field(default_factory=dict)
    """What is served otherwise than in the model's own: ``"model/class"`` or ``"*/class"``."""
    experts_share: Ratio = 1.0
    """What grouped GEMMs of routed experts achieve of ``matrix_efficiency``."""
    maturity: Mapping[str, Ratio] = field(default_factory=dict)
    """Factors on matrix efficiency by ``"model"``, ``"chip"`` or ``"chip/model"``, multiplied."""
    issue_scale: Mapping[str, Ratio] = field(default_factory=dict)
    """Factors on all ``issue_*`` costs by the same keys: how much is fused and launched ahead."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """Measured operator times, ``"place#sha256=digest"`` by ``"chip/model/tpN"``."""
    facts: Facts = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """Power and price of one chip of a system, as one named source counts them."""

    name: str
    system: str
    """Chip the tariff is for."""
    tdp: Watts
    all_in: Watts
    """Package, host, network, conversion: IT power a chip."""
    pue: Ratio
    """Facility power over IT power."""
    price: DollarsPerHour
    facts: Facts = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The published comparison of one model: Jalapeño against its reference."""

    name: str
    model: str
    system: str
    reference: str
    peak_tps_per_kw: TokensPerSecondPerKilowatt
    min_e2e: Seconds
    min_tbt: Seconds
    tps_per_kw_at_reference_tbt: TokensPerSecondPerKilowatt
    reference_peak_tps_per_kw: TokensPerSecondPerKilowatt
    reference_min_e2e: Seconds
    reference_min_tbt: Seconds
    reference_tps_per_kw_at_its_tbt: TokensPerSecondPerKilowatt
    facts: Facts = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """One pool of a measured row: how many workers of which layout."""

    workers: Count
    tp: Count
    ep: Count
    dp: Count
    slots: Count
    """Running sequences a worker (or attention rank) may hold."""
    slots_kind: str
    """``recipe`` where the public recipe states it, ``little`` where Little's law gives it."""
    tokens: Count
    """Token budget of a step (of a rank)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One InferenceX measurement of a split-pool deployment (or a layout without one)."""

    name: str
    model: str
    system: str
    engine: str
    concurrency: Count
    requests_per_slot: Count
    """Requests in the run over its concurrency."""
    template_tokens: Count
    """Chat-template tokens added to every prompt."""
    mtp: bool
    """Multi-token prediction on: drawn as published, and no part of fits."""
    prefill: Workers
    decode: Workers
    measured: Mapping[str, float]
    """Published figures by name with unit: tput_per_gpu, mean_tpot_ms ...; empty if none public."""
    source: str
    draft_tokens: Count = 0
    """Tokens drafted a step, where multi-token prediction is on."""
