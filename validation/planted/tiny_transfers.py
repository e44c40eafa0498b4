"""A tile comes in slices of 64 bytes for each partition."""

import nki
import nki.isa as nisa
import nki.language as nl

from planted.parts import loaded, sbuf, stored, zeros

CHIP, OBSTACLE = "trn2", "larger-dma-transfers"
COLUMNS, SLICE = 4096, 16


def arguments():
    return (zeros(128, COLUMNS),)


@nki.jit
def bad(x):
    tile = sbuf(COLUMNS)
    for at in range(0, COLUMNS, SLICE):
        nisa.dma_copy(dst=tile[:, at:at + SLICE], src=x[:, at:at + SLICE])
    return stored(doubled(tile))


@nki.jit
def good(x):
    return stored(doubled(loaded(x)))


def doubled(tile):
    result = sbuf(COLUMNS)
    nisa.tensor_scalar(dst=result, data=tile, op0=nl.multiply, operand0=2.0)
    return result
