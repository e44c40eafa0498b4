"""nki.isa.set_rng_seed: the same seed, the same numbers, for all that draws from the Vector Engine."""

import numpy as np
import pytest
from vector_oracle import new, nisa, nl, on_tiles, refused, same, sample, store


def drawn(run, seeds, chip, draw, dtype=np.uint32):
    """What draw(dst) gives after each of the seeds; None leaves the generator alone."""

    def kernel(*tensors):
        results = []
        for tensor in tensors:
            seed, dst = new((1, 1), tensor.dtype.name), new((128, 5), "uint32")
            nisa.dma_copy(dst=seed, src=tensor)
            nisa.set_rng_seed(src_seeds=seed)
            draw(dst)
            results.append(store(dst))
        return tuple(results)

    return run(kernel, *[np.array([[seed]], dtype) for seed in seeds], chip=chip)


@pytest.mark.parametrize("chip", ("trn1", "trn2", "trn3"))
@pytest.mark.parametrize("dtype", (np.uint32, np.int32, np.float32))
def test_a_seed_starts_the_sequence_again(run, chip, dtype):
    first, other, again = drawn(run, (5, 6, 5), chip, nisa.rng, dtype)
    same(first, again)
    assert (first != other).mean() > 0.99
    assert len(np.unique(first)) == first.size  # lanes differ


@pytest.mark.parametrize("chip", ("trn1", "trn2", "trn3"))
def test_dropout_draws_from_it_too(run, chip):
    def drop(dst):
        x = new((128, 5), "uint32")
        nisa.memset(x, 1)
        nisa.dropout(dst, x, 0.5)

    first, other, again = drawn(run, (5, 6, 5), chip, drop)
    same(first, again)
    assert (first != other).any()


def test_dropout_drops_where_the_word_is_below_the_probability(run):
    (words,) = (drawn(run, (8,), "trn2", nisa.rng)[0],)

    def drop(dst):
        x = new((128, 5), "uint32")
        nisa.memset(x, 1)
        nisa.dropout(dst, x, 0.25)

    same(drawn(run, (8,), "trn2", drop)[0], (words >> 30 != 0).astype(np.uint32))


def test_a_seed_in_psum(run):
    def body(dst, seeds):
        moved = new((1, 1), "uint32", nl.psum)
        nisa.tensor_copy(moved, seeds)
        nisa.set_rng_seed(moved)
        nisa.rng(dst)

    one = on_tiles(run, body, np.array([[5]], np.uint32), out=[((128, 5), "uint32")])
    same(one, drawn(run, (5,), "trn2", nisa.rng)[0])


@pytest.mark.parametrize("rule, seeds", [
    ("shape", sample((1, 2), "uint32")), ("shape", sample((2, 1), "uint32")), ("dtype", sample((1, 1), "uint16")),
])
def test_rules(run, rule, seeds):
    refused(run, "set_rng_seed." + rule, lambda dst, x: nisa.set_rng_seed(x), seeds, out=[((1, 1), "uint32")])
