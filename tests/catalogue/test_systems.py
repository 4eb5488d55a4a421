"""Chips, racks and pods add up to what their makers say."""

from __future__ import annotations

from itertools import pairwise

import pytest

from jalapeno import catalogue
from jalapeno.catalogue import Chip, Kind, System

CHIPS = catalogue.names("chips")
SYSTEMS = catalogue.names("systems")
TIB = 2**40


@pytest.fixture
def rack() -> System:
    return catalogue.system("jalapeno-rack")


@pytest.fixture
def pod() -> System:
    return catalogue.system("jalapeno-pod")


@pytest.fixture
def jalapeno() -> Chip:
    return catalogue.chip("jalapeno")


# ---- Jalapeño


def test_a_rack_has_the_published_peak(rack: System) -> None:
    assert rack.chips * rack.chip.matrix.peak_4x4 == pytest.approx(1.7e18, rel=0.01)


def test_a_pod_has_the_published_peak(pod: System) -> None:
    assert pod.chips * pod.chip.matrix.peak_4x4 == pytest.approx(27e18, rel=0.02)


def test_a_rack_has_the_published_memory(rack: System) -> None:
    assert rack.chips * rack.chip.hbm.capacity == 27 * TIB


def test_a_pod_has_the_published_memory(pod: System) -> None:
    assert pod.chips * pod.chip.hbm.capacity == 432 * TIB


def test_a_pod_has_the_published_memory_bandwidth(pod: System) -> None:
    assert pod.chips * pod.chip.hbm.bandwidth == pytest.approx(32e15, rel=0.02)


def test_a_rack_is_sixteen_trays_of_eight(rack: System) -> None:
    assert rack.chips == rack.chips_per_rack == 16 * rack.chips_per_tray


def test_a_pod_is_sixteen_racks(rack: System, pod: System) -> None:
    assert pod.chips == 16 * rack.chips
    assert pod.chips_per_rack == rack.chips


def test_a_rack_is_the_inside_of_a_pod(rack: System, pod: System) -> None:
    assert pod.fabric["local"] == rack.fabric["local"]
    assert pod.chip == rack.chip


def test_lanes_of_200_gigabits_make_the_bandwidths(pod: System) -> None:
    lane = 200e9 / 8
    assert pod.fabric["local"].bandwidth == 24 * lane
    assert pod.fabric["global"].bandwidth == 8 * lane


def test_two_hops_take_as_long_as_one_and_another(pod: System) -> None:
    assert pod.fabric["global"].latency == 2 * pod.fabric["local"].latency


def test_six_stacks_run_at_a_pin_rate_that_hbm4_has(jalapeno: Chip) -> None:
    pin = jalapeno.hbm.bandwidth / 6 / 2048 * 8
    assert pin == pytest.approx(10.03e9, rel=0.001)


def test_halving_a_width_doubles_the_peak(jalapeno: Chip) -> None:
    matrix = jalapeno.matrix
    assert matrix.peak_4x4 == 2 * matrix.peak_8x4
    assert matrix.peak_8x4 == pytest.approx(2 * matrix.peak_8x8, rel=0.02)


def test_b0_runs_at_its_peaks_and_a0_below(jalapeno: Chip) -> None:
    assert jalapeno.stepping == "B0"
    assert jalapeno.speed == 1.0
    assert jalapeno.steppings["A0"] == 0.8


def test_the_published_runs_stayed_under_the_cap(jalapeno: Chip) -> None:
    assert jalapeno.power.cap == 550.0 < jalapeno.power.tdp == 700.0


def test_the_bf16_peak_is_known_to_a_factor_of_four_only(jalapeno: Chip) -> None:
    fact = jalapeno.facts["matrix.peak_16x16"]
    assert (fact.low, fact.high) == (0.4e15, 1.7e15)


def test_jalapeno_is_the_memory_rich_design(jalapeno: Chip) -> None:
    def balance(chip: Chip) -> float:
        return chip.matrix.peak_4x4 / chip.hbm.bandwidth

    assert balance(jalapeno) == pytest.approx(870, rel=0.001)
    assert balance(catalogue.chip("gb200")) == 1250
    assert balance(catalogue.chip("gb300")) == 1875


# ---- every chip


@pytest.mark.parametrize("name", CHIPS)
def test_wider_operands_are_never_faster(name: str) -> None:
    matrix = catalogue.chip(name).matrix
    assert matrix.peak_4x4 >= matrix.peak_8x4 >= matrix.peak_8x8 >= matrix.peak_16x16


@pytest.mark.parametrize("name", CHIPS)
def test_wider_operands_never_take_less_energy(name: str) -> None:
    energy = catalogue.chip(name).energy
    assert (
        energy.per_flop_4x4
        <= energy.per_flop_8x4
        <= energy.per_flop_8x8
        <= energy.per_flop_16x16
        <= energy.per_flop_vector
    )


@pytest.mark.parametrize("name", CHIPS)
def test_a_chip_at_full_matrix_rate_stays_within_its_tdp(name: str) -> None:
    chip = catalogue.chip(name)
    matrix, energy = chip.matrix, chip.energy
    for peak, joules in (
        (matrix.peak_4x4, energy.per_flop_4x4),
        (matrix.peak_8x4, energy.per_flop_8x4),
        (matrix.peak_8x8, energy.per_flop_8x8),
        (matrix.peak_16x16, energy.per_flop_16x16),
    ):
        assert peak * joules + chip.power.static <= chip.power.tdp


@pytest.mark.parametrize("name", CHIPS)
def test_no_high_end_of_a_matrix_energy_exceeds_tdp_over_peak(name: str) -> None:
    chip = catalogue.chip(name)
    for width in ("4x4", "8x4", "8x8", "16x16"):
        high = chip.facts[f"energy.per_flop_{width}"].high
        assert high is not None
        bound = chip.power.tdp / getattr(chip.matrix, f"peak_{width}")
        assert high == pytest.approx(bound, rel=0.01)


@pytest.mark.parametrize("name", CHIPS)
def test_idle_draws_less_than_a_running_step(name: str) -> None:
    power = catalogue.chip(name).power
    assert 0 < power.idle < power.static < power.cap <= power.tdp


@pytest.mark.parametrize("name", ["gb200", "gb300", "b200"])
def test_blackwell_runs_mixed_operands_at_the_fp8_rate(name: str) -> None:
    matrix = catalogue.chip(name).matrix
    assert matrix.peak_8x4 == matrix.peak_8x8 == 2 * matrix.peak_16x16


@pytest.mark.parametrize(("name", "watts"), [("gb200", 1200), ("gb300", 1400), ("b200", 1000)])
def test_gpus_have_their_nameplate_power(name: str, watts: float) -> None:
    power = catalogue.chip(name).power
    assert power.tdp == power.cap == watts


def test_blackwell_ultra_adds_fp4_and_memory_and_nothing_else() -> None:
    old, new = catalogue.chip("gb200"), catalogue.chip("gb300")
    assert new.matrix.peak_4x4 == 1.5 * old.matrix.peak_4x4
    assert new.matrix.peak_8x8 == old.matrix.peak_8x8
    assert new.hbm.bandwidth == old.hbm.bandwidth
    assert new.hbm.capacity == 1.5 * old.hbm.capacity


# ---- every system


@pytest.mark.parametrize("name", SYSTEMS)
def test_trays_fill_racks_and_racks_fill_systems(name: str) -> None:
    system = catalogue.system(name)
    assert system.chips % system.chips_per_rack == 0
    assert system.chips_per_rack % system.chips_per_tray == 0


@pytest.mark.parametrize("name", SYSTEMS)
def test_further_levels_are_slower_and_longer(name: str) -> None:
    levels = list(catalogue.system(name).fabric.values())
    for near, far in pairwise(levels):
        assert near.reach < far.reach
        assert near.bandwidth > far.bandwidth
        assert near.latency < far.latency


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_nearest_level_that_joins_a_group_is_chosen(name: str) -> None:
    system = catalogue.system(name)
    levels = list(system.fabric.values())
    assert system.level(2) is levels[0]
    assert system.level(levels[0].reach) is levels[0]
    assert system.level(system.chips).reach >= system.chips


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_names_an_engine_that_there_is(name: str) -> None:
    assert catalogue.system(name).engine in catalogue.names("engines")


@pytest.mark.parametrize("name", CHIPS)
def test_every_chip_is_in_a_system(name: str) -> None:
    assert name in {catalogue.system(system).chip.name for system in SYSTEMS}


@pytest.mark.parametrize("name", [n for n in SYSTEMS if n.endswith(("-hgx", "-oam"))])
def test_a_board_of_eight_is_joined_to_others_at_a_tenth_of_its_rate(name: str) -> None:
    system = catalogue.system(name)
    near, far = system.fabric.values()
    assert (near.reach, far.reach) == (system.chips_per_tray, system.chips) == (8, system.chips)
    assert system.chips >= 256
    assert 0.05 < far.bandwidth / near.bandwidth < 0.15


@pytest.mark.parametrize("name", [n for n in SYSTEMS if n.endswith("-oam")])
def test_seven_links_of_a_mesh_make_its_rate(name: str) -> None:
    system = catalogue.system(name)
    link = 76.8e9 if name == "mi355x-oam" else 64e9
    assert system.fabric["xgmi"].bandwidth == pytest.approx(7 * link)
    assert system.facts["fabric.xgmi.bandwidth"].low == link


def test_only_the_global_level_of_a_pod_has_rails(pod: System) -> None:
    assert pod.fabric["global"].rails == 8
    every = [level for n in SYSTEMS for level in catalogue.system(n).fabric.values()]
    assert sum(level.rails > 1 for level in every) == 1


@pytest.mark.parametrize(
    ("level", "sides"), [("cube", (4, 4, 4)), ("block", (8, 8, 8)), ("pod", (16, 24, 24))]
)
def test_an_all_to_all_on_a_torus_shares_links_with_those_it_passes(
    level: str, sides: tuple[int, int, int]
) -> None:
    def mean_distance(side: int) -> float:
        return sum(min(step, side - step) for step in range(side)) / side

    system = catalogue.system("tpu7x-pod")
    x, y, z = sides
    assert system.fabric[level].reach == x * y * z
    share = 600e9 / sum(map(mean_distance, sides))
    fact = system.facts[f"fabric.{level}.bandwidth"]
    assert (fact.value if fact.low is None else fact.low) == pytest.approx(share)


@pytest.mark.parametrize(
    ("name", "chips", "peak", "flops"),
    [
        ("vera-rubin-nvl72", 72, "peak_4x4", 2.52e18),
        ("trainium3-ultraserver", 144, "peak_8x8", 362e15),
        ("gb300-nvl72", 72, "peak_4x4", 1.08e18),
        ("h100-hgx", 8, "peak_8x8", 15.8e15),
        ("mi355x-oam", 8, "peak_8x8", 40.3e15),
        ("mi355x-oam", 128, "peak_4x4", 1.29e18),
        ("tpu7x-pod", 9216, "peak_8x8", 42.5e18),
    ],
)
def test_racks_and_boards_add_up_to_what_their_makers_say(
    name: str, chips: int, peak: str, flops: float
) -> None:
    system = catalogue.system(name)
    assert chips * getattr(system.chip.matrix, peak) == pytest.approx(flops, rel=0.01)
    assert chips <= system.chips


@pytest.mark.parametrize(
    ("name", "capacity", "bandwidth"),
    [
        ("vera-rubin-nvl72", 20.7e12, 1.58e15),
        ("trainium3-ultraserver", 20736 * 2**30, 705.6e12),
        ("gb300-nvl72", 20.7e12, 576e12),
    ],
)
def test_the_memory_of_racks_adds_up(name: str, capacity: float, bandwidth: float) -> None:
    system = catalogue.system(name)
    assert system.chips * system.chip.hbm.capacity == pytest.approx(capacity, rel=0.01)
    assert system.chips * system.chip.hbm.bandwidth == pytest.approx(bandwidth, rel=0.01)


def test_the_nvlink_of_a_rubin_rack_adds_up() -> None:
    system = catalogue.system("vera-rubin-nvl72")
    assert 72 * 2 * system.fabric["nvlink"].bandwidth == pytest.approx(260e12, rel=0.01)


def test_beyond_the_rack_a_pod_goes_over_its_global_level(pod: System) -> None:
    assert pod.level(128) is pod.fabric["local"]
    assert pod.level(129) is pod.fabric["global"]


@pytest.mark.parametrize("name", ["gb200-nvl72", "gb300-nvl72", "b200-hgx", "b300-hgx"])
def test_nvlink_could_sum_in_its_switches_and_was_not_seen_to(name: str) -> None:
    system = catalogue.system(name)
    assert not system.fabric["nvlink"].reduces
    assert system.fabric["nvlink"].bandwidth == 900e9
    fact = system.facts["fabric.nvlink.reduces"]
    assert fact.kind is Kind.DERIVED
    assert "NVSwitch can sum" in fact.source


@pytest.mark.parametrize("name", ["gb200-nvl72", "gb300-nvl72", "b200-hgx"])
def test_one_may_ask_what_if_it_did(name: str) -> None:
    tree = catalogue.override(catalogue.tree("systems", name), "fabric.nvlink.reduces", "true")
    assert catalogue.system_of(tree).fabric["nvlink"].reduces


def test_reduction_in_jalapenos_switches_is_not_taken_for_granted(pod: System) -> None:
    assert not any(level.reduces for level in pod.fabric.values())


# ---- tariffs


@pytest.mark.parametrize("name", catalogue.names("tariffs"))
def test_a_tariff_is_of_a_chip_and_knows_its_tdp(name: str) -> None:
    tariff = catalogue.tariff(name)
    assert tariff.tdp == catalogue.chip(tariff.system).power.tdp
    assert tariff.tdp < tariff.all_in < 2 * tariff.tdp


@pytest.mark.parametrize("name", CHIPS)
def test_every_chip_has_a_tariff(name: str) -> None:
    assert catalogue.tariff(name).system == name


@pytest.mark.parametrize("name", catalogue.names("tariffs"))
def test_what_nobody_published_of_a_tariff_has_a_range(name: str) -> None:
    facts = catalogue.tariff(name).facts
    weak = [path for path, fact in facts.items() if fact.kind >= Kind.ESTIMATED]
    assert not [path for path in weak if facts[path].low is None or facts[path].high is None]


@pytest.mark.parametrize("name", ["maia-200", "trainium3"])
def test_a_price_that_nobody_knows_is_assumed_with_a_factor_of_two_either_way(name: str) -> None:
    fact = catalogue.tariff(name).facts["price"]
    assert isinstance(fact.value, float)
    assert fact.kind is Kind.ASSUMED
    assert (fact.low, fact.high) == (fact.value / 2, fact.value * 2)


def test_a_tpu_costs_its_owner_44_percent_less_than_a_gb200() -> None:
    fact = catalogue.tariff("tpu7x").facts["price"]
    assert fact.kind is Kind.DERIVED
    assert fact.value == pytest.approx(0.56 * catalogue.tariff("gb200").price, abs=0.005)


@pytest.mark.parametrize(
    ("name", "all_in", "price"),
    [
        ("jalapeno", 1125, 1.56),
        ("gb200", 1870, 2.26),
        ("gb300", 2120, 2.79),
        ("b200", 1710, 2.07),
        ("b300", 1900, 2.52),
        ("h100", 1370, 1.55),
        ("h200", 1370, 1.59),
        ("mi300x", 1390, 1.16),
        ("mi325x", 1690, 1.32),
        ("mi355x", 2090, 2.09),
        ("rubin", 3300, 3.61),
    ],
)
def test_all_tariffs_are_of_one_table(name: str, all_in: float, price: float) -> None:
    tariff = catalogue.tariff(name)
    assert (tariff.all_in, tariff.price, tariff.pue) == (all_in, price, 1.10)


def test_three_sources_disagree_on_the_power_around_a_jalapeno() -> None:
    fact = catalogue.tariff("jalapeno").facts["all_in"]
    assert [alternative.value for alternative in fact.alternatives] == [1258.0, 1375.0]
