"""Tiles that no instruction needs any more give way, although Python still has names for them; tiles that are needed at
one time must fit."""

import numpy as np
import pytest
import trnsim
from oracle import sample

trnsim.install()

import nki
import nki.isa as nisa
import nki.language as nl

X = sample((8, 16))
KIB = 1024
# Nine tiles of this size are more than the memory holds, eight are not.
BYTES = {"sbuf": 25 * KIB, "psum": 2 * KIB}


@pytest.fixture(params=["sbuf", "psum"])
def memory(request):
    return getattr(nl, request.param)


def tile(memory, name="", partitions=128):
    return nl.ndarray((partitions, BYTES[str(memory)] // 4), nl.float32, memory, name=name)


def store(source):
    out, copy = nl.ndarray((8, 16), nl.float32, nl.shared_hbm), nl.ndarray((8, 16), nl.float32, nl.sbuf)
    nisa.tensor_copy(dst=copy, src=source[0:8, 0:16])
    nisa.dma_copy(dst=out, src=copy)
    return out


def chain(x, memory, length, keep):
    """Each tile of a chain is the one before it plus one; Python keeps them all where `keep`."""
    first = nl.ndarray(x.shape, x.dtype, nl.sbuf)
    nisa.dma_copy(dst=first, src=x)
    tiles = [tile(memory)]
    nisa.memset(tiles[0], 0.0)
    nisa.tensor_copy(dst=tiles[0][0:8, 0:16], src=first)
    for _ in range(length - 1):
        tiles.append(tile(memory))
        nisa.tensor_scalar(dst=tiles[-1], data=tiles[-2], op0=nl.add, operand0=1.0)
        if not keep:
            del tiles[0]
    return store(tiles[-1])


@pytest.mark.parametrize("keep", [True, False])
def test_a_chain_longer_than_the_memory_runs(run, memory, keep):
    expected = X
    for _ in range(29):
        expected = expected + np.float32(1)
    np.testing.assert_array_equal(run(chain, X, memory=memory, length=30, keep=keep), expected)


def several(x, memory, count, times=2, partitions=128):
    """`count` tiles that are all written before any is read."""
    first = nl.ndarray(x.shape, x.dtype, nl.sbuf)
    nisa.dma_copy(dst=first, src=x)
    tiles = [tile(memory, f"wide{i}", partitions) for i in range(count)]
    for i, wide in enumerate(tiles):
        nisa.memset(wide, float(i))
    total = nl.ndarray((8, 16), nl.float32, nl.sbuf)
    nisa.tensor_copy(dst=total, src=first)
    for _ in range(times):
        for wide in tiles:
            nisa.tensor_tensor(dst=total, data1=total, data2=wide[0:8, 0:16], op=nl.add)
    return store(total)


def test_tiles_that_are_needed_together_and_fit_are_not_refused(run, memory):
    expected = X
    for _ in range(2):
        for i in range(8 if str(memory) == "psum" else 7):
            expected = expected + np.float32(i)
    count = 8 if str(memory) == "psum" else 7
    np.testing.assert_array_equal(run(several, X, memory=memory, count=count), expected)


@pytest.mark.parametrize("partitions, count", [(32, 32), (33, 16), (64, 16), (65, 10), (96, 10)])
def test_tiles_of_fewer_partitions_lie_beside_each_other(run, partitions, count):
    expected = X
    for _ in range(2):
        for i in range(count):
            expected = expected + np.float32(i)
    result = run(several, X, memory=nl.sbuf, count=count, partitions=partitions)
    np.testing.assert_array_equal(result, expected)
    more = 34 if partitions == 32 else 17 if partitions <= 64 else 12
    with pytest.raises(trnsim.ProgramError, match="still needed"):
        run(several, X, memory=nl.sbuf, count=more, partitions=partitions)


@pytest.mark.parametrize("count", [9, 12])
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("timing_only", [False, True])
def test_tiles_that_are_needed_together_and_do_not_fit_are_refused(memory, count, times, timing_only):
    trnsim.install(timing_only=timing_only)
    try:
        with pytest.raises(trnsim.ProgramError) as caught:
            nki.jit(several)(X, memory, count, times=times)
    finally:
        trnsim.install()
    assert caught.value.rule == "memory.capacity"
    text = str(caught.value)
    assert "overflow" in text and "still needed" in text and "test_room.py:" in text
    assert all(f"wide{i} " in text for i in range(count)), text
    assert str(count * BYTES[str(memory)])[:2] in text


def test_a_tile_that_gave_way_comes_back_with_its_values(run):
    """Room in all, but no gap for the last tile: a compiler would have placed the others otherwise."""

    def kernel(x):
        small = [nl.ndarray((8, 20 * KIB // 4), nl.float32, nl.sbuf) for _ in range(10)]
        for i, one in enumerate(small):
            nisa.memset(one, float(i))
        nisa.dma_copy(dst=small[2][:, 0:16], src=x)
        kept = small[0::2]
        del small, one
        large = nl.ndarray((8, 60 * KIB // 4), nl.float32, nl.sbuf)
        nisa.memset(large, 100.0)
        for one in kept[2:]:
            nisa.tensor_tensor(dst=large[:, 0:16], data1=large[:, 0:16], data2=one[:, 0:16], op=nl.add)
        nisa.tensor_tensor(dst=large[:, 0:16], data1=kept[1][:, 0:16], data2=large[:, 0:16], op=nl.add)
        nisa.tensor_tensor(dst=large[:, 16:32], data1=kept[0][:, 0:16], data2=large[:, 16:32], op=nl.add)
        return store(large)

    np.testing.assert_array_equal(run(kernel, X), X + np.float32(100 + 4 + 6 + 8))


def test_an_accumulation_goes_on_where_a_tile_comes_back(run):
    """A PSUM tile that matmuls have written gives way and takes more of them later."""

    def kernel(x):
        data = nl.ndarray((8, 16), nl.float32, nl.sbuf)
        nisa.dma_copy(dst=data, src=x)
        total = nl.ndarray((16, 16), nl.float32, nl.psum)
        nisa.nc_matmul(dst=total, stationary=data, moving=data)
        others = []
        for _ in range(12):
            others.append(tile(nl.psum))
            nisa.memset(others[-1], 1.0)
        nisa.nc_matmul(dst=total, stationary=data, moving=data)
        out, copy = nl.ndarray((16, 16), nl.float32, nl.shared_hbm), nl.ndarray((16, 16), nl.float32, nl.sbuf)
        nisa.tensor_copy(dst=copy, src=total)
        nisa.dma_copy(dst=out, src=copy)
        return out

    once = X.T.astype(np.float64) @ X
    np.testing.assert_allclose(run(kernel, X), 2 * once, rtol=1e-5, atol=1e-5)


def test_one_instruction_whose_tiles_do_not_fit_is_refused_on_its_line(run):
    def kernel(x):
        a, b, c = (nl.ndarray((8, 80 * KIB // 4), nl.float32, nl.sbuf, name=name) for name in ("aa", "bb", "cc"))
        nisa.memset(a, 0.0)
        nisa.memset(b, 0.0)
        nisa.tensor_tensor(dst=c, data1=a, data2=b, op=nl.add)

    with pytest.raises(trnsim.ProgramError, match="SBUF overflow: tile '..' needs 81920 bytes") as caught:
        run(kernel, X)
    assert caught.value.rule == "memory.capacity"


def test_nothing_gives_way_where_the_kernel_places_tiles_itself(run):
    def kernel(x):
        placed = nl.ndarray((8, 100 * KIB // 4), nl.float32, nl.sbuf, address=(0, 0))
        nisa.memset(placed, 0.0)
        tiles = []
        for _ in range(5):
            tiles.append(tile(nl.sbuf))
            nisa.memset(tiles[-1], 0.0)

    with pytest.raises(trnsim.ProgramError, match="no gap is large enough") as caught:
        run(kernel, X)
    assert caught.value.rule == "memory.capacity"


def test_a_tile_waits_for_the_readers_of_the_one_that_gave_way():
    """The place is taken over, so time goes on as if the tile had been released before."""
    latencies = []
    for keep in (True, False):
        nki.jit(chain)(X, nl.sbuf, length=30, keep=keep)
        latencies.append(trnsim.last_profile().latency_us)
    assert latencies[0] == pytest.approx(latencies[1], rel=0.05)


def test_the_same_bytes_each_time(run, memory):
    results = [run(chain, X, memory=memory, length=20, keep=True).tobytes() for _ in range(3)]
    assert len(set(results)) == 1
