"""`out[...] = value` and `out += value`: the instruction that made the value writes where it is assigned."""

import math
import numbers

import numpy as np

from trnsim import _native
from trnsim.beta1 import run
from trnsim.beta1.deferred import Deferred
from trnsim.beta1.indirect import Indirect
from trnsim.beta1.tile import Tile
from trnsim.lowering.tiles import name_of_dtype, refuse, same_dtype

isa = _native.isa
_ZEROED = ("zeroed",)  # in a storage's groups: what no matmul has written is zero


def assign(dst, value) -> None:
    """Let the elements of `dst` be `value`: a tile of the same shape or a number."""
    if isinstance(dst, Indirect) or dst.space == "HBM":
        refuse("assign.hbm", f"'{dst.name}' is in HBM; write it with nl.store(dst[...], value=...)")
    if dst.size != _size(dst.storage.shape):
        dst.storage.peek()  # part of a tile that was pushed out: back first, then see where it is
    if isinstance(value, (numbers.Real, np.bool_)):
        run.current().flush()
        return fill(dst, value)
    if not isinstance(value, Tile):
        refuse(
            "assign.value",
            f"only a tile or a number can be assigned to '{dst.name}', not {type(value).__name__} {value!r}",
        )
    if isinstance(value, Deferred) and value.waiting:
        if _writes_there(value, dst):
            return value.settle_into(dst)
        value.settle()
    run.current().flush()
    if value.storage is dst.storage and value.view_key == dst.view_key:
        return None  # `out[i] += x` ends so: the addition has written it
    return copy_into(dst, value)


def _writes_there(value: Deferred, dst: Tile) -> bool:
    if dst.with_shape(value.shape) is None:
        _shapes_differ(dst, value)
    return dst.space in value.spaces and (not value.exact or same_dtype(value.dtype, dst.dtype))


def _shapes_differ(dst, value):
    refuse(
        "assign.shape",
        f"a tile of shape {value.shape} cannot be assigned to '{dst.name}', where the subscript selects shape"
        f" {dst.shape}; the shapes must be equal",
    )


def copy_into(dst: Tile, value: Tile) -> None:
    """Copy with conversion. Between partitions that engines cannot reach from one another, by DMA."""
    if value.space == "HBM":
        refuse("assign.value", f"'{value.name}' is in HBM; nl.load it into '{dst.name}'")
    source = value.with_shape(dst.shape)
    if source is None:
        if value.shape[0] != dst.shape[0] or value.ndim != dst.ndim:
            _shapes_differ(dst, value)
        if any(a not in (1, b) for a, b in zip(value.shape, dst.shape)):
            _shapes_differ(dst, value)
        source = value.broadcast_free(dst.shape)
    src, out = source.tensor, dst.target()
    if _engine_may_start(src) and _engine_may_start(out):
        isa.tensor_copy(out, src)
    else:
        isa.dma_copy(out, src)


def _engine_may_start(tensor) -> bool:
    """Engines start at partition 0, 32, 64 or 96, within quadrants."""
    start, count = tensor.address[0] + tensor.offset // tensor.row_elements, tensor.shape[0]
    return start == 0 or (start % 32 == 0 and count <= 32) or (start == 64 and count <= 64)


def fill(dst: Tile, value) -> None:
    """Let every element of `dst` be a number."""
    storage = dst.storage
    if value == 0 and dst.space == "PSUM" and dst.size == _size(storage.shape):
        storage.target(True)
        storage.zero = True  # the first matmul of an accumulation writes over it
        storage.groups.clear()
        return
    out = dst.target()
    value = float(value) if isinstance(value, (float, np.floating)) else int(value)
    if _engine_may_start(out):
        isa.memset(out, value)
    else:  # a constant of the program, from HBM: DMA reaches every partition
        isa.dma_copy(out, constant(np.full(out.shape, value), dst.dtype, "constant").tensor)


def _size(shape):
    return math.prod(shape)


def constant(values: np.ndarray, dtype, name: str) -> Tile:
    """An HBM tensor that the program brings along: no instruction writes it."""
    from trnsim import arrays, dtypes
    from trnsim.beta1.storage import Storage

    launch = run.current().launch
    tensor = arrays.to_hbm(launch, values.astype(dtypes.host_dtype(dtype)), name, dtype)
    return Tile.of(Storage(tensor, read_only=True))


def accumulate(dst: Tile, op: str, value):
    """`dst <op>= value`. In PSUM, adding a matmul makes the Tensor engine accumulate."""
    dst.storage.peek()
    if isinstance(value, Deferred) and value.waiting:
        shaped = dst.with_shape(value.shape)
        if shaped is not None and op == "add" and value.sums and dst.space == "PSUM" and _sums_matmuls(dst):
            value.settle_into(dst, _adds(dst))
            return dst
        value.settle()
    run.current().flush()
    if dst.space == "HBM":
        refuse("assign.hbm", f"'{dst.name}' is in HBM; load it, add, and store the result")
    from trnsim.beta1 import functions

    functions.binary_into(op, dst, value, dst)
    return dst


def _sums_matmuls(dst: Tile) -> bool:
    """Whether the Tensor engine can accumulate there; to other types, such as integers, the Vector engine adds."""
    return "float" in name_of_dtype(dst.dtype)


def _adds(dst: Tile):
    """nc_matmul's `accumulate` for `dst += matmul`.

    None lets each element decide: the first matmul of an accumulation overwrites the zeros, or the bytes
    never written, that it finds; later ones add.
    """
    storage = dst.storage
    key = dst.view_key
    if key in storage.groups:
        return True
    if storage.zero:
        storage.groups.add(_ZEROED)
        storage.target(dst.size == _size(storage.shape))
        return None
    return None if _ZEROED in storage.groups or not dst.tensor.written else True
