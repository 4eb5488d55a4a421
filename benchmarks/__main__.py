"""Run the benchmarks and print ratios: goal over time, and the twin over Dynamo's replay."""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
from pathlib import Path

from benchmarks.cases import CASES, Timing, plans_per_second, time_case
from benchmarks.commands import COMMANDS, Command, seconds
from benchmarks.dynamo import REQUESTS, requests_per_second

PLANS_GOAL = 2000.0
HEADING = """# Speed

Made by `make bench` on one machine in one run, after compilation; journal and percentiles
included; median and fastest of three rounds, each case in a process of its own.  InferenceX lengths
(nominal 8,192 in, 1,024 out, ratio 0.8); those like Azure's are log-normal, with the means and
spread of its 2023 conversations (1,155 in, 211 out).  Commands are timed whole, from the shell.

"""


def in_process_of_its_own(index: int) -> Timing:
    """Time a case in a fresh process, so that its peak memory is its own."""
    command = [sys.executable, "-m", "benchmarks", "--case", str(index), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Timing(**json.loads(done.stdout))


def markdown(
    timings: list[Timing],
    plans: float,
    commands: list[tuple[Command, float]],
    dynamo: float | None,
) -> str:
    """The results as a table; ratios above one are better than the goal."""
    lines = [
        "| case | seconds | fastest | goal | goal / seconds | requests/s | peak memory, GiB |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for timing, case in zip(timings, CASES, strict=True):
        lines.append(
            f"| {timing.name} | {timing.seconds:.3g} | {timing.fastest_s:.3g} | {case.goal_s:g} "
            f"| {case.goal_s / timing.seconds:.2f} | {timing.requests / timing.seconds:,.0f} "
            f"| {timing.peak_gib:.2f} |"
        )
    lines.append("")
    lines.append(
        f"Closed form: {plans:,.0f} plans compiled and estimated a second, "
        f"{plans / PLANS_GOAL:.2f} times the goal of {PLANS_GOAL:,.0f}."
    )
    lines += ["", "| command | seconds | goal | goal / seconds |", "|---|---:|---:|---:|"]
    lines += [
        f"| `{command.line}` | {taken:.3g} | {command.goal_s:g} | {command.goal_s / taken:.2f} |"
        for command, taken in commands
    ]
    lines.append("")
    if dynamo is not None:
        ours = timings[1].requests / timings[1].seconds
        lines.append(
            f"NVIDIA Dynamo's offline replay, {REQUESTS:,} requests, concurrency 2,048, 8 workers, "
            f"same run: {dynamo:,.0f} requests/s; the twin simulates {ours / dynamo:,.0f} times as "
            "many."
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--case", type=int, help="run one case, by its number from 0")
    parser.add_argument("--json", action="store_true", help="print the timing as JSON")
    parser.add_argument("--without-dynamo", action="store_true", help="leave Dynamo out")
    parser.add_argument("--docs", type=Path, help="also write the table into this file")
    asked = parser.parse_args()
    if asked.case is not None:
        timing = time_case(CASES[asked.case])
        print(json.dumps(dataclasses.asdict(timing)) if asked.json else timing)
        return
    timings = []
    for index, case in enumerate(CASES):
        print(f"{index + 1}/{len(CASES)} {case.name}", file=sys.stderr)
        timings.append(in_process_of_its_own(index))
    timed = []
    for command in COMMANDS:
        print(command.line, file=sys.stderr)
        timed.append((command, seconds(command)))
    dynamo = None if asked.without_dynamo else requests_per_second()
    table = markdown(timings, plans_per_second(), timed, dynamo)
    print(table, end="")
    if asked.docs:
        asked.docs.write_text(HEADING + table)


if __name__ == "__main__":
    main()
