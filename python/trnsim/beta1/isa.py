"""neuronxcc.nki.isa: instructions that return their result as a tile.

Each takes `mask=` (the part of the tile that it works on) and most take `dtype=` (of the result). A result assigned to a
tile that exists, `out[...] = nisa.x(...)`, is written there by the instruction itself.
"""

import enum

from trnsim import _native, dtypes, session
from trnsim.beta1.issue import dtype_of, isa, native, now, operand, parts_of, promote, result, shrink, tile
from trnsim.beta1.deferred import defer
from trnsim.beta1.isa_data import (  # noqa: F401
    affine_select, dma_copy, dma_transpose, iota, local_gather, max8, memset, nc_find_index8, nc_match_replace8,
    nc_n_gather, nc_stream_shuffle, range_select, select_reduce, sequence_bounds, tensor_copy, tensor_copy_predicated,
)
from trnsim.lowering.tiles import axes_of, refuse
from trnsim.lowering.tokens import TOKENS, token
from trnsim.nki.choices import choice_group

engine = choice_group("engine")
reduce_cmd = choice_group("reduce_cmd")
dge_mode = choice_group("dge_mode")
oob_mode = choice_group("oob_mode")
matmul_perf_mode = choice_group("matmul_perf_mode")

tensor_engine = engine.tensor
vector_engine = engine.vector
scalar_engine = engine.scalar
gpsimd_engine = engine.gpsimd
dma_engine = engine.dma
unknown_engine = engine.unknown


class nc_version(enum.IntEnum):
    gen1 = 1
    gen2 = 2
    gen3 = 3
    gen4 = 4


def get_nc_version() -> nc_version:
    """The NeuronCore generation that the kernel runs on."""
    return nc_version(session.current().launch.generation)


_LOAD_REDUCE = reduce_cmd.load_reduce
_PERF_MODES = {"double_row": matmul_perf_mode.double_row, "double_row_gen3": matmul_perf_mode.double_row,
               "none": matmul_perf_mode.none, "": matmul_perf_mode.none}


def nc_matmul(stationary, moving, *, is_stationary_onezero=False, is_moving_onezero=False, is_transpose=False,
              tile_position=(), tile_size=(), perf_mode=None, mask=None, **_):
    """stationary.T @ moving on the Tensor engine: [K, M], [K, N] -> float32 [M, N] in PSUM.

    `psum += nisa.nc_matmul(...)` accumulates there. mask: narrows stationary and moving along the axes that they share
    with it.
    """
    stationary, moving = tile(stationary, "nc_matmul", "stationary"), tile(moving, "nc_matmul", "moving")
    if isinstance(perf_mode, str):
        if perf_mode not in _PERF_MODES:
            refuse("nc_matmul.perf_mode", f"nc_matmul: perf_mode '{perf_mode}' is not one of {', '.join(_PERF_MODES)}")
        perf_mode = _PERF_MODES[perf_mode]
    options = {"is_stationary_onezero": is_stationary_onezero, "is_moving_onezero": is_moving_onezero,
               "is_transpose": is_transpose}
    if len(tile_position) or len(tile_size):
        options.update(tile_position=tile_position, tile_size=tile_size)
    if perf_mode is not None:
        options["perf_mode"] = perf_mode
    parts = parts_of(mask, moving.shape, "nc_matmul", whole_axes=(0, 1))
    double = perf_mode is matmul_perf_mode.double_row
    shape = (stationary.size // stationary.shape[0] // (2 if double else 1),) + (
        (moving.shape[2],) if double and moving.ndim == 3 else moving.shape[1:])

    def emit(dst, accumulate):
        for ranges in parts:
            left = stationary if ranges is None else stationary.part([ranges[0]] + [None] * (stationary.ndim - 1))
            out = dst if ranges is None else dst.part([None] + list(ranges[1:]))
            dst.storage.groups.add(out.view_key)
            isa.nc_matmul(dst=out.target(), stationary=left.tensor, moving=shrink(moving, ranges, moving.shape).tensor,
                          accumulate=None if is_transpose else bool(accumulate), **options)

    moves = is_transpose and session.current().launch.generation >= 3
    return defer("nc_matmul", emit, shape, stationary.dtype if moves else dtypes.float32, ("PSUM",), sums=not is_transpose)


def nc_transpose(data, *, mask=None, dtype=None, engine=unknown_engine):
    """Partition and free axes exchanged. On the Tensor engine into PSUM, on the Vector engine (up to 32 x 32) into SBUF."""
    data = tile(data, "nc_transpose", "data")
    parts = parts_of(mask, data.shape, "nc_transpose", whole_axes=tuple(range(data.ndim)))
    shape = (data.size // data.shape[0], data.shape[0])
    spaces = ("SBUF", "PSUM") if engine is vector_engine else ("PSUM",)
    chosen = vector_engine if engine is vector_engine else tensor_engine

    def emit(dst, accumulate):
        for ranges in parts:
            out = dst if ranges is None else dst.part([ranges[1], ranges[0]])
            isa.nc_transpose(dst=out.target(), data=shrink(data, ranges, data.shape).tensor, engine=chosen)

    transposed = defer("nc_transpose", emit, shape, data.dtype, spaces, exact=True)
    return transposed if dtype is None or dtype_of(dtype) == data.dtype else tensor_copy(transposed, dtype=dtype)


def activation(op, data, *, bias=None, scale=1.0, reduce_op=None, reduce_res=None, reduce_cmd=reduce_cmd.idle, mask=None,
               dtype=None):
    """op(data * scale + bias) on the Scalar engine; bias a [P, 1] tile, scale a number or a [P, 1] tile."""
    data = tile(data, "activation", "data")
    operands = {"data": data, "scale": operand(scale, "activation", "scale")}
    if bias is not None:
        operands["bias"] = operand(bias, "activation", "bias")
    options = {"op": token(op), "reduce_cmd": reduce_cmd}
    if reduce_op is not None:
        options["reduce_op"] = token(reduce_op)
    if reduce_res is not None:
        operands["reduce_res"] = tile(reduce_res, "activation", "reduce_res")
    return result("activation", isa.activation, data, operands, options, dtype=data.dtype, given=dtype, mask=mask,
                  also_written=("reduce_res",) if reduce_res is not None else ())


def activation_reduce(op, data, *, reduce_op, reduce_res, bias=None, scale=1.0, mask=None, dtype=None):
    """As activation; the sum along the free axes goes to the [P, 1] tile `reduce_res`."""
    data = tile(data, "activation_reduce", "data")
    operands = {"data": data, "scale": operand(scale, "activation_reduce", "scale"),
                "reduce_res": tile(reduce_res, "activation_reduce", "reduce_res")}
    if bias is not None:
        operands["bias"] = operand(bias, "activation_reduce", "bias")
    return result("activation_reduce", isa.activation_reduce, data, operands, {"op": token(op), "reduce_op": token(reduce_op)},
                  dtype=data.dtype, given=dtype, mask=mask, also_written=("reduce_res",))


def tensor_reduce(op, data, axis, *, mask=None, dtype=None, negate=False, keepdims=False):
    """Reduce free axes of `data` with an operator on the Vector engine."""
    return reduced("tensor_reduce", op, data, axis, mask, dtype, negate, keepdims)


def reduced(name, op, data, axis, mask, dtype, negate, keepdims):
    """tensor_reduce over any free axes: the view brings them last, which costs nothing."""
    data = tile(data, name, "data")
    axes = axes_of(axis, data.ndim, name)
    if 0 in axes:
        refuse("isa.axis", f"{name}: axis 0 is the partition axis, which the Vector engine cannot reduce. Use "
                           "nisa.tensor_partition_reduce, or nl.transpose first.")
    kept = [d for d in range(data.ndim) if d not in axes]
    parts = parts_of(mask, data.shape, name, whole_axes=axes)
    shape = tuple(1 if d in axes else size for d, size in enumerate(data.shape)) if keepdims else tuple(
        data.shape[d] for d in kept)
    trailing = tuple(range(len(kept), data.ndim))

    def emit(dst, accumulate):
        for ranges in parts:
            out = dst
            if ranges is not None:
                out = dst.part([None if d in axes else r for d, r in enumerate(ranges)] if keepdims else
                               [ranges[d] for d in kept] + [None] * (dst.ndim - len(kept)))
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
            isa.tensor_partition_reduce(dst=out.target(), op=token(op), data=shrink(data, ranges, data.shape).tensor)

    return defer("tensor_partition_reduce", emit, (1,) + data.shape[1:], dtype_of(dtype) if dtype else data.dtype, ("SBUF",),
                 exact=dtype is not None)


def tensor_tensor(data1, data2, op, *, dtype=None, mask=None, engine=unknown_engine):
    """data1 <op> data2, element by element."""
    data1, data2 = tile(data1, "tensor_tensor", "data1"), tile(data2, "tensor_tensor", "data2")
    data2 = data2.like(data1.shape)
    return result("tensor_tensor", isa.tensor_tensor, data1, {"data1": data1, "data2": data2},
                  {"op": token(op), "engine": engine}, dtype=promote(data1, data2), given=dtype, mask=mask)


def tensor_scalar(data, op0, operand0, reverse0=False, op1=None, operand1=None, reverse1=False, *, dtype=None, mask=None,
                  engine=unknown_engine):
    """(data <op0> operand0) <op1> operand1; operands are numbers or [P, 1] tiles; reverse swaps the two sides."""
    data = tile(data, "tensor_scalar", "data")
    operands = {"data": data, "operand0": operand(operand0, "tensor_scalar", "operand0")}
    options = {"op0": token(op0), "reverse0": reverse0, "engine": engine}
    if op1 is not None:
        operands["operand1"] = operand(operand1, "tensor_scalar", "operand1")
        options.update(op1=token(op1), reverse1=reverse1)
    return result("tensor_scalar", isa.tensor_scalar, data, operands, options, dtype=data.dtype, given=dtype, mask=mask)


def tensor_scalar_reduce(*, data, op0, operand0, reduce_op, reduce_res, reverse0=False, dtype=None, mask=None):
    """data <op0> operand0; its reduction along the free axes goes to the [P, 1] tile `reduce_res`."""
    data = tile(data, "tensor_scalar_reduce", "data")
    operands = {"data": data, "operand0": operand(operand0, "tensor_scalar_reduce", "operand0"),
                "reduce_res": tile(reduce_res, "tensor_scalar_reduce", "reduce_res")}
    options = {"op0": token(op0), "reduce_op": token(reduce_op), "reverse0": reverse0}
    return result("tensor_scalar_reduce", isa.tensor_scalar_reduce, data, operands, options, dtype=data.dtype, given=dtype,
                  mask=mask, also_written=("reduce_res",))


def tensor_scalar_cumulative(*, src, dst, op0, op1, imm0, imm1=None, reduce_cmd=reduce_cmd.reset_reduce):
    """Running op1 of src <op0> imm0 along the free axes, written to `dst`; imm1 is where load_reduce starts from."""
    now()
    unused = imm1 is None or reduce_cmd is not _LOAD_REDUCE
    options = {} if unused else {"imm1": native(operand(imm1, "tensor_scalar_cumulative", "imm1"))}
    isa.tensor_scalar_cumulative(dst=tile(dst, "tensor_scalar_cumulative", "dst").target(),
                                 src=tile(src, "tensor_scalar_cumulative", "src").tensor, op0=token(op0), op1=token(op1),
                                 imm0=native(operand(imm0, "tensor_scalar_cumulative", "imm0")), reduce_cmd=reduce_cmd,
                                 **options)


def scalar_tensor_tensor(*, data, op0, operand0, op1, operand1, reverse0=False, reverse1=False, dtype=None, mask=None):
    """(data <op0> operand0) <op1> operand1; operand0 a number or [P, 1] tile, operand1 a tile like data."""
    data, operand1 = tile(data, "scalar_tensor_tensor", "data"), tile(operand1, "scalar_tensor_tensor", "operand1")
    operands = {"data": data, "operand0": operand(operand0, "scalar_tensor_tensor", "operand0"), "operand1": operand1}
    options = {"op0": token(op0), "op1": token(op1), "reverse0": reverse0, "reverse1": reverse1}
    return result("scalar_tensor_tensor", isa.scalar_tensor_tensor, data, operands, options, dtype=promote(data, operand1),
                  given=dtype, mask=mask)


def tensor_tensor_scan(data0, data1, initial, op0, op1, reverse0=False, reverse1=False, *, dtype=None, mask=None):
    """result[:, i] = (result[:, i-1] <op0> data0[:, i]) <op1> data1[:, i], starting from `initial`."""
    data0, data1 = tile(data0, "tensor_tensor_scan", "data0"), tile(data1, "tensor_tensor_scan", "data1")
    operands = {"data0": data0, "data1": data1, "initial": operand(initial, "tensor_tensor_scan", "initial")}
    options = {"op0": token(op0), "op1": token(op1), "reverse0": reverse0, "reverse1": reverse1}
    return result("tensor_tensor_scan", isa.tensor_tensor_scan, data0, operands, options, dtype=promote(data0, data1),
                  given=dtype, mask=mask)


def reciprocal(data, *, dtype=None, mask=None):
    """1 / data on the Vector engine."""
    data = tile(data, "reciprocal", "data")
    return result("reciprocal", isa.reciprocal, data, {"data": data}, {}, dtype=data.dtype, given=dtype, mask=mask)


def dropout(data, prob, *, mask=None, dtype=None):
    """data with elements replaced by 0, each with probability `prob`, a number or a [P, 1] tile."""
    data = tile(data, "dropout", "data")
    dropped = result("dropout", isa.dropout, data, {"data": data, "prob": operand(prob, "dropout", "prob")}, {},
                     dtype=data.dtype, given=None, mask=mask, exact=True)
    return dropped if dtype is None or dtype_of(dtype) == data.dtype else tensor_copy(dropped, dtype=dtype)


def _statistics(name, function, data, columns, mask, dtype):
    data = tile(data, name, "data")
    parts = parts_of(mask, data.shape, name, whole_axes=tuple(range(1, data.ndim)))

    def emit(dst, accumulate):
        for ranges in parts:
            out = dst if ranges is None else dst.part([ranges[0]] + [None] * (dst.ndim - 1))
            function(dst=out.target(), data=shrink(data, ranges, data.shape).tensor)

    return defer(name, emit, (data.shape[0], columns), dtype_of(dtype) if dtype else data.dtype, exact=dtype is not None)


def bn_stats(data, *, mask=None, dtype=None):
    """Count, mean and variance of the even and of the odd elements of each partition: [P, F] -> [P, 6]."""
    return _statistics("bn_stats", isa.bn_stats, data, 6, mask, dtype)


def bn_aggr(data, *, mask=None, dtype=None):
    """Mean and variance from the results of bn_stats side by side: [P, 6 n] -> [P, 2]."""
    return _statistics("bn_aggr", isa.bn_aggr, data, 2, mask, dtype)


def __getattr__(name):
    if hasattr(_native.isa, name):
        raise _native.Unimplemented(f"nisa.{name} is not there yet in the Beta 1 dialect (import neuronxcc.nki); `import nki` "
                                    "has it")
    raise AttributeError(f"module 'neuronxcc.nki.isa' has no attribute '{name}'")


__all__ = [name for name, value in list(globals().items()) if not name.startswith("_") and name not in (
    "dtypes", "session", "dtype_of", "isa", "native", "now", "operand", "parts_of", "promote", "result", "shrink", "tile",
    "defer", "axes_of", "refuse", "TOKENS", "token", "choice_group", "enum", "reduced")]
