"""Two functions of different table sets in turn: every activation loads tables."""

import nki
import nki.isa as nisa
import nki.language as nl

from planted.parts import loaded, sbuf, stored, zeros

CHIP, OBSTACLE = "trn2", "grouped-activations"
COLUMNS, TIMES = 512, 24


def arguments():
    return (zeros(128, COLUMNS),)


@nki.jit
def bad(x):
    tile, powers, gates = loaded(x), sbuf(COLUMNS), sbuf(COLUMNS)
    for _ in range(TIMES):
        nisa.activation(dst=powers, op=nl.exp, data=tile)
        nisa.activation(dst=gates, op=nl.sigmoid, data=tile)
    return stored(powers), stored(gates)


@nki.jit
def good(x):
    tile, powers, gates = loaded(x), sbuf(COLUMNS), sbuf(COLUMNS)
    for _ in range(TIMES):
        nisa.activation(dst=powers, op=nl.exp, data=tile)
    for _ in range(TIMES):
        nisa.activation(dst=gates, op=nl.sigmoid, data=tile)
    return stored(powers), stored(gates)
