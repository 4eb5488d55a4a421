"""Traces: files of real requests, and what is wrong with those that are none."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jalapeno.catalogue.traces import trace_bytes, trace_names
from jalapeno.errors import BadScenario, JalapenoError, UnknownName
from jalapeno.simulation import Trace, find_trace, read_trace
from jalapeno.simulation.trace import trace_json, trace_of
from jalapeno.simulation.trace_table import OUTPUTS, PROMPTS, TIMES, trace_columns
from tests.simulation.traces import measured, trace

AZURE = b"""TIMESTAMP,ContextTokens,GeneratedTokens\r
2023-11-16 18:15:46.6805900,374,44\r
2023-11-16 18:15:50.9951690,396,109\r
"""
MOONCAKE = b"""{"timestamp": 5, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]}
{"timestamp": 3005, "input_length": 7322, "output_length": 490, "hash_ids": []}
"""
PLAIN = b"timestamp,prompt,output\n1.5,10,1\n1.75,20,2\n"


def rows(text: bytes) -> list[tuple[int, int, int]]:
    found = trace_columns(text, "x")
    assert not found.cached.any()
    return list(zip(*(column.tolist() for column in found[:3]), strict=True))


# ---- formats


def test_azure_s_dates_are_read_to_a_tenth_of_a_microsecond() -> None:
    assert rows(AZURE) == [(0, 374, 44), (4_314_579_000_000, 396, 109)]


def test_mooncake_counts_milliseconds() -> None:
    assert rows(MOONCAKE) == [(0, 6758, 500), (3_000_000_000_000, 7322, 490)]


def test_other_times_are_seconds_from_the_first_request() -> None:
    assert rows(PLAIN) == [(0, 10, 1), (250_000_000_000, 20, 2)]


@pytest.mark.parametrize("time", [*TIMES, *(f"{name}_s" for name in TIMES)])
@pytest.mark.parametrize("prompt", PROMPTS)
def test_names_of_columns_may_be_written_in_many_ways(time: str, prompt: str) -> None:
    for output in OUTPUTS:
        if (time, prompt, output) == ("timestamp", "input_length", "output_length"):
            continue  # Mooncake's
        names = (time.upper(), prompt.title().replace("_", " "), output)
        assert rows(f"{','.join(names)},else\n1,2,3,x\n2,3,4,y\n".encode())[1] == (10**12, 3, 4)
        lines = [json.dumps(dict(zip(names, values, strict=True))) for values in ((1, 2, 3),)]
        assert rows("\n".join(lines).encode()) == [(0, 2, 3)]


def test_a_name_may_say_milliseconds() -> None:
    assert rows(b"arrival_time_ms,prompt,output\n0,1,1\n2.5,1,1\n")[1][0] == 2_500_000_000


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2024-05-10T00:00:00", "2024-05-10T00:00:01.5"),
        ("2024-05-10 00:00:00.0+00:00", "2024-05-10 02:00:01.5+02:00"),
        ("2024-05-10 00:00:00Z", "2024-05-10 00:00:01.500000Z"),
    ],
)
def test_dates_may_have_a_t_and_a_zone(first: str, second: str) -> None:
    text = f"timestamp,prompt,output\n{first},1,1\n{second},1,1\n"
    assert rows(text.encode())[1][0] == 1_500_000_000_000


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.replace(b"\n", b"\n\n"),
        PLAIN.rstrip(),
        b"\xef\xbb\xbf" + PLAIN,
        PLAIN.replace(b"10", b'"10"').replace(b"1.5", b" 1.5 "),
        PLAIN.replace(b"10", b"10.0"),
        b'{"timestamp":1.5,"prompt":10,"output":1}\n\n{"timestamp":1.75,"prompt":"20","output":2}',
    ],
)
def test_the_same_trace_may_be_written_in_many_ways(text: bytes) -> None:
    assert rows(text) == rows(PLAIN)


TOKENS = st.integers(1, 10**6)


@given(st.lists(st.tuples(st.integers(0, 10**9), TOKENS, TOKENS), min_size=1, max_size=20))
def test_csv_and_jsonl_say_the_same(drawn: list[tuple[int, int, int]]) -> None:
    found = sorted(drawn)
    names = ("time_ms", "prompt", "output")
    csv = "\n".join(",".join(map(str, row)) for row in (names, *found))
    lines = "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in found)
    expected = [((time - found[0][0]) * 10**9, a, b) for time, a, b in found]
    assert rows(csv.encode()) == rows(lines.encode()) == expected


# ---- what is wrong


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds nothing; it needs a time (timestamp, time, "),
        ("\n \n", "holds nothing"),
        ("timestamp,prompt,output\n", "has a header and no request"),
        ("when,prompt,output\n1,2,3", "no column for the time among 'when', 'prompt', 'output'"),
        ("time,output\n1,3", "no column for the prompt among 'time', 'output'; a trace needs"),
        ("time,prompt,isl,output\n1,2,2,3", "several columns for the prompt among 'prompt', 'isl'"),
        ("time,prompt,output\n1,2,3\n0.5,2,3", "line 3: the time 0.5 is before 1: sort the trace"),
        ("time,prompt,output\n\n1,2,3\n\n0,2,3", "line 5: the time 0 is before 1"),
        ("time,prompt,output\n1,2,3\n-1,2,3", "line 3: the time -1 is negative"),
        ("time,prompt,output\nnan,2,3", "line 2: time: 'nan' is not a time"),
        ("time,prompt,output\n1,2,3\ninf,2,3", "line 3: time: 'inf' is not a time"),
        ("time,prompt,output\n1,2,3\n,2,3", "line 3: time: '' is not a time"),
        ("time,prompt,output\nnoon,2,3", "line 2: 'noon' is no time: a number, or a date as in"),
        (
            "time,prompt,output\n2023-01-01 00:00:00,2,3\n2023-13-01 00:00:00,2,3",
            "line 3: '2023-13-01 00:00:00' is no time",
        ),
        ("time,prompt,output\n1,2,3\n1e9,2,3", "spans 11,574 days; the clock ends after 53"),
        (
            "time,prompt,output\n2023-01-01 00:00:00,2,3\n2024-01-01 00:00:00,2,3",
            "spans 365 days; the clock ends after 53: cut the trace",
        ),
        ("time,prompt,output\n1,0,3", "line 2: prompt: '0' is no whole number from 1 to"),
        ("time,prompt,output\n1,2,0", "line 2: output: '0' is no whole number from 1 to"),
        ("time,prompt,output\n1,2,-3", "line 2: output: '-3' is no whole number from 1 to"),
        ("time,prompt,output\n1,2.5,3", "line 2: prompt: '2.5' is no whole number from 1 to"),
        ("time,prompt,output\n1,1e12,3", "line 2: prompt: '1e12' is no whole number from 1 to"),
        ("time,prompt,output\n1,two,3", "line 2: prompt: 'two' is not a whole number of tokens"),
        ("time,prompt,output\n1,2\n", "line 2: output: '' is not a whole number of tokens"),
        ("time,prompt,output\n1,NaN,3", "line 2: prompt: 'NaN' is not a whole number of tokens"),
        ("time,prompt,output\n1,2,3,4", "not CSV: "),
        ('time,prompt,output\n"1,2,3\n4,5,6', "not CSV"),
        ("{", "line 1: not JSON: "),
        ('{"time":1,"prompt":2,"output":3}\n[1]', "line 2: not a JSON object: [1]"),
        ('{"time":1,"prompt":2,"output":3}\n{"tim', "line 2: not JSON: "),
        ('{"time":1,"prompt":2,"output":3}\n\n{"time":1,"prompt":2}', "line 3: no ['output'] in {"),
        ('{"time":1,"prompt":2,"output":null}', "line 1: no ['output'] in {"),
        ('{"time":1,"prompt":2,"output":NaN}', "line 1: no number as JSON has it in {"),
        ('{"time":1,"prompt":2,"output":[3]}', "line 1: output: '[3]' is not a whole number"),
        ('{"time":1,"prompt":true,"output":3}', "line 1: prompt: 'true' is not a whole number"),
        ('{"when":1}', "no column for the time among 'when'"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, said: str) -> None:
    with pytest.raises(BadScenario, match=rf"^x: {re.escape(said)}"):
        trace_columns(text.encode(), "x")


def test_what_is_no_text_is_said_to_be_none() -> None:
    with pytest.raises(BadScenario, match=r"^x: not text in UTF-8: "):
        trace_columns(b"\xff\xfe", "x")


CELLS = st.one_of(
    st.sampled_from(
        ["1", "2.5", "", "nan", "-1", "1e400", '"', "2023-01-01 00:00:00", "\x00", "{"]
    ),
    st.text(max_size=6),
    st.integers().map(str),
    st.floats().map(str),
)
NEARLY = st.one_of(
    st.binary(max_size=200),
    st.builds(
        lambda names, lines: "\n".join(",".join(row) for row in (names, *lines)).encode(
            "utf-8", "surrogatepass"
        ),
        st.permutations(["time", "prompt", "output"]),
        st.lists(st.lists(CELLS, min_size=2, max_size=4), max_size=5),
    ),
    st.lists(
        st.dictionaries(
            st.sampled_from(["timestamp", "prompt", "output", "x"]),
            st.one_of(CELLS, st.integers(), st.floats(), st.none(), st.lists(st.integers())),
        ).map(json.dumps),
        max_size=4,
    ).map(lambda lines: "\n".join(lines).encode()),
    st.binary(max_size=60).map(gzip.compress),
    st.binary(max_size=60).map(lambda data: b"\x1f\x8b" + data),
)


@settings(max_examples=400, deadline=None)
@given(NEARLY)
def test_whatever_a_file_holds_it_is_a_trace_or_refused(data: bytes) -> None:
    try:
        found = trace_columns(data, "x")
    except JalapenoError:
        return
    assert (np.diff(found.times) >= 0).all()
    assert found.times[0] == 0
    assert found.prompts.min() >= 1
    assert found.outputs.min() >= 1


@pytest.mark.parametrize(
    "data", [b"\x1f\x8b", b"\x1f\x8bxxxxxxxxxxxxxxx", gzip.compress(PLAIN, mtime=0)[:-9]]
)
def test_a_broken_gzip_file_is_said_to_be_one(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.gz").write_bytes(data)
    with pytest.raises(BadScenario, match=r"a\.gz: not a whole gzip file: "):
        read_trace(tmp_path / "a.gz")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadScenario, match=r"absent\.csv: cannot be read: No such file"):
        read_trace(tmp_path / "absent.csv")
    with pytest.raises(BadScenario, match=r": cannot be read: "):
        read_trace("a\0b")


# ---- the trace as a value


def test_a_trace_is_its_text_wherever_it_lies(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(PLAIN)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(PLAIN, mtime=0))
    one, other = read_trace(tmp_path / "a.csv"), read_trace(tmp_path / "b.csv.gz")
    assert one == other
    assert hash(one) == hash(other)
    assert one.name != other.name
    (tmp_path / "a.csv").write_bytes(PLAIN.replace(b"20", b"21"))
    assert read_trace(tmp_path / "a.csv") != one


def test_nobody_can_change_a_trace() -> None:
    with pytest.raises(ValueError, match="read-only"):
        trace().prompts[0] = 1


def test_the_rate_of_a_trace_is_over_its_gaps() -> None:
    assert trace().span_s == 2.0
    assert trace().requests_per_s == 1.5
    assert np.isnan(trace([0.0], [1], [1]).requests_per_s)


# ---- the catalogue's


def test_the_catalogue_s_trace_is_found_by_name() -> None:
    found = find_trace("azure-2023-conv")
    assert (found.name, found.path, len(found)) == ("azure-2023-conv", None, 2000)
    assert found.prompts[:3].tolist() == [374, 396, 879]


def test_a_name_that_nobody_knows_is_refused_with_the_nearest(tmp_path: Path) -> None:
    message = (
        r"^azure-2023-con: no such file, nor a trace of the catalogue; did you mean "
        r"'azure-2023-conv'\?; it has azure-2023-conv$"
    )
    with pytest.raises(BadScenario, match=message):
        find_trace("azure-2023-con")
    with pytest.raises(UnknownName, match="no trace 'x'"):
        trace_bytes("x")
    (tmp_path / "own.csv").write_bytes(PLAIN)
    assert len(find_trace(str(tmp_path / "own.csv"))) == 2


def test_every_trace_of_the_catalogue_is_read_and_has_its_licence() -> None:
    assert trace_names() == ("azure-2023-conv",)
    for name in trace_names():
        assert len(find_trace(name)) == 2000
    readme = Path(__file__).parents[2] / "src/jalapeno/catalogue/data/traces/README.md"
    text = readme.read_text("utf-8")
    for name in trace_names():
        assert f"`{name}.csv`" in text
    assert "CC-BY-4.0" in text
    assert "Splitwise" in text


# ---- in a scenario file


def stored(tmp_path: Path) -> Trace:
    (tmp_path / "t").mkdir(exist_ok=True)
    (tmp_path / "t" / "a.csv").write_bytes(PLAIN)
    return read_trace(tmp_path / "t" / "a.csv")


def test_a_scenario_file_keeps_where_a_trace_is_and_what_it_was(tmp_path: Path) -> None:
    real = stored(tmp_path)
    path = str((tmp_path / "t" / "a.csv").resolve())
    assert trace_json(real) == {"path": path, "sha256": real.sha256}
    assert trace_json(real, tmp_path)["path"] == "t/a.csv"
    assert trace_json(real, tmp_path / "elsewhere")["path"] == path
    named = find_trace("azure-2023-conv")
    assert trace_json(named, tmp_path) == {"name": "azure-2023-conv", "sha256": named.sha256}
    for data, folder in ((trace_json(real), Path("/")), (trace_json(real, tmp_path), tmp_path)):
        assert trace_of(data, folder) == real
    assert trace_of(trace_json(named), tmp_path) == named


def test_a_trace_that_has_changed_is_refused(tmp_path: Path) -> None:
    data = trace_json(stored(tmp_path), tmp_path)
    (tmp_path / "t" / "a.csv").write_bytes(PLAIN.replace(b"20", b"21"))
    message = (
        r"^t/a\.csv: has changed since the scenario was made: sha256 is \w{16}…, it was \w{16}"
    )
    with pytest.raises(BadScenario, match=message):
        trace_of(data, tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        {"path": "a.csv"},
        {"sha256": "x"},
        {"name": "a", "path": "a", "sha256": "x"},
        {"path": 3, "sha256": "x"},
        {"path": "a", "sha256": "x", "rows": 3},
    ],
)
def test_half_a_trace_is_refused(data: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises((TypeError, KeyError)):
        trace_of(data, tmp_path)


# ---- measured


@pytest.mark.parametrize(
    ("place", "requests", "prompt", "output"),
    [
        ("azure/AzureLLMInferenceTrace_2023_conv.csv.gz", 19_366, 1155, 211),
        ("azure/AzureLLMInferenceTrace_2023_code.csv.gz", 8_819, 2048, 28),
        ("mooncake/conversation_trace.jsonl.gz", 12_031, 12_035, 343),
        ("mooncake/synthetic_trace.jsonl.gz", 3_993, 15_325, 149),
    ],
)
def test_public_traces_have_their_published_means(
    place: str, requests: int, prompt: int, output: int
) -> None:
    found = read_trace(measured(place))
    assert len(found) == requests
    assert round(found.prompts.mean()) == prompt
    assert round(found.outputs.mean()) == output


def test_the_catalogue_s_trace_is_the_beginning_of_the_published_one() -> None:
    whole = read_trace(measured("azure/AzureLLMInferenceTrace_2023_conv.csv.gz"))
    ours = find_trace("azure-2023-conv")
    assert (ours.times == whole.times[:2000]).all()
    assert (ours.prompts == whole.prompts[:2000]).all()
    assert (ours.outputs == whole.outputs[:2000]).all()


def test_dates_are_the_seconds_that_another_simulator_made_of_them() -> None:
    dates = read_trace(measured("azure/AzureLLMInferenceTrace_2023_conv.csv.gz"))
    seconds = read_trace(measured("vidur/processed_traces/splitwise_conv.csv.gz"))
    assert abs(dates.times - seconds.times).max() <= 1
    assert (dates.prompts == seconds.prompts).all()
