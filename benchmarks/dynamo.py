"""NVIDIA Dynamo's offline replay on the same machine, in an environment of its own.

It is the closest public tool: a discrete-event replay of serving workers, in Rust.  It mocks the
engine, so only its speed is compared, on requests of the same nominal lengths.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

VERSION = "1.4.1"
REQUESTS = 10_000
FOLDER = Path("out").absolute() / "bench" / "dynamo"


def install() -> Path | None:
    """The Python of an environment with Dynamo, made when it is not there; None if it cannot be."""
    python = FOLDER / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER)], check=True)
    wanted = [f"ai-dynamo=={VERSION}", f"ai-dynamo-runtime=={VERSION}"]
    done = subprocess.run(
        [str(python), "-m", "pip", "install", "-q", *wanted], capture_output=True, text=True
    )
    if done.returncode:
        print(f"dynamo cannot be installed: {done.stderr.strip()[-200:]}", file=sys.stderr)
        return None
    return python


def requests_per_second() -> float | None:
    """Requests that Dynamo's offline replay simulates a second (start-up included); None if it
    cannot be run here."""
    python = install()
    if python is None:
        return None
    command = [str(python), "-m", "dynamo.replay", "--replay-mode", "offline"]
    command += ["--input-tokens", "8192", "--output-tokens", "1024"]
    command += ["--request-count", str(REQUESTS), "--replay-concurrency", "2048"]
    command += ["--num-workers", "8"]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, cwd=FOLDER)
    seconds = time.perf_counter() - begin
    if done.returncode:
        print(f"dynamo's replay failed: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return None
    return REQUESTS / seconds
