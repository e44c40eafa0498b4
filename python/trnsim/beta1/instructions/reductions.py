"""Along axes: reductions, running sums, mean and variance."""

from trnsim.beta1.deferred import defer
from trnsim.beta1.enums import reduce_cmd
from trnsim.beta1.issue import dtype_of, isa, native, now, operand, parts_of, shrink, tile
from trnsim.lowering.tiles import axes_of, refuse
from trnsim.lowering.tokens import token

_LOAD_REDUCE = reduce_cmd.load_reduce


def tensor_reduce(op, data, axis, *, mask=None, dtype=None, negate=False, keepdims=False):
    """Reduce free axes of `data` with an operator on the Vector engine."""
    return reduced("tensor_reduce", op, data, axis, mask, dtype, negate, keepdims)


def reduced(name, op, data, axis, mask, dtype, negate, keepdims):
    """tensor_reduce over any free axes: the view brings them last, which costs nothing."""
    data = tile(data, name, "data")
    axes = axes_of(axis, data.ndim, name)
    if 0 in axes:
        refuse(
            "isa.axis",
            f"{name}: axis 0 is the partition axis, which the Vector engine cannot reduce. Use "
            "nisa.tensor_partition_reduce, or nl.transpose first.",
        )
    kept = [d for d in range(data.ndim) if d not in axes]
    parts = parts_of(mask, data.shape, name, whole_axes=axes)
    shape = (
        tuple(1 if d in axes else size for d, size in enumerate(data.shape))
        if keepdims
        else tuple(data.shape[d] for d in kept)
    )
    trailing = tuple(range(len(kept), data.ndim))

    def emit(dst, accumulate):
        for ranges in parts:
            out = dst
            if ranges is not None:
                out = dst.part(
                    [None if d in axes else r for d, r in enumerate(ranges)]
                    if keepdims
                    else [ranges[d] for d in kept] + [None] * (dst.ndim - len(kept))
                )
            seen = shrink(data, ranges, data.shape).permute(kept + list(axes))
            isa.tensor_reduce(dst=out.target(), op=token(op), data=seen.tensor, axis=trailing, negate=negate)

    given = dtype is not None
    return defer(name, emit, shape, dtype_of(dtype) if given else data.dtype, exact=given)


def tensor_partition_reduce(op, data, *, mask=None, dtype=None):
    """Reduce the partition axis on GpSimd: [P, F...] -> [1, F...]."""
    data = tile(data, "tensor_partition_reduce", "data")
    parts = parts_of(mask, data.shape, "tensor_partition_reduce", whole_axes=(0,))

    def emit(dst, accumulate):
        for ranges in parts:
            out = dst if ranges is None else dst.part([None] + list(ranges[1:]))
            isa.tensor_partition_reduce(
                dst=out.target(), op=token(op), data=shrink(data, ranges, data.shape).tensor
            )

    return defer(
        "tensor_partition_reduce",
        emit,
        (1,) + data.shape[1:],
        dtype_of(dtype) if dtype else data.dtype,
        ("SBUF",),
        exact=dtype is not None,
    )


def tensor_scalar_cumulative(*, src, dst, op0, op1, imm0, imm1=None, reduce_cmd=reduce_cmd.reset_reduce):
    """Running op1 of src <op0> imm0 along the free axes, written to `dst`; imm1 is where load_reduce starts
    from."""
    now()
    unused = imm1 is None or reduce_cmd is not _LOAD_REDUCE
    options = {} if unused else {"imm1": native(operand(imm1, "tensor_scalar_cumulative", "imm1"))}
    isa.tensor_scalar_cumulative(
        dst=tile(dst, "tensor_scalar_cumulative", "dst").target(),
        src=tile(src, "tensor_scalar_cumulative", "src").tensor,
        op0=token(op0),
        op1=token(op1),
        imm0=native(operand(imm0, "tensor_scalar_cumulative", "imm0")),
        reduce_cmd=reduce_cmd,
        **options,
    )


def _statistics(name, function, data, columns, mask, dtype):
    data = tile(data, name, "data")
    parts = parts_of(mask, data.shape, name, whole_axes=tuple(range(1, data.ndim)))

    def emit(dst, accumulate):
        for ranges in parts:
            out = dst if ranges is None else dst.part([ranges[0]] + [None] * (dst.ndim - 1))
            function(dst=out.target(), data=shrink(data, ranges, data.shape).tensor)

    return defer(
        name,
        emit,
        (data.shape[0], columns),
        dtype_of(dtype) if dtype else data.dtype,
        exact=dtype is not None,
    )


def bn_stats(data, *, mask=None, dtype=None):
    """Count, mean and variance of the even and of the odd elements of each partition: [P, F] -> [P, 6]."""
    return _statistics("bn_stats", isa.bn_stats, data, 6, mask, dtype)


def bn_aggr(data, *, mask=None, dtype=None):
    """Mean and variance from the results of bn_stats side by side: [P, 6 n] -> [P, 2]."""
    return _statistics("bn_aggr", isa.bn_aggr, data, 2, mask, dtype)
