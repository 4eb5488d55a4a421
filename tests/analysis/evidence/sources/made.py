"""Files as benchmarks write them, made small."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RAW: dict[str, Any] = {
    "date": "20260401-101500",
    "backend": "vllm",
    "model_id": "openai/gpt-oss-120b",
    "num_prompts": 640,
    "max_concurrency": 64,
    "duration": 60.0,
    "completed": 640,
    "total_input_tokens": 640 * 922,
    "total_output_tokens": 640 * 922,
    "output_throughput": 9_830.0,
    "mean_ttft_ms": 100.0,
    "median_ttft_ms": 90.0,
    "mean_tpot_ms": 6.0,
    "median_tpot_ms": 5.9,
}
AGGREGATED: dict[str, Any] = {
    "hw": "b200-trt",
    "conc": 64,
    "image": "nvcr.io#nvidia/tensorrt-llm/release:1.2.0rc2",
    "model": "openai/gpt-oss-120b",
    "infmax_model_prefix": "gptoss",
    "framework": "trt",
    "precision": "fp4",
    "spec_decoding": "none",
    "disagg": False,
    "isl": 1024,
    "osl": 1024,
    "is_multinode": False,
    "tp": 2,
    "ep": 2,
    "dp_attention": "true",
    "tput_per_gpu": 10_610.0,
    "output_tput_per_gpu": 5_300.0,
    "mean_ttft": 0.1408,
    "median_ttft": 0.1098,
    "mean_tpot": 0.00566,
    "median_tpot": 0.00524,
}
SPLIT: dict[str, Any] = {
    **{key: value for key, value in AGGREGATED.items() if key not in ("tp", "ep", "dp_attention")},
    "hw": "gb200",
    "framework": "dynamo-trt",
    "model": "/mnt/models/gpt-oss-120b",
    "disagg": True,
    "is_multinode": True,
    "conc": 512,
    "prefill_tp": 1,
    "prefill_ep": 1,
    "prefill_dp_attention": "false",
    "prefill_num_workers": 1,
    "decode_tp": 2,
    "decode_ep": 2,
    "decode_dp_attention": "true",
    "decode_num_workers": 2,
    "num_prefill_gpu": 1,
    "num_decode_gpu": 4,
    "output_tput_per_gpu": 12_000.0,
    "mean_ttft": 0.3749,
    "mean_tpot": 0.009659,
}
PROFILE: dict[str, Any] = {
    "schema_version": "1.4",
    "request_count": {"unit": "requests", "avg": 160.0},
    "time_to_first_token": {"unit": "ms", "avg": 120.0, "p50": 110.0},
    "inter_token_latency": {"unit": "ms", "avg": 8.0, "p50": 7.9},
    "input_sequence_length": {"unit": "tokens", "avg": 900.0},
    "output_sequence_length": {"unit": "tokens", "avg": 450.0},
    "output_token_throughput": {"unit": "tokens/sec", "avg": 1_900.0},
    "was_cancelled": False,
    "start_time": "2026-04-01T10:15:00",
    "input_config": {
        "endpoint": {"model_names": ["openai/gpt-oss-120b"], "streaming": True},
        "loadgen": {"concurrency": 16},
    },
}
EXPORT_HEAD = (
    "# Apache-2.0\n# InferenceX\n# Attribution to InferenceX is required\n"
    "Model,ISL,OSL,Hardware,Hardware Key,Framework,Precision,TP,Concurrency,Date,"
    "Throughput/Chip (tok/s),Output Throughput/Chip (tok/s),Mean TTFT (s),Median TTFT (s),"
    "Mean TPOT (s),Median TPOT (s),Disaggregated,Num Prefill Chips,Num Decode Chips,"
    "Spec Decoding,EP,DP Attention,Is Multinode\n"
)
EXPORT_ROW = (
    "gpt-oss-120b,1024,1024,B200 (TRT),b200_trt,TRT-LLM,fp4,2,64,2026-04-01,"
    "10610,5300,0.1408,0.1098,0.00566,0.00524,false,2,2,none,2,true,false\n"
)


def written(folder: Path, name: str, content: Any) -> Path:
    """*content* in a file: text as it is, all else as JSON."""
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path
