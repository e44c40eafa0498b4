"""The Scalar Engine copies tiles out of PSUM while it also has all activations to compute; Vector stands idle."""

import nki
import nki.isa as nisa
import nki.language as nl
from ml_dtypes import bfloat16

from planted.parts import loaded, psum, sbuf, stored, zeros

CHIP, OBSTACLE = "trn2", "evict-on-vector"
TILES, BANKS = 32, 4


def arguments():
    return zeros(128, 128, dtype=bfloat16), zeros(128, 512, dtype=bfloat16)


def kernel(weights, x, engine):
    stationary, moving = loaded(weights), loaded(x)
    banks = [psum() for _ in range(BANKS)]
    copies = [sbuf(512) for _ in range(BANKS)]
    result = sbuf(512)
    for i in range(TILES):
        bank, copy = banks[i % BANKS], copies[i % BANKS]
        nisa.nc_matmul(dst=bank, stationary=stationary, moving=moving, accumulate=False)
        nisa.tensor_copy(dst=copy, src=bank, engine=engine)
        nisa.activation(dst=result, op=nl.exp, data=copy)
    return stored(result)


@nki.jit
def bad(weights, x):
    return kernel(weights, x, nisa.scalar_engine)


@nki.jit
def good(weights, x):
    return kernel(weights, x, nisa.vector_engine)
