"""Small entries, whole and valid, for the tests to damage."""

from __future__ import annotations

import copy
from typing import Any

SAID = {"kind": "assumed", "source": "made up for tests"}


def said(value: str | float, **more: object) -> dict[str, Any]:
    """A leaf with its evidence."""
    return {"value": value, **SAID, **more}


_CHIP: dict[str, Any] = {
    "name": "toy",
    "vendor": "nobody",
    "stepping": "one",
    "default": SAID,
    "steppings": {"one": 1.0, "half": 0.5},
    "cores": 4,
    "matrix": {
        "peak_4x4": "8 TFLOP/s",
        "peak_8x4": "4 TFLOP/s",
        "peak_8x8": "2 TFLOP/s",
        "peak_16x16": "1 TFLOP/s",
        "tile_rows": 8,
        "tile_columns": 8,
    },
    "vector": {"peak": "0.1 TFLOP/s"},
    "hbm": {"capacity": "1 GiB", "bandwidth": "100 GB/s"},
    "host": {"capacity": "4 GiB", "bandwidth": "10 GB/s"},
    "energy": {
        "per_flop_4x4": "1 pJ/FLOP",
        "per_flop_8x4": "1 pJ/FLOP",
        "per_flop_8x8": "1 pJ/FLOP",
        "per_flop_16x16": "1 pJ/FLOP",
        "per_flop_vector": "1 pJ/FLOP",
        "per_hbm_byte": "30 pJ/B",
        "per_link_byte": "50 pJ/B",
    },
    "power": {"tdp": "10 W", "cap": "8 W", "static": "2 W", "idle": "1 W"},
}


def chip() -> dict[str, Any]:
    """A chip of four cores, its evidence said once."""
    return copy.deepcopy(_CHIP)


def system() -> dict[str, Any]:
    """Two trays of two such chips, joined by two levels."""
    return {
        "name": "toys",
        "title": "Two trays of toys",
        "default": SAID,
        "chip": chip(),
        "engine": "toy-engine",
        "chips": 4,
        "chips_per_tray": 2,
        "chips_per_rack": 4,
        "fabric": {
            "near": {"reach": 2, "bandwidth": "10 GB/s", "latency": "1 us", "reduces": True},
            "far": {"reach": 4, "bandwidth": "1 GB/s", "latency": "2 us", "reduces": False},
        },
    }


def model() -> dict[str, Any]:
    """Four layers of grouped-query attention and experts."""
    return {
        "name": "toy-moe",
        "title": "A toy",
        "default": SAID,
        "layers": 4,
        "dense_layers": 1,
        "hidden": 64,
        "dense_width": 128,
        "vocab": 1000,
        "context": 4096,
        "published_parameters": 1_000_000,
        "published_active": 500_000,
        "attention": {
            "type": "gqa",
            "heads": 4,
            "kv_heads": 2,
            "head_dim": 16,
            "window": 0,
            "window_layers": 0,
            "sinks": False,
        },
        "moe": {"experts": 8, "top_k": 2, "shared": 0, "width": 32},
        "weights": {
            "experts": "mxfp4",
            "shared": "bf16",
            "dense": "bf16",
            "attention": "bf16",
            "head": "bf16",
        },
    }


def row() -> dict[str, Any]:
    """A measured row of one prefill and one decode worker."""
    worker = {"workers": 1, "tp": 1, "ep": 1, "dp": 1, "slots_kind": "assumed"}
    return {
        "name": "toy-row",
        "model": "toy-moe",
        "system": "toys",
        "engine": "toy-engine",
        "concurrency": 4,
        "requests_per_slot": 10,
        "template_tokens": 5,
        "mtp": False,
        "prefill": {**worker, "slots": 1, "tokens": 8448},
        "decode": {**worker, "slots": 4, "tokens": 4},
        "measured": {"tput_per_gpu": 100.5, "mean_tpot_ms": 2},
        "source": "made up for tests",
    }
