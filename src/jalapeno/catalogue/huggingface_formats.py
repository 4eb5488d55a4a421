"""Number formats of a published checkpoint, from ``quantization_config`` and ``torch_dtype``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jalapeno.catalogue.huggingface_families import Modules
from jalapeno.catalogue.huggingface_fields import Fields
from jalapeno.errors import BadFact

_DTYPES = {"bfloat16": "bf16", "float32": "fp32"}
_BLOCK = [128, 128]
_E4M3 = ("e4m3", "float8_e4m3fn")
_NVIDIA = {"NVFP4": "nvfp4", "FP8": "fp8"}
_NAME = re.compile(r"[\w.*-]+")
_TOWERS = ("", "language_model.", "model.language_model.")
"""What may stand before a module of the language model where there are other towers."""

Covers = Callable[[str], bool]
"""Whether a module of that name is quantised."""


def weights_of(config: Fields, modules: Modules) -> dict[str, Any]:
    """Format of each tensor class.

    *config* has ``torch_dtype`` and ``quantization_config``, or lacks them; *modules* are those
    of each class.  Raises :class:`BadFact` for a method or format that the twin does not know, and
    where a class would have two.
    """
    rest = _plain(config)
    if not config.has("quantization_config"):
        return dict.fromkeys(modules, rest)
    said = config.table("quantization_config")
    name = said.word("quant_method", _METHODS)
    quantised, covers = _METHODS[name](said)
    return {
        tensors: quantised if _whole(tensors, names, covers, said) else rest
        for tensors, names in modules.items()
    }


def _plain(config: Fields) -> Any:
    """Format of what is not quantised: a leaf with its evidence where the file does not say."""
    if not config.has("torch_dtype") and config.has("quantization_config"):
        source = f"{config.where} names no torch_dtype: what is kept beside quantised weights"
        return {"value": "bf16", "kind": "assumed", "source": source}
    return _DTYPES[config.word("torch_dtype", _DTYPES)]


def _whole(tensors: str, names: Iterable[str], covers: Covers, said: Fields) -> bool:
    """Whether a class is quantised; BadFact where some of it is and some is not."""
    by_state = {covers(name): name for name in names}
    if len(by_state) > 1:
        raise BadFact(
            f"{said.where}: quantises {by_state[True]} and not {by_state[False]}: "
            f"{tensors} weights need one format"
        )
    (state,) = by_state
    if state and tensors == "head":
        raise BadFact(
            f"{said.where}: quantises lm_head, and the embedding cannot be: head weights need one "
            "format; let lm_head be among the modules that are left out"
        )
    return state


# ---- methods: the format, and which modules have it


def _fp8(said: Fields) -> tuple[str, Covers]:
    """Hugging Face's own FP8: every linear layer but the head and those that are named."""
    if said.has("fmt"):
        said.word("fmt", _E4M3)
    said.agree("weight_block_size", _BLOCK, "the block that the twin knows")
    left_out = (*_names(said, "modules_to_not_convert"), "lm_head")
    return "fp8_block" if said.has("weight_block_size") else "fp8", _all_but(left_out)


def _mxfp4(said: Fields) -> tuple[str, Covers]:
    """MXFP4 as of gpt-oss: experts, whatever else is not named."""
    left_out = _all_but(_names(said, "modules_to_not_convert"))
    return "mxfp4", lambda name: ".experts" in name and left_out(name)


def _modelopt(said: Fields) -> tuple[str, Covers]:
    """NVIDIA ModelOpt: every linear layer but those that are named."""
    key = "exclude_modules" if said.has("exclude_modules") else "ignore"
    return _NVIDIA[said.word("quant_algo", _NVIDIA)], _all_but(_names(said, key))


def _compressed(said: Fields) -> tuple[str, Covers]:
    """compressed-tensors: the targets of the groups but those that are ignored."""
    groups = said.table("config_groups")
    if not groups.values:
        raise said.bad("config_groups", "at least one group")
    targets: list[str] = []
    formats: set[str] = set()
    for name in groups.values:
        group = groups.table(name)
        formats.add(_scheme(group.table("weights")))
        targets += group.words("targets")
    if len(formats) > 1:
        raise said.bad("config_groups", f"one format, not {' and '.join(sorted(formats))}")
    ignored = said.words("ignore") if said.has("ignore") else ()
    target, ignore = _matcher(targets, said), _matcher(ignored, said)
    return formats.pop(), lambda name: target(name) and not ignore(name)


def _scheme(weights: Fields) -> str:
    """The format of a group of compressed-tensors."""
    bits, kind = weights.count("num_bits"), weights.word("type", ("int", "float"))
    group = weights.count_or("group_size", 0)
    block = weights.values.get("block_structure")
    known = {
        (4, "int", 32): "int4",
        (4, "float", 16): "nvfp4",
        (4, "float", 32): "mxfp4",
        (8, "float", 0): "fp8_block" if block == _BLOCK else "fp8",
    }
    found = known.get((bits, kind, group))
    if found is None or (block is not None and found != "fp8_block"):
        blocks = f" in blocks of {block}" if block is not None else ""
        groups = f" in groups of {group}" if group else ""
        raise BadFact(
            f"{weights.where}: not modelled: {bits}-bit {kind}{groups}{blocks}; known: 4-bit int "
            "in groups of 32, 4-bit float in groups of 16 or 32, 8-bit float, whole or in blocks "
            "of 128x128"
        )
    return found


_METHODS: Mapping[str, Callable[[Fields], tuple[str, Covers]]] = {
    "fp8": _fp8,
    "mxfp4": _mxfp4,
    "modelopt": _modelopt,
    "compressed-tensors": _compressed,
}
"""By ``quant_method``."""


# ---- names of modules


def _names(said: Fields, key: str) -> tuple[str, ...]:
    """Names of modules, in which a star is any text."""
    names = said.words(key) if said.has(key) else ()
    for name in names:
        if not _NAME.fullmatch(name):
            raise said.bad(key, f"names such as 'model.layers.*.self_attn', not {name[:60]!r}")
    return names


def _all_but(left_out: Iterable[str]) -> Covers:
    """All modules but the named ones and what is in them; a name may begin at any dot."""
    parts = "|".join(re.escape(name).replace(r"\*", ".*") for name in left_out)
    pattern = re.compile(rf"(?:.*\.)?(?:{parts})(?:\..*)?" if parts else r"(?!)", re.DOTALL)
    return lambda name: not any(pattern.fullmatch(spelt) for spelt in _spellings(name))


def _matcher(entries: Iterable[str], said: Fields) -> Covers:
    """Modules that one of the *entries* of compressed-tensors names: ``re:...``, one, or all."""
    exact, patterns = set(), []
    for entry in entries:
        if not entry.startswith("re:"):
            exact.add(entry)
            continue
        try:
            patterns.append(re.compile(entry.removeprefix("re:")))
        except (re.error, RecursionError, OverflowError) as error:
            raise BadFact(f"{said.where}: {entry[:60]!r} is no pattern: {error}") from error

    def names(module: str) -> bool:
        return "Linear" in exact or any(
            spelt in exact or any(pattern.match(spelt) for pattern in patterns)
            for spelt in _spellings(module)
        )

    return names


def _spellings(name: str) -> tuple[str, ...]:
    """A module's name with what other towers put before it."""
    bare = name.removeprefix("model.")
    return (*(f"{tower}{name}" for tower in _TOWERS), f"model.language_model.{bare}")
