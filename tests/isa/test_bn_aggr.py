"""nki.isa.bn_aggr against numpy."""

import numpy as np
import pytest

from vector_oracle import load, new, nisa, on_tiles, refused, sample, store


@pytest.mark.parametrize("shape", ((1, 2), (128, 512), (128, 1536), (37, 700)))
def test_mean_and_variance_of_many_tiles(run, shape):
    x = sample(shape, low=1, high=3)
    size = 512

    def kernel(tensor):
        data = load(tensor)
        tiles = -(-shape[1] // size)
        stats, dst = new((shape[0], 6 * tiles)), new((shape[0], 2))
        for i in range(tiles):
            nisa.bn_stats(
                dst=stats[:, 6 * i : 6 * i + 6], data=data[:, size * i : min(size * i + size, shape[1])]
            )
        nisa.bn_aggr(dst=dst, data=stats)
        return store(dst)

    wide = x.astype(np.float64)
    np.testing.assert_allclose(run(kernel, x), np.stack([wide.mean(1), wide.var(1)], 1), rtol=5e-6)


def test_triples_of_different_counts(run):
    triples = np.array([[1, 2.0, 0, 3, 6.0, 12.0]], np.float32)  # {2} and three values of mean 6, variance 4
    expected = [[5.0, (12.0 + 9.0 + 3.0) / 4]]
    actual = on_tiles(
        run, lambda dst, data: nisa.bn_aggr(dst=dst, data=data), triples, out=[((1, 2), "float32")]
    )
    np.testing.assert_array_equal(actual, np.array(expected, np.float32))


@pytest.mark.parametrize("name", ("bfloat16", "float16", "float32"))
def test_dtypes(run, name):
    triples = np.array([[2, 1.5, 0.5, 2, 2.5, 0.5]]).astype(
        name if name != "bfloat16" else sample((1, 1), name).dtype
    )
    actual = on_tiles(run, lambda dst, data: nisa.bn_aggr(dst=dst, data=data), triples, out=[((1, 2), name)])
    np.testing.assert_array_equal(actual.astype(np.float32), [[2.0, 0.5]])


def test_rules(run):
    body = lambda dst, data: nisa.bn_aggr(dst=dst, data=data)
    refused(run, "bn_aggr.triples", body, sample((4, 8)), out=[((4, 2), "float32")])
    refused(run, "bn_aggr.dst_size", body, sample((4, 6)), out=[((4, 3), "float32")])
