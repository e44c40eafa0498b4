"""Two cores with a barrier at the end of each step, of whose work one has three quarters."""

import nki
import nki.isa as nisa
import nki.language as nl

from planted.parts import hbm, loaded, sbuf, zeros

CHIP, OBSTACLE = "trn2", "even-cores"
COLUMNS, STEPS, PIECES = 1024, 4, 24


def arguments():
    return (zeros(128, COLUMNS),)


def kernel(x, pieces):
    result = hbm(STEPS * 2 * 128, COLUMNS)
    core = nl.program_id(0)
    tile, sums = loaded(x), sbuf(COLUMNS)
    for step in range(STEPS):
        mine, other = (result[row * 128:(row + 1) * 128] for row in (2 * step + core, 2 * step + 1 - core))
        for _ in range(pieces[core]):
            nisa.tensor_tensor(dst=sums, data1=tile, data2=tile, op=nl.add)
        nisa.dma_copy(dst=mine, src=sums)
        nisa.core_barrier(result, (0, 1))
        nisa.dma_copy(dst=tile, src=other)
    return result


@nki.jit
def bad(x):
    return kernel(x, (PIECES * 3 // 4, PIECES // 4))


@nki.jit
def good(x):
    return kernel(x, (PIECES // 2, PIECES // 2))


bad, good = bad[2], good[2]
