"""nki.isa.nc_find_index8 against a loop."""

import numpy as np
import pytest
from vector_oracle import DTYPES, fp32, nisa, on_tiles, refused, same, sample


def positions(data, vals, dtype=np.uint32):
    data, vals = fp32(data).reshape(data.shape[0], -1), fp32(vals).reshape(vals.shape[0], 8)
    result = np.full(vals.shape, np.iinfo(dtype).max, dtype)
    for p in range(len(data)):
        for slot in range(8):
            places = np.flatnonzero(data[p] == vals[p, slot])
            earlier = np.count_nonzero(vals[p, :slot] == vals[p, slot])
            if earlier < len(places):
                result[p, slot] = places[earlier]
    return result


def found(run, data, vals, name="uint32"):
    return on_tiles(run, lambda dst, d, v: nisa.nc_find_index8(dst=dst, data=d, vals=v), data, vals,
                    out=[((data.shape[0], 8), name)])


@pytest.mark.parametrize("shape", [(1, 8), (128, 16), (33, 101), (2, 16384), (3, 4, 5)])
def test_shapes(run, shape):
    data = sample(shape)
    vals = data.reshape(shape[0], -1)[:, -8:][:, ::-1].copy()
    same(found(run, data, vals), positions(data, vals))


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(run, name):
    data = sample((20, 64), name)
    vals = np.random.default_rng(3).permuted(data, axis=1)[:, :8].copy()
    same(found(run, data, vals), positions(data, vals))


@pytest.mark.parametrize("dtype", (np.uint32, np.uint16))
def test_repeated_and_missing_values(run, dtype):
    data = np.random.default_rng(5).integers(0, 6, (64, 24)).astype(np.float32)
    vals = np.random.default_rng(6).integers(0, 7, (64, 8)).astype(np.float32)
    expected = positions(data, vals, dtype)
    assert (expected == np.iinfo(dtype).max).any()
    same(found(run, data, vals, np.dtype(dtype).name), expected)


@pytest.mark.parametrize("rule, data, vals, out, name", [
    ("free_size", (4, 7), (4, 8), (4, 8), "uint32"), ("free_size", (1, 16385), (1, 8), (1, 8), "uint32"),
    ("slots", (4, 16), (4, 7), (4, 8), "uint32"), ("slots", (4, 16), (4, 8), (4, 16), "uint32"),
    ("index_dtype", (4, 16), (4, 8), (4, 8), "int32"), ("same_partitions", (4, 16), (3, 8), (4, 8), "uint32"),
    ("same_partitions", (4, 16), (4, 8), (3, 8), "uint32"),
])
def test_rules(run, rule, data, vals, out, name):
    refused(run, "nc_find_index8." + rule, lambda dst, d, v: nisa.nc_find_index8(dst=dst, data=d, vals=v), sample(data),
            sample(vals), out=[(out, name)])
