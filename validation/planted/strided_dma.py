"""A matrix is transposed by reading its columns as rows, one element at a time."""

import nki
import nki.isa as nisa
import nki.language as nl
from ml_dtypes import bfloat16

from planted.parts import loaded, psum, sbuf, stored, zeros

CHIP, OBSTACLE = "trn2", "contiguous-dma"
SIZE, TILES = 128, 8


def arguments():
    return (zeros(SIZE * TILES, SIZE, dtype=bfloat16),)


@nki.jit
def bad(x):
    result = sbuf(SIZE * TILES, x.dtype)
    for i in range(TILES):
        rows = x[i * SIZE:(i + 1) * SIZE]
        nisa.dma_copy(dst=result[:, i * SIZE:(i + 1) * SIZE], src=rows.ap(pattern=[[1, SIZE], [SIZE, SIZE]]))
    return stored(result)


@nki.jit
def good(x):
    result = sbuf(SIZE * TILES, x.dtype)
    for i in range(TILES):
        tile = loaded(x[i * SIZE:(i + 1) * SIZE])
        turned = nl.ndarray((SIZE, SIZE), dtype=x.dtype, buffer=nl.psum)
        nisa.nc_transpose(dst=turned, data=tile)
        nisa.tensor_copy(dst=result[:, i * SIZE:(i + 1) * SIZE], src=turned)
    return stored(result)
