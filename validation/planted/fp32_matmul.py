"""A product in fp32 where the result is rounded to bf16 anyway."""

import nki
import nki.isa as nisa
import nki.language as nl

from planted.parts import loaded, psum, sbuf, stored, zeros

CHIP, OBSTACLE = "trn2", "bf16-matmul"
DEPTH, ROWS, COLUMNS = 8, 8, 512  # in tiles of 128, 128 and 1


def arguments():
    return zeros(128, DEPTH * ROWS * 128), zeros(128, DEPTH * COLUMNS)


def product(weights, x, prepared):
    x_tiles = [prepared(loaded(x[:, k * COLUMNS:(k + 1) * COLUMNS])) for k in range(DEPTH)]
    banks = [psum() for _ in range(4)]
    result = sbuf(ROWS * COLUMNS, nl.bfloat16)
    for m in range(ROWS):
        row = prepared(loaded(weights[:, m * DEPTH * 128:(m + 1) * DEPTH * 128]))
        for repeat in range(4):  # four right hand sides would share the weights
            for k in range(DEPTH):
                nisa.nc_matmul(dst=banks[m % 4], stationary=row[:, k * 128:(k + 1) * 128], moving=x_tiles[k],
                               accumulate=repeat + k > 0)
        nisa.tensor_copy(dst=result[:, m * COLUMNS:(m + 1) * COLUMNS], src=banks[m % 4])
    return stored(result)


def as_bf16(tile):
    narrow = sbuf(tile.shape[1], nl.bfloat16)
    nisa.activation(dst=narrow, op=nl.copy, data=tile)
    return narrow


@nki.jit
def bad(weights, x):
    return product(weights, x, lambda tile: tile)


@nki.jit
def good(weights, x):
    return product(weights, x, as_bf16)
