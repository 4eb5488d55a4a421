"""What is missing, wrong or not modelled in a config is said by its field, in one line."""

from __future__ import annotations

from typing import Any

import pytest

from jalapeno.catalogue import Gqa, Mla, read_config
from jalapeno.errors import BadFact
from tests.catalogue.configs import config, imported, language, tree


def refused(name: str, changes: dict[str, Any]) -> str:
    """What is said of the config of *name* with these *changes*."""
    said = config(name)
    language(said).update(changes)
    with pytest.raises(BadFact) as caught:
        tree(said)
    message = str(caught.value)
    assert len(message.splitlines()[0]) < 300
    assert message.startswith("mine.json")
    return message.removeprefix("mine.json: ").removeprefix("text_config: ")


WHOLE = "expected a whole number from 1 to 1,000,000,000, got"


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (-1, "-1"),
        (0, "0"),
        ("4096", '"4096"'),
        (4096.0, "4096.0"),
        (float("nan"), "NaN"),
        (True, "true"),
        ([4096], "[4096]"),
        (10**9 + 1, "1000000001"),
        ("x" * 500, '"' + "x" * 56 + "..."),
    ],
)
def test_a_dimension_is_a_whole_number(value: object, seen: str) -> None:
    assert refused("llama-3.1-8b", {"hidden_size": value}) == f"hidden_size: {WHOLE} {seen}"


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("llama-3.1-8b", "hidden_size"),
        ("llama-3.1-8b", "num_key_value_heads"),
        ("qwen3-8b", "head_dim"),
        ("qwen3-8b", "vocab_size"),
        ("qwen3-30b-a3b", "num_experts"),
        ("gpt-oss-20b", "num_experts_per_tok"),
        ("gpt-oss-20b", "sliding_window"),
        ("deepseek-r1", "q_lora_rank"),
        ("deepseek-r1", "max_position_embeddings"),
        ("deepseek-v3.2", "index_topk"),
        ("qwen3.5-397b-a17b", "linear_num_key_heads"),
    ],
)
def test_a_missing_field_is_named_with_what_it_needs_to_be(name: str, field: str) -> None:
    wanted = "expected a whole number from 1 to 1,000,000,000"
    assert refused(name, {field: None}) == f"{field}: missing: {wanted}"


def test_layers_are_not_without_end() -> None:
    message = refused("llama-3.1-8b", {"num_hidden_layers": 10_001})
    assert message == "num_hidden_layers: expected a whole number from 1 to 10,000, got 10001"


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        (
            "llama-3.1-8b",
            {"num_key_value_heads": 7},
            "num_key_value_heads: expected a divisor of num_attention_heads, 32, got 7",
        ),
        (
            "llama-3.1-8b",
            {"num_attention_heads": 30},
            "num_attention_heads: expected a divisor of hidden_size, 4096, got 30",
        ),
        (
            "qwen3-30b-a3b",
            {"num_experts_per_tok": 129},
            "num_experts_per_tok: expected at most num_experts, 128, got 129",
        ),
        (
            "gpt-oss-20b",
            {"layer_types": ["full_attention"] * 23},
            "layer_types: expected 24 words, one for each of num_hidden_layers, got 23",
        ),
        (
            "gpt-oss-20b",
            {"experts_per_token": 8},
            "experts_per_token: expected 4, as num_experts_per_tok, got 8",
        ),
        (
            "deepseek-r1",
            {"first_k_dense_replace": 61},
            "first_k_dense_replace: expected a whole number from 0 to 60, got 61",
        ),
        (
            "deepseek-r1",
            {"num_key_value_heads": 8},
            "num_key_value_heads: expected 128, as num_attention_heads: the latent serves all, "
            "got 8",
        ),
        (
            "glm-5",
            {"qk_head_dim": 64},
            "qk_head_dim: expected 256, qk_nope_head_dim and qk_rope_head_dim together, got 64",
        ),
        (
            "glm-5",
            {"mlp_layer_types": ["dense"] * 4 + ["sparse"] * 74},
            "mlp_layer_types: expected 'dense' 3 times first, as in first_k_dense_replace, "
            'got ["dense", "dense", "dense", "dense", "sparse", "sparse", ...',
        ),
        (
            "qwen3.5-397b-a17b",
            {"full_attention_interval": 2},
            "full_attention_interval: expected what layer_types has, 15 full layers, got 2",
        ),
        (
            "qwen3.5-397b-a17b",
            {"linear_num_key_heads": 17},
            "linear_num_key_heads: expected a divisor of linear_num_value_heads, 64, got 17",
        ),
        (
            "qwen3.5-397b-a17b",
            {"shared_expert_intermediate_size": 1000},
            "shared_expert_intermediate_size: expected a multiple of moe_intermediate_size, 1024, "
            "got 1000",
        ),
    ],
)
def test_fields_that_contradict_each_other_are_named(
    name: str, changes: dict[str, Any], message: str
) -> None:
    assert refused(name, changes) == message


@pytest.mark.parametrize(
    ("name", "changes", "beginning"),
    [
        ("qwen3-8b", {"use_sliding_window": True}, "use_sliding_window: expected none"),
        (
            "qwen3-8b",
            {"use_sliding_window": True, "sliding_window": 4096},
            "sliding_window: expected none: of this architecture, windows are not modelled, "
            "got 4096",
        ),
        ("llama-3.1-8b", {"sliding_window": 4096}, "sliding_window: expected none"),
        ("deepseek-r1", {"sliding_window": 128}, "sliding_window: expected none"),
        ("qwen3.5-397b-a17b", {"sliding_window": 128}, "sliding_window: expected nothing, for"),
        (
            "qwen3-8b",
            {"layer_types": ["sliding_attention"] * 36},
            "layer_types: not modelled: \"sliding_attention\"; did you mean 'full_attention'?",
        ),
        (
            "gpt-oss-20b",
            {"layer_types": ["chunked_attention"] * 24},
            'layer_types: not modelled: "chunked_attention"',
        ),
        ("gpt-oss-20b", {"layer_types": None}, "layer_types: missing: expected a list of words"),
        ("gpt-oss-20b", {"layer_types": "full"}, 'layer_types: expected a list of words, got "fu'),
        ("minimax-m2.5", {"attn_type_list": [0] * 62}, "attn_type_list: expected [1, 1, 1"),
        ("minimax-m2.5", {"shared_intermediate_size": 64}, "shared_intermediate_size: expected 0"),
        ("qwen3-30b-a3b", {"decoder_sparse_step": 2}, "decoder_sparse_step: expected 1"),
        ("qwen3-30b-a3b", {"mlp_only_layers": [3]}, "mlp_only_layers: expected [0], dense layers"),
        ("qwen3-30b-a3b", {"mlp_only_layers": 5}, "mlp_only_layers: expected [], dense layers"),
        (
            "qwen3-30b-a3b",
            {"mlp_only_layers": list(range(48))},
            "mlp_only_layers: expected fewer than num_hidden_layers, 48",
        ),
        ("deepseek-r1", {"moe_layer_freq": 2}, "moe_layer_freq: expected 1"),
        ("glm-5", {"index_topk_freq": 4}, "index_topk_freq: expected 1, or indexer_types to say"),
        (
            "glm-5",
            {"indexer_types": ["shared"] * 78},
            "indexer_types: expected 'full' first: there is none before to share",
        ),
        ("glm-5", {"indexer_types": ["half"] * 78}, 'indexer_types: not modelled: "half"'),
        ("qwen3.5-397b-a17b", {"mamba_ssm_dtype": "int8"}, 'mamba_ssm_dtype: not modelled: "int8"'),
        ("qwen3.5-397b-a17b", {"mamba_ssm_dtype": None}, "mamba_ssm_dtype: missing: expected one"),
        ("qwen3.5-397b-a17b", {"attn_output_gate": 1}, "attn_output_gate: expected true or false"),
        ("llama-3.1-8b", {"mla_use_output_gate": True}, "mla_use_output_gate: expected nothing"),
        (
            "llama-3.1-8b",
            {"sparse_attention_config": {"a": 1}},
            "sparse_attention_config: expected",
        ),
        ("kimi-k2", {"routed_expert_hidden_size": 3584}, "routed_expert_hidden_size: expected"),
    ],
)
def test_what_would_change_a_cost_and_is_not_modelled_is_refused(
    name: str, changes: dict[str, Any], beginning: str
) -> None:
    assert refused(name, changes).startswith(beginning)


def test_what_is_off_costs_nothing() -> None:
    for said in ({"attention_output_gate": False}, {"sparse_attention_config": None}):
        assert imported({**config("minimax-m2.5"), **said}) == imported(config("minimax-m2.5"))
    window = {"sliding_window": 4096, "use_sliding_window": False}
    assert imported({**config("qwen3-8b"), **window}) == imported(config("qwen3-8b"))


# ---- shapes that none of the shipped models has


def test_qwen_may_have_dense_layers_before_its_experts() -> None:
    model = imported({**config("qwen3-30b-a3b"), "mlp_only_layers": [0, 1]})
    assert (model.dense_layers, model.dense_width) == (2, 6144)
    assert model.weights["dense"] == "bf16"


def test_llama_may_say_its_head_dim() -> None:
    attention = imported({**config("llama-3.1-8b"), "head_dim": 96}).attention
    assert isinstance(attention, Gqa)
    assert attention.head_dim == 96


def test_gpt_oss_may_have_no_window() -> None:
    said = {**config("gpt-oss-20b"), "layer_types": ["full_attention"] * 24}
    assert imported(said).caps == ()


def test_qwen3_5_may_say_every_how_many_layers_is_full() -> None:
    said = config("qwen3.5-397b-a17b")
    del language(said)["layer_types"]
    assert imported(said) == imported(config("qwen3.5-397b-a17b"))


def test_qwen3_5_may_have_no_linear_layer_left() -> None:
    said = config("qwen3.5-397b-a17b")
    language(said).update(layer_types=["full_attention"] * 60, full_attention_interval=1)
    assert imported(said).linear is None


@pytest.mark.parametrize(("dim", "size"), [(64, 68), (128, 132), (192, 200), (256, 264)])
def test_an_indexer_s_key_has_a_scale_for_each_128_values(dim: int, size: int) -> None:
    attention = imported({**config("glm-5"), "index_head_dim": dim}).attention
    assert isinstance(attention, Mla)
    assert attention.index is not None
    assert attention.index.key_bytes == size


# ---- the file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "mine.json: not JSON: Expecting property name"),
        ("[]", "mine.json: expected a table of fields, got []"),
        ("", "mine.json: not JSON: Expecting value"),
        ('{"a": 1, "a": 2}', 'mine.json: "a" is there twice: leave one'),
        ('{"a": {"b": 1, "b": 1}}', 'mine.json: "b" is there twice: leave one'),
        ('{"a": ' + "9" * 5000 + "}", "mine.json: not JSON: Exceeds the limit"),
        ('{"a": ' * 100_000, "mine.json: not JSON: "),
    ],
)
def test_what_is_no_table_of_json_is_said_to_be_none(text: str, message: str) -> None:
    with pytest.raises(BadFact) as caught:
        read_config(text, "mine.json")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("architectures", "message"),
    [
        (None, "architectures: missing: expected a list of words"),
        ("LlamaForCausalLM", 'architectures: expected a list of words, got "LlamaForCausalLM"'),
        ([], "architectures: expected one name, got []"),
        (["A", "B"], 'architectures: expected one name, got ["A", "B"]'),
        ([3], "architectures: expected a list of words, got [3]"),
    ],
)
def test_a_config_names_one_architecture(architectures: object, message: str) -> None:
    with pytest.raises(BadFact, match="architectures") as caught:
        tree({**config("llama-3.1-8b"), "architectures": architectures})
    assert str(caught.value) == f"mine.json: {message}"


def test_a_model_beside_other_towers_has_a_table_of_its_own() -> None:
    said = config("kimi-k2.5")
    del said["text_config"]
    with pytest.raises(BadFact, match=r"^mine.json: text_config: missing: expected a table"):
        tree(said)


def test_the_table_within_is_of_the_architecture_that_belongs_there() -> None:
    message = refused("kimi-k2.5", {"architectures": ["KimiLinearForCausalLM"]})
    assert message.startswith('architectures: expected ["DeepseekV3ForCausalLM"]')


@pytest.mark.parametrize(
    ("key", "outer", "inner"),
    [
        ("tie_word_embeddings", True, False),
        ("torch_dtype", "float32", "bfloat16"),
        ("quantization_config", {"quant_method": "fp8"}, {"quant_method": "mxfp4"}),
    ],
)
def test_what_is_said_twice_must_be_the_same(key: str, outer: object, inner: object) -> None:
    said = config("kimi-k2.5")
    said[key], said["text_config"][key] = outer, inner
    with pytest.raises(BadFact, match=f"^mine.json: {key}: expected what text_config says too"):
        tree(said)


@pytest.mark.parametrize("name", ["", "Mine", "my model", "a/b", "-x", "é"])
def test_a_name_is_one_that_can_be_typed(name: str) -> None:
    with pytest.raises(BadFact, match="cannot be called"):
        tree(config("llama-3.1-8b"), name)
