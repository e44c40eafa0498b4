"""custom_op: what the counts of a custom operator's processors cost, and what it refuses."""

import numpy as np
import pytest
import trnsim
from trnsim import _native, arrays, session

X = np.arange(64, dtype=np.float32)


def issued(chip, accesses, transfers, transfer_bytes, steps, space="HBM"):
    """Latency in ns of one custom_op with these counts."""
    launch = _native.Launch(session.load_chip(chip), "operator")
    core = launch.core(0)
    core.enter()
    try:
        src = arrays.to_hbm(core, X, "x")
        dst = core.tensor(space, (64,) if space == "HBM" else (1, 64), X.dtype, "y")
        _native.isa.custom_op(dst, [src], accesses, transfers, transfer_bytes, steps)
        core.end()
        return _native.latency_us(launch) * 1e3
    finally:
        _native.Launch.leave()
        launch.close()


def number(chip, path):
    return session.load_chip(chip).number(path)


@pytest.mark.parametrize("chip", ["trn1", "trn2", "trn3"])
def test_each_count_costs_what_the_catalogue_says(chip):
    idle = issued(chip, [0], [0], [0], [0])
    clock = number(chip, "gpsimd.clock")
    assert idle == pytest.approx(number(chip, "gpsimd.start_cycles") / clock + number(chip, "gpsimd.drain"), abs=0.01)
    assert issued(chip, [1000], [0], [0], [0]) - idle == pytest.approx(1000 * number(chip, "gpsimd.element_access"))
    assert issued(chip, [0], [10], [0], [0]) - idle == pytest.approx(10 * number(chip, "dma.start_latency"))
    assert issued(chip, [0], [0], [0], [4096]) - idle == pytest.approx(4096 / clock, rel=1e-4)


@pytest.mark.parametrize("chip, rate", [("trn1", 17), ("trn2", 153 / 8), ("trn3", 153 / 8)])
def test_bytes_go_at_the_rate_of_one_engine_or_of_the_processors_own_dma(chip, rate):
    more = issued(chip, [0], [1], [1_000_000], [0]) - issued(chip, [0], [1], [0], [0])
    assert more == pytest.approx(1_000_000 / rate, rel=1e-4)


def test_the_slowest_processor_decides():
    assert issued("trn1", [1, 5, 2], [0] * 3, [0] * 3, [0] * 3) == issued("trn1", [5], [0], [0], [0])


def test_counts_of_nine_processors_are_refused():
    with pytest.raises(trnsim.ProgramError) as info:
        issued("trn2", [0] * 9, [0] * 9, [0] * 9, [0] * 9)
    assert info.value.rule == "custom_op.processors"


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(trnsim.ProgramError) as info:
        issued("trn2", [0, 0], [0], [0], [0])
    assert info.value.rule == "custom_op.counts"


def test_a_result_on_chip_is_refused():
    with pytest.raises(trnsim.ProgramError) as info:
        issued("trn2", [0], [0], [0], [0], space="SBUF")
    assert info.value.rule == "custom_op.memory"


def test_a_core_without_the_engine_refuses_it():
    with pytest.raises(trnsim.ProgramError):
        issued("inf1", [0], [0], [0], [0])
