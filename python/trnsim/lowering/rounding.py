"""floor, ceil and trunc from casts: the hardware rounds to the nearest integer and has no other way.

Numbers beyond 32-bit integers are rounded only by floor's and ceil's saturation; NKI kernels have no use
for them.
"""

from trnsim import dtypes
from trnsim.lowering.tiles import is_float, isa, new, out
from trnsim.lowering.tokens import TOKENS


def floor(x, dtype=None, dst=None):
    """The largest integer that is not above x."""
    return _toward(x, "greater", "subtract", "floor", dtype, dst)


def ceil(x, dtype=None, dst=None):
    """The smallest integer that is not below x."""
    return _toward(x, "less", "add", "ceil", dtype, dst)


def _toward(x, beyond, correct, name, dtype, dst):
    """Nearest integer, moved by one where rounding went the wrong way."""
    result = out(dst, x.shape, dtype or x.dtype, name)
    if not is_float(x):
        isa.tensor_copy(result, x)
        return result
    nearest = new(x.shape, dtypes.int32, name + ".nearest")
    isa.tensor_copy(nearest, x)
    wrong = new(x.shape, dtypes.float32, name + ".wrong")
    isa.tensor_tensor(wrong, nearest, x, TOKENS[beyond])
    isa.tensor_tensor(result, nearest, wrong, TOKENS[correct])
    return result


def trunc(x, dtype=None, dst=None):
    """x without its fraction: floor of the magnitude, with the sign of x."""
    result = out(dst, x.shape, dtype or x.dtype, "trunc")
    if not is_float(x):
        isa.tensor_copy(result, x)
        return result
    magnitude = new(x.shape, dtypes.float32, "trunc.abs")
    isa.activation(magnitude, TOKENS["abs"], x)
    whole = floor(magnitude)
    sign = new(x.shape, dtypes.float32, "trunc.sign")
    isa.activation(sign, TOKENS["sign"], x)
    isa.tensor_tensor(result, whole, sign, TOKENS["multiply"])
    return result
