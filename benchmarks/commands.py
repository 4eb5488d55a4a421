"""Commands a person waits for, timed from the shell: imports, pictures and files included."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

FOUR = ("jalapeno-rack", "gb300-nvl72", "h200-hgx", "mi355x-oam")


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, and the seconds it may take after compilation."""

    words: tuple[str, ...]
    goal_s: float

    @property
    def line(self) -> str:
        """As one types it."""
        return " ".join(("jalapeno", *self.words))


COMMANDS = (
    Command(("frontier", "gpt-oss-120b", "gb300-nvl72", "--up-to", "72"), 10.0),
    Command(("frontier", "deepseek-r1", "gb300-nvl72", "--up-to", "72"), 10.0),
    Command(
        (
            *("size", "deepseek-r1", "jalapeno-rack", "--rate", "500"),
            *("--ttft-ms", "2000", "--speed", "60"),
        ),
        5.0,
    ),
    Command(("compare", *FOUR, "--model", "gpt-oss-120b"), 30.0),
)


def seconds(command: Command) -> float:
    """Wall-clock seconds of the second of two calls; the first may compile."""
    taken = 0.0
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "jalapeno.presentation.cli", *command.words],
                cwd=folder,
                check=True,
                capture_output=True,
            )
            taken = time.perf_counter() - begin
    return taken
