"""Tiles of size 1 in a dimension, repeated along it: free dimensions as views, partitions by the Tensor
engine."""

from trnsim import dtypes
from trnsim.lowering.tiles import (
    cast,
    in_sbuf,
    is_column,
    is_float,
    isa,
    launch,
    new,
    on_chip,
    refuse,
    same_dtype,
)

_QUADRANT = 32  # partitions that the Vector engine shuffles among themselves


def free_to(x, shape):
    """`x` seen with the free dimensions of `shape`; sizes must be equal or 1. No instruction."""
    if is_column(x) and x.ndim != len(shape):
        x = x.reshape((x.shape[0],) + (1,) * (len(shape) - 1))
    for dim in range(1, len(shape)):
        if x.shape[dim] != shape[dim]:
            x = x.broadcast(dim, shape[dim])
    return x


def align_free(x, y, function: str):
    """Both tiles with their common free dimensions."""
    if x.shape[1:] == y.shape[1:]:
        return x, y
    if x.ndim != y.ndim:
        if is_column(y):
            return x, free_to(y, x.shape)
        if is_column(x):
            return free_to(x, y.shape), y
        _mismatch(function, x, y)
    for a, b in zip(x.shape[1:], y.shape[1:]):
        if a != b and 1 not in (a, b):
            _mismatch(function, x, y)
    shape = x.shape[:1] + tuple(max(a, b) for a, b in zip(x.shape[1:], y.shape[1:]))
    return free_to(x, shape), free_to(y, shape)


def align_partitions(x, y, function: str):
    """Both tiles with the same number of partitions: a single partition is repeated."""
    if x.shape[0] == y.shape[0]:
        return x, y
    if x.shape[0] == 1:
        return partitions(x, y.shape[0]), y
    if y.shape[0] == 1:
        return x, partitions(y, x.shape[0])
    return _mismatch(function, x, y)


def _mismatch(function, x, y):
    refuse(
        "language.shape",
        f"{function}: shapes {x.shape} and {y.shape} neither agree nor broadcast; each dimension must "
        "be equal or 1",
    )


def partitions(x, count: int):
    """A new SBUF tile of `count` partitions, each a copy of the only one of `x`.

    Floats go through the Tensor engine (ones times x), as the hardware guide advises; integers, which it
    would round, through the Vector engine's shuffle, quadrant by quadrant.
    """
    result = new((count,) + tuple(x.shape[1:]), x.dtype, "broadcast")
    if is_float(x):
        _by_matmul(result, in_sbuf(x), count)
    else:
        source = in_sbuf(x)
        for first in range(0, count, _QUADRANT):
            isa.nc_stream_shuffle(result[first : min(first + _QUADRANT, count)], source, [0] * _QUADRANT)
    return result


def _by_matmul(result, x, count):
    flat = result.reshape((count, x.size))
    for at, product in _products(x, count):
        isa.tensor_copy(flat[:, at : at + product.shape[1]], product)


def _products(x, count):
    """The row `x` on `count` partitions of PSUM, bank by bank: first column and tile."""
    ones = new((1, count), x.dtype, "broadcast.ones")
    isa.memset(ones, 1.0)
    row = x.reshape((1, x.size))
    for at in range(0, x.size, _bank()):
        end = min(at + _bank(), x.size)
        product = new((count, end - at), dtypes.float32, "broadcast.psum", "PSUM")
        isa.nc_matmul(product, ones, row[:, at:end])
        yield at, product


def _bank() -> int:
    return launch().psum_bank_bytes // 4  # float32 numbers


def partitions_in_psum(x, count: int):
    """A float32 row of at most one bank on `count` partitions of PSUM; None where `x` is something else."""
    if not same_dtype(x.dtype, dtypes.float32) or x.size > _bank():
        return None
    ((_, product),) = _products(in_sbuf(x), count)
    return product.reshape((count,) + tuple(x.shape[1:]))


def broadcast_to(x, shape, dtype=None):
    """`x` with `shape`: a view where only free dimensions grow, otherwise a new SBUF tile."""
    on_chip(x, "nl.broadcast_to", "x")
    shape = tuple(int(size) for size in shape)
    if len(shape) != x.ndim or any(a != b and a != 1 for a, b in zip(x.shape, shape)):
        refuse(
            "language.shape",
            f"nl.broadcast_to: a tile with shape {x.shape} cannot become {shape}; the number of "
            "dimensions must be equal and each size equal or 1",
        )
    if dtype is not None and not same_dtype(dtype, x.dtype):
        x = cast(x, dtype)
    if shape[0] != x.shape[0]:
        x = partitions(x, shape[0])
    return free_to(x, shape)
