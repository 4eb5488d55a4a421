"""Checkpoints: the formats that a row's ``precision`` stands for, as an engine serves them."""

from __future__ import annotations

from dataclasses import replace

from jalapeno.catalogue import Chip, Engine, Model
from jalapeno.errors import unknown_name
from jalapeno.mapping import Precision

WEIGHTS = {"fp4": "nvfp4", "fp8": "fp8", "int4": "int4", "bf16": "bf16"}
"""Format of the weights that a row's ``precision`` names on NVIDIA's chips."""

AMD_WEIGHTS = WEIGHTS | {"fp4": "mxfp4"}
"""The same on AMD's: its four-bit checkpoints are MXFP4, weights and activations."""

CLASSES = ("attention", "dense", "shared", "experts")


def weights_of(model: Model, chip: Chip, precision: str) -> dict[str, str]:
    """Format of each class of weights of *model* in the checkpoint that *precision* names.

    A checkpoint of four bits keeps the attention of a mixture of experts in its published format
    (NVIDIA's of DeepSeek-R1, Kimi K2.5 and MiniMax M2.5; AMD's of DeepSeek-R1), and one of int4
    everything but the experts (Kimi K2.5 as published).  A model that is published in four bits is
    served as published, whatever the label says (gpt-oss).
    """
    names = AMD_WEIGHTS if chip.vendor == "AMD" else WEIGHTS
    if precision not in names:
        raise unknown_name("precision", precision, names)
    named, own = names[precision], model.weights
    published = {name: own.get(name, own["attention"]) for name in CLASSES}
    if published["experts"] == "mxfp4":
        return published
    found = dict.fromkeys(CLASSES, named)
    if named in ("nvfp4", "mxfp4", "int4") and model.moe.experts:
        found["attention"] = (
            "bf16" if published["attention"].startswith("fp8") else published["attention"]
        )
    if named == "int4":
        found |= {name: published[name] for name in ("dense", "shared")}
    return found


def served(model: Model, chip: Chip, engine: Engine, precision: str) -> Precision:
    """The formats of all classes: weights as :func:`weights_of`, what meets them as *engine* says.

    The KV cache is FP8 where weights are of 4 or 8 bits and not the model's own four-bit format,
    and BF16 otherwise, as InferenceX's recipes and NVIDIA's checkpoints have it.
    """
    weights = weights_of(model, chip, precision)
    usual = Precision.as_served(engine, model, chip)
    acts = {
        f"{name}_act": _activations(engine, model, chip, name, form)
        for name, form in weights.items()
    }
    own = model.weights.get("experts", model.weights["attention"])
    narrow = precision in ("fp4", "fp8") and own != "mxfp4"
    return replace(
        usual, **weights, **acts, core="bf16", kv="fp8" if narrow else "bf16", head="bf16"
    )


def _activations(engine: Engine, model: Model, chip: Chip, name: str, form: str) -> str:
    """What meets weights of *form*; four bits are met by four only where the chip has the rate."""
    bare = replace(engine, formats={f"{model.name}/{name}": form})
    found: str = getattr(Precision.as_served(bare, model, chip), f"{name}_act")
    if form == "mxfp4" and chip.vendor == "AMD" and model.weights.get("experts") != "mxfp4":
        return "mxfp4" if chip.matrix.peak_4x4 > chip.matrix.peak_8x8 else found
    return found
