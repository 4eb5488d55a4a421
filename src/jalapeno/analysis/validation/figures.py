"""Tiers that compare figure by figure: schedulers, racks, offline throughput, prefix hits."""

from __future__ import annotations

from jalapeno.analysis.validation.framed import Bound, framed
from jalapeno.analysis.validation.offline import offline_throughput
from jalapeno.analysis.validation.prefixes import TOLERANCE, prefix_hits
from jalapeno.analysis.validation.rack import rack_scale
from jalapeno.analysis.validation.scheduler import compare_runs

SCHEDULER = framed(
    "T3",
    "The scheduler: real runs of vLLM replayed, operator times as profiled",
    "mean error of mean, median, P90, P95, P99: TPOT 1 %, E2E 1.5 %, TTFT 5 %",
    compare_runs,
    (
        Bound("TPOT, mean error of five statistics", 0.01, "TPOT"),
        Bound("E2E, mean error of five statistics", 0.015, "E2E"),
        Bound("TTFT, mean error of five statistics", 0.05, "TTFT"),
    ),
)

RACKS = framed(
    "T4",
    "Racks: MLPerf Inference in the submitted layouts",
    "output tokens/s of every run within 20 %",
    rack_scale,
    (Bound("output tokens/s, largest error of a run", 0.2, "output throughput", "max"),),
)
OFFLINE = framed(
    "T5",
    "Offline throughput: what NVIDIA publishes of TensorRT-LLM",
    "MAPE of output tokens/s/GPU at most 20 %",
    offline_throughput,
    (Bound("output tokens/s/GPU, MAPE", 0.2, "output throughput"),),
)
PREFIXES = framed(
    "T7",
    "Prefix hits: Mooncake's and kv-cache-tester's traces in an infinite cache",
    "every share of hits within a point",
    prefix_hits,
    (Bound("largest difference of a share of hits, points", TOLERANCE, "", "max"),),
)
