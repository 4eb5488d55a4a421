"""What units cannot say: which numbers may be zero, which are shares, what must agree with what."""

from __future__ import annotations

from collections.abc import Mapping

from jalapeno.catalogue.formats import FORMATS
from jalapeno.catalogue.schema import Chip, Draft, Dsa, Engine, Facts, Gqa, Mla, Model, Row, System
from jalapeno.errors import BadFact, instead

CLASSES: tuple[str, ...] = (
    "experts",
    "experts_act",
    "shared",
    "shared_act",
    "dense",
    "dense_act",
    "attention",
    "attention_act",
    "head",
    "core",
    "kv",
)
"""Tensor classes whose format an engine chooses; those of stored weights are the ones of models."""

WEIGHTS: tuple[str, ...] = ("experts", "shared", "dense", "attention", "head")
"""Tensor classes whose format a model's makers chose."""

OPERANDS: tuple[str, ...] = ("core", "kv")
"""What an engine chooses for all models beside the activations that meet weights."""

SLOTS: tuple[str, ...] = ("recipe", "little", "assumed")
"""How the slots of a measured row are known."""

_MAY_BE_ZERO = frozenset(
    [
        "window",
        "window_layers",
        "dense_layers",
        "dense_width",
        "shared",
        "per_flop_4x4",
        "per_flop_8x4",
        "per_flop_8x8",
        "per_flop_16x16",
        "per_flop_vector",
        "per_hbm_byte",
        "per_link_byte",
        "static",
        "idle",
        "latency",
        "overlap",
        "issue_phase",
        "issue_layer_rest",
        "issue_layer_load",
        "host_step",
        "host_sequence",
        "all_reduce_latency",
        "all_to_all_latency",
        "first_token_delay",
        "transfer_latency",
        "memory_reserve",
        "price",
    ]
)
_AT_MOST_ONE = frozenset(
    [
        "matrix_efficiency",
        "prefill_attention_efficiency",
        "decode_attention_efficiency",
        "memory_efficiency",
        "kv_efficiency",
        "vector_efficiency",
        "link_efficiency",
        "transfer_efficiency",
        "overlap",
    ]
)
_AT_LEAST_ONE = frozenset({"pue", "imbalance"})


def check_ranges(facts: Facts, where: str) -> None:
    """Raise :class:`BadFact` where a number is zero, above one or below one and must not be."""
    for path, fact in facts.items():
        value, name = fact.value, path.split(".")[-1]
        if isinstance(value, bool | str):
            continue
        if value == 0 and name not in _MAY_BE_ZERO:
            raise BadFact(f"{where}: {path}: must be more than zero, got {fact.text!r}")
        if value > 1 and name in _AT_MOST_ONE:
            raise BadFact(f"{where}: {path}: is a share, at most 1, got {fact.text!r}")
        if value < 1 and name in _AT_LEAST_ONE:
            raise BadFact(f"{where}: {path}: is at least 1, got {fact.text!r}")


def check_chip(chip: Chip, where: str) -> None:
    """Raise :class:`BadFact` where the stepping has no speed or the power cap leaves no power."""
    if chip.stepping not in chip.steppings:
        rest = instead(chip.stepping, chip.steppings)
        raise BadFact(f"{where}: stepping: no stepping {chip.stepping!r}{rest}")
    if chip.power.cap <= chip.power.static:
        raise BadFact(
            f"{where}: power.cap, {chip.power.cap:g} W, must exceed power.static, "
            f"{chip.power.static:g} W: nothing could run"
        )


def check_system(system: System, where: str) -> None:
    """Raise :class:`BadFact` where levels are not in order of reach, do not span the system, or
    have rails that no level below could lead to."""
    check_chip(system.chip, f"{where}: chip")
    reaches = [level.reach for level in system.fabric.values()]
    if not reaches or reaches != sorted(set(reaches)):
        raise BadFact(f"{where}: fabric: each level must reach further than the one before")
    if reaches[-1] < system.chips:
        raise BadFact(
            f"{where}: fabric: the last level reaches {reaches[-1]} of {system.chips} chips"
        )
    below = [1, *reaches]
    for (name, level), reach in zip(system.fabric.items(), below, strict=False):
        if reach % level.rails:
            raise BadFact(
                f"{where}: fabric.{name}.rails: {level.rails} rails must divide what the level "
                f"below joins, {reach}"
            )


def check_model(model: Model, where: str) -> None:
    """Raise :class:`BadFact` where a part is larger than its whole, a layer has no FFN, or a
    format is missing or unknown."""
    attention, moe = model.attention, model.moe
    parts = [("dense_layers", model.dense_layers, "layers", model.layers)]
    parts.append(("moe.top_k", moe.top_k, "moe.experts", moe.experts))
    if model.linear:
        parts.append(("linear.layers", model.linear.layers, "layers", model.layers - 1))
    match attention:
        case Gqa(heads=heads, kv_heads=kv_heads, window_layers=window_layers):
            parts.append(("attention.kv_heads", kv_heads, "attention.heads", heads))
            parts.append(
                ("attention.window_layers", window_layers, "cached layers", model.cached_layers)
            )
        case Mla(index=Dsa(layers=layers)):
            parts.append(("attention.index.layers", layers, "layers", model.layers))
        case Mla():
            pass
    for part, few, whole, many in parts:
        if few > many:
            raise BadFact(f"{where}: {part} is {few}, more than {whole}, {many}")
    if model.dense_layers < model.layers and not moe.experts:
        raise BadFact(
            f"{where}: {model.layers - model.dense_layers} layers have neither a dense FFN nor "
            "experts: add a [moe] table, or let dense_layers be all"
        )
    if model.dense_layers and not model.dense_width:
        raise BadFact(f"{where}: dense_width: must be more than zero where layers are dense")
    for tensors in weight_classes(model):
        if tensors not in model.weights:
            raise BadFact(f"{where}: weights: missing {tensors!r}")
    _check_formats(model.weights, WEIGHTS, f"{where}: weights")
    if model.linear:
        _check_formats({"attention": model.linear.state}, WEIGHTS, f"{where}: linear.state")
    if model.draft:
        _check_draft(model.draft, f"{where}: draft.acceptance")


def _check_draft(draft: Draft, where: str) -> None:
    """Raise :class:`BadFact` where a step is said to give tokens that it cannot."""
    for workload, lengths in draft.acceptance.items():
        before = 1.0
        for drafted, tokens in lengths.items():
            place = f"{where}.{workload}.{drafted}"
            if not drafted.isascii() or not drafted.isdigit() or int(drafted) < 1:
                raise BadFact(
                    f"{place}: {drafted!r} is no number of drafted tokens, such as 1, 2, 3"
                )
            if not before <= tokens <= int(drafted) + 1:
                raise BadFact(
                    f"{place}: a step gives from {before:g} (as with fewer drafted) to "
                    f"{int(drafted) + 1} tokens, got {tokens:g}"
                )
            before = tokens


def weight_classes(model: Model) -> tuple[str, ...]:
    """The tensor classes of :data:`WEIGHTS` that *model* has."""
    has = {
        "experts": model.dense_layers < model.layers,
        "shared": model.moe.shared > 0,
        "dense": model.dense_layers > 0,
    }
    return tuple(tensors for tensors in WEIGHTS if has.get(tensors, True))


def check_engine(engine: Engine, where: str) -> None:
    """Raise :class:`BadFact` where load lightens a layer or a default precision is not
    ``"model/class" = "format"``."""
    if engine.issue_layer_load < engine.issue_layer_rest:
        raise BadFact(
            f"{where}: issue_layer_load must be at least issue_layer_rest: a loaded layer costs "
            "no less than one at rest"
        )
    for key, word in engine.formats.items():
        model, slash, tensors = key.partition("/")
        if not (model and slash):
            raise BadFact(f"{where}: formats: expected 'model/class', got {key!r}")
        _check_formats({tensors: word}, CLASSES, f"{where}: formats: {model}")
    for name in OPERANDS:
        if name not in engine.activations:
            raise BadFact(f"{where}: activations: missing {name!r}")
    for key, word in engine.activations.items():
        weights = key.rpartition("/")[2]
        known = (*FORMATS, *OPERANDS)
        for name, names in ((weights, known), (word, tuple(FORMATS))):
            if name not in names:
                raise BadFact(f"{where}: activations: no format {name!r}{instead(name, names)}")


def check_row(row: Row, where: str) -> None:
    """Raise :class:`BadFact` where the slots of a row have no known origin, or tokens are drafted
    without multi-token prediction."""
    if row.mtp != (row.draft_tokens > 0):
        raise BadFact(
            f"{where}: draft_tokens is {row.draft_tokens}, but mtp is {str(row.mtp).lower()}: "
            "tokens are drafted where multi-token prediction is on, and only there"
        )
    for role, workers in (("prefill", row.prefill), ("decode", row.decode)):
        kind = workers.slots_kind
        if kind not in SLOTS:
            raise BadFact(f"{where}: {role}.slots_kind: no kind {kind!r}{instead(kind, SLOTS)}")


def _check_formats(formats: Mapping[str, str], classes: tuple[str, ...], where: str) -> None:
    for tensors, word in formats.items():
        for name, known, what in ((tensors, classes, "tensor class"), (word, FORMATS, "format")):
            if name not in known:
                raise BadFact(f"{where}: no {what} {name!r}{instead(name, known)}")
