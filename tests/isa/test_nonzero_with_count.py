"""nki.isa.nonzero_with_count against a loop."""

import numpy as np
import pytest
from vector_oracle import new, nisa, nl, on_tiles, refused, same, sample

KEPT = 77


def expected(x, offset=0, padding=-1):
    result = np.full((x.shape[0], int(np.prod(x.shape[1:])) + 1), KEPT, np.int32)
    for p in range(0, x.shape[0], 16):
        row = x[p].reshape(-1)
        found = [i + offset for i in range(row.size) if row[i] != 0]
        result[p] = found + [padding] * (row.size - len(found)) + [len(found)]
    return result


def find(run, x, chip="trn2", **options):
    def body(dst, src):
        nisa.memset(dst, KEPT)
        nisa.nonzero_with_count(dst=dst, src=src, **options)

    return on_tiles(run, body, x, out=[((x.shape[0], int(np.prod(x.shape[1:])) + 1), "int32")], chip=chip)


def sparse(shape, dtype, share=0.4):
    random = np.random.default_rng(len(shape))
    x = random.integers(1, 9, shape) * np.where(random.random(shape) < 0.5, 1, -1)
    return np.where(random.random(shape) < share, x, 0).astype(dtype)


@pytest.mark.parametrize("chip", ("trn2", "trn3"))
@pytest.mark.parametrize("dtype", (np.float32, np.int32))
@pytest.mark.parametrize("shape", ((1, 1), (1, 8), (16, 5), (17, 5), (100, 33), (128, 2000), (128, 4, 7)))
def test_every_sixteenth_partition(run, shape, dtype, chip):
    x = sparse(shape, dtype)
    same(find(run, x, chip), expected(x))


def test_the_documented_example(run):
    x = np.array([[0, 1, 1, 0, 0, 1, 0, 0]], np.int32)
    assert find(run, x, index_offset=16, padding_val=-1).tolist() == [[17, 18, 21, -1, -1, -1, -1, -1, 3]]


@pytest.mark.parametrize("share, padding", ((0.0, 5), (1.0, -(2**31)), (0.5, 2**31 - 1)))
def test_none_and_all(run, share, padding):
    x = sparse((33, 20), np.float32, share)
    same(find(run, x, index_offset=-3, padding_val=padding), expected(x, -3, padding))


def test_which_floats_are_zero(run):
    x = np.array([[0.0, -0.0, np.nan, np.inf, 1e-45, -1e-45]], np.float32)
    assert find(run, x).tolist() == [[2, 3, 4, 5, -1, -1, 4]]


def test_only_the_partitions_that_count_need_to_be_written(run):
    def kernel(x):
        tile, found = new((32, 4), "int32"), new((32, 5), "int32")
        out = nl.ndarray((32, 5), dtype=nl.int32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=tile[0:1], src=x[0:1]), nisa.dma_copy(dst=tile[16:17], src=x[16:17])
        nisa.nonzero_with_count(found, tile)
        nisa.dma_copy(dst=out, src=found)
        return out

    x = sparse((32, 4), np.int32)
    same(run(kernel, x)[[0, 16]], expected(x)[[0, 16]])


@pytest.mark.parametrize("rule, src, out, chip", [
    ("generation", sample((1, 4)), ((1, 5), "int32"), "trn1"),
    ("dtype", sample((1, 4), "bfloat16"), ((1, 5), "int32"), "trn2"),
    ("dst_dtype", sample((1, 4)), ((1, 5), "float32"), "trn2"),
    ("dst_size", sample((1, 4)), ((1, 4), "int32"), "trn2"),
    ("same_partitions", sample((2, 4)), ((1, 5), "int32"), "trn2"),
    ("buffer", sample((1, 4)), ((1, 5), "int32", nl.psum), "trn2"),
])
def test_rules(run, rule, src, out, chip):
    body = lambda dst, x: nisa.nonzero_with_count(dst, x)
    refused(run, "nonzero_with_count." + rule, body, src, out=[out], chip=chip)
