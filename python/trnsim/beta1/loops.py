"""nl.loop_reduce: a reduction over the iterations of loops, one iteration at a time."""

from trnsim import _native
from trnsim.beta1 import run
from trnsim.beta1.deferred import defer, use_of_result, value_of_variable
from trnsim.beta1.functions import result_dtype
from trnsim.beta1.issue import parts_of, shrink, tile
from trnsim.beta1.tile import Tile
from trnsim.lowering.tiles import name_of_dtype, refuse, same_dtype
from trnsim.lowering.tokens import token

isa = _native.isa


def loop_reduce(x, op, loop_indices, *, dtype=None, mask=None, name=None):
    """x <op> what the destination holds: `acc[...] = nl.loop_reduce(x, np.add, [i])` or `acc = nl.loop_reduce(...)`.

    A destination that was never written takes x. Iterations run in order here, so loop_indices changes nothing.
    """
    x = tile(x, "nl.loop_reduce", "x")
    operator = token(op)
    target = result_dtype(dtype, x.dtype)

    def emit(dst, accumulate):
        if dtype is not None and not same_dtype(dst.dtype, target):
            refuse(
                "language.dtype",
                f"nl.loop_reduce: dtype is {name_of_dtype(target)}, but the destination '{dst.name}', which the "
                f"reduction reads as well, has {name_of_dtype(dst.dtype)}; make the two equal",
            )
        for ranges in parts_of(mask, x.shape, "nl.loop_reduce"):
            out, value = shrink(dst, ranges, x.shape), shrink(x, ranges, x.shape)
            held = out.tensor
            if held.written:
                isa.tensor_tensor(out.target(), held, value.tensor, operator)
            else:
                isa.tensor_copy(out.target(), value.tensor)

    operation, variable = use_of_result()
    if operation in ("STORE_FAST", "STORE_NAME", "STORE_DEREF"):
        holder = value_of_variable(variable)
        if isinstance(holder, Tile) and holder.space != "HBM" and holder.shape == x.shape:
            run.current().flush()
            emit(holder, False)
            return holder
    return defer("nl.loop_reduce", emit, x.shape, target)
