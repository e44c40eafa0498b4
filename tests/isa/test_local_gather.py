"""nki.isa.local_gather against numpy."""

import numpy as np
import pytest
from vector_oracle import DTYPES, nisa, on_tiles, refused, same, sample


def gathered(src, index, run_length=1, count=None):
    flat, result = src.reshape(src.shape[0], -1), []
    for p in range(len(flat)):
        group = index[p // 16 * 16:p // 16 * 16 + 16]
        starts = group.flatten(order="F")[:count].astype(np.int64)
        result.append(flat[p][starts[:, None] + np.arange(run_length)].reshape(-1))
    return np.stack(result)


def indices(partitions, columns, size, seed=0):
    return np.random.default_rng(seed).integers(0, size, (partitions, columns)).astype(np.uint16)


def gather(run, src, index, out, **arguments):
    return on_tiles(run, lambda dst, s, i: nisa.local_gather(dst=dst, src_buffer=s, index=i, **arguments), src, index,
                    out=[(out, src.dtype.name)])


@pytest.mark.parametrize("partitions, columns, size", [(16, 1, 1), (128, 4, 50), (48, 3, 7), (16, 256, 1000)])
def test_sizes(run, partitions, columns, size):
    src, index = sample((partitions, size)), indices(partitions, columns, size)
    same(gather(run, src, index, (partitions, 16 * columns)), gathered(src, index))


@pytest.mark.parametrize("length", (1, 2, 4, 8, 16, 32))
def test_runs(run, length):
    src, index = sample((32, 100)), indices(32, 2, 100 - length)
    result = gather(run, src, index, (32, 32, length), num_elem_per_idx=length)
    same(result, gathered(src, index, length).reshape(32, 32, length))


@pytest.mark.parametrize("count", (1, 17, 31))
def test_fewer_valid_indices(run, count):
    src, index = sample((32, 5, 8)), indices(32, 2, 39)
    same(gather(run, src, index, (32, 2 * count), num_elem_per_idx=2, num_valid_indices=count),
         gathered(src, index, 2, count))


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(run, name):
    src, index = sample((16, 64), name), indices(16, 2, 64)
    same(gather(run, src, index, (16, 32)), gathered(src, index))


@pytest.mark.parametrize("rule, partitions, columns, out, arguments", [
    ("partition_multiple", 24, 1, 16, {}),
    ("num_elem_per_idx", 16, 1, 48, {"num_elem_per_idx": 3}),
    ("num_elem_per_idx", 16, 1, 1024, {"num_elem_per_idx": 64}),
    ("num_valid_indices", 16, 1, 17, {"num_valid_indices": 17}),
    ("num_valid_indices", 16, 1, 16, {"num_valid_indices": 0}),
    ("indices", 16, 257, 4112, {}),
    ("dst_size", 16, 1, 17, {}),
    ("index", 16, 1, 128, {"num_elem_per_idx": 8}),
])
def test_rules(run, rule, partitions, columns, out, arguments):
    src, index = sample((partitions, 20)), np.full((partitions, columns), 13, np.uint16)
    refused(run, "local_gather." + rule,
            lambda dst, s, i: nisa.local_gather(dst=dst, src_buffer=s, index=i, **arguments), src, index,
            out=[((partitions, out), "float32")])


@pytest.mark.parametrize("rule, name, index", [
    ("index_dtype", "float32", np.zeros((16, 1), np.uint32)), ("same_dtype", "bfloat16", np.zeros((16, 1), np.uint16)),
    ("same_partitions", "float32", np.zeros((32, 1), np.uint16)),
])
def test_operand_rules(run, rule, name, index):
    refused(run, "local_gather." + rule, lambda dst, s, i: nisa.local_gather(dst=dst, src_buffer=s, index=i),
            sample((16, 20)), index, out=[((16, 16), name)])
