"""nki.isa.reciprocal against numpy."""

import numpy as np
import pytest

from vector_oracle import DTYPES, SHAPES, convert, fp32, load, new, nisa, nl, on_tiles, same, sample, store


def inverse(x):
    with np.errstate(all="ignore"):
        return np.float32(1) / fp32(x)


def computed(run, x, out="float32"):
    return on_tiles(run, lambda dst, data: nisa.reciprocal(dst=dst, data=data), x, out=[(x.shape, out)])


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(run, shape):
    x = sample(shape)
    same(computed(run, x), inverse(x))


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(run, name):
    x = sample((128, 16), name)
    same(computed(run, x), inverse(x))
    y = sample((128, 16))
    same(computed(run, y, name), convert(inverse(y), name))


def test_special_values(run):
    x = np.array([[0.0, -0.0, np.inf, -np.inf, np.nan, 1e-39]], np.float32)
    same(computed(run, x), inverse(x))


def test_in_place_in_psum(run):
    x = sample((32, 8))

    def kernel(tensor):
        tile = load(tensor, nl.psum)
        nisa.reciprocal(tile, tile)
        back = new((32, 8))
        nisa.tensor_copy(dst=back, src=tile)
        return store(back)

    same(run(kernel, x), inverse(x))
