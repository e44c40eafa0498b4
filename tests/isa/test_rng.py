"""nki.isa.rng: bits of the lanes' generators, against the generators written out bit by bit."""

import numpy as np
import pytest
from random_oracle import lane_words, lfsr_words, splitmix64_state, xorwow_words
from vector_oracle import INTEGERS, host, new, nisa, nl, on_tiles, refused, same


def seeded(run, seed, shape, name="uint32", chip="trn2", buffer=None):
    def body(dst, seeds):
        nisa.set_rng_seed(seeds)
        nisa.rng(dst)

    out = [(shape, name)] if buffer is None else [(shape, name, buffer)]
    return on_tiles(run, body, np.array([[seed]], np.uint32), out=out, chip=chip)


@pytest.mark.parametrize("chip", ("trn1", "trn2"))
def test_each_partition_is_an_lfsr_lane_before_v4(run, chip):
    bits = seeded(run, 7, (128, 9), chip=chip)
    for lane in (0, 1, 77, 127):
        start = xorwow_words(splitmix64_state(7 ^ lane << 48), 1)[0][0]
        assert bits[lane].tolist() == lfsr_words(start, 9)


def test_each_partition_is_four_xorwow_on_v4(run):
    bits = seeded(run, 7, (128, 10), chip="trn3")
    for lane in (0, 1, 127):
        states = [splitmix64_state(7 ^ (4 * lane + k) << 48) for k in range(4)]
        assert bits[lane].tolist() == lane_words(states, 10)[0]


def test_the_lfsr_has_the_longest_period():
    """x generates all 2^32 - 1 residues: no quotient of its order by a prime gives 1."""

    def multiply(a, b):
        columns = [sum(((row >> k) & 1) << i for i, row in enumerate(b)) for k in range(32)]
        return [sum(((row & column).bit_count() & 1) << k for k, column in enumerate(columns)) for row in a]

    def power(matrix, n):
        result = [1 << i for i in range(32)]
        while n:
            if n & 1:
                result = multiply(result, matrix)
            matrix, n = multiply(matrix, matrix), n >> 1
        return result

    one = [1 << i for i in range(32)]
    columns = [(1 << k) >> 1 ^ (0x80200003 if k == 0 else 0) for k in range(32)]
    step = [sum(((column >> i) & 1) << k for k, column in enumerate(columns)) for i in range(32)]
    assert power(step, 2**32 - 1) == one
    assert all(power(step, (2**32 - 1) // prime) != one for prime in (3, 5, 17, 257, 65537))


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("chip", ("trn2", "trn3"))
def test_the_low_bits_of_each_word(run, name, chip):
    dtype = host(name)
    words = seeded(run, 1, (33, 5), chip=chip)
    same(seeded(run, 1, (33, 5), name, chip), words.astype(f"uint{8 * dtype.itemsize}").view(dtype))


def test_gpsimd_has_lanes_of_its_own(run):
    state = np.arange(1, 1 + 128 * 6, dtype=np.uint32).reshape(128, 6)

    def body(dst, seeds):
        nisa.rand_set_state(seeds)
        nisa.rng(dst, engine=nisa.engine.gpsimd)

    bits = on_tiles(run, body, state, out=[((128, 7), "uint32")])
    for lane in (0, 64, 127):
        assert bits[lane].tolist() == xorwow_words(state[lane], 7)[0]


def test_a_lane_carries_on_and_belongs_to_its_partition(run):
    def kernel(seeds):
        out = nl.ndarray((128, 8), dtype=nl.uint32, buffer=nl.shared_hbm)
        tile, seed = new((128, 8), "uint32"), new((1, 1), "uint32")
        nisa.dma_copy(dst=seed, src=seeds)
        nisa.set_rng_seed(seed)
        nisa.rng(tile[32:64, 0:5])  # partitions 32 to 63 first
        nisa.rng(tile[0:128, 5:8])
        nisa.memset(tile[0:32, 0:5], 0), nisa.memset(tile[64:128, 0:5], 0)
        nisa.dma_copy(dst=out, src=tile)
        return out

    once, parts = seeded(run, 3, (128, 8)), run(kernel, np.array([[3]], np.uint32))
    same(parts[32:64], once[32:64])
    same(parts[:32, 5:], once[:32, :3])


def test_psum_from_vector(run):
    def kernel(seeds):
        out = nl.ndarray((4, 6), dtype=nl.uint32, buffer=nl.shared_hbm)
        bits, copy, seed = new((4, 6), "uint32", nl.psum), new((4, 6), "uint32"), new((1, 1), "uint32")
        nisa.dma_copy(dst=seed, src=seeds)
        nisa.set_rng_seed(seed)
        nisa.rng(bits, engine=nisa.engine.vector)
        nisa.tensor_copy(copy, bits)
        nisa.dma_copy(dst=out, src=copy)
        return out

    same(run(kernel, np.array([[9]], np.uint32)), seeded(run, 9, (4, 6)))


def test_bits_are_even(run):
    bits = np.unpackbits(seeded(run, 11, (128, 200)).view(np.uint8), axis=1)
    assert bits.mean() == pytest.approx(0.5, abs=0.005)


def test_rules(run):
    small = [((2, 4), "int32")]
    refused(run, "rng.engine", lambda dst: nisa.rng(dst, engine=nisa.engine.scalar), out=small)
    refused(run, "rng.dtype", nisa.rng, out=[((2, 4), "float32")])
    refused(run, "rng.dtype", nisa.rng, out=[((2, 4), "bool_")])
    gpsimd = lambda dst: nisa.rng(dst, engine=nisa.engine.gpsimd)
    refused(run, "rng.generation", gpsimd, out=small, chip="trn1")
    refused(run, "rng.buffer", gpsimd, out=[((2, 4), "int32", nl.psum)])
