"""Short bursts of matmuls with pauses in between, so that the array's clock falls back before each of them."""

import nki
import nki.isa as nisa
import nki.language as nl
from ml_dtypes import bfloat16

from planted.parts import loaded, psum, sbuf, stored, zeros

CHIP, OBSTACLE = "trn2", "warm-clock"
BURSTS, MATMULS, DUMMIES = 12, 8, 7


def arguments():
    return zeros(128, 128, dtype=bfloat16), zeros(128, 512, dtype=bfloat16), zeros(128, 1024)


def kernel(weights, x, y, dummies):
    stationary, moving, still, wide = loaded(weights), loaded(x), loaded(x), loaded(y)
    bank, scratch, total = psum(), psum(), sbuf(1)
    for _ in range(BURSTS):
        for k in range(MATMULS):
            nisa.nc_matmul(dst=bank, stationary=stationary, moving=moving, accumulate=k > 0)
        for _ in range(dummies):  # nobody reads them: they keep the clock up while the Vector Engine works
            nisa.nc_matmul(dst=scratch, stationary=stationary, moving=still, accumulate=False)
        nisa.tensor_scalar(dst=wide[:, 0:512], data=bank, op0=nl.multiply, operand0=2.0)
        nisa.tensor_reduce(dst=total, op=nl.add, data=wide, axis=1)
        nisa.tensor_scalar(dst=moving, data=moving, op0=nl.multiply, operand0=total)
    return stored(moving)


@nki.jit
def bad(weights, x, y):
    return kernel(weights, x, y, 0)


@nki.jit
def good(weights, x, y):
    return kernel(weights, x, y, DUMMIES)
