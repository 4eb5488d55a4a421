"""Parts of a Hugging Face config as parts of a model entry: attention, linear attention, FFN.

What would change the cost of a token and cannot be said in an entry is refused, by its field.
"""

from __future__ import annotations

from typing import Any

from jalapeno.catalogue.huggingface_fields import MOST_LAYERS, Fields

Part = dict[str, Any]
"""Keys of an entry."""

FULL, SLIDING, LINEAR = "full_attention", "sliding_attention", "linear_attention"
"""Kinds of layers."""

UNMODELLED = (
    "attention_output_gate",
    "compress_ratios",
    "hc_mult",
    "linear_attn_config",
    "mla_use_nope",
    "mla_use_output_gate",
    "routed_expert_hidden_size",
    "sparse_attention_config",
)
"""Fields that change what a token costs, wherever they stand, in ways that an entry cannot say."""

_STATES = {"float32": "fp32", "bfloat16": "bf16"}


def layers_of(config: Fields) -> int:
    """How many layers there are."""
    return config.count("num_hidden_layers", most=MOST_LAYERS)


def refuse_unmodelled(config: Fields) -> None:
    """Raise :class:`BadFact` for a field of :data:`UNMODELLED` that says anything."""
    for key in UNMODELLED:
        if config.values.get(key):
            raise config.bad(key, "nothing, for it changes what a token costs and is not modelled")


# ---- attention


def grouped(config: Fields) -> Part:
    """Grouped-query attention of which every layer sees all, ``head_dim`` given."""
    _refuse_windows(config)
    return _grouped(config, config.count("head_dim"))


def llama(config: Fields) -> Part:
    """The same where ``head_dim`` may be left to follow from the width."""
    _refuse_windows(config)
    if config.has("head_dim"):
        return grouped(config)
    heads, hidden = config.count("num_attention_heads"), config.count("hidden_size")
    if hidden % heads:
        raise config.bad("num_attention_heads", f"a divisor of hidden_size, {hidden}")
    return _grouped(config, hidden // heads)


def windowed(config: Fields) -> Part:
    """gpt-oss: some layers see a sliding window, and heads have sinks."""
    kinds = config.each("layer_types", (FULL, SLIDING), layers_of(config))
    layers = kinds.count(SLIDING)
    window = config.count("sliding_window") if layers else 0
    part = _grouped(config, config.count("head_dim"))
    return {**part, "window": window, "window_layers": layers, "sinks": True}


def gated(config: Fields) -> Part:
    """Qwen3.5: gated attention in the layers that are not linear."""
    if config.has("sliding_window"):
        raise config.bad("sliding_window", "nothing, for windows beside linear layers have no form")
    part = _grouped(config, config.count("head_dim"))
    return {**part, "gated": config.flag("attn_output_gate", default=True)}


def _grouped(config: Fields, head_dim: int) -> Part:
    heads, kv_heads = config.count("num_attention_heads"), config.count("num_key_value_heads")
    if heads % kv_heads:
        raise config.bad("num_key_value_heads", f"a divisor of num_attention_heads, {heads}")
    part: Part = {"type": "gqa", "heads": heads, "kv_heads": kv_heads, "head_dim": head_dim}
    return {**part, "window": 0, "window_layers": 0, "sinks": False}


def latent(config: Fields) -> Part:
    """Multi-head latent attention of DeepSeek-V3 and Kimi K2."""
    _refuse_windows(config)
    heads = config.count("num_attention_heads")
    nope, rope = config.count("qk_nope_head_dim"), config.count("qk_rope_head_dim")
    config.agree("num_key_value_heads", heads, "as num_attention_heads: the latent serves all")
    config.agree("qk_head_dim", nope + rope, "qk_nope_head_dim and qk_rope_head_dim together")
    return {
        "type": "mla",
        "heads": heads,
        "q_rank": config.count("q_lora_rank"),
        "kv_rank": config.count("kv_lora_rank"),
        "nope_dim": nope,
        "rope_dim": rope,
        "value_dim": config.count("v_head_dim"),
    }


def sparse(config: Fields) -> Part:
    """The same with the indexer of DeepSeek-V3.2; GLM-5.2 shares indexers between layers."""
    part, layers = latent(config), layers_of(config)
    if config.has("indexer_types"):
        kinds = config.each("indexer_types", ("full", "shared"), layers)
        if kinds[0] != "full":
            raise config.bad("indexer_types", "'full' first: there is none before to share")
        layers = kinds.count("full")
    else:
        config.agree("index_topk_freq", 1, "or indexer_types to say which layers have an indexer")
    dim = config.count("index_head_dim")
    scales = -(-dim // 128)
    index = {
        "heads": config.count("index_n_heads"),
        "dim": dim,
        "top_k": config.count("index_topk"),
        "key_bytes": {
            "value": f"{dim + 4 * scales} B",
            "kind": "derived",
            "source": "index_head_dim values in FP8 and an FP32 scale for each 128, as DeepSeek's "
            "kernels keep them",
        },
        "layers": layers,
    }
    return {**part, "index": index}


def _refuse_windows(config: Fields) -> None:
    """Raise :class:`BadFact` where a layer does not see everything before it."""
    layers = layers_of(config)
    if config.flag("use_sliding_window", default=config.has("sliding_window")):
        key = "sliding_window" if config.has("sliding_window") else "use_sliding_window"
        raise config.bad(key, "none: of this architecture, windows are not modelled")
    if config.has("layer_types"):
        config.each("layer_types", (FULL,), layers)
    config.agree("attn_type_list", [1] * layers, "1 (full attention) for each layer")


# ---- linear attention


def kinds_of(config: Fields) -> tuple[str, ...]:
    """Kind of each layer of Qwen3.5, from ``layer_types`` or every how many one is full."""
    layers = layers_of(config)
    if not config.has("layer_types"):
        every = config.count("full_attention_interval")
        return tuple(LINEAR if (layer + 1) % every else FULL for layer in range(layers))
    kinds = config.each("layer_types", (FULL, LINEAR), layers)
    if config.has("full_attention_interval"):
        every = config.count("full_attention_interval")
        if kinds.count(FULL) != layers // every:
            raise config.bad(
                "full_attention_interval", f"what layer_types has, {kinds.count(FULL)} full layers"
            )
    return kinds


def delta(config: Fields) -> Part:
    """Gated DeltaNet layers of Qwen3.5."""
    key_heads = config.count("linear_num_key_heads")
    value_heads = config.count("linear_num_value_heads")
    if value_heads % key_heads:
        raise config.bad(
            "linear_num_key_heads", f"a divisor of linear_num_value_heads, {value_heads}"
        )
    return {
        "layers": kinds_of(config).count(LINEAR),
        "key_heads": key_heads,
        "value_heads": value_heads,
        "key_dim": config.count("linear_key_head_dim"),
        "value_dim": config.count("linear_value_head_dim"),
        "conv_width": config.count("linear_conv_kernel_dim"),
        "state": _STATES[config.word("mamba_ssm_dtype", _STATES)],
    }


# ---- feed-forward networks


def dense(config: Fields) -> Part:
    """The same FFN in every layer, for every token."""
    return {"dense_layers": layers_of(config), "dense_width": config.count("intermediate_size")}


def deepseek_experts(config: Fields) -> Part:
    """Leading dense layers, then routed and shared experts."""
    layers = layers_of(config)
    leading = config.count("first_k_dense_replace", least=0, most=layers - 1)
    if config.has("mlp_layer_types"):
        kinds = config.each("mlp_layer_types", ("dense", "sparse"), layers)
        if kinds != ("dense",) * leading + ("sparse",) * (layers - leading):
            raise config.bad(
                "mlp_layer_types", f"'dense' {leading} times first, as in first_k_dense_replace"
            )
    config.agree("moe_layer_freq", 1, "experts in each layer after the dense ones")
    return {
        "dense_layers": leading,
        "dense_width": config.count("intermediate_size") if leading else 0,
        "moe": _experts(
            config,
            "n_routed_experts",
            shared=config.count_or("n_shared_experts", 0),
            width=config.count("moe_intermediate_size"),
        ),
    }


def local_experts(config: Fields) -> Part:
    """gpt-oss and MiniMax-M2: experts in every layer, ``intermediate_size`` wide."""
    width = config.count("intermediate_size")
    config.agree("shared_intermediate_size", 0, "for this architecture has no shared expert")
    moe = _experts(config, "num_local_experts", shared=0, width=width)
    config.agree("experts_per_token", moe["top_k"], "as num_experts_per_tok")
    return {"dense_layers": 0, "dense_width": 0, "moe": moe}


def qwen_experts(config: Fields) -> Part:
    """Qwen3: experts in every layer but leading ones; Qwen3.5 has a shared expert."""
    layers, width = layers_of(config), config.count("moe_intermediate_size")
    config.agree("decoder_sparse_step", 1, "experts in every layer")
    given = config.values.get("mlp_only_layers")
    leading = len(given) if isinstance(given, list) else 0
    config.agree("mlp_only_layers", list(range(leading)), "dense layers before all others")
    if leading >= layers:
        raise config.bad("mlp_only_layers", f"fewer than num_hidden_layers, {layers}")
    shared = config.count_or("shared_expert_intermediate_size", 0)
    if shared % width:
        raise config.bad(
            "shared_expert_intermediate_size", f"a multiple of moe_intermediate_size, {width}"
        )
    return {
        "dense_layers": leading,
        "dense_width": config.count("intermediate_size") if leading else 0,
        "moe": _experts(config, "num_experts", shared=shared // width, width=width),
    }


def _experts(config: Fields, key: str, shared: int, width: int) -> Part:
    experts = config.count(key)
    top_k = config.count("num_experts_per_tok")
    if top_k > experts:
        raise config.bad("num_experts_per_tok", f"at most {key}, {experts}")
    return {"experts": experts, "top_k": top_k, "shared": shared, "width": width}
