"""Kernels whose tiles do not fit into SBUF: refused, or with spill=True clocked as the compiler would spill."""

import numpy as np
import pytest

import nki
import nki.isa as nisa
import nki.language as nl
import trnsim

KIB = 1024


@pytest.fixture
def spill():
    trnsim.install(spill=True)
    yield
    trnsim.install()


def instructions(opcode, name=""):
    return [i for i in trnsim.last_profile().instructions
            if i["opcode"] == opcode and (i.get("name") or "").startswith(name)]


@nki.jit
def read_twice(x, count):
    """`count` tiles of 32 KiB in each partition, loaded first, then read one after the other, twice."""
    out = nl.ndarray((128, 16), x.dtype, nl.shared_hbm)
    total = nl.ndarray((128, 16), nl.float32, nl.sbuf)
    nisa.memset(total, 0.0)
    tiles = []
    for i in range(count):
        tiles.append(nl.ndarray((128, 8 * KIB), x.dtype, nl.sbuf))
        nisa.dma_copy(dst=tiles[i], src=x[i * 128:(i + 1) * 128, :])
    for _ in range(2):
        for tile in tiles:
            nisa.tensor_tensor(dst=total, data1=total, data2=tile[:, 0:16], op=nl.add)
    nisa.dma_copy(dst=out, src=total)
    return out


def inputs(count):
    return np.random.default_rng(1).standard_normal((count * 128, 8 * KIB), dtype=np.float32)


def test_without_spill_the_overflow_is_refused_and_names_the_way_out():
    with pytest.raises(trnsim.ProgramError, match="SBUF overflow.*--spill") as caught:
        read_twice(inputs(10), 10)
    assert caught.value.rule == "memory.capacity"


@pytest.mark.parametrize("count", [3, 6])
def test_what_fits_is_not_touched(spill, count, recwarn):
    x = inputs(count)
    read_twice(x, count)
    assert len(instructions("dma_copy", "refill")) == len(instructions("dma_copy", "spill")) == 0
    assert not [w for w in recwarn if "overflow" in str(w.message)]


@pytest.mark.parametrize("count", [8, 10, 16])
def test_values_stay_the_same_and_loads_are_made_again(spill, count):
    x = inputs(count)
    with pytest.warns(UserWarning, match="SBUF overflow.*loaded again, 0 are written to HBM and 0 read back"):
        result = read_twice(x, count)
    expected = np.zeros((128, 16), np.float32)
    for _ in range(2):
        for i in range(count):
            expected += x[i * 128:(i + 1) * 128, :16]
    np.testing.assert_array_equal(result, expected)
    # Six tiles and the sum fit. Nothing is loaded before it is read, so each tile is loaded once; the second time at
    # least those that had to give way are loaded again, and at most all of them.
    loads = [i for i in instructions("dma_copy") if i["queue"] == "DMA loads"]
    assert count + (count - 6) <= len(loads) <= 2 * count
    assert all(i["bytes"] == 128 * 32 * KIB for i in loads)


def test_one_more_than_fits_costs_the_fewest_transfers(spill):
    """Belady's choice for a cycle of seven where six fit and the one just used stays: two of seven miss."""
    with pytest.warns(UserWarning, match="overflow"):
        read_twice(inputs(7), 7)
    loads = [i for i in instructions("dma_copy") if i["queue"] == "DMA loads"]
    assert 8 <= len(loads) <= 9


@nki.jit
def computed_and_read_twice(x, count):
    out = nl.ndarray((128, 16), x.dtype, nl.shared_hbm)
    total = nl.ndarray((128, 16), nl.float32, nl.sbuf)
    nisa.memset(total, 0.0)
    tiles = []
    for i in range(count):
        tiles.append(nl.ndarray((128, 8 * KIB), nl.float32, nl.sbuf))
        nisa.memset(tiles[i], float(i))
    for _ in range(2):
        for tile in tiles:
            nisa.tensor_tensor(dst=total, data1=total, data2=tile[:, 0:16], op=nl.add)
    nisa.dma_copy(dst=out, src=total)
    return out


def test_what_was_computed_goes_to_hbm_once_and_comes_back(spill):
    with pytest.warns(UserWarning, match="overflow"):
        result = computed_and_read_twice(np.zeros((128, 16), np.float32), 8)
    np.testing.assert_array_equal(result, np.full((128, 16), 2 * sum(range(8)), np.float32))
    spills, refills = instructions("dma_copy", "spill of"), instructions("dma_copy", "refill of")
    assert 2 <= len(spills) <= 8 and len(refills) >= 2
    assert len({i["operands"].split("src=")[1] for i in spills}) == len(spills), "no tile is written twice"
    assert all(i["bytes"] == 128 * 32 * KIB for i in spills + refills)
    # A refill waits for its spill: it cannot end before that one has.
    for refill in refills:
        tile = refill["name"].removeprefix("refill of ")
        (spilled,) = [s for s in spills if s["name"] == f"spill of {tile}"]
        assert refill["start_ns"] >= spilled["end_ns"] - 1e-6


def test_timing_only_clocks_the_same(spill):
    with pytest.warns(UserWarning, match="overflow"):
        computed_and_read_twice(np.zeros((128, 16), np.float32), 8)
    with_values = trnsim.last_profile().latency_us
    trnsim.install(spill=True, timing_only=True)
    with pytest.warns(UserWarning, match="overflow"):
        computed_and_read_twice(np.zeros((128, 16), np.float32), 8)
    assert trnsim.last_profile().latency_us == with_values


def test_psum_is_never_spilled(spill):
    @nki.jit
    def kernel(x):
        banks = [nl.ndarray((128, 512), nl.float32, nl.psum) for _ in range(9)]
        for bank in banks:
            nisa.memset(bank, 0.0)
        total = nl.ndarray((128, 512), nl.float32, nl.sbuf)
        nisa.memset(total, 0.0)
        for bank in banks:
            nisa.tensor_tensor(dst=total, data1=total, data2=bank, op=nl.add)

    with pytest.raises(trnsim.ProgramError, match="PSUM overflow") as caught:
        kernel(np.zeros((128, 16), np.float32))
    assert caught.value.rule == "memory.capacity"
