"""Between memories and between elements: load, store, gather, select."""

from trnsim import dtypes
from trnsim.lowering import broadcasting
from trnsim.lowering.tiles import (
    cast,
    in_sbuf,
    is_tensor,
    isa,
    new,
    number,
    on_chip,
    out,
    refuse,
    same_dtype,
    tile,
)
from trnsim.lowering.tokens import TOKENS


def load(src, dtype=None, dst=None):
    """A tile in SBUF with the values of `src`, which is in HBM."""
    tile(src, "nl.load", "src")
    result = out(dst, src.shape, dtype or src.dtype, src.name or "load")
    isa.dma_copy(result, src)
    return result


def store(dst, value, through_sbuf=False):
    """Write a tile into HBM. DMA cannot read PSUM: with `through_sbuf` such a value is copied first, else
    refused."""
    tile(dst, "nl.store", "dst"), tile(value, "nl.store", "value")
    isa.dma_copy(dst, in_sbuf(value, "store") if through_sbuf else value)


def load_transpose2d(src, dtype=None, dst=None):
    """A tile in SBUF with the transpose of a two-dimensional tensor in HBM."""
    if len(tile(src, "nl.load_transpose2d", "src").shape) != 2:
        refuse("language.shape", f"nl.load_transpose2d: src must have two dimensions, got shape {src.shape}")
    moved = dst if dst is not None and same_dtype(dst.dtype, src.dtype) else None
    moved = out(moved, (src.shape[1], src.shape[0]), src.dtype, src.name or "load_transpose2d")
    if src.itemsize in (2, 4):
        isa.dma_transpose(moved, src)
    else:
        isa.dma_copy(moved, src.permute([1, 0]))  # element by element: DMA transposes only 2 and 4 bytes
    if dst is not None:
        if moved is not dst:
            isa.tensor_copy(dst, moved)
        return dst
    return cast(moved, dtype or src.dtype)


def gather_flattened(data, indices, dtype=None, dst=None):
    """result[p, j] = data[p, indices[p, j]], the free dimensions of data flattened."""
    data = in_sbuf(on_chip(data, "nl.gather_flattened", "data"))
    indices = in_sbuf(on_chip(indices, "nl.gather_flattened", "indices"))
    if indices.dtype_name == "int32":
        indices = indices.reinterpret(dtypes.uint32)
    indices = cast(indices, dtypes.uint32)
    if dst is not None and same_dtype(dst.dtype, data.dtype):
        isa.nc_n_gather(dst, data, indices)
        return dst
    gathered = new(indices.shape, data.dtype, "gather_flattened")
    isa.nc_n_gather(gathered, data, indices)
    if dst is not None:
        isa.tensor_copy(dst, gathered)
        return dst
    return cast(gathered, dtype or data.dtype)


def where(condition, x, y, dtype=None, dst=None):
    """x where the condition is not zero, y elsewhere; x and y are tiles or numbers."""
    on_chip(condition, "nl.where", "condition")
    example = next((value for value in (x, y) if is_tensor(value)), None)
    if dtype is None:
        dtype = dst.dtype if dst is not None else example.dtype if example is not None else dtypes.float32
    predicate, shape = condition, condition.shape
    for value in (x, y):
        if is_tensor(value):
            value, predicate = broadcasting.align_partitions(value, predicate, "nl.where")
            value, predicate = broadcasting.align_free(value, predicate, "nl.where")
            shape = predicate.shape
    if predicate.dtype_name not in ("uint8", "uint16", "uint32"):
        test = new(shape, dtypes.uint8, "where.condition")
        isa.tensor_scalar(test, predicate, TOKENS["not_equal"], 0.0)
        predicate = test
    result = out(dst, shape, dtype, "where")
    _fill(result, y)
    isa.tensor_copy_predicated(result, _source(x, result), predicate)
    return result


def _fill(result, value):
    if not is_tensor(value):
        isa.memset(result, number(value, "nl.where", "y"))
        return
    value = value if value.shape[0] == result.shape[0] else broadcasting.partitions(value, result.shape[0])
    isa.tensor_copy(result, broadcasting.free_to(value, result.shape))


def _source(value, result):
    """x in the form that tensor_copy_predicated takes: a number, or a tile like the result."""
    if not is_tensor(value):
        return float(number(value, "nl.where", "x"))
    value = value if value.shape[0] == result.shape[0] else broadcasting.partitions(value, result.shape[0])
    return broadcasting.free_to(cast(value, result.dtype), result.shape)


def dropout(x, rate, dtype=None, dst=None):
    """x with elements replaced by zero, each with probability `rate` (a number or a [P, 1] tile)."""
    on_chip(x, "nl.dropout", "x")
    if dst is not None and same_dtype(dst.dtype, x.dtype):
        isa.dropout(dst, x, rate)
        return dst
    dropped = new(x.shape, x.dtype, "dropout")
    isa.dropout(dropped, x, rate)
    if dst is not None:
        isa.tensor_copy(dst, dropped)
        return dst
    return cast(dropped, dtype or x.dtype)
