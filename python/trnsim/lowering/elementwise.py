"""Element by element: one operator or function, one tile or two."""

from trnsim import dtypes, releases
from trnsim.lowering import broadcasting, rounding, tokens, trigonometry
from trnsim.lowering.tiles import (
    cast,
    in_sbuf,
    is_column,
    is_float,
    is_int32,
    is_tensor,
    isa,
    launch,
    new,
    number,
    on_chip,
    out,
    refuse,
    unimplemented,
)
from trnsim.lowering.tokens import TOKENS



def binary(op, x, y, dtype=None, dst=None):
    """x <op> y, each a tile or a number; at least one a tile. Tiles of size 1 in a dimension are
    broadcast."""
    name = tokens.name_of(op)
    function = f"nl.{name}"
    if name in ("mod", "fmod"):
        unimplemented(
            f"{function}: NeuronCores have no remainder operator; compute x - floor(x * (1 / y)) * y with "
            "nl.floor, mind the rounding, or do it on the host"
        )
    if name == "divide":
        return divide(x, y, dtype, dst)
    if not is_tensor(x) and not is_tensor(y):
        refuse(
            "language.argument", f"{function}: at least one of x and y must be a tile, got {x!r} and {y!r}"
        )
    if is_tensor(x) and is_tensor(y):
        return _two_tiles(name, on_chip(x, function, "x"), on_chip(y, function, "y"), dtype, dst)
    if is_tensor(x):
        return tile_scalar(name, on_chip(x, function, "x"), number(y, function, "y"), False, dtype, dst)
    return tile_scalar(name, on_chip(y, function, "y"), number(x, function, "x"), True, dtype, dst)


def tile_scalar(name, data, operand, reverse, dtype=None, dst=None):
    """data <op> operand (swapped with `reverse`), the operand a number or a float32 [P, 1] tile."""
    if name == "power":  # no tensor_scalar form: a constant per partition, seen at every element
        column = operand if is_tensor(operand) else constant_column(data, operand)
        column = broadcasting.free_to(column, data.shape)
        pair = (column, data) if reverse else (data, column)
        return _tensor_tensor(name, *pair, dtype or data.dtype, dst)
    result = out(dst, data.shape, dtype or data.dtype, name)
    isa.tensor_scalar(result, data, TOKENS[name], operand, reverse)
    return result


def _two_tiles(name, x, y, dtype, dst):
    dtype = dtype or x.dtype
    if x.shape == y.shape:  # the usual case, for which the rest is in vain
        return _tensor_tensor(name, x, y, dtype, dst)
    x, y = broadcasting.align_partitions(x, y, f"nl.{name}")
    for data, column, reverse in ((x, y, False), (y, x, True)):
        if is_column(column) and not is_column(data) and _takes_column(name, data, column):
            return tile_scalar(name, data, _as_operand(column, name), reverse, dtype, dst)
    x, y = broadcasting.align_free(x, y, f"nl.{name}")
    return _tensor_tensor(name, x, y, dtype, dst)


def _takes_column(name, data, column) -> bool:
    """Whether tensor_scalar computes what tensor_tensor on a broadcast view would."""
    if name == "power":
        return False
    if name in tokens.BITWISE:
        return column.itemsize == data.itemsize
    return is_float(column) or not (is_int32(data) or is_int32(column))


def _as_operand(column, name):
    """Vectors beside arithmetic operators must be float32."""
    return column if name in tokens.BITWISE else cast(column, dtypes.float32, name + ".operand")


def _tensor_tensor(name, x, y, dtype, dst):
    if x.space == "PSUM" and y.space == "PSUM":  # two operands cannot come from PSUM
        y = in_sbuf(y)
    result = out(dst, x.shape, dtype, name)
    isa.tensor_tensor(result, x, y, TOKENS[name])
    return result


def divide(x, y, dtype=None, dst=None):
    """x / y as x * (1 / y): the hardware has no division."""
    if not is_tensor(x) and not is_tensor(y):
        refuse("language.argument", f"nl.divide: at least one of x and y must be a tile, got {x!r} and {y!r}")
    dtype = dtype or (x if is_tensor(x) else y).dtype
    if not is_tensor(y):
        divisor = number(y, "nl.divide", "y")
        if divisor == 0:
            refuse("language.divide", "nl.divide: y is the number 0")
        return binary("multiply", x, 1.0 / divisor, dtype, dst)
    inverse = new(y.shape, dtypes.float32, "divide.inverse")
    isa.reciprocal(inverse, on_chip(y, "nl.divide", "y"))
    return binary("multiply", x, inverse, dtype, dst)


def unary(op, x, dtype=None, dst=None):
    """op(x) for a function or an operator of one operand."""
    name = op if op in _SEQUENCES else tokens.name_of(op)
    on_chip(x, f"nl.{name}", "x")
    if name in _SEQUENCES:
        return _SEQUENCES[name](x, dtype, dst)
    if name in tokens.ACTIVATIONS:
        return activation(name, x, dtype, dst)
    return refuse("language.argument", f"nl.{name}: not a function of one tile")


def activation(op, x, dtype=None, dst=None, scale=1.0, bias=None):
    """op(x * scale + bias) on the Scalar engine."""
    name = tokens.name_of(op)
    result = out(dst, x.shape, dtype or x.dtype, name)
    if bias is not None and not is_tensor(bias) and launch().generation < 3:
        bias = constant_column(x, bias)  # older Scalar engines take no number
    isa.activation(result, TOKENS[name], x, bias, scale)
    return result


def constant_column(x, value):
    """A float32 [P, 1] tile of one number, for a tile like `x`."""
    column = new((x.shape[0], 1), dtypes.float32, "constant")
    isa.memset(column, value)
    return column


def copy(x, dtype=None, dst=None):
    """A copy of `x`, in SBUF."""
    if releases.applies("nl.copy on Scalar"):
        return activation("copy", x, dtype, dst)
    result = out(dst, x.shape, dtype or x.dtype, "copy")
    isa.tensor_copy(result, x)
    return result


def _negative(x, dtype, dst):
    return tile_scalar("multiply", x, -1.0, False, dtype, dst)


def _invert(x, dtype, dst):
    return tile_scalar("bitwise_xor", x, -1, False, dtype, dst)


def _logical_not(x, dtype, dst):
    return tile_scalar("logical_xor", x, 1.0, False, dtype, dst)


def _reciprocal(x, dtype, dst):
    result = out(dst, x.shape, dtype or x.dtype, "reciprocal")
    isa.reciprocal(result, x)
    return result


def _rsqrt(x, dtype, dst):
    if releases.applies("nl.rsqrt on Scalar"):
        return activation("rsqrt", x, dtype, dst)
    result = out(dst, x.shape, dtype or x.dtype, "rsqrt")
    isa.tensor_scalar(result, x, TOKENS["rsqrt"], 0.0)
    return result


_SEQUENCES = {
    "negative": _negative,
    "invert": _invert,
    "logical_not": _logical_not,
    "reciprocal": _reciprocal,
    "rsqrt": _rsqrt,
    "copy": copy,
    "bypass": copy,
    "sin": trigonometry.sin,
    "cos": trigonometry.cos,
    "tan": trigonometry.tan,
    "floor": rounding.floor,
    "ceil": rounding.ceil,
    "trunc": rounding.trunc,
}
