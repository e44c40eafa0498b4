"""Causal attention in the Beta 1 dialect, neuronxcc.nki: returned tiles, arange for positions, += in PSUM.

trnsim run examples/03_beta1_attention/attention.py
"""

import sys

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np

LENGTH, HEAD = 512, 64
TILE = 128  # queries at a time: the partitions of a tile


@nki.jit
def attention(q, k, v):
    """softmax(q.T @ k / sqrt(HEAD), causal) @ v for q and k as [HEAD, LENGTH] and v as [LENGTH, HEAD]."""
    out = nl.ndarray(v.shape, dtype=v.dtype, buffer=nl.shared_hbm)
    keys = nl.load(k)
    for i in nl.affine_range(LENGTH // TILE):
        queries = nl.multiply(nl.load(q[:, nl.ds(i * TILE, TILE)]), HEAD**-0.5)
        scores = nl.copy(nl.matmul(queries, keys, transpose_x=True))

        query, key = nl.arange(TILE)[:, None], nl.arange(LENGTH)[None, :]
        visible = nisa.affine_select(
            pred=i * TILE + query >= key, on_true_tile=scores[query, key], on_false_value=-1e30
        )
        weights = nl.softmax(visible, axis=1)

        result = nl.zeros((TILE, HEAD), dtype=nl.float32, buffer=nl.psum)
        for j in nl.affine_range(LENGTH // TILE):
            part = nl.copy(nl.transpose(weights[:, nl.ds(j * TILE, TILE)]))
            result += nl.matmul(part, nl.load(v[nl.ds(j * TILE, TILE), :]), transpose_x=True)
        nl.store(out[nl.ds(i * TILE, TILE), :], result)
    return out


def expected(q, k, v):
    scores = q.T @ k / np.sqrt(HEAD)
    scores[np.triu_indices(LENGTH, 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v


def main():
    random = np.random.default_rng(seed=1)
    q, k = (random.standard_normal((HEAD, LENGTH), np.float32) for _ in range(2))
    v = random.standard_normal((LENGTH, HEAD), np.float32)

    error = np.abs(attention(q, k, v) - expected(q, k, v)).max()
    timed = nki.benchmark(warmup=1, iters=2)(attention)
    timed(q, k, v)
    latency = timed.benchmark_result.nc_latency.get_latency_percentile(50)

    passed = error < 1e-5
    print(f"{'PASS' if passed else 'FAIL'}: largest error {error:.1e}; {latency:.1f} us by nki.benchmark")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
