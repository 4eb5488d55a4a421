"""The command ``jalapeno``: what it can do, and how it ends when it cannot."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
from importlib.metadata import version
from types import FrameType
from typing import Annotated, NoReturn

import typer

from jalapeno.errors import JalapenoError
from jalapeno.presentation.audit.command import audit_command
from jalapeno.presentation.calibration.command import calibrate_command
from jalapeno.presentation.compare_command import compare_command
from jalapeno.presentation.explain_command import explain_command
from jalapeno.presentation.files import unwritable
from jalapeno.presentation.fit_command import fit_command
from jalapeno.presentation.frontier_command import frontier_command
from jalapeno.presentation.list_command import list_command
from jalapeno.presentation.model_command import model_app
from jalapeno.presentation.posterior.command import posterior_command
from jalapeno.presentation.reproduce_command import reproduce_command
from jalapeno.presentation.scenario_command import scenario_command
from jalapeno.presentation.sensitivity_command import sensitivity_command
from jalapeno.presentation.show_command import show_command
from jalapeno.presentation.simulate_command import simulate_command
from jalapeno.presentation.size_command import size_command
from jalapeno.presentation.system_command import system_check_command
from jalapeno.presentation.validation.command import validate_command

INTERRUPTED, TERMINATED = 130, 143
"""128 plus the number of the signal, as shells have it."""

app = typer.Typer(
    name="jalapeno",
    help="An open, executable twin of an LLM-inference system: chip, rack, pod and requests.",
    epilog="Example: jalapeno reproduce",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("list", epilog="Example: jalapeno list chips")(list_command)
app.command(
    "show", epilog="Example: jalapeno show jalapeno-rack --set chip.hbm.bandwidth='20 TB/s'"
)(show_command)
app.command(
    "scenario",
    epilog="Example: jalapeno scenario gpt-oss-120b jalapeno-rack --tp 2 --closed 64 --out a.json",
)(scenario_command)
app.command(
    "simulate",
    epilog="Example: jalapeno simulate scenario.json --out out; or at once: "
    "jalapeno scenario gpt-oss-120b jalapeno-rack --tp 2 --rate 5 | jalapeno simulate -",
)(simulate_command)
app.command("explain", epilog="Example: jalapeno explain out/DIGEST --metric ttft --percentile 99")(
    explain_command
)
app.command(
    "sensitivity", epilog="Example: jalapeno sensitivity scenario.json --answer mean_tbt_ms"
)(sensitivity_command)
app.command(
    "frontier",
    epilog="Example: jalapeno frontier deepseek-r1 gb300-nvl72 --per tdp --at 60 --at 100",
)(frontier_command)
app.command(
    "compare",
    epilog="Example: jalapeno compare jalapeno-rack gb300-nvl72 --model deepseek-r1 --at 60",
)(compare_command)
app.command(
    "size",
    epilog="Example: jalapeno size deepseek-r1 jalapeno-rack --rate 500 --ttft-ms 2000 --speed 60",
)(size_command)
app.command("fit", epilog="Example: jalapeno fit --most 3")(fit_command)
app.command(
    "calibrate", epilog="Example: jalapeno calibrate points.csv --engine vllm --out mine.toml"
)(calibrate_command)
app.command("reproduce", epilog="Example: jalapeno reproduce --out out/reproduce")(
    reproduce_command
)
app.command("posterior", epilog="Example: jalapeno posterior --seed 1 --out out/posterior")(
    posterior_command
)
app.command("audit", epilog="Example: jalapeno audit deepseek-r1 --out audit.png")(audit_command)
app.command("validate", epilog="Example: jalapeno validate --tier T2 --protocol curves")(
    validate_command
)
system_app = typer.Typer(
    help="Chips and systems of one's own.",
    epilog="Example: jalapeno system check my-board.toml",
    no_args_is_help=True,
)
system_app.command("check", epilog="Example: jalapeno system check my-board.toml")(
    system_check_command
)
app.add_typer(system_app, name="system")
app.add_typer(model_app, name="model")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"jalapeno {version('jalapeno-twin')}")
        raise typer.Exit


@app.callback()
def _options(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


def main() -> NoReturn:
    """Run the command line and exit.

    0 is success, 1 a failure, 2 a wrong call or file; 130 and 143 are interrupts.  Whatever goes
    wrong is one line on stderr.
    """
    signal.signal(signal.SIGTERM, _terminate)  # so that half-written folders are removed
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without "ñ" is no reason to fail
    try:
        try:
            app(prog_name="jalapeno")
        finally:
            sys.stdout.flush()
    except JalapenoError as error:
        _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:
        _silence_stdout()
        sys.exit(1)
    except OSError as error:
        if error.filename is None:
            _silence_stdout()
        _fail(_system_says(error), 1)
    except MemoryError:
        _fail("not enough memory: ask for less, such as fewer requests, replicas or slots", 1)
    except Exception as error:
        _fail(_unforeseen(error), 1)
    sys.exit(0)


def _terminate(number: int, frame: FrameType | None) -> None:
    raise SystemExit(TERMINATED)


def _system_says(error: OSError) -> str:
    if error.filename is None:  # a write to what is open already
        return str(unwritable(error, "output"))
    return f"{error.filename}: {error.strerror}"


def _silence_stdout() -> None:
    """Let Python's own flush at the end find nothing to complain about."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> NoReturn:
    print(f"jalapeno: {one_line(message)}", file=sys.stderr)
    sys.exit(code)


def one_line(message: str) -> str:
    """Return *message* without line breaks: a new line begins after a question mark or a "; "."""
    lines = (re.sub(r"\s+", " ", line).strip() for line in message.splitlines())
    return re.sub(r"([?.:;]); ", r"\1 ", "; ".join(line for line in lines if line))


def _unforeseen(error: Exception) -> str:
    """What no one expected, with the place that a report of it needs; or a disguised full disk."""
    hidden = re.search(r"\(os error (\d+)\)", str(error))  # polars wraps what the system said
    if hidden:
        number = int(hidden[1])
        return _system_says(OSError(number, os.strerror(number)))
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "unknown place"
    return f"a bug of ours, please report it: {type(error).__name__}: {error} ({place})"


if __name__ == "__main__":
    main()
