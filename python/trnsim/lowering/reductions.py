"""Along the free dimensions: sums and their like, mean and variance, softmax, RMS norm."""

import math

from trnsim import dtypes
from trnsim.limits import tile_size
from trnsim.lowering import broadcasting, tokens
from trnsim.lowering.tiles import axes_of, isa, new, on_chip, out, refuse, unimplemented
from trnsim.lowering.tokens import TOKENS

_BN_STATS = 6  # what bn_stats writes: count, mean, count * variance of the even and of the odd elements


def reduced_shape(shape, axes, keepdims: bool) -> tuple[int, ...]:
    """The shape after reducing `axes`; one free dimension of size 1 is left where all are reduced."""
    if keepdims:
        return tuple(1 if dim in axes else size for dim, size in enumerate(shape))
    kept = tuple(size for dim, size in enumerate(shape) if dim not in axes)
    return kept if len(kept) > 1 else kept + (1,)


def reduce(op, x, axis, dtype=None, keepdims=False, negate=False, dst=None):
    """Reduce the last free dimensions of `x` with an operator. Raises ProgramError for other dimensions."""
    name = tokens.name_of(op)
    on_chip(x, f"nl.{name}", "x")
    axes = free_axes(axis, x, f"nl.{name}")
    result = out(dst, reduced_shape(x.shape, axes, keepdims), dtype or x.dtype, name)
    isa.tensor_reduce(result, TOKENS[name], x, axes, negate, keepdims)
    return result


def free_axes(axis, x, function: str) -> tuple[int, ...]:
    """The axes to reduce, checked: the last ones and not the partition."""
    axes = axes_of(axis, x.ndim, function)
    if 0 in axes:
        refuse(
            "language.axis",
            f"{function}: axis 0 is the partition dimension. Reduce it with nl.matmul by a column of ones, "
            "nisa.tensor_partition_reduce, or after nl.transpose.",
        )
    if axes != tuple(range(x.ndim - len(axes), x.ndim)):
        refuse(
            "language.axis",
            f"{function}: axis {axes} of shape {x.shape}; only the last free dimensions, without gaps, can "
            "be reduced. Permute the view first (tensor.permute).",
        )
    return axes


def mean(x, axis, dtype=None, keepdims=False, dst=None):
    """The mean, summed in float32."""
    axes = free_axes(axis, x, "nl.mean")
    total = reduce("add", x, axes, dtypes.float32, keepdims)
    result = out(dst, total.shape, dtype or x.dtype, "mean")
    isa.tensor_scalar(result, total, TOKENS["multiply"], 1.0 / _count(x, axes))
    return result


def _count(x, axes) -> int:
    return math.prod(x.shape[dim] for dim in axes)


def all_(x, axis, dtype=None, keepdims=False, dst=None):
    """1 where every element is nonzero, else 0."""
    return reduce("logical_and", x, axis, dtype, keepdims, dst=dst)


def var(x, axis, dtype=None, keepdims=True, dst=None):
    """The population variance, from bn_stats over pieces that the engine takes and bn_aggr over the pieces.

    The dimensions stay with size 1, whatever `keepdims` says, as in NKI.
    """
    del keepdims
    on_chip(x, "nl.var", "x")
    axes = free_axes(axis, x, "nl.var")
    result = out(dst, reduced_shape(x.shape, axes, True), dtype or x.dtype, "var")
    partitions, length = x.shape[0], _count(x, axes)
    rows = x.size // partitions // length
    data = x.reshape((partitions, rows, length))
    target = result.reshape((partitions, rows))
    longest = tile_size.bn_stats_fmax
    pieces = -(-length // longest)
    for row in range(rows):
        statistics = new((partitions, pieces * _BN_STATS), dtypes.float32, "var.statistics")
        for piece in range(pieces):
            part = data[:, row, piece * longest : min((piece + 1) * longest, length)]
            isa.bn_stats(statistics[:, piece * _BN_STATS : (piece + 1) * _BN_STATS], part)
        moments = new((partitions, 2), dtypes.float32, "var.moments")
        isa.bn_aggr(moments, statistics)
        isa.tensor_copy(target[:, row : row + 1], moments[:, 1:2])
    return result


def softmax(x, axis=-1, dtype=None, dst=None):
    """exp(x - max) / sum of it, along the last free dimensions."""
    on_chip(x, "nl.softmax", "x")
    axes = free_axes(axis, x, "nl.softmax")
    result = out(dst, x.shape, dtype or x.dtype, "softmax")
    below = reduce("maximum", x, axes, dtypes.float32, keepdims=True, negate=True)
    powers = new(x.shape, dtypes.float32, "softmax.exp")
    if (
        len(axes) == x.ndim - 1
    ):  # one maximum per partition: the Scalar engine subtracts, exponentiates and sums at once
        total = new((x.shape[0], 1), dtypes.float32, "softmax.sum")
        isa.activation_reduce(powers, TOKENS["exp"], x, TOKENS["add"], total, below.reshape((x.shape[0], 1)))
        isa.reciprocal(total, total)
        isa.tensor_scalar(result, powers, TOKENS["multiply"], total)
        return result
    isa.tensor_tensor(powers, x, broadcasting.free_to(below, x.shape), TOKENS["add"])
    isa.activation(powers, TOKENS["exp"], powers)
    total = reduce("add", powers, axes, dtypes.float32, keepdims=True)
    isa.reciprocal(total, total)
    isa.tensor_tensor(result, powers, broadcasting.free_to(total, x.shape), TOKENS["multiply"])
    return result


def rms_norm(x, w, axis, n, epsilon=1e-6, dtype=None, compute_dtype=None, dst=None):
    """x / sqrt(sum of squares / n + epsilon) * w, along the free dimensions. `compute_dtype` is that of the
    squares."""
    on_chip(x, "nl.rms_norm", "x")
    axes = free_axes(axis, x, "nl.rms_norm")
    if len(axes) != x.ndim - 1:
        unimplemented(f"nl.rms_norm over axis {axes} of shape {x.shape}: only over all free dimensions")
    result = out(dst, x.shape, dtype or x.dtype, "rms_norm")
    squares = new(x.shape, compute_dtype or dtypes.float32, "rms_norm.squares")
    scale = new((x.shape[0], 1), dtypes.float32, "rms_norm.scale")
    isa.activation_reduce(squares, TOKENS["square"], x, TOKENS["add"], scale)
    isa.tensor_scalar(scale, scale, TOKENS["multiply"], 1.0 / n, False, TOKENS["add"], epsilon)
    isa.tensor_scalar(scale, scale, TOKENS["rsqrt"], 0.0)
    _, w = broadcasting.align_partitions(x, on_chip(w, "nl.rms_norm", "w"), "nl.rms_norm")
    isa.scalar_tensor_tensor(
        result, x, TOKENS["multiply"], scale, TOKENS["multiply"], broadcasting.free_to(w, x.shape)
    )
    return result
