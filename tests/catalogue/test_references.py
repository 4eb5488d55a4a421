"""The measured rows: layouts add up, Little's law holds, and the claims are made of them."""

from __future__ import annotations

import math

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import Claim, Row, Workers
from jalapeno.errors import UnknownName

ROWS = catalogue.rows()
MEASURED = [row for row in ROWS if row.measured]
PER_CHIP = "tput_per_gpu"
by_name = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
by_measured_name = pytest.mark.parametrize("row", MEASURED, ids=lambda row: row.name)


def chips(pool: Workers) -> int:
    return pool.workers * pool.tp * pool.dp


def running(row: Row) -> float:
    """Sequences that decoded at once, by Little's law: rate of tokens times time a token."""
    rate = row.measured["output_tput_per_decode_gpu"] * chips(row.decode)
    return rate * row.measured["mean_tpot_ms"] / 1e3


def slots(row: Row) -> int:
    return row.decode.slots * row.decode.workers * row.decode.dp


# ---- the tables


def test_the_tables_hold_the_published_rows() -> None:
    sizes = {table: len(catalogue.rows(table)) for table in catalogue.tables()}
    assert sizes == {
        "gb200-gpt-oss-120b": 13,
        "gb300-deepseek-r1": 10,
        "gb300-deepseek-r1-mtp": 9,
        "gb300-kimi-k2.5": 11,
    }


def test_all_rows_are_those_of_the_tables() -> None:
    by_table = [row for table in catalogue.tables() for row in catalogue.rows(table)]
    assert list(ROWS) == by_table


def test_a_misspelt_table_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'gb300-kimi-k2\.5'"):
        catalogue.rows("gb300-kimi-k2")


@by_name
def test_a_row_says_where_it_comes_from(row: Row) -> None:
    assert "InferenceX by SemiAnalysis" in row.source
    assert "Apache-2.0" in row.source


@by_name
def test_a_row_names_things_of_the_catalogue(row: Row) -> None:
    assert row.model in catalogue.names("models")
    assert row.system in catalogue.names("systems")
    assert row.engine in catalogue.names("engines")


@by_name
def test_the_name_of_a_row_says_system_model_load_and_layout(row: Row) -> None:
    start = f"{row.system.split('-')[0]}-{row.model}"
    pool = row.decode
    kind = "dep" if pool.dp > 1 else "tep" if pool.ep > 1 else "tp"
    many = f"{pool.workers}x" if pool.workers > 1 else ""
    mtp = "-mtp" if row.mtp else ""
    assert row.name == f"{start}{mtp}-c{row.concurrency}-{many}{kind}{pool.tp * pool.dp}"


# ---- layouts


@by_name
@pytest.mark.parametrize("role", ["prefill", "decode"])
def test_a_layout_is_tensor_expert_or_data_parallel(row: Row, role: str) -> None:
    pool: Workers = getattr(row, role)
    is_tensor = pool.ep == 1 and pool.dp == 1
    is_tensor_with_experts = pool.ep == pool.tp and pool.dp == 1
    is_data_with_experts = pool.ep == pool.dp and pool.tp == 1
    assert is_tensor or is_tensor_with_experts or is_data_with_experts


@by_name
def test_a_layout_fits_its_system(row: Row) -> None:
    system = catalogue.system(row.system)
    assert chips(row.prefill) + chips(row.decode) <= system.chips


@pytest.mark.parametrize(
    ("name", "gpus"),
    [
        ("gb200-gpt-oss-120b-c1-tp8", 9),
        ("gb200-gpt-oss-120b-c64-tp4", 5),
        ("gb200-gpt-oss-120b-c512-tp4", 6),
        ("gb200-gpt-oss-120b-c512-dep2", 4),
        ("gb300-deepseek-r1-c5-4xtep8", 34),
        ("gb300-deepseek-r1-c5-5xtep4", 22),
        ("gb300-deepseek-r1-c72-3xtep8", 26),
        ("gb300-deepseek-r1-c666-dep32", 46),
        ("gb300-deepseek-r1-c2253-dep16", 44),
        ("gb300-deepseek-r1-c3228-3xdep4", 34),
        ("gb300-deepseek-r1-mtp-c180-dep32", 40),
        ("gb300-deepseek-r1-mtp-c2253-dep8", 28),
        ("gb300-kimi-k2.5-c4-4xtep8", 36),
        ("gb300-kimi-k2.5-c2151-dep32", 64),
    ],
)
def test_a_layout_has_the_published_number_of_gpus(name: str, gpus: int) -> None:
    row = catalogue.row(name)
    assert chips(row.prefill) + chips(row.decode) == gpus


@by_measured_name
def test_the_rates_of_the_pools_add_up_to_that_of_all_gpus(row: Row) -> None:
    # Output is counted over decode GPUs, input over prefill GPUs, the sum over all.
    answer = row.measured["output_tput_per_decode_gpu"] * chips(row.decode)
    total = row.measured[PER_CHIP] * (chips(row.prefill) + chips(row.decode))
    assert total / answer == pytest.approx(9.0, rel=0.03)
    if "input_tput_per_prefill_gpu" in row.measured:
        prompt = row.measured["input_tput_per_prefill_gpu"] * chips(row.prefill)
        assert prompt + answer == pytest.approx(total, rel=1e-3)


@by_measured_name
def test_interactivity_is_the_reciprocal_of_mean_tpot(row: Row) -> None:
    tokens = row.measured["mean_tokens_per_s_per_user"]
    assert 1e3 / row.measured["mean_tpot_ms"] == pytest.approx(tokens, rel=1e-3)


@by_measured_name
def test_a_row_has_the_figures_that_a_comparison_needs(row: Row) -> None:
    needed = {PER_CHIP, "mean_tpot_ms", "median_tpot_ms", "median_ttft_ms", "mean_e2e_s"}
    assert needed <= set(row.measured)
    assert all(value > 0 for value in row.measured.values())


# ---- slots


@by_measured_name
def test_the_slots_hold_what_ran_at_once(row: Row) -> None:
    assert running(row) <= slots(row)


@by_measured_name
def test_no_more_ran_at_once_than_clients_asked(row: Row) -> None:
    assert running(row) <= row.concurrency


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.decode.slots_kind == "little"], ids=lambda row: row.name
)
def test_slots_from_littles_law_are_the_next_power_of_two(row: Row) -> None:
    each = running(row) / (row.decode.workers * row.decode.dp)
    assert row.decode.slots == 2 ** max(0, math.ceil(math.log2(each)))


def test_the_recipes_cap_the_rows_of_r1() -> None:
    assert [
        (row.concurrency, slots(row)) for row in catalogue.rows("gb300-deepseek-r1")
    ] == [
        (5, 4), (5, 20), (12, 8), (15, 20), (30, 20), (72, 48),
        (666, 512), (1229, 1024), (2253, 2048), (3228, 3072),
    ]  # fmt: skip
    assert {row.decode.slots_kind for row in catalogue.rows("gb300-deepseek-r1")} == {"recipe"}


@by_name
def test_a_prefill_rank_holds_the_longest_prompt(row: Row) -> None:
    assert row.prefill.slots == 1
    assert row.prefill.slots_kind == "assumed"
    assert row.prefill.tokens >= 8192 + row.template_tokens


@by_name
def test_a_decode_rank_may_step_all_its_sequences(row: Row) -> None:
    assert row.decode.tokens == row.decode.slots * (row.draft_tokens + 1)


@pytest.mark.parametrize("row", catalogue.rows("gb300-kimi-k2.5"), ids=lambda row: row.name)
def test_layouts_without_results_have_slots_for_every_client(row: Row) -> None:
    assert row.measured == {}
    assert row.decode.slots_kind == "assumed"
    assert row.concurrency <= slots(row) < 4 * row.concurrency


def test_only_the_mtp_table_has_multi_token_prediction() -> None:
    assert {row.name for row in ROWS if row.mtp} == {
        row.name for row in catalogue.rows("gb300-deepseek-r1-mtp")
    }


@pytest.mark.parametrize(
    ("table", "requests", "template"),
    [("gb200-gpt-oss-120b", 8, 69), ("gb300-deepseek-r1", 10, 5), ("gb300-kimi-k2.5", 10, 5)],
)
def test_the_request_lists_can_be_drawn_again(table: str, requests: int, template: int) -> None:
    for row in catalogue.rows(table):
        assert (row.requests_per_slot, row.template_tokens) == (requests, template)


# ---- claims


def per_kilowatt(name: str) -> float:
    """Tokens per second of one row over the TDP of its chips."""
    row = catalogue.row(name)
    return row.measured[PER_CHIP] / catalogue.system(row.system).chip.power.tdp * 1e3


@pytest.mark.parametrize(
    ("claim", "field", "row"),
    [
        ("gpt-oss-120b", "reference_peak_tps_per_kw", "gb200-gpt-oss-120b-c512-dep2"),
        ("gpt-oss-120b", "reference_tps_per_kw_at_its_tbt", "gb200-gpt-oss-120b-c1-tp8"),
        ("deepseek-r1", "reference_peak_tps_per_kw", "gb300-deepseek-r1-c3228-3xdep4"),
        ("deepseek-r1", "reference_tps_per_kw_at_its_tbt", "gb300-deepseek-r1-c5-4xtep8"),
        ("deepseek-r1-mtp", "reference_peak_tps_per_kw", "gb300-deepseek-r1-mtp-c2253-dep8"),
        ("deepseek-r1-mtp", "reference_tps_per_kw_at_its_tbt", "gb300-deepseek-r1-mtp-c5-4xtep8"),
    ],
)
def test_the_references_throughput_is_a_row_over_tdp(claim: str, field: str, row: str) -> None:
    assert getattr(catalogue.claim(claim), field) == pytest.approx(per_kilowatt(row), rel=0.005)


@pytest.mark.parametrize(
    ("claim", "row"),
    [
        ("gpt-oss-120b", "gb200-gpt-oss-120b-c1-tp8"),
        ("deepseek-r1", "gb300-deepseek-r1-c5-5xtep4"),
        ("deepseek-r1-mtp", "gb300-deepseek-r1-mtp-c5-4xtep8"),
    ],
)
def test_the_references_end_to_end_is_the_mean_of_a_row(claim: str, row: str) -> None:
    measured = catalogue.row(row).measured["mean_e2e_s"]
    assert catalogue.claim(claim).reference_min_e2e == pytest.approx(measured, rel=0.005)


@pytest.mark.parametrize(
    ("claim", "row"),
    [
        ("gpt-oss-120b", "gb200-gpt-oss-120b-c1-tp8"),
        ("deepseek-r1", "gb300-deepseek-r1-c5-4xtep8"),
        ("deepseek-r1-mtp", "gb300-deepseek-r1-mtp-c5-4xtep8"),
    ],
)
def test_the_references_tbt_is_the_mean_of_a_row(claim: str, row: str) -> None:
    measured = catalogue.row(row).measured["mean_tpot_ms"] / 1e3
    assert catalogue.claim(claim).reference_min_tbt == pytest.approx(measured, rel=0.005)


@pytest.mark.parametrize(
    ("name", "peak", "at_tbt"),
    [
        ("gpt-oss-120b", 1.90, 53.7),
        ("deepseek-r1", 1.67, 104.0),
        ("deepseek-r1-mtp", 1.52, 8.6),
        ("kimi-k2.5", 1.53, 56.1),
    ],
)
def test_the_published_ratios_are_those_of_the_numbers(
    name: str, peak: float, at_tbt: float
) -> None:
    claim = catalogue.claim(name)
    assert claim.peak_tps_per_kw / claim.reference_peak_tps_per_kw == pytest.approx(peak, abs=0.006)
    at_reference = claim.tps_per_kw_at_reference_tbt / claim.reference_tps_per_kw_at_its_tbt
    assert at_reference == pytest.approx(at_tbt, rel=0.005)


@pytest.mark.parametrize("name", catalogue.names("claims"))
def test_a_claim_is_on_every_count_in_jalapenos_favour(name: str) -> None:
    claim: Claim = catalogue.claim(name)
    assert claim.peak_tps_per_kw > claim.reference_peak_tps_per_kw
    assert claim.min_e2e < claim.reference_min_e2e
    assert claim.min_tbt < claim.reference_min_tbt
    assert claim.tps_per_kw_at_reference_tbt > claim.reference_tps_per_kw_at_its_tbt


@pytest.mark.parametrize("name", catalogue.names("claims"))
def test_a_claim_names_things_of_the_catalogue(name: str) -> None:
    claim = catalogue.claim(name)
    assert claim.model in catalogue.names("models")
    assert {claim.system, claim.reference} <= set(catalogue.names("systems"))


@pytest.mark.parametrize(
    ("name", "per_chip"), [("gpt-oss-120b", 1.11), ("deepseek-r1", 0.83), ("kimi-k2.5", 0.77)]
)
def test_per_chip_the_advantage_is_smaller_than_per_watt(name: str, per_chip: float) -> None:
    claim = catalogue.claim(name)
    ours = claim.peak_tps_per_kw * catalogue.system(claim.system).chip.power.tdp
    theirs = claim.reference_peak_tps_per_kw * catalogue.system(claim.reference).chip.power.tdp
    assert ours / theirs == pytest.approx(per_chip, abs=0.006)
