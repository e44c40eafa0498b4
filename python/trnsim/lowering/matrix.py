"""On the Tensor engine: matrix products and transposes."""

from trnsim import dtypes
from trnsim.lowering.tiles import cast, in_sbuf, isa, launch, new, on_chip, out, refuse, same_dtype


def matmul(x, y, transpose_x=False, dst=None, accumulate=None):
    """x @ y, or x.T @ y with `transpose_x`, in PSUM as float32.

    The Tensor engine contracts partitions, so an x that is not transposed costs a transpose and a copy
    before it. `accumulate` is that of nc_matmul: whether to add to what `dst` holds.
    """
    x, y = (in_sbuf(on_chip(t, "nl.matmul", name)) for t, name in ((x, "x"), (y, "y")))
    if x.ndim != 2 or y.ndim != 2:
        refuse(
            "language.shape",
            f"nl.matmul: x and y must have two dimensions, got shapes {x.shape} and {y.shape}",
        )
    contracted = x.shape[0] if transpose_x else x.shape[1]
    if contracted != y.shape[0]:
        which = "first (x is taken as transposed)" if transpose_x else "last"
        refuse(
            "language.shape",
            f"nl.matmul: the {which} dimension of x is {contracted} and the first of y is {y.shape[0]}; they "
            "are contracted and must be equal",
        )
    stationary = x if transpose_x else in_sbuf(transpose(x))
    result = out(dst, (stationary.shape[1], y.shape[1]), dtypes.float32, "matmul", "PSUM")
    isa.nc_matmul(result, stationary, y, accumulate=accumulate)
    return result


def transpose(x, dtype=None, dst=None):
    """Partition and free dimension exchanged, in PSUM."""
    x = in_sbuf(on_chip(x, "nl.transpose", "x"))
    if x.ndim != 2:
        refuse("language.shape", f"nl.transpose: x must have two dimensions, got shape {x.shape}")
    if dtype is not None and not same_dtype(dtype, x.dtype):
        x = cast(x, dtype)
    result = _transposed(x) if dst is None else dst
    isa.nc_transpose(result, x)
    return result


def _transposed(x):
    """The PSUM tile that takes the transpose. Since NeuronCore-v3 the engine writes bytes two apart."""
    rows, columns = x.shape[1], x.shape[0]
    if x.itemsize == 1 and launch().generation >= 3:
        return new((rows, 2 * columns), x.dtype, "transpose", "PSUM")[:, ::2]
    return new((rows, columns), x.dtype, "transpose", "PSUM")
