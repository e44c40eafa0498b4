"""nki.isa.max8 against numpy."""

import numpy as np
import pytest
from vector_oracle import DTYPES, convert, fp32, load, new, nisa, nl, on_tiles, refused, same, sample, store


def max8(dst, src):
    nisa.max8(dst=dst, src=src)


def largest(x):
    return -np.sort(-fp32(x).reshape(x.shape[0], -1), axis=1)[:, :8]


@pytest.mark.parametrize("shape", [(1, 8), (128, 9), (33, 100), (2, 16384), (5, 3, 7), (4, 2, 3, 5)])
def test_shapes(run, shape):
    x = sample(shape)
    same(on_tiles(run, max8, x, out=[((shape[0], 8), "float32")]), largest(x))


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(run, name):
    x = sample((64, 50), name)
    same(on_tiles(run, max8, x, out=[((64, 8), name)]), convert(largest(x), name))


def test_equal_elements_and_infinities(run):
    x = np.array([[1, 1, 1, np.inf, -np.inf, 0, 2, 2, -1, np.inf]], np.float32)
    same(on_tiles(run, max8, x, out=[((1, 8), "float32")]), largest(x))


def test_psum_and_strides(run):
    x = sample((16, 64))

    def kernel(tensor):
        result = new((16, 8), "bfloat16")
        nisa.max8(dst=result, src=load(tensor, nl.psum)[:, 0:64:3])
        return store(result)

    same(run(kernel, x), convert(largest(x[:, ::3]), "bfloat16"))


@pytest.mark.parametrize("rule, src, dst", [
    ("free_size", (4, 7), (4, 8)), ("free_size", (2, 16385), (2, 8)), ("slots", (4, 16), (4, 9)),
    ("same_partitions", (4, 16), (5, 8)),
])
def test_rules(run, rule, src, dst):
    refused(run, "max8." + rule, max8, sample(src), out=[(dst, "float32")])
