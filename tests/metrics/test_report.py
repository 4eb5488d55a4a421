"""The report: numbers with units in their names, and JSON that any reader takes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from jalapeno.metrics import Report, attribute, measure
from jalapeno.simulation import Journal, Lengths, simulate
from tests.metrics import journals


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(dotted path, value) of everything that is not a table or a list."""
    match value:
        case dict():
            for name, item in value.items():
                yield from leaves(item, f"{path}.{name}")
        case list():
            for index, item in enumerate(value):
                yield from leaves(item, f"{path}.{index}")
        case _:
            yield path.lstrip("."), value


def one_token_answers() -> Report:
    lengths = Lengths(isl=500, osl=1)
    return measure(simulate(journals.scenario(journals.unified(), lengths=lengths, requests=3)))


def test_a_report_is_json(run: Journal) -> None:
    report = measure(run).as_dict()
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_json_holds_plain_numbers_and_words(run: Journal) -> None:
    kinds = {type(value) for _, value in leaves(measure(run).as_dict())}
    assert kinds <= {float, int, str, bool, type(None)}


def test_json_has_the_names_and_values_of_the_report() -> None:
    report = measure(journals.two_requests())
    data = report.as_dict()
    assert list(data) == [field.name for field in fields(report)]
    assert data["latency"]["ttft_ms"]["p99"] == report.latency.ttft_ms.p99
    assert data["throughput"]["chips"] == 2
    assert data["attribution"]["e2e_by_cause_ms"]["interference"] == 2.0
    assert data["checks"][0] == {
        "name": "requests",
        "holds": True,
        "detail": "2 of 2 done, 2 prompts completed in steps",
    }


def test_kinds_are_words() -> None:
    data = measure(journals.two_requests()).as_dict()
    assert data["kind"] == "assumed"
    assert data["power"]["package_tdp"]["kind"] == "published"


def test_the_undefined_is_null_and_never_a_number() -> None:
    report = one_token_answers()
    assert math.isnan(report.latency.tpot_ms.mean)
    undefined = {path for path, value in leaves(report.as_dict()) if value is None}
    words = ("mean", "median", "p90", "p95", "p99", "p999", "min", "max")
    assert undefined == {
        *(f"latency.tpot_ms.{word}" for word in words),
        *(f"latency.token_gap_ms.{word}" for word in words),
        "latency.mean_tokens_per_s_per_user",
        "latency.median_tokens_per_s_per_user",
        "throughput.offered_requests_per_s",  # a closed loop
        *(
            f"power.{end}_dollars_per_million_{tokens}"  # one source says what a Jalapeño costs
            for end in ("low", "high")
            for tokens in ("tokens", "output_tokens")
        ),
        "saturation",  # of a closed loop
        "tables_kind",  # nothing is priced by tables
        "utilisation.mean_batch",
        "pools.0.mean_batch",
    }


def test_what_is_infinite_is_null_too() -> None:
    report = measure(journals.two_requests())
    power = replace(report.power, dollars_per_million_tokens=math.inf)
    assert replace(report, power=power).as_dict()["power"]["dollars_per_million_tokens"] is None


def test_an_attribution_of_nobody_is_all_null() -> None:
    hand = journals.two_requests()
    report = replace(measure(hand), attribution=attribute(hand.requests.clear()))
    labels = report.as_dict()["attribution"]["ttft_by_cause_ms"]
    assert set(labels.values()) == {None}


def test_what_a_report_cannot_hold_is_refused() -> None:
    report = replace(measure(journals.two_requests()), digest=b"bytes")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^a report does not hold bytes$"):
        report.as_dict()


def test_a_report_says_of_which_scenario_it_is(run: Journal) -> None:
    report = measure(run)
    assert (report.layout, report.digest) == (run.scenario.label, run.scenario.digest)


UNITS = ("_ms", "_s", "_joules", "_tokens", "_chip", "_user", "_kw", "_token", "_chips")
WITHOUT_UNITS = {
    # counts, shares and words
    *("requests", "requests_done", "chips", "layout", "load", "digest", "kind", "price_kind"),
    *("running", "matrix", "vector", "memory", "link", "mean_batch"),
    *("mean_kv_share", "peak_kv_share", "measured"),
}


def test_every_number_has_its_unit_in_its_name() -> None:
    def check(part: Any) -> None:
        for field in fields(part):
            value = getattr(part, field.name)
            if is_dataclass(value) and not field.name.endswith("_ms"):
                check(value)
            elif isinstance(value, int | float | str):
                assert field.name.endswith(UNITS) or field.name in WITHOUT_UNITS, field.name

    check(measure(journals.two_requests()))
