"""T2, end to end: measured InferenceX points against everyone who predicts them."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from jalapeno import catalogue
from jalapeno.analysis.validation.contenders import PEER_NAME, TWIN, Contender, peer, peer_says
from jalapeno.analysis.validation.protocols import HELD_OUT, TITLES, play, protocol
from jalapeno.analysis.validation.ranking import median_taus
from jalapeno.analysis.validation.scores import QUANTITIES, SLICES, banded, score, scores
from jalapeno.analysis.validation.tiers import Asked, Data, Finding, Verdict
from jalapeno.errors import UsageError

NAME, TITLE = "T2", "End to end: measured InferenceX points"

AMD, UNIFIED, SPLIT = "AMD", "unified", "split"
"""Parts of the rows that have targets of their own; ``unified`` and ``split`` are NVIDIA's."""

NOT_BLIND = (
    "Where nothing is fitted, the twin has round numbers for constants, which were chosen after "
    "first fits to these points had been seen. Tiles of 16 rows, which GPUs fill, were chosen on "
    "points of gpt-oss-120b with that model left out. Neither is a blind prediction."
)
"""What the twin knew of the points before any protocol began."""

EVERYONE = "everyone on the peer's points"


@dataclass(frozen=True, slots=True)
class Target:
    """An upper bound on one measure of one quantity for part of the rows under a protocol."""

    protocol: str
    part: str
    quantity: str
    measure: str
    most: float


TARGETS = (
    Target("curves", UNIFIED, "tpot", "mape", 0.12),
    Target("curves", UNIFIED, "tpot", "median", 0.07),
    Target("curves", UNIFIED, "throughput", "mape", 0.12),
    Target("curves", UNIFIED, "ttft", "median", 0.25),
    Target("systems", UNIFIED, "tpot", "mape", 0.18),
    Target("models", UNIFIED, "tpot", "mape", 0.18),
    Target("curves", SPLIT, "tpot", "mape", 0.18),
    Target("curves", AMD, "tpot", "mape", 0.20),
)
TAU = 0.85
"""Least median of Kendall's tau over (model, system), whole curves held out."""

WORDS = {"mape": "MAPE", "median": "median APE"}


def with_part(rows: pl.DataFrame) -> pl.DataFrame:
    """*rows* with the part that each belongs to in column ``part``."""
    vendors = {name: catalogue.system(name).chip.vendor for name in rows["system"].unique()}
    amd = [name for name, vendor in vendors.items() if vendor == "AMD"]
    part = pl.when(pl.col("system").is_in(amd)).then(pl.lit(AMD)).otherwise("mode")
    return rows.with_columns(part.alias("part"))


def plays(data: Data) -> pl.DataFrame:
    """Everyone's predictions under every protocol, with columns ``protocol`` and ``contender``.

    A protocol without rows to fit on is for those who need none.
    """
    found = []
    rounds = [
        (name, who)
        for name in data.protocols
        for who in data.contenders
        if who.needs_rows is False or name != "datasheet"
    ]
    for done, (name, who) in enumerate(rounds):
        data.on_progress("predictions", done, len(rounds))
        found.append(_played(data.rows, name, who))
    data.on_progress("predictions", len(rounds), len(rounds))
    if not found:
        raise UsageError("nobody to ask: name a protocol that a contender can take part in")
    return pl.concat(found, how="diagonal")


def _played(rows: pl.DataFrame, name: str, who: Contender) -> pl.DataFrame:
    folds = protocol(name)(rows)
    return play(folds, who.fit).with_columns(
        pl.lit(name).alias("protocol"), pl.lit(who.name).alias("contender")
    )


def run(data: Data) -> Finding:
    """Play every protocol with every contender, score, and judge the twin."""
    if data.rows.is_empty():
        raise UsageError("no measured points to validate on: name a file with --data")
    played = banded(with_part(plays(data)))
    tables = {"by part": summary(played, "part")}
    notes = [
        f"{len(data.rows):,} points of {data.rows['curve'].n_unique():,} curves: {data.source}."
    ]
    if {TWIN, "datasheet"} <= {*played["contender"], *played["protocol"]}:
        notes.append(NOT_BLIND)
    beside = _peer_rows(data)
    if beside is not None and "curves" in data.protocols:
        same, asked = beside
        ours = played.filter(pl.col("protocol") == "curves").join(
            same.select("id"), on="id", how="semi"
        )
        both = pl.concat([ours, same], how="diagonal").with_columns(
            pl.lit(EVERYONE).alias("protocol")
        )
        tables[EVERYONE] = summary(both, "part")
        notes.append(
            f"AIConfigurator predicts {len(same):,} of the {asked:,} points that it was asked "
            "about; all are scored on those."
        )
    tables |= {f"by {column}": _slices(played, column) for column in SLICES}
    tables |= left_out(played)
    tables["ranking"] = ranking(played)
    tables = {title: _in_order(table, data) for title, table in tables.items()}
    return Finding(
        tier=NAME,
        title=TITLE,
        frame=played,
        verdicts=verdicts(played),
        notes=tuple(notes),
        tables=tables,
    )


def _peer_rows(data: Data) -> tuple[pl.DataFrame, int] | None:
    """(rows that the peer predicts with what it says, how many it was asked about)."""
    said = peer_says()
    asked = data.rows.join(said.select("id"), on="id", how="semi")
    if asked.is_empty():
        return None
    played = _played(asked, "datasheet", peer())
    known = played.filter(pl.col("predicted_tpot_ms").is_not_null())
    return banded(with_part(known)), len(asked)


def summary(played: pl.DataFrame, column: str) -> pl.DataFrame:
    """Scores by protocol, contender and *column*, and over all of it."""
    each = scores(played, ["protocol", "contender", column])
    whole = scores(
        played.with_columns(pl.lit("all").alias(column)), ["protocol", "contender", column]
    )
    return pl.concat([each, whole]).rename({column: "slice"})


def left_out(played: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Scores of each system while it is left out, and of each model: who misses, and where."""
    found = {}
    for name, column in HELD_OUT.items():
        kept = played.filter(pl.col("protocol") == name)
        if column in SLICES and len(kept):
            table = scores(kept, ["contender", column]).rename({column: "slice"})
            found[f"each {column} left out"] = table
    return found


def _in_order(table: pl.DataFrame, data: Data) -> pl.DataFrame:
    """*table* by protocol, slice and contender, in the order in which *data* names them."""
    orders = {
        "protocol": [*data.protocols, EVERYONE],
        "contender": [*(who.name for who in data.contenders), PEER_NAME],
    }
    places = [
        pl.col(name).replace_strict(order, range(len(order)), return_dtype=pl.Int64)
        if name in orders
        else pl.col(name)
        for name in ("protocol", "slice", "contender")
        if name in table.columns
        for order in [orders.get(name, [])]
    ]
    return table.sort(places, maintain_order=True)


def _slices(played: pl.DataFrame, column: str) -> pl.DataFrame:
    """Scores by contender and *column*, whole curves held out."""
    kept = played.filter(pl.col("protocol") == "curves")
    return scores(kept, ["contender", column]).rename({column: "slice"})


def ranking(played: pl.DataFrame) -> pl.DataFrame:
    """Median taus of every contender under every protocol, for both sorts of group."""
    rows = []
    for (name, who), group in played.group_by("protocol", "contender", maintain_order=True):
        loose, strict = median_taus(group, ("model", "system")), median_taus(group)
        rows.append(
            {
                "protocol": name,
                "contender": who,
                "tau_model_system": loose["tau_all"],
                "tau_workload": strict["tau_all"],
                "tau_equal": strict["tau_equal"],
                "groups": int(loose["groups_tau_all"]),
                "groups_equal": int(strict["groups_tau_equal"]),
            }
        )
    return pl.DataFrame(rows)


def verdicts(played: pl.DataFrame, who: str = TWIN) -> tuple[Verdict, ...]:
    """Every target against what *who* reaches; none where *who* did not play."""
    own = played.filter(pl.col("contender") == who)
    if own.is_empty():
        return ()
    found = [
        _judged(target, own)
        for target in TARGETS
        if target.protocol in own["protocol"].unique() and target.part in own["part"].unique()
    ]
    curves = own.filter(pl.col("protocol") == "curves")
    if len(curves):
        taus = median_taus(curves, ("model", "system"))
        found.append(
            Verdict(
                tier=NAME,
                measure="Kendall tau of output tokens/s/GPU, median over (model, system)",
                target=TAU,
                reached=taus["tau_all"],
                unit="",
                at_most=False,
                points=int(taus["groups_tau_all"]),
            )
        )
    return tuple(found)


def _judged(target: Target, own: pl.DataFrame) -> Verdict:
    rows = own.filter((pl.col("protocol") == target.protocol) & (pl.col("part") == target.part))
    found = score(rows, target.quantity)
    part = {UNIFIED: "unified rows", SPLIT: "split-pool rows", AMD: "AMD rows"}[target.part]
    missing = int(found["missing"])
    return Verdict(
        tier=NAME,
        measure=(
            f"{part}, {TITLES[target.protocol]}: {QUANTITIES[target.quantity].title} "
            f"{WORDS[target.measure]}"
        ),
        target=target.most,
        reached=found[target.measure],
        points=int(found["points"]),
        note=f"{missing:,} without a prediction" if missing else "",
    )


TIER = Asked(
    NAME,
    TITLE,
    "TPOT MAPE 12 % on held-out curves; 18 % on left-out systems and models, and on split pools",
    run,
)
