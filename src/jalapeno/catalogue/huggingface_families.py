"""Architectures whose Hugging Face configs can be read, and what their modules are called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from jalapeno.catalogue import huggingface_shapes as shapes
from jalapeno.catalogue.huggingface_fields import Fields
from jalapeno.catalogue.huggingface_shapes import FULL, LINEAR, Part

Modules = Mapping[str, tuple[str, ...]]
"""Tensor class -> full names of the modules that hold its weights."""

_FFN = ("gate_proj", "up_proj", "down_proj")
_GROUPED = ("q_proj", "k_proj", "v_proj", "o_proj")
_LATENT = ("q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj")
_DELTA = ("in_proj_qkv", "in_proj_z", "out_proj")


def _of(parent: str, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{parent}.{name}" for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How the config of an architecture is read, and what its modules are called in a layer."""

    attention: Callable[[Fields], Part]
    ffn: Callable[[Fields], Part]
    linear: Callable[[Fields], Part] | None = None
    within: str | None = None
    """Architecture of ``text_config`` where the language model is there, beside other towers."""
    projections: tuple[str, ...] = _GROUPED
    experts: tuple[str, ...] = _of("mlp.experts.0", _FFN)
    shared: tuple[str, ...] = _of("mlp.shared_experts", _FFN)

    def modules(self, config: Fields, ffn: Part) -> Modules:
        """Modules of each tensor class that the model has; one expert stands for all of a layer."""
        layers, leading = shapes.layers_of(config), ffn["dense_layers"]
        kinds = shapes.kinds_of(config) if self.linear else (FULL,) * layers
        mixers = {FULL: _of("self_attn", self.projections), LINEAR: _of("linear_attn", _DELTA)}
        every = {
            "experts": (range(leading, layers), self.experts),
            "shared": (range(leading, layers) if _has_shared(ffn) else range(0), self.shared),
            "dense": (range(leading), _of("mlp", _FFN)),
        }
        found = {
            tensors: tuple(name for at in where for name in _of(f"model.layers.{at}", names))
            for tensors, (where, names) in every.items()
        }
        found["attention"] = tuple(
            name
            for at, kind in enumerate(kinds)
            for name in _of(f"model.layers.{at}", mixers[kind])
        )
        found["head"] = ("lm_head",)
        return {tensors: names for tensors, names in found.items() if names}


def _has_shared(ffn: Part) -> bool:
    return bool("moe" in ffn and ffn["moe"]["shared"])


_DEEPSEEK = Family(attention=shapes.latent, ffn=shapes.deepseek_experts, projections=_LATENT)
_DEEPSEEK_SPARSE = replace(_DEEPSEEK, attention=shapes.sparse)
_QWEN = Family(attention=shapes.grouped, ffn=shapes.qwen_experts)
_QWEN_HYBRID = replace(
    _QWEN, attention=shapes.gated, linear=shapes.delta, shared=_of("mlp.shared_expert", _FFN)
)

FAMILIES: Mapping[str, Family] = {
    "DeepseekV3ForCausalLM": _DEEPSEEK,
    "DeepseekV32ForCausalLM": _DEEPSEEK_SPARSE,
    "GlmMoeDsaForCausalLM": _DEEPSEEK_SPARSE,
    "GptOssForCausalLM": Family(
        attention=shapes.windowed, ffn=shapes.local_experts, experts=("mlp.experts",)
    ),
    "KimiK25ForConditionalGeneration": replace(_DEEPSEEK, within="DeepseekV3ForCausalLM"),
    "LlamaForCausalLM": Family(attention=shapes.llama, ffn=shapes.dense),
    "MiniMaxM2ForCausalLM": Family(
        attention=shapes.grouped,
        ffn=shapes.local_experts,
        experts=_of("block_sparse_moe.experts.0", ("w1", "w2", "w3")),
    ),
    "Qwen3ForCausalLM": Family(attention=shapes.grouped, ffn=shapes.dense),
    "Qwen3MoeForCausalLM": _QWEN,
    "Qwen3_5MoeForCausalLM": _QWEN_HYBRID,
    "Qwen3_5MoeForConditionalGeneration": replace(_QWEN_HYBRID, within="Qwen3_5MoeForCausalLM"),
}
"""By the name that ``architectures`` has."""
