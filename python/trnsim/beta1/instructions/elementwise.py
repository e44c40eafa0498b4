"""Element by element: activations, operators with tiles and numbers, copies."""

from trnsim.beta1.dynamic import DynamicTile
from trnsim.beta1.enums import engine, reduce_cmd
from trnsim.beta1.issue import aligned, dtype_of, isa, now, parts_of, promote, result, shrink, tile
from trnsim.lowering.tokens import TOKENS, token

_VECTOR = (engine.unknown, engine.vector)


def activation(
    op,
    data,
    *,
    bias=None,
    scale=1.0,
    reduce_op=None,
    reduce_res=None,
    reduce_cmd=reduce_cmd.idle,
    mask=None,
    dtype=None,
):
    """op(data * scale + bias) on the Scalar engine; bias a [P, 1] tile, scale a number or a [P, 1] tile."""
    return result(
        "activation",
        {"data": data, "reduce_res": reduce_res},
        {"scale": scale, "bias": bias},
        {"op": token(op), "reduce_cmd": reduce_cmd, "reduce_op": reduce_op and token(reduce_op)},
        given=dtype,
        mask=mask,
        written=("reduce_res",),
    )


def activation_reduce(op, data, *, reduce_op, reduce_res, bias=None, scale=1.0, mask=None, dtype=None):
    """As activation; the sum along the free axes goes to the [P, 1] tile `reduce_res`."""
    return result(
        "activation_reduce",
        {"data": data, "reduce_res": reduce_res},
        {"scale": scale, "bias": bias},
        {"op": token(op), "reduce_op": token(reduce_op)},
        given=dtype,
        mask=mask,
        written=("reduce_res",),
    )


def tensor_tensor(data1, data2, op, *, dtype=None, mask=None, engine=engine.unknown):
    """data1 <op> data2, element by element; free axes of size 1 are repeated, by the access pattern."""
    data1, data2 = tile(data1, "tensor_tensor", "data1"), tile(data2, "tensor_tensor", "data2")
    data1, data2, shape = aligned(data1, data2, "tensor_tensor")
    data1, data2 = (
        x if x.shape[1:] == shape[1:] else x.broadcast_free((x.shape[0], *shape[1:])) for x in (data1, data2)
    )
    return result(
        "tensor_tensor",
        {"data1": data1, "data2": data2},
        options={"op": token(op), "engine": engine},
        dtype=promote(data1, data2),
        given=dtype,
        mask=mask,
        vector_pair=("data1", "data2") if engine in _VECTOR and token(op) != TOKENS["power"] else (),
    )


def tensor_scalar(
    data,
    op0,
    operand0,
    reverse0=False,
    op1=None,
    operand1=None,
    reverse1=False,
    *,
    dtype=None,
    mask=None,
    engine=engine.unknown,
):
    """(data <op0> operand0) <op1> operand1; operands are numbers or [P, 1] tiles; reverse swaps the two
    sides."""
    options = {"op0": token(op0), "reverse0": reverse0, "engine": engine}
    if op1 is not None:
        options.update(op1=token(op1), reverse1=reverse1)
    return result(
        "tensor_scalar",
        {"data": data},
        {"operand0": operand0, "operand1": operand1 if op1 is not None else None},
        options,
        given=dtype,
        mask=mask,
    )


def tensor_scalar_reduce(
    *, data, op0, operand0, reduce_op, reduce_res, reverse0=False, dtype=None, mask=None
):
    """data <op0> operand0; its reduction along the free axes goes to the [P, 1] tile `reduce_res`."""
    return result(
        "tensor_scalar_reduce",
        {"data": data, "reduce_res": reduce_res},
        {"operand0": operand0},
        {"op0": token(op0), "reduce_op": token(reduce_op), "reverse0": reverse0},
        given=dtype,
        mask=mask,
        written=("reduce_res",),
    )


def scalar_tensor_tensor(
    *, data, op0, operand0, op1, operand1, reverse0=False, reverse1=False, dtype=None, mask=None
):
    """(data <op0> operand0) <op1> operand1; operand0 a number or [P, 1] tile, operand1 a tile like data."""
    data, operand1 = (tile(x, "scalar_tensor_tensor", n) for x, n in ((data, "data"), (operand1, "operand1")))
    return result(
        "scalar_tensor_tensor",
        {"data": data, "operand1": operand1},
        {"operand0": operand0},
        {"op0": token(op0), "op1": token(op1), "reverse0": reverse0, "reverse1": reverse1},
        dtype=promote(data, operand1),
        given=dtype,
        mask=mask,
    )


def tensor_tensor_scan(
    data0, data1, initial, op0, op1, reverse0=False, reverse1=False, *, dtype=None, mask=None
):
    """result[:, i] = (result[:, i-1] <op0> data0[:, i]) <op1> data1[:, i], starting from `initial`."""
    data0, data1 = tile(data0, "tensor_tensor_scan", "data0"), tile(data1, "tensor_tensor_scan", "data1")
    return result(
        "tensor_tensor_scan",
        {"data0": data0, "data1": data1},
        {"initial": initial},
        {"op0": token(op0), "op1": token(op1), "reverse0": reverse0, "reverse1": reverse1},
        dtype=promote(data0, data1),
        given=dtype,
        mask=mask,
    )


def reciprocal(data, *, dtype=None, mask=None):
    """1 / data on the Vector engine."""
    return result("reciprocal", {"data": data}, given=dtype, mask=mask)


def dropout(data, prob, *, mask=None, dtype=None):
    """data with elements replaced by 0, each with probability `prob`, a number or a [P, 1] tile."""
    dropped = result("dropout", {"data": data}, {"prob": prob}, given=None, mask=mask, exact=True)
    return dropped if dtype is None or dtype_of(dtype) == data.dtype else tensor_copy(dropped, dtype=dtype)


def tensor_copy_dynamic_src(src, *, mask=None, dtype=None, engine=engine.unknown):
    """A copy of `src`, a tile indexed by the integer of another: tile[i_p, offsets[0, k], i_f]."""
    src = tile(src, "tensor_copy_dynamic_src", "src")
    options = {"engine": engine, "offset": _offset(src)}
    return result("tensor_copy_dynamic_src", {"src": src}, options=options, given=dtype, mask=mask)


def tensor_copy_dynamic_dst(*, dst, src, mask=None, dtype=None, engine=engine.unknown):
    """dst = src, where `dst` is a tile indexed by the integer of another. It is converted to dst's dtype."""
    now()
    dst, src = (tile(value, "tensor_copy_dynamic_dst", name) for value, name in ((dst, "dst"), (src, "src")))
    for ranges in parts_of(mask, dst.shape, "tensor_copy_dynamic_dst"):
        isa.tensor_copy_dynamic_dst(
            dst=shrink(dst, ranges, dst.shape).target(),
            src=shrink(src, ranges, dst.shape).tensor,
            engine=engine,
            offset=_offset(dst),
        )


def _offset(value):
    """The tile that a dynamic address was read from."""
    return value.offset.tensor if isinstance(value, DynamicTile) else None


def tensor_copy(src, *, mask=None, dtype=None, engine=engine.unknown):
    """A copy of `src`, with another dtype if one is given."""
    return result("tensor_copy", {"src": src}, options={"engine": engine}, given=dtype, mask=mask)
