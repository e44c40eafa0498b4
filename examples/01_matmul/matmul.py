"""A tiled matrix product that keeps the Tensor engine busy: C = A @ B, 2048 x 2048 x 2048 in bfloat16, on
Trainium2.

trnsim run examples/01_matmul/matmul.py
"""

import sys

import ml_dtypes
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np

TILE_K = 128  # rows of the array: what one matmul contracts
TILE_M = 128  # columns of the array: rows of the result of one matmul
TILE_N = 512  # columns of the result of one matmul: one PSUM bank of float32
# Tiles of the result under way at a time: 4 x 2, one for each of the eight PSUM banks.
BLOCK_M = 4
BLOCK_N = 2


@nki.jit
def matmul(a_transposed, b):
    """A @ B for A given as its transpose [K, M], as the Tensor engine wants it, and B as [K, N]."""
    (depth, rows), (_, columns) = a_transposed.shape, b.shape
    c = nl.ndarray((rows, columns), dtype=a_transposed.dtype, buffer=nl.shared_hbm)
    banks, b_tiles = [], []  # B is loaded once and stays in SBUF
    for i in range(BLOCK_M):
        banks.append([])
        for j in range(BLOCK_N):
            banks[i].append(nl.ndarray((TILE_M, TILE_N), dtype=nl.float32, buffer=nl.psum))

    for m in range(0, rows, BLOCK_M * TILE_M):
        a_tiles = []  # of A, what this row of blocks needs
        for n in range(0, columns, BLOCK_N * TILE_N):
            for k in range(0, depth, TILE_K):
                if n == 0:
                    a_tiles.append(loaded(a_transposed[k : k + TILE_K, m : m + BLOCK_M * TILE_M]))
                if m == 0:
                    b_tiles.append(loaded(b[k : k + TILE_K, n : n + BLOCK_N * TILE_N]))
                b_tile = b_tiles[(n // TILE_N // BLOCK_N * depth + k) // TILE_K]
                for i in range(BLOCK_M):
                    for j in range(BLOCK_N):
                        nisa.nc_matmul(
                            dst=banks[i][j],
                            stationary=a_tiles[k // TILE_K][:, i * TILE_M : (i + 1) * TILE_M],
                            moving=b_tile[:, j * TILE_N : (j + 1) * TILE_N],
                            accumulate=k > 0,
                        )
            for i in range(BLOCK_M):
                at = m + i * TILE_M
                evict(c[at : at + TILE_M, n : n + BLOCK_N * TILE_N], banks[i])
    return c


def loaded(source):
    """A tile in SBUF with the values of a piece of HBM."""
    tile = nl.ndarray(source.shape, source.dtype, nl.sbuf)
    nisa.dma_copy(dst=tile, src=source)
    return tile


def evict(target, banks):
    """Round finished banks to bfloat16 and store them; two engines take turns, so that the banks are free
    sooner."""
    row = nl.ndarray(target.shape, target.dtype, nl.sbuf)
    for j in range(BLOCK_N):
        part = row[:, j * TILE_N : (j + 1) * TILE_N]
        if j % 2:
            nisa.activation(dst=part, op=nl.copy, data=banks[j])  # Scalar engine
        else:
            nisa.tensor_copy(dst=part, src=banks[j])  # Vector engine
    nisa.dma_copy(dst=target, src=row)


def main():
    random = np.random.default_rng(seed=1)
    a = random.standard_normal((2048, 2048), np.float32).astype(ml_dtypes.bfloat16)
    b = random.standard_normal((2048, 2048), np.float32).astype(ml_dtypes.bfloat16)

    c = matmul(np.ascontiguousarray(a.T), b).astype(np.float32)

    expected = a.astype(np.float32) @ b.astype(np.float32)
    error = np.abs(c - expected)
    allowed = (
        2.0**-8 * np.abs(expected) + 1e-3
    )  # half a unit of bfloat16's last bit, + what the sum itself rounds
    passed = bool((error <= allowed).all())
    worst = error.argmax()
    verdict = "PASS" if passed else "FAIL"
    print(f"{verdict}: largest error {error.flat[worst]:.4f} where {allowed.flat[worst]:.4f} is allowed")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
