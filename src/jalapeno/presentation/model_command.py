"""``jalapeno model import``: a Hugging Face config becomes a model entry."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from jalapeno.catalogue import Model, model_tree, read_config, toml_text
from jalapeno.errors import UsageError
from jalapeno.presentation.arguments import Json
from jalapeno.presentation.console import remark, show_json
from jalapeno.presentation.files import check_own, write_file

File = Annotated[Path, typer.Argument(metavar="CONFIG", help="A config.json of Hugging Face.")]
Name = Annotated[str | None, typer.Option(help="What to call the model; else as the file is.")]
OutFile = Annotated[Path | None, typer.Option("--out", help="File for the entry; else stdout.")]

QUANTISATION = "hf_quant_config.json"
"""Where NVIDIA's checkpoints say their formats, beside a config.json that does not."""

OURS = "# Imported from "
"""How a file begins that this command may replace."""

model_app = typer.Typer(
    help="Bring models of your own.",
    epilog="Example: jalapeno model import config.json --out my-model.toml",
    no_args_is_help=True,
)


@model_app.callback()
def _group() -> None:
    """Bring models of your own."""


@model_app.command(
    "import", epilog="Example: jalapeno model import config.json --name mine --out mine.toml"
)
def import_command(
    file: File, name: Name = None, out: OutFile = None, as_json: Json = False
) -> None:
    """Turn a Hugging Face config.json into a model entry (TOML) that every command takes.

    What the twin does not model is refused, not dropped.
    """
    if out is not None:
        check_own(out, lambda text: text.startswith(OURS))
    tree, source = imported(file, name)
    text = toml_text(tree, f"Imported from {source}: jalapeno model import.")
    if out is not None:
        write_file(out, text)
        remark(f"file: {out}")
    if as_json:
        show_json(tree)
    elif out is None:
        print(text, end="")


def imported(file: Path, name: str | None) -> tuple[dict[str, Any], str]:
    """The entry that *file* describes, and what the file is called in it."""
    title, source = _called(file)
    config = read_config(_text(file), source)
    if _unquantised(config):
        beside = file.parent / QUANTISATION
        if beside.is_file():
            config["quantization_config"] = _quantisation(beside)
            remark(f"formats from {beside}")
        else:
            remark(f"{source}: no quantization_config: all weights as torch_dtype says")
    tree = model_tree(config, name=name or title.lower(), title=title, source=source, count=_count)
    return tree, source


def _unquantised(config: Mapping[str, Any]) -> bool:
    """Whether the config says nothing of formats, nor its language model beside other towers."""
    text = config.get("text_config")
    places = [config, text] if isinstance(text, Mapping) else [config]
    return all(place.get("quantization_config") is None for place in places)


def _count(model: Model) -> tuple[int, int]:
    from jalapeno.mapping import parameters  # a second to import, which list should not wait for

    counted = parameters(model)
    return counted.total, counted.active


def _called(file: Path) -> tuple[str, str]:
    """What the model and what the file is called: a ``config.json`` is named by its folder."""
    place = Path(os.path.realpath(file))  # resolve() of a link in a circle is no OSError
    if place.stem == "config":
        title, source = place.parent.name, f"{place.parent.name}/{place.name}"
    else:
        title, source = place.stem, place.name
    return title.rpartition("--")[2] or "model", source


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError: not UTF-8
        said = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{file}: cannot be read: {said}") from error


def _quantisation(file: Path) -> dict[str, Any]:
    """What ModelOpt says beside the config, as it would say it there."""
    said = read_config(_text(file), file.name).get("quantization")
    if not isinstance(said, dict):
        raise UsageError(f"{file}: quantization: expected a table of fields")
    return {**said, "quant_method": "modelopt"}
