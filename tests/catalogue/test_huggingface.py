"""A Hugging Face config becomes the entry that a person would have written."""

from __future__ import annotations

import json
import random
import tomllib
from typing import Any

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import ARCHITECTURES, Kind, Mla, Model, model_of, model_tree, toml_text
from jalapeno.errors import UnknownName
from tests.catalogue.configs import (
    NAMES,
    OFFICIAL,
    SHIPPED,
    config,
    imported,
    language,
    shipped,
    substance,
    tree,
)

UNSHIPPED = (
    "deepseek-ai--DeepSeek-V3",
    "nvidia--DeepSeek-V3.1-NVFP4",
    "nvidia--Kimi-K2.5-NVFP4",
    "zai-org--GLM-5.1",
    "zai-org--GLM-5.2",
)
"""Official configs of what is not shipped, yet can be read."""

REFUSED = {
    "deepseek-ai--DeepSeek-V4-Flash": "DeepseekV4ForCausalLM",
    "deepseek-ai--DeepSeek-V4-Pro": "DeepseekV4ForCausalLM",
    "moonshotai--Kimi-K3": "KimiK3ForConditionalGeneration",
    "MiniMaxAI--MiniMax-M3": "MiniMaxM3ForCausalLM",
}
"""Official configs of architectures that an entry cannot say."""


def official(stem: str) -> dict[str, Any]:
    """An official config, if there is one here."""
    path = OFFICIAL / f"{stem}.json"
    if not path.is_file():
        pytest.skip(f"no official config {path.name} beside the checkout")
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


# ---- the entries that are shipped


@pytest.mark.parametrize("name", NAMES)
def test_what_matters_of_a_config_gives_the_shipped_entry(name: str) -> None:
    assert substance(imported(config(name))) == shipped(name)


@pytest.mark.parametrize(("name", "stem"), SHIPPED.items())
def test_an_official_config_gives_the_shipped_entry(name: str, stem: str) -> None:
    assert substance(imported(official(stem))) == shipped(name)


def test_every_official_config_here_is_expected() -> None:
    if not OFFICIAL.is_dir():
        pytest.skip("no official configs beside the checkout")
    here = {path.stem for path in OFFICIAL.glob("*.json")}
    assert here == {*SHIPPED.values(), *UNSHIPPED, *REFUSED}


def test_every_architecture_but_the_bare_qwen3_5_is_tried() -> None:
    tried = {config(name)["architectures"][0] for name in NAMES}
    assert set(ARCHITECTURES) - tried == {"Qwen3_5MoeForCausalLM"}


def test_the_language_model_of_qwen3_5_may_stand_alone() -> None:
    bare = language(config("qwen3.5-397b-a17b"))
    bare["architectures"] = ["Qwen3_5MoeForCausalLM"]
    assert substance(imported(bare)) == shipped("qwen3.5-397b-a17b")


# ---- others


def test_v3_is_r1() -> None:
    assert substance(imported(official("deepseek-ai--DeepSeek-V3"))) == shipped("deepseek-r1")


def test_glm_5_1_is_glm_5() -> None:
    assert substance(imported(official("zai-org--GLM-5.1"))) == shipped("glm-5")


def test_glm_5_2_shares_the_indexers_of_21_layers() -> None:
    model = imported(official("zai-org--GLM-5.2"))
    assert isinstance(model.attention, Mla)
    assert model.attention.index is not None
    assert (model.layers, model.attention.index.layers) == (78, 21)
    assert model.attention.index.layers * model.attention.index.key_bytes == 2_772


def test_nvidia_s_k2_5_is_k2_5_in_nvfp4_but_for_attention_and_head() -> None:
    model = imported(official("nvidia--Kimi-K2.5-NVFP4"))
    assert model.attention == catalogue.model("kimi-k2.5").attention
    assert model.weights == {
        "experts": "nvfp4", "shared": "nvfp4", "dense": "nvfp4",
        "attention": "bf16", "head": "bf16",
    }  # fmt: skip


def test_without_its_formats_nvidia_s_v3_1_has_the_shape_of_v3_1() -> None:
    model, own = imported(official("nvidia--DeepSeek-V3.1-NVFP4")), catalogue.model("deepseek-v3.1")
    assert (model.attention, model.moe, model.layers) == (own.attention, own.moe, own.layers)
    assert set(model.weights.values()) == {"bf16"}


@pytest.mark.parametrize(("stem", "architecture"), REFUSED.items())
def test_what_an_entry_cannot_say_is_refused_by_name(stem: str, architecture: str) -> None:
    with pytest.raises(UnknownName, match=f"architectures: not modelled: .{architecture}.; did"):
        tree(official(stem))


def test_an_unknown_architecture_gets_the_nearest_and_all() -> None:
    said = {**config("llama-3.1-8b"), "architectures": ["LlamaForCausalML"]}
    with pytest.raises(UnknownName, match="did you mean 'LlamaForCausalLM'") as caught:
        tree(said)
    assert all(name in str(caught.value) for name in ARCHITECTURES)


# ---- evidence


def test_every_number_is_of_the_file_or_counted() -> None:
    facts = model_of(tree(config("glm-5"))).facts
    assert facts["layers"].kind is Kind.PUBLISHED
    assert facts["layers"].source == "mine.json"
    assert facts["attention.index.key_bytes"].kind is Kind.DERIVED
    for path, value in (("published_parameters", 2), ("published_active", 1)):
        assert (facts[path].value, facts[path].kind) == (value, Kind.DERIVED)
        assert "mine.json" in facts[path].source


def test_of_a_model_beside_other_towers_the_table_is_named() -> None:
    facts = model_of(tree(config("kimi-k2.5"))).facts
    assert facts["hidden"].source == "mine.json, text_config"


def test_a_format_that_the_file_does_not_name_is_marked_as_assumed() -> None:
    facts = model_of(tree(config("minimax-m2.5"))).facts
    assert facts["weights.head"].kind is Kind.ASSUMED
    assert "weights.experts" not in facts
    assert "weights.head" not in model_of(tree(config("deepseek-r1"))).facts


def test_who_counts_sees_the_whole_model() -> None:
    seen: list[Model] = []

    def count(model: Model) -> tuple[int, int]:
        seen.append(model)
        return model.layers, model.vocab

    said = model_tree(
        config("qwen3-8b"), name="mine", title="Mine", source="mine.json", count=count
    )
    assert (model_of(said).published_parameters, model_of(said).published_active) == (36, 151936)
    assert substance(seen[0]) == shipped("qwen3-8b")


# ---- laws


@pytest.mark.parametrize("name", NAMES)
def test_the_text_of_an_entry_reads_back_as_the_entry(name: str) -> None:
    first = tree(config(name))
    text = toml_text(first)
    assert tomllib.loads(text) == first
    assert toml_text(tomllib.loads(text)) == text
    assert model_of(tomllib.loads(text)) == model_of(first)


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_fields_does_not_matter(name: str) -> None:
    draw = random.Random(name)

    def shuffled(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        items = [(key, shuffled(inner)) for key, inner in value.items()]
        draw.shuffle(items)
        return dict(items)

    assert toml_text(tree(shuffled(config(name)))) == toml_text(tree(config(name)))


@pytest.mark.parametrize("name", NAMES)
def test_fields_that_cost_nothing_are_passed_over(name: str) -> None:
    said = config(name)
    more = {
        "rope_theta": 1e6,
        "rope_scaling": {"type": "yarn", "factor": 40},
        "n_group": 8,
        "topk_group": 4,
        "num_nextn_predict_layers": 1,
        "mtp_num_hidden_layers": 1,
        "rms_norm_eps": float("nan"),
        "id2label": {"0": "LABEL_0"},
        "attention_bias": True,
    }
    language(said).update(more)
    said["vision_config"] = {"hidden_size": -1}
    assert tree(said) == tree(config(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_config_is_not_changed_by_reading_it(name: str) -> None:
    said = config(name)
    tree(said)
    assert said == config(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_field_that_is_null_is_one_that_is_not_there(name: str) -> None:
    said = config(name)
    for key in ("sliding_window", "layer_types", "n_shared_experts", "quantization_config"):
        gone, null = config(name), config(name)
        language(gone).pop(key, None)
        language(null)[key] = None
        assert outcome(gone) == outcome(null), key
    assert said == config(name)


def outcome(said: dict[str, Any]) -> Any:
    """The tree, or what is said instead."""
    try:
        return tree(said)
    except Exception as error:
        return str(error)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tied", [True, False])
def test_tied_embeddings_are_one_matrix(name: str, tied: bool) -> None:
    said = {**config(name), "tie_word_embeddings": tied}
    language(said)["tie_word_embeddings"] = tied
    assert imported(said).tied is tied
