"""How an instruction of the older dialect becomes one of the hardware: result tile, dtype, mask."""

import itertools
import numbers

import numpy as np

from trnsim import _native, dtypes
from trnsim.beta1 import run
from trnsim.beta1.deferred import Deferred, defer
from trnsim.beta1.indirect import Indirect
from trnsim.beta1.mask import Mask
from trnsim.beta1.storage import Broadcast
from trnsim.beta1.tile import Tile
from trnsim.lowering import promote_dtypes, scalar_dtype
from trnsim.lowering.tiles import name_of_dtype, refuse

isa = _native.isa
_FREE_AXES = 4  # of an access pattern
_BY_NAME = {name.rstrip("_"): getattr(dtypes, name) for name in dtypes.NAMES}
_KNOWN = {}  # whatever has been given as a dtype: the dtype that it is


def dtype_of(dtype):
    """The dtype object of trnsim for a numpy type, a dtype or a name. Raises ProgramError for types the chip
    lacks."""
    try:
        return _KNOWN[dtype]
    except (KeyError, TypeError):
        pass
    try:
        found = _BY_NAME[name_of_dtype(dtype)]
    except (KeyError, TypeError):
        return refuse(
            "dtype.unknown",
            f"NeuronCores have no dtype {dtype!r}; use one of nl.{', nl.'.join(dtypes.NAMES[:16])}",
        )
    _KNOWN[dtype] = found
    return found


def is_tile(value) -> bool:
    return isinstance(value, (Tile, Indirect))


def described(value) -> str:
    """A value in the words of an error message."""
    if is_tile(value):
        return f"'{value.name}' in {value.space}"
    return type(value).__name__


def tile(value, function: str, argument: str) -> Tile:
    """`value` if it is a tile in SBUF or PSUM; otherwise a ProgramError that names the argument."""
    if not isinstance(value, Tile):
        if hasattr(type(value), "tensor"):
            return value.tensor  # tensors that are no tile say why
        refuse("isa.argument", f"{function}: {argument} must be a tile, got {type(value).__name__} {value!r}")
    if value.space == "HBM":
        refuse(
            "isa.buffer",
            f"{function}: {argument} '{value.name}' is in HBM; engines compute on SBUF and PSUM. nl.load it "
            "first.",
        )
    return value


def operand(value, function: str, argument: str):
    """A tile, or a number as Python's own."""
    if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0:
        value = value.item()
    if isinstance(value, numbers.Real):
        return int(value) if isinstance(value, bool) else value
    return tile(value, function, argument)


def native(value):
    """What the native instruction takes: the tile's tensor, or the value itself."""
    return value.tensor if isinstance(value, Tile) else value


def pair(x, y, may_lie_in_psum=True):
    """What an instruction takes that reads two operands: one of them may be in PSUM, where it is faster than in
    SBUF, as row broadcast to all partitions still is."""
    for first, second in ((x, y), (y, x)):
        if not may_lie_in_psum or not isinstance(first, Tile) or not isinstance(second, Tile):
            continue
        if isinstance(first.storage, Broadcast) and second.space == "SBUF":
            pair = first.where_it_lies, second.tensor
            return pair if first is x else pair[::-1]
    return native(x), native(y)


def promote(*values):
    """The dtype that tiles have in common; numbers count as the widest of their kind and are weak beside
    floats."""
    tiles = [value.dtype for value in values if isinstance(value, Tile)]
    result = tiles[0]
    for dtype in tiles[1:]:
        if dtype is not result:
            result = promote_dtypes(result, dtype)
    if "float" not in name_of_dtype(result):
        for value in values:
            if not isinstance(value, Tile) and isinstance(value, float):
                result = promote_dtypes(result, scalar_dtype(value))
    return result


def parts_of(mask, shape, function, rows=False, whole_axes=()):
    """Ranges per axis of the rectangles that a mask leaves; [None] stands for the whole tile.

    A tile with more free axes than an access pattern has is taken apart along its first ones.
    """
    parts = _rectangles(mask, shape, function, rows, whole_axes)
    beyond = [d for d, size in enumerate(shape) if d and size > 1][: -_FREE_AXES]
    if not beyond or set(beyond) & set(whole_axes):
        return parts
    return [part for whole in parts for part in _one_by_one(whole or [(0, n) for n in shape], beyond)]


def _one_by_one(ranges, axes):
    """The parts of a rectangle that have one index each along `axes`."""
    for index in itertools.product(*(range(*ranges[d]) for d in axes)):
        part = list(ranges)
        for d, i in zip(axes, index):
            part[d] = (i, i + 1)
        yield part


def _rectangles(mask, shape, function, rows, whole_axes):
    if mask is None or mask is True or (isinstance(mask, np.bool_) and mask):
        return [None]
    if mask is False or isinstance(mask, np.bool_):
        return []
    if not isinstance(mask, Mask):
        refuse(
            "mask.type",
            f"{function}: mask must be made of comparisons of nl.arange or nl.mgrid expressions joined by &,"
            f" got {type(mask).__name__}",
        )
    return mask.parts(shape, rows, whole_axes)


def shrink(value, ranges, shape):
    """The part of an operand that belongs to `ranges` of the instruction's tile of `shape`."""
    if ranges is None or not is_tile(value):
        return value
    if isinstance(value, Indirect):
        return value.part(ranges)
    limits = [
        ranges[d] if d < len(shape) and size == shape[d] else None for d, size in enumerate(value.shape)
    ]
    return value.part(limits)


def result(
    name,
    tiles,
    numbers=None,
    options=None,
    *,
    given,
    mask=None,
    dtype=None,
    spaces=("SBUF", "PSUM"),
    exact=False,
    written=(),
    vector_pair=(),
):
    """The deferred instruction `name`: its operands and its result share the shape of the first tile, or are
    [P, 1].

    tiles, numbers: operands by argument; those of `numbers` may be numbers too. options: its other arguments.
    None stands for an argument that is not given. given: the dtype that the kernel asked for, or None; then
    it is `dtype`, or the first tile's. written: operands that the instruction writes besides its result.
    vector_pair: two operands that the Vector engine takes from SBUF or one of them from PSUM.
    """
    operands = {key: tile(value, name, key) for key, value in tiles.items() if value is not None}
    data = next(iter(operands.values()))
    for key, value in (numbers or {}).items():
        if value is not None:
            operands[key] = operand(value, name, key)
    options = {key: value for key, value in (options or {}).items() if value is not None}
    function = getattr(isa, name)
    shape = data.shape
    written = [key for key in written if key in operands]
    parts = parts_of(mask, shape, name, whole_axes=range(1, len(shape)) if written else ())

    def emit(dst, accumulate):
        for ranges in parts:
            arguments = {
                key: shrink(value, ranges, shape).target() if key in written else shrink(value, ranges, shape)
                for key, value in operands.items()
            }
            if vector_pair:
                arguments.update(zip(vector_pair, pair(*(arguments[key] for key in vector_pair))))
            arguments = {key: native(value) for key, value in arguments.items()}
            function(dst=shrink(dst, ranges, shape).target(), **arguments, **options)

    if given is not None:
        return defer(name, emit, shape, dtype_of(given), spaces, exact=True)
    return defer(name, emit, shape, data.dtype if dtype is None else dtype, spaces, exact)


def aligned(x, y, function: str):
    """Both operands with as many axes, and the shape of the result; one of them may be a number."""
    if not isinstance(x, Tile) or not isinstance(y, Tile):
        return x, y, (x if isinstance(x, Tile) else y).shape
    if x.ndim != y.ndim:
        x, y = _with_axes_of(x, y), _with_axes_of(y, x)
    if x.ndim != y.ndim or any(a != b and 1 not in (a, b) for a, b in zip(x.shape, y.shape)):
        refuse(
            "language.shape",
            f"{function}: shapes {x.shape} and {y.shape} neither agree nor broadcast; each size must be equal"
            " or 1",
        )
    return x, y, tuple(max(a, b) for a, b in zip(x.shape, y.shape))


def _with_axes_of(small: Tile, large: Tile) -> Tile:
    """A tile of one element per partition with as many axes as `large`; another tile in its shape if
    possible."""
    grows = small.ndim < large.ndim
    if small.size == small.shape[0] and (grows or large.size != large.shape[0]):
        return small.with_shape((small.shape[0],) + (1,) * (large.ndim - 1))
    return small.like(large.shape) if grows else small


def no_mask(mask, name: str) -> None:
    """Refuse a mask, for instructions that look at the whole tile."""
    if mask is not None and mask is not True:
        refuse(
            "mask.instruction",
            f"{name} takes no mask in the simulator; give it the part of the tile by a subscript",
        )


def now() -> None:
    """Let the waiting instruction go, before one that does not wait."""
    run.current().flush()


__all__ = [
    "Deferred",
    "aligned",
    "described",
    "dtype_of",
    "is_tile",
    "isa",
    "native",
    "no_mask",
    "now",
    "operand",
    "pair",
    "parts_of",
    "promote",
    "result",
    "shrink",
    "tile",
]
