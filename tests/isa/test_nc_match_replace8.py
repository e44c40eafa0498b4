"""nki.isa.nc_match_replace8 against a loop."""

import numpy as np
import pytest
from vector_oracle import DTYPES, convert, fp32, nisa, on_tiles, refused, same, sample


def replaced(data, vals, imm):
    """fp32 result and positions; the slots are worked off from the last to the first."""
    flat, vals = fp32(data).reshape(data.shape[0], -1), fp32(vals)
    result, positions = flat.copy(), np.full((len(flat), 8), -1, np.int64)
    for p in range(len(flat)):
        for slot in reversed(range(8)):
            places = [i for i in np.flatnonzero(flat[p] == vals[p, slot]) if i not in positions[p]]
            if places:
                positions[p, slot] = places[0]
                result[p, places[0]] = imm
    return result.reshape(data.shape), positions.astype(np.uint32)


def match(dst, dst_idx, data, vals):
    nisa.nc_match_replace8(dst=dst, data=data, vals=vals, imm=-2.5, dst_idx=dst_idx)


def test_the_example_of_the_documentation(run):
    data = np.array([[1, 2, 3, 4] + [8] * 7], np.float32)
    vals = np.array([[3] + [8] * 7], np.float32)
    out, index = on_tiles(run, match, data, vals, out=[((1, 11), "float32"), ((1, 8), "uint32")])
    np.testing.assert_array_equal(index, [[2, 10, 9, 8, 7, 6, 5, 4]])
    np.testing.assert_array_equal(out, [[1, 2, -2.5, 4] + [-2.5] * 7])


@pytest.mark.parametrize("shape", [(1, 8), (128, 16), (33, 101), (2, 16384), (3, 4, 5)])
def test_shapes(run, shape):
    data = sample(shape)
    vals = data.reshape(shape[0], -1)[:, :8].copy()
    expected, positions = replaced(data, vals, -2.5)
    out, index = on_tiles(run, match, data, vals, out=[(shape, "float32"), ((shape[0], 8), "uint32")])
    same(out, expected)
    same(index, positions)


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(run, name):
    data = sample((20, 64), name)
    vals = np.random.default_rng(3).permuted(data, axis=1)[:, :8].copy()
    expected, positions = replaced(data, vals, -2.5)
    out, index = on_tiles(run, match, data, vals, out=[((20, 64), name), ((20, 8), "uint16")])
    same(out, convert(expected, name))
    same(index, positions.astype(np.uint16))


def test_repeated_and_missing_values(run):
    data = np.random.default_rng(5).integers(0, 6, (64, 24)).astype(np.float32)
    vals = np.random.default_rng(6).integers(0, 7, (64, 8)).astype(np.float32)
    expected, positions = replaced(data, vals, -2.5)
    out, index = on_tiles(run, match, data, vals, out=[((64, 24), "float32"), ((64, 8), "uint32")])
    same(out, expected)
    same(index, positions)


def test_in_place_without_indices(run):
    data = sample((16, 40))

    def body(dst, tile, vals):
        nisa.nc_match_replace8(dst=tile, data=tile, vals=vals, imm=0.0)
        nisa.tensor_copy(dst=dst, src=tile)

    same(on_tiles(run, body, data, data[:, 3:11].copy(), out=[((16, 40), "float32")]),
         replaced(data, data[:, 3:11], 0.0)[0])


@pytest.mark.parametrize("rule, data, vals, out, index, name", [
    ("free_size", (4, 7), (4, 8), (4, 7), (4, 8), "uint32"),
    ("free_size", (1, 16385), (1, 8), (1, 16385), (1, 8), "uint32"),
    ("slots", (4, 16), (4, 7), (4, 16), (4, 8), "uint32"),
    ("slots", (4, 16), (4, 8), (4, 16), (4, 9), "uint32"),
    ("index_dtype", (4, 16), (4, 8), (4, 16), (4, 8), "float32"),
    ("same_free_size", (4, 16), (4, 8), (4, 17), (4, 8), "uint32"),
    ("same_partitions", (4, 16), (4, 8), (5, 16), (4, 8), "uint32"),
    ("same_partitions", (4, 16), (3, 8), (4, 16), (4, 8), "uint32"),
    ("same_partitions", (4, 16), (4, 8), (4, 16), (3, 8), "uint32"),
])
def test_rules(run, rule, data, vals, out, index, name):
    refused(run, "nc_match_replace8." + rule, match, sample(data), sample(vals), out=[(out, "float32"), (index, name)])
