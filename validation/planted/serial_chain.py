"""Two engines take turns: each row's sum (Vector) must be there before its root (Scalar), that before its product."""

import nki
import nki.isa as nisa
import nki.language as nl

from planted.parts import loaded, sbuf, stored, zeros

CHIP, OBSTACLE = "trn2", "independent-work"
COLUMNS, TILES, STEPS = 512, 4, 32


def arguments():
    return (zeros(128, COLUMNS * TILES),)


def columns(tile, i):
    return tile[:, i % TILES * COLUMNS:(i % TILES + 1) * COLUMNS]


def root(x, i):
    total, result = sbuf(1), sbuf(1)
    nisa.tensor_reduce(dst=total, op=nl.add, data=columns(x, i), axis=1)
    nisa.activation(dst=result, op=nl.rsqrt, data=total)
    return result


def scale(x, i, factor):
    nisa.tensor_scalar(dst=columns(x, i), data=columns(x, i), op0=nl.multiply, operand0=factor)


@nki.jit
def bad(x):
    tile = loaded(x)
    for i in range(STEPS):
        scale(tile, i, root(tile, i))
    return stored(tile)


@nki.jit
def good(x):
    tile = loaded(x)
    factor = root(tile, 0)
    for i in range(STEPS):
        following = root(tile, i + 1) if i + 1 < STEPS else None
        scale(tile, i, factor)
        factor = following
    return stored(tile)
