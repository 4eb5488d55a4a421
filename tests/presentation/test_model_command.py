"""``jalapeno model import``."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from jalapeno import catalogue
from jalapeno.analysis.subject import subject
from jalapeno.catalogue import Kind, model_of
from jalapeno.mapping import parameters
from tests.catalogue.configs import NAMES, config, shipped, substance
from tests.presentation.conftest import Call


def given(path: Path, said: dict[str, Any] | str) -> Path:
    """A config file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(said if isinstance(said, str) else json.dumps(said), "utf-8")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return given(tmp_path / "Qwen--Qwen3-8B.json", config("qwen3-8b"))


def test_a_link_in_a_circle_is_named(call: Call, tmp_path: Path) -> None:
    circle = tmp_path / "circle.json"
    circle.symlink_to(circle)
    called = call("model", "import", circle)
    assert called.code == 2
    assert "circle.json: cannot be read: Too many levels of symbolic links" in called.complaint


# ---- results


def test_the_entry_is_on_stdout_and_the_rest_on_stderr(call: Call, file: Path) -> None:
    called = call("model", "import", file)
    assert called.code == 0
    tree = tomllib.loads(called.out)
    assert (tree["name"], tree["title"]) == ("qwen3-8b", "Qwen3-8B")
    assert substance(model_of(tree)) == shipped("qwen3-8b")
    assert called.out.startswith("# Imported from Qwen--Qwen3-8B.json: jalapeno model import.\n")
    assert called.err == (
        "Qwen--Qwen3-8B.json: no quantization_config: all weights as torch_dtype says\n"
    )


def test_the_same_file_gives_the_same_bytes(call: Call, file: Path) -> None:
    assert call("model", "import", file).out == call("model", "import", file).out


@pytest.mark.parametrize("name", NAMES)
def test_the_published_counts_are_those_of_the_twin(call: Call, name: str, tmp_path: Path) -> None:
    out = call("model", "import", given(tmp_path / f"{name}.json", config(name))).out
    model = model_of(tomllib.loads(out))
    counted = parameters(catalogue.model(name))
    assert (model.published_parameters, model.published_active) == (counted.total, counted.active)
    assert model.facts["published_active"].kind is Kind.DERIVED
    assert f"{name}.json" in model.facts["published_active"].source


@pytest.mark.parametrize(
    ("name", "total", "active"),
    [
        ("gpt-oss-20b", 20.91e9, 3.61e9),
        ("deepseek-r1", 671.03e9, 36.62e9),
        ("kimi-k2.5", 1026.41e9, 31.69e9),
        ("llama-3.1-8b", 8.03e9, 7.5e9),
        ("qwen3-30b-a3b", 30.53e9, 3.04e9),
        ("minimax-m2.5", 228.69e9, 10.42e9),
    ],
)
def test_they_are_those_of_another_tool(
    call: Call, name: str, total: float, active: float, tmp_path: Path
) -> None:
    out = call("model", "import", given(tmp_path / f"{name}.json", config(name))).out
    model = model_of(tomllib.loads(out))
    assert model.published_parameters == pytest.approx(total, abs=0.0051e9)
    assert model.published_active == pytest.approx(active, abs=0.0051e9)


def test_json_is_the_tree(call: Call, file: Path) -> None:
    tree = json.loads(call("model", "import", file, "--json").out)
    assert tree == tomllib.loads(call("model", "import", file).out)


def test_a_name_may_be_given(call: Call, file: Path) -> None:
    tree = tomllib.loads(call("model", "import", file, "--name", "mine").out)
    assert (tree["name"], tree["title"]) == ("mine", "Qwen3-8B")


def test_a_file_called_config_is_named_by_its_folder(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given(tmp_path / "My-Model" / "config.json", config("llama-3.1-8b"))
    monkeypatch.chdir(tmp_path / "My-Model")
    tree = tomllib.loads(call("model", "import", "config.json").out)
    assert (tree["name"], tree["title"]) == ("my-model", "My-Model")
    assert tree["default"]["source"] == "My-Model/config.json"


# ---- formats beside the config


def test_what_nvidia_says_beside_the_config_is_read(call: Call, tmp_path: Path) -> None:
    said = {**config("deepseek-r1"), "quantization_config": None}
    file = given(tmp_path / "config.json", said)
    beside = {"quant_algo": "NVFP4", "exclude_modules": ["lm_head", "model.layers.*.self_attn*"]}
    given(tmp_path / "hf_quant_config.json", {"quantization": beside})
    called = call("model", "import", file, "--name", "mine")
    assert tomllib.loads(called.out)["weights"] == {
        "experts": "nvfp4", "shared": "nvfp4", "dense": "nvfp4",
        "attention": "bf16", "head": "bf16",
    }  # fmt: skip
    assert called.err == f"formats from {tmp_path / 'hf_quant_config.json'}\n"


def test_what_the_config_says_itself_comes_first(call: Call, tmp_path: Path) -> None:
    file = given(tmp_path / "config.json", config("kimi-k2.5"))
    given(tmp_path / "hf_quant_config.json", {"quantization": {"quant_algo": "NVFP4"}})
    called = call("model", "import", file, "--name", "mine")
    assert tomllib.loads(called.out)["weights"]["experts"] == "int4"
    assert called.err == ""


def test_a_file_beside_that_says_nothing_of_formats_is_refused(call: Call, file: Path) -> None:
    given(file.parent / "hf_quant_config.json", {"producer": {}})
    called = call("model", "import", file)
    assert called.code == 2
    assert called.complaint.endswith(
        "hf_quant_config.json: quantization: expected a table of fields"
    )


# ---- files


def test_out_writes_what_stdout_would_have(call: Call, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "mine.toml"
    called = call("model", "import", file, "--out", out)
    assert (called.code, called.out) == (0, "")
    assert called.err.endswith(f"file: {out}\n")
    assert out.read_text("utf-8") == call("model", "import", file).out


def test_with_json_too_both_are_there(call: Call, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.toml"
    called = call("model", "import", file, "--out", out, "--json")
    assert json.loads(called.out) == tomllib.loads(out.read_text("utf-8"))


def test_what_this_command_wrote_it_replaces(call: Call, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.toml"
    call("model", "import", file, "--out", out)
    assert call("model", "import", file, "--out", out, "--name", "other").code == 0
    assert tomllib.loads(out.read_text("utf-8"))["name"] == "other"


def test_what_somebody_wrote_stays(call: Call, file: Path, tmp_path: Path) -> None:
    out = given(tmp_path / "mine.toml", 'name = "mine"')
    called = call("model", "import", file, "--out", out)
    assert (called.code, called.out) == (1, "")
    assert "this command did not write" in called.complaint
    assert out.read_text("utf-8") == 'name = "mine"'


def test_where_the_import_fails_nothing_is_written(call: Call, tmp_path: Path) -> None:
    file = given(tmp_path / "in" / "mine.json", {"architectures": ["Mamba"]})
    assert call("model", "import", file, "--out", tmp_path / "mine.toml").code == 2
    assert not (tmp_path / "mine.toml").exists()


def test_the_file_can_be_shown(call: Call, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.toml"
    call("model", "import", file, "--out", out, "--name", "mine")
    called = call("show", out, "--shelf", "models")
    assert called.code == 0
    assert "mine (models): Qwen3-8B" in called.out
    assert "8190427136" in called.out
    assert "say what it holds, as in --shelf models" in call("show", out).complaint


def test_the_file_can_be_asked_about(call: Call, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.toml"
    call("model", "import", file, "--out", out, "--name", "mine")
    asked = subject(str(out), "gb300-nvl72")
    assert asked.model.name == asked.trees["model"]["name"] == "mine"
    assert asked.precision == subject("qwen3-8b", "gb300-nvl72").precision


# ---- mistakes


@pytest.mark.parametrize("also", [(), ("--json",)])
@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ("{", "mine.json: not JSON: Expecting property name"),
        (
            {"architectures": ["QwenForCausalLM"]},
            'mine.json: architectures: not modelled: "QwenForCausalLM"; did you mean ',
        ),
        (
            {**config("llama-3.1-8b"), "num_key_value_heads": 7},
            "mine.json: num_key_value_heads: expected a divisor of num_attention_heads, 32, got 7",
        ),
        (
            {**config("llama-3.1-8b"), "hidden_size": "wide"},
            "mine.json: hidden_size: expected a whole number from 1 to 1,000,000,000, got ",
        ),
    ],
)
def test_a_wrong_config_is_one_line_that_names_the_field(
    call: Call, tmp_path: Path, said: Any, complaint: str, also: tuple[str, ...]
) -> None:
    called = call("model", "import", given(tmp_path / "mine.json", said), *also)
    assert (called.code, called.out) == (2, "")
    assert called.complaint.startswith(complaint)


def test_a_config_that_is_not_there_is_named(call: Call, tmp_path: Path) -> None:
    called = call("model", "import", tmp_path / "mine.json")
    assert called.code == 2
    assert called.complaint.endswith("mine.json: cannot be read: No such file or directory")


def test_a_config_that_is_no_text_is_named(call: Call, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_bytes(b"\xff\xff")
    called = call("model", "import", tmp_path / "mine.json")
    assert called.code == 2
    assert "mine.json: cannot be read: 'utf-8' codec" in called.complaint


def test_a_name_that_cannot_be_typed_is_refused(call: Call, file: Path) -> None:
    called = call("model", "import", file, "--name", "My Model")
    assert called.code == 2
    assert called.complaint.startswith("a model cannot be called 'My Model': use lower-case")


@pytest.mark.parametrize("words", [("model", "--help"), ("model", "import", "--help")])
def test_help_has_an_example(call: Call, words: tuple[str, ...]) -> None:
    called = call(*words)
    assert called.code == 0
    assert "Example: jalapeno model import config.json" in called.out
