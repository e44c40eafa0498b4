"""The same weights are loaded for every row of tiles, so that the product is bound by the HBM."""

import nki
import nki.isa as nisa
import nki.language as nl
from ml_dtypes import bfloat16

from planted.parts import loaded, psum, sbuf, stored, zeros

CHIP, OBSTACLE = "trn2", "keep-in-sbuf"
DEPTH, ROWS = 16, 8


def arguments():
    return zeros(128, DEPTH * 512, dtype=bfloat16), zeros(128, ROWS * 128, dtype=bfloat16)


def kernel(weights, x, weights_tile):
    left = loaded(x)
    banks = [psum() for _ in range(4)]
    result = sbuf(ROWS * 512, nl.bfloat16)
    for m in range(ROWS):
        bank = banks[m % 4]
        for k in range(DEPTH):
            nisa.nc_matmul(dst=bank, stationary=left[:, m * 128:(m + 1) * 128], moving=weights_tile(weights, k),
                           accumulate=k > 0)
        nisa.tensor_copy(dst=result[:, m * 512:(m + 1) * 512], src=bank)
    return stored(result)


def load(weights, k):
    return loaded(weights[:, k * 512:(k + 1) * 512])


@nki.jit
def bad(weights, x):
    return kernel(weights, x, load)


@nki.jit
def good(weights, x):
    tiles = {}

    def once(weights, k):
        if k not in tiles:
            tiles[k] = load(weights, k)
        return tiles[k]

    return kernel(weights, x, once)
