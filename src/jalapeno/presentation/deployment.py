"""A deployment from options: sites with their facts, pools with their plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, TypeVar

from jalapeno import catalogue
from jalapeno.catalogue import Engine, Model, System, engine_of, model_of, system_of
from jalapeno.errors import UsageError, unknown_name
from jalapeno.mapping import Plan, Precision, check_plan, check_request, room
from jalapeno.presentation.arguments import assignments
from jalapeno.presentation.deployment_arguments import DeploymentOptions
from jalapeno.presentation.keyed import keyed, whole
from jalapeno.presentation.speculation import speculation
from jalapeno.simulation import MAIN, Pool, Preemption, Role, Router, Scenario, resolve
from jalapeno.simulation.scenario import OTHERS, Trees

DEGREES = ("tp", "ep", "dp", "pp", "cp", "redundant", "spread")
KEYS = (*DEGREES, "running", "tokens", "site", "preemption")
"""What ``--pool`` understands."""

Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Facts, pools and router: a scenario without its traffic."""

    trees: Trees
    pools: tuple[Pool, ...]
    router: Router


@dataclass(frozen=True, slots=True)
class _Places:
    """The model and the sites that pools may stand at."""

    model: Model
    sites: Mapping[str, tuple[System, Engine]]

    def precision(self, site: str) -> Precision:
        if site not in self.sites:
            raise unknown_name("site", site, self.sites)
        system, engine = self.sites[site]
        return Precision.as_served(engine, self.model, system.chip)


def deployment(model: str, system: str, options: DeploymentOptions) -> Deployment:
    """What the *options* deploy; :class:`UsageError` for options that do not go together."""
    engine = options.engine or catalogue.system(system).engine
    others = dict(_site(text) for text in options.site or ())
    if len(others) < len(options.site or ()):
        raise UsageError(f"--site: a name twice among {', '.join(options.site or ())}")
    trees = resolve(system, model, engine, assignments(options.settings or ()), others)
    places = _Places(
        model_of(trees["model"]),
        {
            name: (system_of(site["system"]), engine_of(site["engine"]))
            for name, site in {MAIN: trees, **trees.get(OTHERS, {})}.items()
        },
    )
    return Deployment(
        trees=trees,
        pools=_pools(options, places),
        router=chosen(Router, options.router, "--router"),
    )


def _site(text: str) -> tuple[str, tuple[str, str | None]]:
    name, sign, place = text.partition("=")
    system, _, engine = place.partition("/")
    if not (name.strip() and sign and system.strip()):
        raise UsageError(
            f"--site {text}: write NAME=SYSTEM or NAME=SYSTEM/ENGINE, as in west=gb300-nvl72"
        )
    return name.strip(), (system.strip(), engine.strip() or None)


def _pools(options: DeploymentOptions, places: _Places) -> tuple[Pool, ...]:
    given: dict[str, int | str] = {
        name: value for name in DEGREES if (value := getattr(options, name, None)) is not None
    }
    if not options.pool:
        number = 1 if options.replicas is None else options.replicas
        return (_pool(Role.UNIFIED, number, given, options, places),)
    if given or options.replicas is not None:
        names = [f"--{name}" for name in (*given, *(["replicas"] if options.replicas else []))]
        raise UsageError(
            f"{', '.join(names)} with --pool: say it in the pool, as in --pool decode:5:tp=4,ep=4"
        )
    return tuple(_written(text, options, places) for text in options.pool)


def _written(text: str, options: DeploymentOptions, places: _Places) -> Pool:
    option = f"--pool {text}"
    role, _, rest = text.partition(":")
    replicas, _, plan = rest.partition(":")
    values: dict[str, int | str] = {
        key: value if key in ("site", "preemption") else whole(value, f"{option}: {key}")
        for key, value in keyed(plan, KEYS, option).items()
    }
    return _pool(
        chosen(Role, role.strip(), option),
        whole(replicas, f"{option}: replicas"),
        values,
        options,
        places,
    )


def _pool(
    role: Role,
    replicas: int,
    values: Mapping[str, int | str],
    options: DeploymentOptions,
    places: _Places,
) -> Pool:
    site = str(values.get("site", MAIN))
    degrees: dict[str, Any] = {name: int(values[name]) for name in DEGREES if name in values}
    if degrees.get("dp", 1) > 1:
        degrees.setdefault("ep", degrees.get("tp", 1) * degrees["dp"])
    asked = "none" if role is Role.PREFILL else options.preemption
    return Pool(
        role=role,
        plan=Plan(
            **degrees,
            max_running=int(values.get("running", options.running)),
            max_tokens=int(values.get("tokens", options.tokens)),
            precision=places.precision(site),
            **speculation(options, places.model),
        ),
        replicas=replicas,
        site=site,
        preemption=chosen(Preemption, str(values.get("preemption", asked)), "--preemption"),
        prefix_caching=options.prefix_caching and role is not Role.PREFILL,
    )


def chosen(kind: type[Choice], word: str, option: str) -> Choice:
    """The member of *kind* called *word*; :class:`UnknownName` with the nearest and all."""
    names = [member.value for member in kind]
    if word not in names:
        raise unknown_name(f"{kind.__name__.lower()} (in {option})", word, names)
    return kind(word)


def check_deployment(scenario: Scenario) -> None:
    """Raise where a plan does not divide the model, or a request never fits: before it is run."""
    prompts, outputs = scenario.traffic.lengths.draw(scenario.traffic.requests)
    longest, whole_ = int(prompts.max()), int((prompts + outputs).max())
    for pool in scenario.pools:
        site = scenario.site(pool)
        check_plan(pool.plan, scenario.model, site.system)
        space = room(scenario.model, pool.plan, site.system, site.engine)
        tokens = longest if pool.role is Role.PREFILL else whole_
        check_request(space, scenario.model, tokens)


assert {field.name for field in fields(Plan)} >= set(DEGREES)
