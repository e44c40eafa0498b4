"""nki.isa.sequence_bounds against a loop."""

import numpy as np
import pytest
from vector_oracle import nisa, on_tiles, refused, same, sample


def bounds(ids):
    n, row = ids.shape[1], ids[0]
    result = np.empty((1, 2, n), ids.dtype)
    for i in range(n):
        first, end = i, i + 1
        while first > 0 and row[first - 1] == row[i]:
            first -= 1
        while end < n and row[end] == row[i]:
            end += 1
        result[0, :, i] = (n, -1) if row[i] == 0 else (first, end)
    return result


def find(dst, ids):
    nisa.sequence_bounds(dst=dst, segment_ids=ids)


@pytest.mark.parametrize("dtype", (np.float32, np.int32))
@pytest.mark.parametrize("row", [
    [1], [0], [0, 0], [1, 1, 2, 2, 2, 0, 0], [3, 3, 1, 3, 0, 3], [5] * 100, list(range(33)), [1, 0, 1, 0, 2],
])
def test_rows(run, row, dtype):
    ids = np.array([row], dtype)
    same(on_tiles(run, find, ids, out=[((1, 2, len(row)), np.dtype(dtype).name)]), bounds(ids))


def test_a_long_row(run):
    ids = np.sort(np.random.default_rng(0).integers(0, 40, (1, 2000))).astype(np.int32)
    same(on_tiles(run, find, ids, out=[((1, 2, 2000), "int32")]), bounds(ids))


@pytest.mark.parametrize("rule, ids, out, name", [
    ("dtype", sample((1, 4), "bfloat16"), (1, 2, 4), "bfloat16"),
    ("same_dtype", sample((1, 4)), (1, 2, 4), "int32"),
    ("partitions", sample((2, 4)), (1, 2, 4), "float32"),
    ("dst_shape", sample((1, 4)), (1, 2, 5), "float32"),
    ("dst_shape", sample((1, 4)), (1, 4, 2), "float32"),
])
def test_rules(run, rule, ids, out, name):
    refused(run, "sequence_bounds." + rule, find, ids, out=[(out, name)])
