"""sin, cos and tan for any argument: the Scalar engine's table holds one period of the sine, so reduce
first."""

import math

from trnsim import dtypes
from trnsim.lowering.tiles import isa, new, out
from trnsim.lowering.tokens import TOKENS

# 2 pi = the first, exact in ten bits so that its multiples are exact, + the second.
_PERIOD_HIGH = 6.28125
_PERIOD_LOW = 2 * math.pi - _PERIOD_HIGH
_PI_BELOW = 3.1415925  # the largest float32 below pi: what rounding pushed beyond the table's end comes back


def sin(x, dtype=None, dst=None):
    """The sine."""
    return _sine(x, 0.0, dtype, dst, "sin")


def cos(x, dtype=None, dst=None):
    """The cosine: the sine a quarter of a period later."""
    return _sine(x, 0.25, dtype, dst, "cos")


def tan(x, dtype=None, dst=None):
    """The tangent, as sine times one over cosine."""
    sine = sin(x, dtypes.float32)
    inverse = cos(x, dtypes.float32)
    isa.reciprocal(inverse, inverse)
    result = out(dst, x.shape, dtype or x.dtype, "tan")
    isa.tensor_tensor(result, sine, inverse, TOKENS["multiply"])
    return result


def _sine(x, turns, dtype, dst, name):
    """sin(x + turns * 2 pi): k whole periods are subtracted in two steps, so that nothing cancels."""
    multiply, add = TOKENS["multiply"], TOKENS["add"]
    periods = new(x.shape, dtypes.int32, name + ".periods")
    isa.tensor_scalar(periods, x, multiply, 0.5 / math.pi, False, add, turns)
    reduced = new(x.shape, dtypes.float32, name + ".reduced")
    isa.scalar_tensor_tensor(reduced, periods, multiply, -_PERIOD_HIGH, add, x)
    isa.scalar_tensor_tensor(reduced, periods, multiply, -_PERIOD_LOW, add, reduced)
    if turns:
        isa.tensor_scalar(reduced, reduced, add, turns * 2 * math.pi)
    isa.tensor_scalar(reduced, reduced, TOKENS["minimum"], _PI_BELOW, False, TOKENS["maximum"], -_PI_BELOW)
    result = out(dst, x.shape, dtype or x.dtype, name)
    isa.activation(result, TOKENS["sin"], reduced)
    return result
