"""nki.isa.bn_stats against numpy."""

import numpy as np
import pytest

from vector_oracle import DTYPES, fp32, load, new, nisa, nl, on_tiles, refused, same, sample, store


def statistics(x):
    rows = fp32(x).reshape(len(x), -1).astype(np.float64)
    columns = []
    for half in (rows[:, 0::2], rows[:, 1::2]):
        n = half.shape[1]
        columns += [
            np.full(len(x), n),
            half.mean(axis=1) if n else np.zeros(len(x)),
            half.var(axis=1) * n if n else np.zeros(len(x)),
        ]
    return np.stack(columns, 1)


def computed(run, x, out="float32"):
    return on_tiles(run, lambda dst, data: nisa.bn_stats(dst=dst, data=data), x, out=[((x.shape[0], 6), out)])


@pytest.mark.parametrize("shape", ((1, 1), (1, 2), (128, 3), (128, 512), (37, 5, 7), (64, 511)))
def test_shapes(run, shape):
    x = sample(shape, low=1, high=3)
    np.testing.assert_allclose(computed(run, x), statistics(x), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(run, name):
    x = sample((128, 32), name, low=1, high=2)
    np.testing.assert_allclose(computed(run, x), statistics(x), rtol=1e-5)


def test_output_is_converted(run):
    x = sample((16, 32), low=1, high=2)
    same(computed(run, x, "bfloat16"), computed(run, x).astype(nl.bfloat16))


def test_statistics_inside_the_data(run):
    x = sample((32, 12), low=1, high=2)

    def kernel(tensor):
        tile = load(tensor)
        nisa.bn_stats(dst=tile[:, 0:6], data=tile)
        return store(tile)

    np.testing.assert_allclose(run(kernel, x)[:, :6], statistics(x), rtol=2e-6)


def test_rules(run):
    body = lambda dst, data: nisa.bn_stats(dst=dst, data=data)
    refused(run, "bn_stats.free_size", body, sample((4, 513)), out=[((4, 6), "float32")])
    refused(run, "bn_stats.dst_size", body, sample((4, 8)), out=[((4, 5), "float32")])
    refused(run, "bn_stats.same_partitions", body, sample((4, 8)), out=[((3, 6), "float32")])


def test_psum(run):
    x = sample((128, 16), low=1, high=2)

    def kernel(tensor):
        dst = new((128, 6))
        nisa.bn_stats(dst=dst, data=load(tensor, nl.psum))
        return store(dst)

    np.testing.assert_allclose(run(kernel, x), statistics(x), rtol=2e-6)
