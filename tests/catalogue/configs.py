"""Small Hugging Face configs: what the official ones of shipped models say that matters."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from jalapeno import catalogue
from jalapeno.catalogue import Model, model_of, model_tree, weight_classes

Config = dict[str, Any]

OFFICIAL = Path(__file__).parents[2].parent / "shared" / "facts" / "configs"
"""Official configs, beside the checkout; not part of it."""

SHIPPED = {
    "gpt-oss-20b": "openai--gpt-oss-20b",
    "gpt-oss-120b": "openai--gpt-oss-120b",
    "deepseek-r1": "deepseek-ai--DeepSeek-R1",
    "deepseek-v3.2": "deepseek-ai--DeepSeek-V3.2",
    "kimi-k2": "moonshotai--Kimi-K2-Instruct",
    "kimi-k2.5": "moonshotai--Kimi-K2.5",
    "llama-3.1-8b": "meta-llama--Meta-Llama-3.1-8B",
    "llama-3.1-70b": "meta-llama--Meta-Llama-3.1-70B",
    "llama-3.1-405b": "meta-llama--Meta-Llama-3.1-405B",
    "llama-3.3-70b": "meta-llama--Meta-Llama-3.1-70B",
    "qwen3-8b": "Qwen--Qwen3-8B",
    "qwen3-32b": "Qwen--Qwen3-32B",
    "qwen3-30b-a3b": "Qwen--Qwen3-30B-A3B",
    "qwen3-235b-a22b": "Qwen--Qwen3-235B-A22B",
    "qwen3.5-397b-a17b": "Qwen--Qwen3.5-397B-A17B",
    "glm-5": "zai-org--GLM-5",
    "minimax-m2.5": "MiniMaxAI--MiniMax-M2.5",
}
"""Shipped model -> official file."""

FP8_BLOCK = {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}

_GPT_OSS: Config = {
    "architectures": ["GptOssForCausalLM"],
    "head_dim": 64,
    "hidden_size": 2880,
    "intermediate_size": 2880,
    "layer_types": ["sliding_attention", "full_attention"] * 12,
    "max_position_embeddings": 131072,
    "num_attention_heads": 64,
    "num_experts_per_tok": 4,
    "num_hidden_layers": 24,
    "num_key_value_heads": 8,
    "num_local_experts": 32,
    "quantization_config": {
        "modules_to_not_convert": [
            "model.layers.*.self_attn",
            "model.layers.*.mlp.router",
            "model.embed_tokens",
            "lm_head",
        ],
        "quant_method": "mxfp4",
    },
    "sliding_window": 128,
    "tie_word_embeddings": False,
    "vocab_size": 201088,
}
_DEEPSEEK: Config = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "first_k_dense_replace": 3,
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "kv_lora_rank": 512,
    "max_position_embeddings": 163840,
    "moe_intermediate_size": 2048,
    "moe_layer_freq": 1,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_attention_heads": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 61,
    "num_key_value_heads": 128,
    "num_nextn_predict_layers": 1,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "quantization_config": FP8_BLOCK,
    "torch_dtype": "bfloat16",
    "v_head_dim": 128,
    "vocab_size": 129280,
}
_INDEX = {"index_head_dim": 128, "index_n_heads": 64, "index_topk": 2048}
_K2: Config = {
    **_DEEPSEEK,
    "first_k_dense_replace": 1,
    "max_position_embeddings": 131072,
    "n_routed_experts": 384,
    "num_attention_heads": 64,
    "num_key_value_heads": 64,
    "vocab_size": 163840,
}
_INT4 = {
    "config_groups": {
        "group_0": {
            "targets": ["Linear"],
            "weights": {"group_size": 32, "num_bits": 4, "strategy": "group", "type": "int"},
        }
    },
    "ignore": [
        "lm_head",
        "re:.*self_attn.*",
        "re:.*shared_experts.*",
        "re:.*mlp\\.(gate|up|gate_up|down)_proj.*",
    ],
    "quant_method": "compressed-tensors",
}
_LLAMA: Config = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "max_position_embeddings": 131072,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "rope_scaling": {"factor": 8.0, "rope_type": "llama3"},
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
_QWEN: Config = {
    "architectures": ["Qwen3ForCausalLM"],
    "head_dim": 128,
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "max_position_embeddings": 40960,
    "num_attention_heads": 32,
    "num_hidden_layers": 36,
    "num_key_value_heads": 8,
    "sliding_window": None,
    "torch_dtype": "bfloat16",
    "use_sliding_window": False,
    "vocab_size": 151936,
}
_QWEN_MOE: Config = {
    **_QWEN,
    "architectures": ["Qwen3MoeForCausalLM"],
    "decoder_sparse_step": 1,
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "mlp_only_layers": [],
    "moe_intermediate_size": 768,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 48,
    "num_key_value_heads": 4,
}
_QWEN_HYBRID: Config = {
    "architectures": ["Qwen3_5MoeForConditionalGeneration"],
    "text_config": {
        "attn_output_gate": True,
        "dtype": "bfloat16",
        "full_attention_interval": 4,
        "head_dim": 256,
        "hidden_size": 4096,
        "layer_types": [*["linear_attention"] * 3, "full_attention"] * 15,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 64,
        "linear_value_head_dim": 128,
        "mamba_ssm_dtype": "float32",
        "max_position_embeddings": 262144,
        "mlp_only_layers": [],
        "moe_intermediate_size": 1024,
        "num_attention_heads": 32,
        "num_experts": 512,
        "num_experts_per_tok": 10,
        "num_hidden_layers": 60,
        "num_key_value_heads": 2,
        "shared_expert_intermediate_size": 1024,
        "vocab_size": 248320,
    },
    "tie_word_embeddings": False,
}
_GLM: Config = {
    **_DEEPSEEK,
    **_INDEX,
    "architectures": ["GlmMoeDsaForCausalLM"],
    "hidden_size": 6144,
    "index_n_heads": 32,
    "intermediate_size": 12288,
    "max_position_embeddings": 202752,
    "num_attention_heads": 64,
    "num_hidden_layers": 78,
    "num_key_value_heads": 64,
    "q_lora_rank": 2048,
    "qk_head_dim": 256,
    "qk_nope_head_dim": 192,
    "quantization_config": None,
    "v_head_dim": 256,
    "vocab_size": 154880,
}
_MINIMAX: Config = {
    "architectures": ["MiniMaxM2ForCausalLM"],
    "head_dim": 128,
    "hidden_size": 3072,
    "intermediate_size": 1536,
    "max_position_embeddings": 196608,
    "num_attention_heads": 48,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 62,
    "num_key_value_heads": 8,
    "num_local_experts": 256,
    "quantization_config": {
        **FP8_BLOCK,
        "modules_to_not_convert": ["gate", "e_score_correction_bias", "lm_head"],
    },
    "shared_intermediate_size": 0,
    "vocab_size": 200064,
}
_CONFIGS: dict[str, Config] = {
    "gpt-oss-20b": _GPT_OSS,
    "deepseek-r1": _DEEPSEEK,
    "deepseek-v3.2": {**_DEEPSEEK, **_INDEX, "architectures": ["DeepseekV32ForCausalLM"]},
    "kimi-k2": _K2,
    "kimi-k2.5": {
        "architectures": ["KimiK25ForConditionalGeneration"],
        "dtype": "bfloat16",
        "text_config": {**_K2, "max_position_embeddings": 262144, "quantization_config": _INT4},
    },
    "llama-3.1-8b": _LLAMA,
    "qwen3-8b": _QWEN,
    "qwen3-30b-a3b": _QWEN_MOE,
    "qwen3.5-397b-a17b": _QWEN_HYBRID,
    "glm-5": _GLM,
    "minimax-m2.5": _MINIMAX,
}
NAMES = tuple(_CONFIGS)
"""Models of which :func:`config` has one, each of another architecture or format."""


def config(name: str) -> Config:
    """The config of a shipped model, a copy to change."""
    return copy.deepcopy(_CONFIGS[name])


def language(said: Config) -> Config:
    """The table of *said* that holds the language model."""
    inner: Config = said.get("text_config", said)
    return inner


def tree(said: Config, name: str = "mine") -> dict[str, Any]:
    """The imported tree; counts are 2 and 1, for who counts stands above the catalogue."""
    return model_tree(said, name=name, title="Mine", source="mine.json", count=lambda _: (2, 1))


def imported(said: Config) -> Model:
    """The imported model."""
    return model_of(tree(said))


def substance(model: Model) -> tuple[Any, ...]:
    """All of a model but what it is called, who says so, and formats of what it does not have."""
    formats = {tensors: model.weights[tensors] for tensors in weight_classes(model)}
    return (
        (model.layers, model.dense_layers, model.hidden, model.dense_width),
        (model.vocab, model.context, model.tied),
        (model.attention, model.moe, model.linear, formats),
    )


def shipped(name: str) -> tuple[Any, ...]:
    """The same of the entry of the catalogue."""
    return substance(catalogue.model(name))
