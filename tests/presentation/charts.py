"""A Vega-Lite chart taken apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def nodes(spec: Any) -> Iterator[dict[str, Any]]:
    """Every table of *spec*, itself included."""
    if isinstance(spec, dict):
        yield spec
        for value in spec.values():
            yield from nodes(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from nodes(value)


def marks(spec: Any) -> list[dict[str, Any]]:
    """Every layer that draws something."""
    return [node for node in nodes(spec) if "mark" in node and "encoding" in node]


def mark_type(layer: dict[str, Any]) -> str:
    mark = layer["mark"]
    return str(mark["type"] if isinstance(mark, dict) else mark)


def rows(spec: dict[str, Any], layer: dict[str, Any]) -> list[dict[str, Any]]:
    """The data of *layer*, wherever the chart keeps them."""
    data = layer["data"]
    found = data["values"] if "values" in data else spec["datasets"][data["name"]]
    assert isinstance(found, list)
    return found


def titles(spec: Any, channel: str) -> set[str]:
    """What the axis of *channel* is called."""
    return {
        layer["encoding"][channel]["title"]
        for layer in marks(spec)
        if layer["encoding"].get(channel, {}).get("title")
    }
