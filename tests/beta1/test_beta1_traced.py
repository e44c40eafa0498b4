"""Loops whose body the compiler sees once: addresses that Python computes there are those of the first iteration."""

import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.language as nl
import numpy as np
import pytest

X = np.arange(128 * 32, dtype=np.float32).reshape(128, 32)


@pytest.mark.filterwarnings("ignore:.*mod_alloc")
@pytest.mark.parametrize("loop", [nl.affine_range, nl.sequential_range])
def test_a_growing_address_stays_that_of_the_first_iteration(loop):
    """Published kernels count up the address of the next tensor inside their loops; ten times 64 KiB would not fit."""
    seen = []

    @nki.jit
    def kernel(x):
        out = nl.ndarray((10, 128, 32), dtype=x.dtype, buffer=nl.shared_hbm)
        address = 0
        for i in loop(10):
            tile = nl.ndarray((128, 32), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=address))
            address += 65536
            other = nl.ndarray((128, 32), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=address))
            address += 128
            tile[...] = nl.load(x)
            other[...] = nl.add(tile, i)
            seen.append((tile.tensor.address[1], other.tensor.address[1]))
            nl.store(out[i], other)
        return out

    result = kernel(X)
    assert np.array_equal(result, [X + i for i in range(10)])
    assert set(seen) == {(0, 65536)}


@pytest.mark.filterwarnings("ignore:.*mod_alloc")
def test_a_loop_within_a_loop_is_seen_once_too():
    seen = []

    @nki.jit
    def kernel(x):
        out = nl.ndarray((3, 2, 128, 32), dtype=x.dtype, buffer=nl.shared_hbm)
        address = 0
        for i in nl.affine_range(3):
            outer = nl.ndarray((128, 32), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=address))
            address += 128
            outer[...] = nl.load(x)
            for j in nl.sequential_range(2):
                inner = nl.ndarray((128, 32), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=address))
                address += 128
                inner[...] = nl.add(outer, 2 * i + j)
                nl.store(out[i, j], inner)
                seen.append((outer.tensor.address[1], inner.tensor.address[1]))
        return out

    assert np.array_equal(kernel(X), [[X + 2 * i + j for j in range(2)] for i in range(3)])
    assert seen == [(0, 128)] * 6


@pytest.mark.parametrize("loop", [nl.static_range, range])
def test_a_loop_that_is_unrolled_has_an_address_in_each_iteration(loop):
    seen = []

    @nki.jit
    def kernel(x):
        out = nl.ndarray((2, 3, 128, 32), dtype=x.dtype, buffer=nl.shared_hbm)
        for i in nl.affine_range(2):
            for j in loop(3):
                tile = nl.ndarray((128, 32), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=128 * j))
                tile[...] = nl.load(x)
                nl.store(out[i, j], tile)
                seen.append(tile.tensor.address[1])
        return out

    kernel(X)
    assert seen == [0, 128, 256] * 2


@pytest.mark.parametrize("place, first", [
    (lambda i: ncc.sbuf.mod_alloc(base_addr=128 * i), (0, 0)),
    (lambda i: ncc.sbuf.mod_alloc(base_addr=0, base_partition=32 * i), (0, 0)),
    (lambda i: ncc.psum.mod_alloc(base_bank=i), (0, 0, 0)),
])
def test_a_place_that_depends_on_the_iteration_is_told(place, first):
    @nki.jit
    def kernel(x):
        for i in nl.affine_range(2):
            tile = nl.ndarray((32, 32), dtype=x.dtype, buffer=place(i))
            tile[...] = 0.0

    with pytest.warns(UserWarning, match="the compiler sees the body of a loop once") as seen:
        kernel(X)
    assert str(first) in str(seen[0].message) and seen[0].filename == __file__


def test_a_loop_is_a_range_otherwise():
    loop = nl.affine_range(2, 11, 3)
    assert (list(loop), len(loop), loop[1], repr(loop)) == ([2, 5, 8], 3, 5, "range(2, 11, 3)")
    assert list(nl.sequential_range(3)) == [0, 1, 2]


def test_a_loop_that_is_left_early_is_over():
    seen = []

    @nki.jit
    def kernel(x):
        for i in nl.affine_range(4):
            if i == 1:
                break
        for i in range(2):
            tile = nl.ndarray((32, 32), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=128 * i))
            tile[...] = 0.0
            seen.append(tile.tensor.address[1])

    kernel(X)
    assert seen == [0, 128]
