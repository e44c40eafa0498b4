"""nki.isa.topk against numpy's stable sort, list by list."""

import ml_dtypes
import numpy as np
import pytest
import trnsim
from vector_oracle import new, nisa, nl, on_tiles, refused, same, sample

BF16 = ml_dtypes.bfloat16


def lists(x, n):
    """The list of each group of 16 partitions."""
    return [x[g : g + 16].T.reshape(-1)[:n] for g in range(0, x.shape[0], 16)]


def expected(x, n, k):
    results = []
    for values in lists(x, n):
        order = np.argsort(-values.astype(np.float32), kind="stable")  # numpy sorts NaN last
        order = np.concatenate([order[np.isnan(values[order])], order[~np.isnan(values[order])]])
        places = order[:k][::-1]
        results.append((values[places], places.astype(np.uint32)))
    return results


def found(run, x, n, k, chip="trn2"):
    def body(val, idx, src):
        nisa.memset(val, -1.0), nisa.memset(idx, 99)
        nisa.topk(val_dst=val, idx_dst=idx, src=src, n=n)

    val, idx = on_tiles(run, body, x, out=[((x.shape[0], k), "bfloat16"), ((x.shape[0], k), "uint32")], chip=chip)
    outside = np.arange(16)[:, None] + 16 * np.arange(k)[None, :] >= k
    for g in range(0, x.shape[0], 16):
        assert (val[g : g + 16][outside] == -1).all() and (idx[g : g + 16][outside] == 99).all()
    return list(zip(lists(val, k), lists(idx, k)))


def check(run, x, n, k, chip="trn2"):
    for (val, idx), (wanted_val, wanted_idx) in zip(found(run, x, n, k, chip), expected(x, n, k)):
        same(val, wanted_val)
        same(idx, wanted_idx)


@pytest.mark.parametrize("chip", ("trn1", "trn2", "trn3"))
@pytest.mark.parametrize("partitions, n, k", [
    (16, 8, 1), (16, 8, 8), (32, 42, 8), (128, 42, 16), (128, 100, 17), (128, 1000, 64), (48, 16, 16),
    (16, 9000, 300),
])
def test_lists(run, partitions, n, k, chip):
    x = np.random.default_rng(n).permutation(partitions * (-(-n // 16) + 1)).astype(np.float32)
    check(run, x.reshape(partitions, -1).astype(BF16), n, k, chip)  # ties come with so few mantissa bits


def test_equal_elements(run):
    check(run, np.zeros((16, 4), BF16), 60, 20)
    check(run, np.tile(np.array([[1, -0.0, 0.0, 2]], BF16), (16, 1)), 64, 40)


def test_infinities_and_nan(run):
    x = np.zeros((16, 2), BF16)
    x[3, 0], x[5, 1], x[7, 0], x[9, 1] = np.inf, -np.inf, np.nan, np.nan
    check(run, x, 32, 5)
    check(run, x, 32, 32)


def test_elements_beyond_n_need_not_be_written(run):
    def kernel(x):
        tile = new((16, 3), "bfloat16")
        nisa.dma_copy(dst=tile[:, 0:2], src=x[:, 0:2]), nisa.dma_copy(dst=tile[0:10, 2:3], src=x[0:10, 2:3])
        val, idx = new((16, 4), "bfloat16"), new((16, 4), "uint32")
        nisa.topk(val, idx, tile, 42)
        out = nl.ndarray((4, 1), dtype=nl.uint32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=idx[0:4, 0:1])
        return out

    x = sample((16, 3), "bfloat16")
    same(run(kernel, x)[:, 0], expected(x, 42, 4)[0][1])


def test_the_published_cost(run):
    found(run, sample((16, 100), "bfloat16"), 1600, 48)
    profile = trnsim.last_profile()
    topk = next(i for i in profile.instructions if i["opcode"] == "topk")
    busy_ns = topk["busy_end_ns"] - topk["start_ns"]
    assert busy_ns == pytest.approx((4 * 1600 + 48) / 1.2, rel=1e-4)  # GHz of GpSimd on trn2


X = sample((16, 4), "bfloat16")


@pytest.mark.parametrize("rule, x, val, idx, n", [
    ("dtype", sample((16, 4)), ((16, 2), "bfloat16"), ((16, 2), "uint32"), 8),
    ("dtype", X, ((16, 2), "float32"), ((16, 2), "uint32"), 8),
    ("dtype", X, ((16, 2), "bfloat16"), ((16, 2), "int32"), 8),
    ("rank", sample((16, 2, 2), "bfloat16"), ((16, 2), "bfloat16"), ((16, 2), "uint32"), 8),
    ("groups", sample((8, 4), "bfloat16"), ((8, 2), "bfloat16"), ((8, 2), "uint32"), 8),
    ("same_partitions", X, ((32, 2), "bfloat16"), ((16, 2), "uint32"), 8),
    ("same_partitions", X, ((16, 2), "bfloat16"), ((32, 2), "uint32"), 8),
    ("same_free_size", X, ((16, 2), "bfloat16"), ((16, 3), "uint32"), 8),
    ("n", X, ((16, 2), "bfloat16"), ((16, 2), "uint32"), 7),
    ("n", X, ((16, 2), "bfloat16"), ((16, 2), "uint32"), 65536),
    ("k", X, ((16, 9), "bfloat16"), ((16, 9), "uint32"), 8),
    ("src_size", X, ((16, 2), "bfloat16"), ((16, 2), "uint32"), 65),
    ("buffer", X, ((16, 2), "bfloat16", nl.psum), ((16, 2), "uint32"), 8),
])
def test_rules(run, rule, x, val, idx, n):
    refused(run, "topk." + rule, lambda v, i, src: nisa.topk(v, i, src, n), x, out=[val, idx])
