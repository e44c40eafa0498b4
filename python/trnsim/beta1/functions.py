"""The functions of neuronxcc.nki.language on tiles: each deferred, its instructions chosen by
trnsim.lowering."""

import numpy as np

from trnsim import dtypes, lowering, printing
from trnsim.beta1 import run
from trnsim.beta1.deferred import defer
from trnsim.beta1.index import broadcast_shapes
from trnsim.beta1.issue import (
    aligned,
    described,
    dtype_of,
    native,
    no_mask,
    now,
    operand,
    pair,
    parts_of,
    promote,
    shrink,
    tile,
)
from trnsim.beta1.storage import Broadcast, Storage
from trnsim.beta1.tile import Tile
from trnsim.lowering.tiles import axes_of, name_of_dtype, refuse

_FLOAT_RESULT = frozenset(
    "exp log sin cos tan arctan tanh sqrt rsqrt sigmoid gelu gelu_dx gelu_apprx_tanh gelu_apprx_sigmoid silu "
    "silu_dx softplus mish erf erf_dx reciprocal".split()
)


def result_dtype(dtype, default):
    """The dtype that the kernel asks for, or the default."""
    return dtype_of(dtype) if dtype is not None else default


def binary(op, x, y, dtype=None, mask=None, name=None):
    """x <op> y: tiles that broadcast, or a tile and a number."""
    name = f"nl.{op}"
    if op == "mod" and isinstance(x, Tile) and not isinstance(y, Tile):
        return mod(x, y, dtype, mask)
    if not isinstance(x, Tile) and not isinstance(y, Tile):
        refuse(
            "language.argument",
            f"{name}: at least one of x and y must be a tile, got {described(x)} and {described(y)}",
        )
    x, y = (operand(value, name, argument) for value, argument in ((x, "x"), (y, "y")))
    x, y, shape = aligned(x, y, name)
    default = promote(x, y)
    if op == "divide" and "float" not in name_of_dtype(default):
        default = dtypes.float32

    def emit(dst, accumulate):
        for ranges in parts_of(mask, shape, name):
            left, right = pair(shrink(x, ranges, shape), shrink(y, ranges, shape), op != "power")
            lowering.binary(op, left, right, dtype, dst=shrink(dst, ranges, shape).target())

    return defer(op, emit, shape, result_dtype(dtype, default), exact=dtype is not None)


def mod(x, y, dtype=None, mask=None):
    """The remainder of x by a positive number, with its sign: from a product with 1 / y, its floor, and corrections
    for the rounding of both. Computed in float32, so exact for integers up to 2^24."""
    y = operand(y, "nl.mod", "y")
    if not y > 0:
        refuse("language.argument", f"nl.mod: y must be a positive number, got {y!r}")
    fp32 = {"dtype": dtypes.float32, "mask": mask}
    quotient = unary("floor", binary("multiply", x, 1.0 / y, **fp32), **fp32)
    rest = binary("subtract", x, binary("multiply", quotient, y, **fp32), **fp32)
    rest = binary("add", rest, binary("multiply", binary("less", rest, 0.0, **fp32), y, **fp32), **fp32)
    over = binary("multiply", binary("greater_equal", rest, y, **fp32), y, **fp32)
    return binary("subtract", rest, over, dtype=result_dtype(dtype, x.dtype), mask=mask)


def binary_into(op, x, y, dst) -> None:
    """dst = x <op> y at once."""
    x, y = operand(x, f"nl.{op}", "x"), operand(y, f"nl.{op}", "y")
    if isinstance(y, Tile):
        y = y.like(x.shape)
    x, y, _ = aligned(x, y, f"nl.{op}")
    lowering.binary(op, native(x), native(y), dst=dst.target())


def unary(op, x, dtype=None, mask=None, name=None):
    """op(x), element by element."""
    x = tile(x, f"nl.{op}", "x")
    integers = "float" not in name_of_dtype(x.dtype)
    default = dtypes.float32 if op in _FLOAT_RESULT and integers else x.dtype

    # Until NKI 0.5 nl.rsqrt was the Scalar engine's.
    function = lowering.activation if op == "rsqrt" else lowering.unary

    def emit(dst, accumulate):
        for ranges in parts_of(mask, x.shape, f"nl.{op}"):
            function(op, shrink(x, ranges, x.shape).tensor, dtype, dst=shrink(dst, ranges, x.shape).target())

    return defer(op, emit, x.shape, result_dtype(dtype, default), exact=dtype is not None)


def reduction(op, x, axis, dtype=None, mask=None, keepdims=False, name=None):
    """Reduce free axes of a tile."""
    from trnsim.beta1.instructions.reductions import reduced

    return reduced(f"nl.{op}", op, x, axis, mask, dtype, False, keepdims)


def whole(name, shape, emit, dtype, mask, spaces=("SBUF", "PSUM"), exact=False):
    """A function that looks at the whole tile and takes no mask."""
    no_mask(mask, name)
    return defer(name, lambda dst, accumulate: emit(dst.target()), shape, dtype, spaces, exact)


def copy(src, dtype=None, mask=None, name=None):
    """A copy of a tile, in SBUF."""
    return unary("copy", src, dtype=dtype, mask=mask)


def mean(x, axis, dtype=None, mask=None, keepdims=False, name=None):
    """The mean along free axes, summed in float32."""
    return _statistic("mean", lowering.mean, x, axis, dtype, mask, keepdims)


def var(x, axis, dtype=None, mask=None, keepdims=True, name=None):
    """The population variance along the last free axes; axes are kept with size 1."""
    return _statistic("var", lowering.var, x, axis, dtype, mask, True)


def all(x, axis, dtype=None, mask=None, keepdims=False, name=None):  # noqa: A001
    """1 where every element along the axes is nonzero, else 0."""
    return _statistic("all", lowering.all_, x, axis, dtype or dtypes.bool_, mask, keepdims)


def _statistic(name, function, x, axis, dtype, mask, keepdims):
    """A statistic along any free axes: the view brings them last, which costs nothing."""
    x = tile(x, f"nl.{name}", "x")
    axes = axes_of(axis, x.ndim, f"nl.{name}")
    if 0 in axes:
        refuse("language.axis", f"nl.{name}: axis 0 is the partition axis; nl.transpose first")
    kept = [d for d in range(x.ndim) if d not in axes]
    shape = tuple(1 if d in axes else size for d, size in enumerate(x.shape) if keepdims or d not in axes)
    no_mask(mask, f"nl.{name}")

    def emit(dst, accumulate):
        seen = x.permute(kept + list(axes))
        out = dst.like([x.shape[d] for d in kept] + [1] * len(axes) * keepdims)
        function(seen.tensor, tuple(range(len(kept), x.ndim)), dtype, keepdims, dst=out.target())

    return defer(name, emit, shape, result_dtype(dtype, x.dtype), exact=dtype is not None)


def softmax(x, axis=-1, dtype=None, compute_dtype=None, mask=None, name=None):
    """exp(x - max) / sum of it, along the last free axes; computed in float32 whatever compute_dtype says."""
    x = tile(x, "nl.softmax", "x")
    return whole(
        "nl.softmax",
        x.shape,
        lambda dst: lowering.softmax(x.tensor, axis, dtype, dst=dst),
        result_dtype(dtype, x.dtype),
        mask,
    )


def rms_norm(x, w, axis, n, epsilon=1e-6, dtype=None, compute_dtype=None, mask=None, name=None):
    """x / sqrt(sum of squares / n + epsilon) * w."""
    x, w = tile(x, "nl.rms_norm", "x"), tile(w, "nl.rms_norm", "w")
    return whole(
        "nl.rms_norm",
        x.shape,
        lambda dst: lowering.rms_norm(x.tensor, w.tensor, axis, n, epsilon, dtype, compute_dtype, dst=dst),
        result_dtype(dtype, x.dtype),
        mask,
    )


def _one_width(x, y):
    """Both operands of a product with 32 bits where one has: the Tensor engine does not mix them with
    others."""
    if (x.itemsize == 4) == (y.itemsize == 4):
        return x, y
    return tuple(t if t.itemsize == 4 else lowering.copy(t, dtypes.float32) for t in (x, y))


def matmul(x, y, transpose_x=False, mask=None, name=None):
    """x @ y (x.T @ y with transpose_x) in PSUM, float32. `psum += nl.matmul(...)` accumulates there."""
    x, y = tile(x, "nl.matmul", "x"), tile(y, "nl.matmul", "y")
    if mask is not None:
        refuse("mask.instruction", "nl.matmul takes no mask in the simulator; mask the loads of x and y")
    rows = x.shape[1] if transpose_x else x.shape[0]

    def emit(dst, accumulate):
        left, right = _one_width(x.tensor, y.tensor)
        dst.storage.groups.add(dst.view_key)
        lowering.matmul(left, right, transpose_x, dst=dst.target(), accumulate=accumulate)

    return defer("nl.matmul", emit, (rows, y.shape[1]), dtypes.float32, ("PSUM",), sums=True)


def transpose(x, dtype=None, mask=None, name=None):
    """Partition and free axis exchanged, in PSUM."""
    x = tile(x, "nl.transpose", "x")
    target = result_dtype(dtype, x.dtype)
    return whole(
        "nl.transpose",
        (x.shape[1], x.shape[0]),
        lambda dst: lowering.transpose(x.tensor, dtype, dst=dst),
        target,
        mask,
        ("PSUM",),
        True,
    )


def where(condition, x, y, dtype=None, mask=None, name=None):
    """x where the condition is not zero, y elsewhere; x and y are tiles or numbers."""
    condition = tile(condition, "nl.where", "condition")
    x, y = operand(x, "nl.where", "x"), operand(y, "nl.where", "y")
    shapes = [value.shape for value in (condition, x, y) if isinstance(value, Tile)]
    tiles = [value for value in (x, y) if isinstance(value, Tile)]
    default = promote(*tiles) if tiles else dtypes.float32
    target = result_dtype(dtype, default)
    return whole(
        "nl.where",
        broadcast_shapes(shapes),
        lambda dst: lowering.where(condition.tensor, native(x), native(y), target, dst=dst),
        target,
        mask,
    )


def broadcast_to(src, shape, name=None):
    """`src` with axes of size 1 repeated to `shape`. Free axes cost nothing; partitions go through the Tensor
    engine."""
    src = tile(src, "nl.broadcast_to", "src")
    shape = tuple(int(size) for size in shape)
    if src.ndim != len(shape) or any(a not in (1, b) for a, b in zip(src.shape, shape)):
        refuse(
            "language.shape",
            f"nl.broadcast_to: a tile of shape {src.shape} cannot become {shape}; each size must be equal "
            "or 1",
        )
    if src.shape[0] != shape[0]:
        tensor = src.tensor
        now()
        in_psum = lowering.partitions_in_psum(tensor, shape[0])
        if in_psum is not None:
            storage = Broadcast(in_psum)
        else:
            storage = Storage(lowering.broadcast_to(tensor, (shape[0],) + src.shape[1:]))
        src = Tile.of(storage)
    return src.broadcast_free(shape)


def gather_flattened(data, indices, mask=None, dtype=None, name=None):
    """result[p, j] = data[p, indices[p, j]], the free axes of data flattened."""
    data, indices = tile(data, "nl.gather_flattened", "data"), tile(indices, "nl.gather_flattened", "indices")
    return whole(
        "nl.gather_flattened",
        indices.shape,
        lambda dst: lowering.gather_flattened(data.tensor, indices.tensor, dtype, dst=dst),
        result_dtype(dtype, data.dtype),
        mask,
        ("SBUF",),
    )


def dropout(x, rate, dtype=None, mask=None, name=None):
    """x with elements replaced by 0, each with probability `rate`."""
    x, rate = tile(x, "nl.dropout", "x"), operand(rate, "nl.dropout", "rate")
    return whole(
        "nl.dropout",
        x.shape,
        lambda dst: lowering.dropout(x.tensor, native(rate), dtype, dst=dst),
        result_dtype(dtype, x.dtype),
        mask,
    )


def device_print(prefix, x=None, mask=None, name=None):
    """Print a tile's values at once, with the program's id where there is a grid; `mask` shows the part that it
    leaves."""
    run.current().flush()
    if not isinstance(prefix, str):
        refuse("device_print.prefix", f"nl.device_print: prefix must be a string, got {prefix!r}")
    if not isinstance(x, Tile):
        print(prefix, x if x is not None else "")
        return
    for ranges in parts_of(mask, x.shape, "nl.device_print"):
        printing.device_print(prefix, shrink(x, ranges, x.shape).tensor)


def static_cast(value, dtype):
    """A host array or a tile as another dtype."""
    if isinstance(value, Tile):
        return copy(value, dtype=dtype)
    return np.asarray(value).astype(dtypes.host_dtype(dtype_of(dtype)))
