"""One tile for all loads: the next one waits until the last has been summed up."""

import nki
import nki.isa as nisa
import nki.language as nl

from planted.parts import sbuf, stored, zeros

CHIP, OBSTACLE = "trn2", "double-buffering"
COLUMNS, TILES = 2048, 16


def arguments():
    return (zeros(128, COLUMNS * TILES),)


def kernel(x, buffers):
    tiles = [sbuf(COLUMNS) for _ in range(buffers)]
    sums = sbuf(TILES)
    for i in range(TILES):
        tile = tiles[i % buffers]
        nisa.dma_copy(dst=tile, src=x[:, i * COLUMNS:(i + 1) * COLUMNS])
        nisa.tensor_reduce(dst=sums[:, i:i + 1], op=nl.add, data=tile, axis=1)
    return stored(sums)


@nki.jit
def bad(x):
    return kernel(x, 1)


@nki.jit
def good(x):
    return kernel(x, 4)
