"""nki.isa.iota against numpy."""

import numpy as np
import pytest
from vector_oracle import DTYPES, convert, host, new, nisa, nl, on_tiles, refused, same


def affine(partitions, pattern, offset=0, channel_multiplier=0):
    """[partitions, elements] in wrapping 32-bit integers."""
    row = np.zeros(1, np.int64)
    for step, count in pattern:
        row = (row[:, None] + np.arange(count) * step).reshape(-1)
    values = offset + np.arange(partitions)[:, None] * channel_multiplier + row
    return values.astype(np.uint64).astype(np.uint32).view(np.int32)


def generated(run, shape, name, *arguments, **keywords):
    return on_tiles(run, lambda dst: nisa.iota(dst, *arguments, **keywords), out=[(shape, name)])


@pytest.mark.parametrize("partitions, pattern, offset, multiplier", [
    (1, [[1, 1]], 0, 0), (128, [[1, 16]], 0, 16), (128, [[0, 1]], 7, 1), (33, [[-2, 5]], 100, -3),
    (64, [[10, 3], [1, 5]], 0, 100), (5, [[1, 2], [0, 3], [-7, 2], [3, 4]], -50, 9),
    (4, [[2**30, 6]], 2**31 - 1, 2**29),
])
def test_patterns(run, partitions, pattern, offset, multiplier):
    shape = (partitions, *[count for _, count in pattern])
    same(generated(run, shape, "int32", pattern, offset=offset, channel_multiplier=multiplier),
         affine(partitions, pattern, offset, multiplier).reshape(shape))


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(run, name):
    pattern = [[37, 40]]
    values = affine(128, pattern, -300, 11)
    expected = values.view(np.uint32) if name == "uint32" else values if name == "int32" else convert(values, name)
    same(generated(run, (128, 40), name, pattern, -300, 11), expected.astype(host(name)))


def test_strided_destination(run):
    def body(dst):
        nisa.memset(dst=dst, value=9)
        nisa.iota(dst[:, 0:8:2], [[1, 4]])

    expected = np.full((3, 8), 9, np.int32)
    expected[:, ::2] = np.arange(4)
    same(on_tiles(run, body, out=[((3, 8), "int32")]), expected)


@pytest.mark.parametrize("rule, pattern", [
    ("pattern", [[1, 4]]), ("pattern", []), ("pattern", [[1, 0], [1, 8]]), ("argument", [[1, 2]] * 5), ("argument", 8),
])
def test_rules(run, rule, pattern):
    refused(run, "iota." + rule, lambda dst: nisa.iota(dst, pattern), out=[((2, 8), "int32")])


def test_writes_sbuf_only(run):
    def body(unused):
        nisa.iota(new((2, 8), buffer=nl.psum), [[1, 8]])

    refused(run, "iota.buffer", body, out=[((1, 1), "int32")])


def test_packed_types_hold_no_integers(run):
    refused(run, "iota.packed", lambda dst: nisa.iota(dst, [[1, 8]]), out=[((2, 8), "float8_e4m3fn_x4")], chip="trn3")
