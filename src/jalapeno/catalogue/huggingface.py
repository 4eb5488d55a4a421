"""A Hugging Face ``config.json`` becomes the tree of a model entry.

What an entry can say is read, what does not change a cost (rotary embeddings, routing, norms,
multi-token prediction) is passed over, and what does and cannot be said is refused by its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from jalapeno.catalogue.entries import model_of
from jalapeno.catalogue.huggingface_families import FAMILIES, Family
from jalapeno.catalogue.huggingface_fields import Fields, said
from jalapeno.catalogue.huggingface_formats import weights_of
from jalapeno.catalogue.huggingface_shapes import layers_of, refuse_unmodelled
from jalapeno.catalogue.schema import Model
from jalapeno.errors import BadFact, UnknownName, instead

ARCHITECTURES: tuple[str, ...] = tuple(FAMILIES)
"""What :func:`model_tree` can read."""

Count = Callable[[Model], tuple[int, int]]
"""Total and active weights of a model."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_SHARED = ("tie_word_embeddings", "torch_dtype", "dtype", "quantization_config")
"""What may stand beside ``text_config`` or in it."""


def model_tree(
    config: Mapping[str, Any], *, name: str, title: str, source: str, count: Count
) -> dict[str, Any]:
    """Return the tree of the model that *config* describes, called *name*.

    *source* is the file, for messages and as evidence; *count* gives the published counts, as
    derived.  Raises :class:`UnknownName` for an architecture that is not one of
    :data:`ARCHITECTURES`, and :class:`BadFact` naming the field that is missing, wrong, in
    contradiction to another, or beyond what is modelled.
    """
    if not _NAME.fullmatch(name):
        raise BadFact(
            f"a model cannot be called {name[:60]!r}: use lower-case letters, digits, '.', '-', '_'"
        )
    whole = Fields(config, source)
    family = _family(whole)
    text = _language(whole, family)
    shared = _shared(whole, text)
    refuse_unmodelled(text)
    ffn = family.ffn(text)
    linear = family.linear(text) if family.linear else {"layers": 0}
    tree: dict[str, Any] = {
        "name": name,
        "title": title,
        "default": {"kind": "published", "source": text.where.replace(": text_", ", text_")},
        "layers": layers_of(text),
        "dense_layers": ffn["dense_layers"],
        "hidden": text.count("hidden_size"),
        "dense_width": ffn["dense_width"],
        "vocab": text.count("vocab_size"),
        "context": text.count("max_position_embeddings"),
        **({"tied": True} if shared.flag("tie_word_embeddings", default=False) else {}),
        **_counts(1, 1, source),
        "attention": family.attention(text),
        **({"linear": linear} if linear["layers"] else {}),
        **({"moe": ffn["moe"]} if "moe" in ffn else {}),
        "weights": weights_of(shared, family.modules(text, ffn)),
    }
    return {**tree, **_counts(*count(model_of(tree)), source)}


def _family(config: Fields) -> Family:
    """The family of the one architecture that a config names."""
    names = config.words("architectures")
    if len(names) != 1:
        raise config.bad("architectures", "one name")
    if names[0] not in FAMILIES:
        raise UnknownName(
            f"{config.where}: architectures: not modelled: {said(names[0])}"
            f"{instead(names[0], FAMILIES)}"
        )
    return FAMILIES[names[0]]


def _language(config: Fields, family: Family) -> Fields:
    """The fields of the language model."""
    if family.within is None:
        return config
    text = config.table("text_config")
    text.agree("architectures", [family.within], "which is what the whole is made of")
    return text


def _shared(config: Fields, text: Fields) -> Fields:
    """What a file says of the whole model; both places must agree."""
    found: dict[str, Any] = {}
    for key in _SHARED:
        given = [fields.values[key] for fields in (config, text) if fields.has(key)]
        if len({json.dumps(value, sort_keys=True) for value in given}) > 1:
            raise config.bad(key, "what text_config says too")
        if given:
            found[key] = given[0]
    shared = Fields(found, config.where)
    if shared.has("torch_dtype"):
        shared.agree("dtype", found["torch_dtype"], "as torch_dtype")
    elif shared.has("dtype"):
        found["torch_dtype"] = found["dtype"]
    return shared


def _counts(total: int, active: int, source: str) -> dict[str, Any]:
    """The published counts of a tree, computed."""
    counted = f"computed from {source}, without norms, biases and multi-token prediction"
    beside = f"{counted}; the LM head counted, the embedding not"
    return {
        "published_parameters": {"value": total, "kind": "derived", "source": counted},
        "published_active": {"value": active, "kind": "derived", "source": beside},
    }
