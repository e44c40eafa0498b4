"""Between HBM and the chip: the load and store functions of neuronxcc.nki.language, and random numbers."""

import math

from trnsim import dtypes, limits, lowering
from trnsim.beta1 import assign
from trnsim.beta1.deferred import defer
from trnsim.beta1.functions import result_dtype, whole
from trnsim.beta1.indirect import Indirect
from trnsim.beta1.instructions.dma import dma_copy, move
from trnsim.beta1.issue import described, dtype_of, is_tile, isa, native, now, operand, parts_of, shrink
from trnsim.beta1.storage import Storage
from trnsim.beta1.tile import Tile
from trnsim.lowering.tiles import refuse


def load(src, *, mask=None, dtype=None, name=None):
    """A tile in SBUF with the values of `src`, an HBM tensor or a part of it; an index tile chooses rows."""
    if not is_tile(src) or src.space != "HBM":
        refuse("load.src", f"nl.load: src must be a tensor in HBM, got {described(src)}")
    if not isinstance(src, Indirect) and src.ndim == 1:
        src = src.with_shape((src.shape[0], 1))
    _check_partitions(src, "nl.load")
    shape = src.shape

    def emit(dst, accumulate):
        for ranges in parts_of(mask, shape, "nl.load", rows=True):
            move(shrink(dst, ranges, shape), shrink(src, ranges, shape), {})

    return defer(src.name, emit, shape, result_dtype(dtype, src.dtype), ("SBUF",), exact=dtype is not None)


def _check_partitions(src, function):
    most = limits.partitions()
    if src.shape[0] > most:
        refuse(
            "tile.partitions",
            f"{function}: '{src.name}' selects shape {src.shape}; its first axis becomes the partition and "
            f"cannot exceed {most}. Load it in tiles of {most} rows.",
        )


def store(dst, value, *, mask=None, name=None):
    """Write a tile (or a number) into an HBM tensor or a part of it. A tile in PSUM is copied to SBUF
    first."""
    if not is_tile(dst) or dst.space != "HBM":
        refuse("store.dst", f"nl.store: dst must be a tensor in HBM, got {described(dst)}")
    if not is_tile(value):
        value = _constant_tile(dst, value)
    if value.space == "HBM":
        refuse(
            "store.value",
            f"nl.store: value '{value.name}' is in HBM; load it, or use nisa.dma_copy between HBM tensors",
        )
    value.storage  # a result that waits is computed first
    now()
    if value.size != math.prod(dst.shape) and mask is None:
        refuse(
            "store.shape",
            f"nl.store: value has shape {value.shape}, but '{dst.name}' selects shape {dst.shape}",
        )
    parts = parts_of(mask, dst.shape, "nl.store", rows=True)
    if len(parts) > 1:
        value = _in_sbuf(value)
    for ranges in parts:
        move(shrink(dst, ranges, dst.shape), _in_sbuf(shrink(value, ranges, dst.shape)), {})


def _constant_tile(dst, value):
    shape = dst.shape if len(dst.shape) > 1 else dst.shape + (1,)
    most = limits.partitions()
    if shape[0] > most:
        refuse(
            "tile.partitions",
            f"nl.store: a number cannot fill {shape} of '{dst.name}' at once; store at most {most} rows",
        )
    filled = Tile.of(Storage.new("SBUF", shape, dst.dtype, "constant"))
    now()
    assign.fill(filled, value)
    return filled


def _in_sbuf(value):
    """The tile, or a copy where it is in PSUM, which DMA cannot read."""
    if value.space != "PSUM":
        return value
    copied = Tile.of(Storage.new("SBUF", value.shape, value.dtype, "store"))
    isa.tensor_copy(dst=copied.target(), src=value.tensor)
    return copied


def load_transpose2d(src, *, dtype=None, mask=None, name=None):
    """A tile in SBUF with the transpose of a two-dimensional HBM tensor."""
    if not isinstance(src, Tile) or src.space != "HBM":
        refuse("load.src", f"nl.load_transpose2d: src must be a tensor in HBM, got {described(src)}")
    return whole(
        "nl.load_transpose2d",
        src.shape[::-1],
        lambda dst: lowering.load_transpose2d(src.tensor, dtype, dst=dst),
        result_dtype(dtype, src.dtype),
        mask,
        ("SBUF",),
    )


def rand(shape, dtype=dtypes.float32, name=None):
    """A tile of uniform random numbers of [0, 1), from the Vector Engine."""
    now()
    return Tile.of(Storage(lowering.rand(tuple(shape), dtype_of(dtype))))


def random_seed(seed, name=None):
    """Seed the engines' random numbers from a [1, 1] tile."""
    now()
    lowering.random_seed(native(operand(seed, "nl.random_seed", "seed")))


def atomic_rmw(dst, value, op, *, mask=None, name=None):
    """Add the rows of `value` to rows of an HBM tensor chosen by an index tile."""
    dma_copy(dst=dst, src=value, dst_rmw_op=op, mask=mask)
