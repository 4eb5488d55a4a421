"""A report as tables: latency, throughput, power, attribution, laws."""

from __future__ import annotations

from collections.abc import Mapping

from jalapeno.catalogue import Fact
from jalapeno.metrics import Attribution, Check, Denominator, Distribution, Report
from jalapeno.presentation.digits import UNDEFINED, counted, number, percent
from jalapeno.presentation.saturation import saturation_words
from jalapeno.presentation.tables import MARKS, Table, kind_word
from jalapeno.units import render

PERCENTILES = ("mean", "median", "P90", "P95", "P99", "P99.9")

DENOMINATORS: Mapping[str, str] = {
    "package_tdp": "package TDP (as published)",
    "package": "package, modelled draw",
    "all_in": "all-in IT power",
    "facility": "facility (all-in × PUE)",
}
"""The ways to count a chip's watts, by field of the report's power."""

LABELS: Mapping[str, str] = {
    "front_end": "front end",
    "queue": "queue",
    "slot_wait": "wait for a slot",
    "transfer": "KV transfer",
    "own_prefill": "own prefill",
    "others_prefill": "others' prefill",
    "others_decode": "others' decode",
    "own_decode": "decode",
    "interference": "interference by prefill",
    "issue": "issue/host",
    "throttle": "power cap",
}
"""Words for labels of attribution that are not words already."""


def label_word(label: str) -> str:
    """Return what people call *label*."""
    return LABELS.get(label, label)


def report_tables(report: Report, overridden: Mapping[str, Fact]) -> tuple[Table, ...]:
    """Everything that ``jalapeno simulate`` prints, in order."""
    tables = (
        latency_table(report),
        throughput_table(report),
        power_table(report),
        cost_table(report),
        *((sites_table(report),) if len(report.power.sites) > 1 else ()),
        use_table(report),
        attribution_table(report.attribution, "cause"),
        attribution_table(report.attribution, "part"),
        laws_table(report.checks),
    )
    return (overrides_table(overridden), *tables) if overridden else tables


def overrides_table(overridden: Mapping[str, Fact]) -> Table:
    """The facts that someone replaced."""
    return Table(
        title="overridden facts: this is not the catalogue's system",
        headers=("fact", "here", "catalogue"),
        align="lll",
        rows=tuple((path, fact.text, before(fact)) for path, fact in overridden.items()),
    )


def before(fact: Fact) -> str:
    """What the catalogue says where *fact* was replaced; "–" for a word, which it forgets."""
    if not fact.alternatives:
        return UNDEFINED
    return render(fact.alternatives[0].value, fact.unit)


def latency_table(report: Report) -> Table:
    """Latencies by percentile."""
    found = report.latency
    rows = {
        "time to first token (TTFT)": found.ttft_ms,
        "· front end": found.ttft_front_end_ms,
        "· queue": found.ttft_queue_ms,
        "· prefill": found.ttft_service_ms,
        "· hand-over to decode": found.ttft_handover_ms,
        "time between tokens (TBT, TPOT)": found.tpot_ms,
        "gap before a token (ITL)": found.token_gap_ms,
        "end to end (E2E)": found.e2e_ms,
    }
    return Table(
        title=f"{report.layout}: latency, ms",
        headers=("over requests done", *PERCENTILES),
        align="lrrrrrr",
        rows=tuple((name, *_distribution(values)) for name, values in rows.items()),
        note=saturation_words(report.saturation)
        + "The four parts of TTFT add up in the mean. TBT is, for a request, the time after the "
        "first token over the tokens after it; the gap is over all such tokens alike.",
    )


def _distribution(values: Distribution) -> tuple[str, ...]:
    shown = (values.mean, values.median, values.p90, values.p95, values.p99, values.p999)
    return tuple(number(value, 4) for value in shown)


def throughput_table(report: Report) -> Table:
    """Rates over the whole run."""
    rates, latency = report.throughput, report.latency
    done = f"{report.requests_done:,} of {report.requests:,}"
    rows = (
        ("requests done", done, ""),
        ("duration", number(rates.duration_s, 4), "s"),
        ("requests offered (open loop)", number(rates.offered_requests_per_s, 4), "1/s"),
        ("requests completed", number(rates.requests_per_s, 4), "1/s"),
        ("chips", f"{rates.chips:,}", ""),
        ("mixed tokens (prompt and output)", number(rates.tokens_per_s, 4), "token/s"),
        ("mixed tokens a chip", number(rates.tokens_per_s_per_chip, 4), "token/s/chip"),
        (
            "output tokens a decode chip",
            number(rates.output_tokens_per_s_per_decode_chip, 4),
            "token/s/chip",
        ),
        (
            "prompt tokens a prefill chip",
            number(rates.input_tokens_per_s_per_prefill_chip, 4),
            "token/s/chip",
        ),
        ("a user, mean", number(latency.mean_tokens_per_s_per_user, 4), "token/s/user"),
        ("a user, median", number(latency.median_tokens_per_s_per_user, 4), "token/s/user"),
    )
    return Table(
        title="throughput",
        headers=("over the whole run", "value", "unit"),
        align="lrl",
        rows=rows,
        note=f"Load: {report.load}.",
    )


def denominators(report: Report) -> dict[str, Denominator]:
    """The four denominators by the words of :data:`DENOMINATORS`."""
    return {word: getattr(report.power, name) for name, word in DENOMINATORS.items()}


def power_table(report: Report) -> Table:
    """Tokens for a kilowatt, and joules for a million tokens."""
    rows = tuple(
        (
            word,
            number(found.watts_per_chip, 4),
            number(found.tokens_per_s_per_kw, 4),
            number(found.joules_per_million_tokens),
            number(found.joules_per_million_output_tokens),
            kind_word(found.kind),
        )
        for word, found in denominators(report).items()
    )
    return Table(
        title="power",
        headers=(
            *("denominator", "W/chip", "mixed token/s/kW"),
            *("J a million mixed tokens", "J a million output tokens", "weakest evidence"),
        ),
        align="lrrrrl",
        rows=rows,
        note="Mixed tokens are prompt and output together; output tokens alone bear the joules of "
        f"prompts too. {MARKS}.",
    )


def cost_table(report: Report) -> Table:
    """Dollars for a million tokens, and from how much to how much."""
    found = report.power
    rows = tuple(
        (
            f"a million {sort} tokens",
            *(
                number(getattr(found, f"{end}dollars_per_million_{field}"))
                for end in ("", "low_", "high_")
            ),
            kind_word(found.price_kind),
        )
        for sort, field in (("mixed", "tokens"), ("output", "output_tokens"))
    )
    return Table(
        title="cost of the chips' hours, busy or idle",
        headers=("for", "$", "$, low", "$, high", "weakest evidence"),
        align="lrrrl",
        rows=rows,
        note="Low and high are the least and the most that a source says of a chip's price; there "
        "are none where only one says anything.",
    )


def sites_table(report: Report) -> Table:
    """What each site draws and costs."""
    return Table(
        title="sites: watts a chip, and dollars",
        headers=(
            *("site", "chip", "chips", "modelled draw, W/chip", "TDP, W/chip"),
            *("all-in IT, W/chip", "facility, W/chip", "$ an hour"),
        ),
        align="llrrrrrr",
        rows=tuple(
            (
                site.site,
                site.chip,
                f"{site.chips:,}",
                number(site.package_watts_per_chip, 4),
                number(site.tdp_watts_per_chip, 4),
                number(site.all_in_watts_per_chip, 4),
                number(site.facility_watts_per_chip, 4),
                number(site.dollars_per_hour, 4),
            )
            for site in report.power.sites
        ),
    )


def use_table(report: Report) -> Table:
    """How busy the chips are, in all and by pool."""
    names = report.layout.split(" + ")  # one a pool
    every = (("all", report.utilisation), *zip(names, report.pools, strict=True))
    shares = ("running", "matrix", "vector", "memory", "link")
    rows = tuple(
        (
            name,
            *(percent(getattr(used, share)) for share in shares),
            number(used.mean_batch),
            percent(used.mean_kv_share),
            percent(used.peak_kv_share),
        )
        for name, used in (every if len(report.pools) > 1 else every[:1])
    )
    told = report.utilisation.measured
    note = ""
    if report.tables_kind is not None:
        note = (
            f"Tables ({kind_word(report.tables_kind)}) say {percent(told)} % of the time in "
            "which a step ran; the rest is modelled."
        )
    return Table(
        note=note,
        title="use of the chips",
        headers=(
            "chips",
            *(f"{share}, %" for share in shares),
            "batch, sequences",
            "KV mean, %",
            "KV peak, %",
        ),
        align="lrrrrrrrr",
        rows=rows,
    )


def attribution_table(attribution: Attribution, by: str) -> Table:
    """Where the mean E2E and TTFT go, by ``cause`` or ``part``."""
    e2e: Mapping[str, float] = getattr(attribution, f"e2e_by_{by}_ms")
    ttft: Mapping[str, float] = getattr(attribution, f"ttft_by_{by}_ms")
    whole = sum(e2e.values())
    rows = [
        (
            label_word(label),
            number(value, 4),
            percent(value / whole if whole else 0.0),
            number(ttft[label], 4) if label in ttft else UNDEFINED,
        )
        for label, value in e2e.items()
        if value or ttft.get(label)
    ]
    rows.append(("sum", number(whole, 4), percent(1.0), number(sum(ttft.values()), 4)))
    said = {"cause": "whose work it was", "part": "what bound the step, and waits"}
    return Table(
        title=f"where the mean time goes: {said[by]}",
        headers=(by, "E2E, ms", "E2E, %", "TTFT, ms"),
        align="lrrr",
        rows=tuple(rows),
        note=f"Over {counted(attribution.requests, 'request')}; what took no time is left out.",
    )


def laws_table(checks: tuple[Check, ...]) -> Table:
    """The conservation laws of the run."""
    return Table(
        title="conservation laws",
        headers=("law", "holds", "numbers"),
        align="lll",
        rows=tuple((check.name, "yes" if check.holds else "NO", check.detail) for check in checks),
    )
