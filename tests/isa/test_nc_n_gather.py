"""nki.isa.nc_n_gather against numpy.take_along_axis."""

import numpy as np
import pytest
from vector_oracle import DTYPES, nisa, on_tiles, refused, same, sample


def gather(dst, data, indices):
    nisa.nc_n_gather(dst=dst, data=data, indices=indices)


def indices(shape, size):
    return np.random.default_rng(2).integers(0, size, shape).astype(np.uint32)


@pytest.mark.parametrize("data, shape", [
    ((1, 1), (1, 1)), ((128, 40), (128, 40)), ((33, 7), (33, 100)), ((5, 3, 4), (5, 2, 9)), ((2, 3000), (2, 1025)),
])
def test_shapes(run, data, shape):
    x = sample(data)
    flat = x.reshape(data[0], -1)
    index = indices(shape, flat.shape[1])
    expected = np.take_along_axis(flat, index.reshape(shape[0], -1).astype(np.int64), 1).reshape(shape)
    same(on_tiles(run, gather, x, index, out=[(shape, "float32")]), expected)


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(run, name):
    x, index = sample((64, 50), name), indices((64, 20), 50)
    same(on_tiles(run, gather, x, index, out=[((64, 20), name)]), np.take_along_axis(x, index.astype(np.int64), 1))


@pytest.mark.parametrize("rule, index, out, name", [
    ("index_dtype", np.zeros((4, 3), np.int32), (4, 3), "float32"),
    ("same_dtype", np.zeros((4, 3), np.uint32), (4, 3), "float16"),
    ("same_free_size", np.zeros((4, 3), np.uint32), (4, 4), "float32"),
    ("same_partitions", np.zeros((3, 3), np.uint32), (4, 3), "float32"),
    ("same_partitions", np.zeros((4, 3), np.uint32), (3, 3), "float32"),
    ("index", np.full((4, 3), 8, np.uint32), (4, 3), "float32"),
])
def test_rules(run, rule, index, out, name):
    refused(run, "nc_n_gather." + rule, gather, sample((4, 8)), index, out=[(out, name)])
