"""Names: what benchmarks call models, systems, engines and formats, and what the catalogue does."""

from __future__ import annotations

import re
from collections.abc import Mapping

from jalapeno import catalogue
from jalapeno.analysis.validation import cleaned

MODELS: Mapping[str, str] = {
    **{long.lower(): short for long, short in cleaned.MODELS.items()},
    "dsr1": "deepseek-r1",
    "gptoss": "gpt-oss-120b",
    "gptoss120b": "gpt-oss-120b",
    "gptoss20b": "gpt-oss-20b",
    "70b": "llama-3.3-70b",
    "llama70b": "llama-3.3-70b",
    "qwen3.5": "qwen3.5-397b-a17b",
    "minimaxm2.5": "minimax-m2.5",
    "glm5": "glm-5",
}
"""InferenceX's short names, and long ones of which the catalogue's name is no beginning."""

SYSTEMS: Mapping[str, str] = {
    **cleaned.SYSTEMS,
    **{system.split("_")[0]: name for system, name in cleaned.SYSTEMS.items()},
    "mi300x": "mi300x-oam",
    "mi325x": "mi325x-oam",
    "mi355x": "mi355x-oam",
}
ENGINES: Mapping[str, str] = {
    **cleaned.ENGINES,
    "trt": "tensorrt-llm",
    "trt-llm": "tensorrt-llm",
    "tensorrt": "tensorrt-llm",
    **{f"dynamo-{name}": ours for name, ours in cleaned.ENGINES.items()},
    "dynamo-trt": "tensorrt-llm",
    "llmd-vllm": "vllm",
    "mori-sglang": "sglang",
}
"""Frameworks by the engine that computes; what routes before it is not told apart."""

_CHECKPOINT = re.compile(
    r"(-(\d{4}|instruct|chat|it|hf|thinking|fp8|fp4|nvfp4|mxfp4|bf16|int4|int8|awq|gptq|w4a16"
    r"|w8a8|dynamic|kv|block|preview|turbo|tput|amd|nvidia|v\d+))*"
)
"""What may follow a model's name in that of its checkpoint."""


def model_of(name: str) -> str | None:
    """The catalogue's model for a model, checkpoint or path called *name*; None for others.

    ``nvidia/DeepSeek-R1-0528-NVFP4-v2`` is ``deepseek-r1``; a distilled model is not its teacher.
    """
    whole = name.strip().lower().replace(" ", "-").replace("_", "-")
    last = whole.rstrip("/").rpartition("/")[2]
    for key in (whole, last):
        if key in MODELS:
            return MODELS[key]
    ours = sorted(catalogue.names("models"), key=len, reverse=True)
    for known in ours:
        if last.startswith(known) and _CHECKPOINT.fullmatch(last[len(known) :]):
            return known
    return None


def system_of(name: str) -> str | None:
    """The catalogue's system for hardware called *name*, such as ``b200-trt``; None for others."""
    whole = name.strip().lower()
    if whole in catalogue.names("systems"):
        return whole
    return SYSTEMS.get(whole) or SYSTEMS.get(re.split(r"[-_ ]", whole)[0])


def engine_of(name: str) -> str | None:
    """The catalogue's engine for a framework called *name*; None for others."""
    whole = name.strip().lower().replace(" ", "-").replace("_", "-")
    return ENGINES.get(whole) or (whole if whole in catalogue.names("engines") else None)


def precision_of(name: str) -> str | None:
    """The ``precision`` of a row for a format called *name*; None for others."""
    whole = name.strip().lower()
    return {"nvfp4": "fp4", "mxfp4": "fp4"}.get(whole, whole if whole in PRECISIONS else None)


PRECISIONS = ("fp4", "fp8", "int4", "bf16")
