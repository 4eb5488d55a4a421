"""What is asked about: a model on a system under an engine, and the requests it is asked with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jalapeno import catalogue
from jalapeno.catalogue import Engine, Model, System, engine_of, model_of, system_of
from jalapeno.mapping import Precision
from jalapeno.simulation import AnyLengths, Lengths, resolve
from jalapeno.simulation.scenario import Trees

WORKLOAD = Lengths(isl=8192, osl=1024)
"""The published workload: nominal lengths, drawn uniformly from 80 % of them up (InferenceX)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Facts, formats and lengths, ready to be planned and simulated."""

    trees: Trees
    system: System
    model: Model
    engine: Engine
    precision: Precision
    lengths: AnyLengths

    @property
    def mean_lengths(self) -> tuple[float, float]:
        """Mean prompt and answer, tokens."""
        return self.lengths.means


def subject(
    model: str,
    system: str,
    engine: str | None = None,
    *,
    lengths: AnyLengths = WORKLOAD,
    overrides: Mapping[str, str] | None = None,
    precision: Precision | None = None,
) -> Subject:
    """*model* on *system* under *engine* (None: the system's own), with *overrides* of facts.

    Served in *precision*, or as the engine serves it.  Raises :class:`UnknownName` for a name that
    the catalogue does not have.
    """
    trees = resolve(system, model, engine or catalogue.system(system).engine, overrides)
    on, under, of = system_of(trees["system"]), engine_of(trees["engine"]), model_of(trees["model"])
    return Subject(
        trees=trees,
        system=on,
        model=of,
        engine=under,
        precision=precision or Precision.as_served(under, of, on.chip),
        lengths=lengths,
    )
