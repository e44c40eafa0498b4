"""The functions of neuronxcc.nki.language on tiles: each deferred, its instructions chosen by trnsim.lowering."""

import numpy as np

from trnsim import dtypes, lowering, session
from trnsim.beta1 import assign, run
from trnsim.beta1.deferred import defer
from trnsim.beta1.index import broadcast_shapes
from trnsim.beta1.indirect import Indirect
from trnsim.beta1.issue import dtype_of, is_tile, isa, native, now, operand, parts_of, promote, shrink, tile
from trnsim.beta1.storage import Storage
from trnsim.beta1.tile import Tile
from trnsim.lowering.tiles import name_of_dtype, refuse

_FLOAT_RESULT = frozenset("exp log sin cos tan arctan tanh sqrt rsqrt sigmoid gelu gelu_dx gelu_apprx_tanh gelu_apprx_sigmoid silu "
                          "silu_dx softplus mish erf erf_dx reciprocal".split())


def _result_dtype(dtype, default):
    return dtype_of(dtype) if dtype is not None else default


def load(src, *, mask=None, dtype=None, **_):
    """A tile in SBUF with the values of `src`, an HBM tensor or a part of it; an index tile chooses rows."""
    if not is_tile(src) or src.space != "HBM":
        refuse("load.src", f"nl.load: src must be a tensor in HBM, got {_described(src)}")
    if not isinstance(src, Indirect) and src.ndim == 1:
        src = src.with_shape((src.shape[0], 1))
    _check_partitions(src, "nl.load")
    shape = src.shape

    def emit(dst, accumulate):
        if isinstance(src, Indirect):
            out = dst
            if mask is not None:
                refuse("mask.instruction", "nl.load of rows chosen by an index tile takes no mask; shorten the index tile")
            isa.dma_copy(dst=out.target(), src=src.rows.tensor, src_index=src.index.tensor)
            return
        for ranges in parts_of(mask, shape, "nl.load", rows=True):
            isa.dma_copy(dst=shrink(dst, ranges, shape).target(), src=shrink(src, ranges, shape).tensor)

    return defer(src.name, emit, shape, _result_dtype(dtype, src.dtype), ("SBUF",), exact=False)


def _described(value):
    if is_tile(value):
        return f"'{value.name}' in {value.space}"
    return type(value).__name__


def _check_partitions(src, function):
    if src.shape[0] > 128:
        refuse("tile.partitions", f"{function}: '{src.name}' selects shape {src.shape}; its first axis becomes the partition and "
                                  "cannot exceed 128. Load it in tiles of 128 rows.")


def store(dst, value, *, mask=None, **_):
    """Write a tile (or a number) into an HBM tensor or a part of it. A tile in PSUM is copied to SBUF first."""
    if not is_tile(dst) or dst.space != "HBM":
        refuse("store.dst", f"nl.store: dst must be a tensor in HBM, got {_described(dst)}")
    if not is_tile(value):
        value = _constant_tile(dst, value)
    if value.space == "HBM":
        refuse("store.value", f"nl.store: value '{value.name}' is in HBM; load it, or use nisa.dma_copy between HBM tensors")
    tensor = value.tensor  # lets the waiting instruction go before this one
    now()
    if value.size != dst_size(dst) and mask is None:
        refuse("store.shape", f"nl.store: value has shape {value.shape}, but '{dst.name}' selects shape {dst.shape}")
    if isinstance(dst, Indirect):
        if mask is not None:
            refuse("mask.instruction", "nl.store to rows chosen by an index tile takes no mask; shorten the index tile")
        isa.dma_copy(dst=dst.rows.target(), src=_in_sbuf(tensor), dst_index=dst.index.tensor)
        return
    parts = parts_of(mask, dst.shape, "nl.store", rows=True)
    if value.space == "PSUM" and parts != [None]:
        value = Tile.of(Storage(_in_sbuf(value.tensor)))
    for ranges in parts:
        source = shrink(value, ranges, dst.shape)
        isa.dma_copy(dst=shrink(dst, ranges, dst.shape).target(), src=_in_sbuf(source.tensor))


def dst_size(dst):
    """How many elements an HBM destination has."""
    return int(np.prod(dst.shape))


def _constant_tile(dst, value):
    shape = dst.shape if len(dst.shape) > 1 else dst.shape + (1,)
    if shape[0] > 128:
        refuse("tile.partitions", f"nl.store: a number cannot fill {shape} of '{dst.name}' at once; store at most 128 rows")
    filled = Tile.of(Storage.new("SBUF", shape, dst.dtype, "constant"))
    now()
    assign.fill(filled, value)
    return filled


def _in_sbuf(tensor):
    if tensor.space != "PSUM":
        return tensor
    copied = session.current().launch.tensor("SBUF", tensor.shape, tensor.dtype, "store")
    isa.tensor_copy(dst=copied, src=tensor)
    return copied


def _broadcast(x, y):
    """Both operands with as many axes; and the shape of the result."""
    if not isinstance(x, Tile) or not isinstance(y, Tile):
        return x, y, (x if isinstance(x, Tile) else y).shape
    if x.ndim != y.ndim:
        for small, large in ((x, y), (y, x)):
            if small.size == small.shape[0] and small.ndim < large.ndim:
                grown = small.with_shape((small.shape[0],) + (1,) * (large.ndim - 1))
                x, y = (grown, y) if small is x else (x, grown)
                break
        else:
            x = x.like(y.shape)
    if x.ndim != y.ndim:
        refuse("language.shape", f"shapes {x.shape} and {y.shape} do not broadcast; both tiles need the same axes")
    return x, y, broadcast_shapes([x.shape, y.shape])


def binary(op, x, y, *, dtype=None, mask=None, **_):
    """x <op> y: tiles that broadcast, or a tile and a number."""
    name = f"nl.{op}"
    if not isinstance(x, Tile) and not isinstance(y, Tile):
        refuse("language.argument", f"{name}: at least one of x and y must be a tile, got {_described(x)} and {_described(y)}")
    x, y = (operand(value, name, argument) for value, argument in ((x, "x"), (y, "y")))
    x, y, shape = _broadcast(x, y)
    default = promote(x, y)

    def emit(dst, accumulate):
        for ranges in parts_of(mask, shape, name):
            left, right = shrink(x, ranges, shape), shrink(y, ranges, shape)
            lowering.binary(op, native(left), native(right), dtype, dst=shrink(dst, ranges, shape).target())

    return defer(op, emit, shape, _result_dtype(dtype, default), exact=dtype is not None)


def binary_into(op, x, y, dst) -> None:
    """dst = x <op> y at once."""
    x, y = operand(x, f"nl.{op}", "x"), operand(y, f"nl.{op}", "y")
    if isinstance(y, Tile):
        y = y.like(x.shape)
    x, y, _ = _broadcast(x, y)
    lowering.binary(op, native(x), native(y), dst=dst.target())


def unary(op, x, *, dtype=None, mask=None, **_):
    """op(x), element by element."""
    x = tile(x, f"nl.{op}", "x")
    integers = "float" not in name_of_dtype(x.dtype)
    default = dtypes.float32 if op in _FLOAT_RESULT and integers else x.dtype

    def emit(dst, accumulate):
        for ranges in parts_of(mask, x.shape, f"nl.{op}"):
            lowering.unary(op, shrink(x, ranges, x.shape).tensor, dtype, dst=shrink(dst, ranges, x.shape).target())

    return defer(op, emit, x.shape, _result_dtype(dtype, default), exact=dtype is not None)


def reduction(op, x, axis, *, dtype=None, mask=None, keepdims=False, **_):
    """Reduce free axes of a tile."""
    from trnsim.beta1.isa import reduced

    return reduced(f"nl.{op}", op, x, axis, mask, dtype, False, keepdims)


def _whole(name, x, shape, emit, dtype, mask, spaces=("SBUF", "PSUM"), exact=False):
    """A function that looks at the whole tile; a mask narrows x to one rectangle first."""
    if mask is not None and mask is not True:
        refuse("mask.instruction", f"{name} takes no mask in the simulator; give it the part of the tile by a subscript")
    return defer(name, lambda dst, accumulate: emit(dst.target()), shape, dtype, spaces, exact)


def copy(src, *, dtype=None, mask=None, **_):
    """A copy of a tile, in SBUF."""
    return unary("copy", src, dtype=dtype, mask=mask)


def mean(x, axis, *, dtype=None, mask=None, keepdims=False, **_):
    """The mean along free axes, summed in float32."""
    return _statistic("mean", lowering.mean, x, axis, dtype, mask, keepdims)


def var(x, axis, *, dtype=None, mask=None, keepdims=True, **_):
    """The population variance along the last free axes; axes are kept with size 1."""
    return _statistic("var", lowering.var, x, axis, dtype, mask, True)


def all(x, axis, *, dtype=None, mask=None, keepdims=False, **_):  # noqa: A001
    """1 where every element along the axes is nonzero, else 0."""
    return _statistic("all", lowering.all_, x, axis, dtype or dtypes.bool_, mask, keepdims)


def _statistic(name, function, x, axis, dtype, mask, keepdims):
    x = tile(x, f"nl.{name}", "x")
    axes = lowering.reductions.axes_of(axis, x.ndim, f"nl.{name}")
    kept = [size for d, size in enumerate(x.shape) if d not in axes]
    shape = tuple(1 if d in axes else size for d, size in enumerate(x.shape)) if keepdims else tuple(kept)
    return _whole(f"nl.{name}", x, shape, lambda dst: function(x.tensor, axes, dtype, keepdims, dst=dst),
                  _result_dtype(dtype, x.dtype), mask)


def softmax(x, axis=-1, *, dtype=None, mask=None, **_):
    """exp(x - max) / sum of it, along the last free axes."""
    x = tile(x, "nl.softmax", "x")
    return _whole("nl.softmax", x, x.shape, lambda dst: lowering.softmax(x.tensor, axis, dtype, dst=dst),
                  _result_dtype(dtype, x.dtype), mask)


def rms_norm(x, w, axis, n, epsilon=1e-6, *, dtype=None, compute_dtype=None, mask=None, **_):
    """x / sqrt(sum of squares / n + epsilon) * w."""
    x, w = tile(x, "nl.rms_norm", "x"), tile(w, "nl.rms_norm", "w")
    return _whole("nl.rms_norm", x, x.shape, lambda dst: lowering.rms_norm(x.tensor, w.tensor, axis, n, epsilon, dtype,
                                                                          compute_dtype, dst=dst),
                  _result_dtype(dtype, x.dtype), mask)


def matmul(x, y, *, transpose_x=False, mask=None, **_):
    """x @ y (x.T @ y with transpose_x) in PSUM, float32. `psum += nl.matmul(...)` accumulates there."""
    x, y = tile(x, "nl.matmul", "x"), tile(y, "nl.matmul", "y")
    if mask is not None:
        refuse("mask.instruction", "nl.matmul takes no mask in the simulator; mask the loads of x and y")
    rows = x.shape[1] if transpose_x else x.shape[0]

    def emit(dst, accumulate):
        dst.storage.groups.add(dst.view_key)
        lowering.matmul(x.tensor, y.tensor, transpose_x, dst=dst.target(), accumulate=bool(accumulate))

    return defer("nl.matmul", emit, (rows, y.shape[1]), dtypes.float32, ("PSUM",), sums=True)


def transpose(x, *, dtype=None, mask=None, **_):
    """Partition and free axis exchanged, in PSUM."""
    x = tile(x, "nl.transpose", "x")
    target = _result_dtype(dtype, x.dtype)
    return _whole("nl.transpose", x, (x.shape[1], x.shape[0]), lambda dst: lowering.transpose(x.tensor, dtype, dst=dst), target,
                  mask, ("PSUM",), True)


def load_transpose2d(src, *, dtype=None, mask=None, **_):
    """A tile in SBUF with the transpose of a two-dimensional HBM tensor."""
    if not isinstance(src, Tile) or src.space != "HBM":
        refuse("load.src", f"nl.load_transpose2d: src must be a tensor in HBM, got {_described(src)}")
    return _whole("nl.load_transpose2d", src, src.shape[::-1], lambda dst: lowering.load_transpose2d(src.tensor, dtype, dst=dst),
                  _result_dtype(dtype, src.dtype), mask, ("SBUF",))


def where(condition, x, y, *, dtype=None, mask=None, **_):
    """x where the condition is not zero, y elsewhere; x and y are tiles or numbers."""
    condition = tile(condition, "nl.where", "condition")
    x, y = operand(x, "nl.where", "x"), operand(y, "nl.where", "y")
    shapes = [value.shape for value in (condition, x, y) if isinstance(value, Tile)]
    tiles = [value for value in (x, y) if isinstance(value, Tile)]
    default = promote(*tiles) if tiles else dtypes.float32
    target = _result_dtype(dtype, default)
    return _whole("nl.where", condition, broadcast_shapes(shapes),
                  lambda dst: lowering.where(condition.tensor, native(x), native(y), target, dst=dst), target, mask)


def broadcast_to(src, shape, **_):
    """`src` with axes of size 1 repeated to `shape`. Free axes cost nothing; partitions go through the Tensor engine."""
    src = tile(src, "nl.broadcast_to", "src")
    shape = tuple(int(size) for size in shape)
    if src.ndim != len(shape) or any(a not in (1, b) for a, b in zip(src.shape, shape)):
        refuse("language.shape", f"nl.broadcast_to: a tile of shape {src.shape} cannot become {shape}; each size must be equal "
                                 "or 1")
    if src.shape[0] != shape[0]:
        tensor = src.tensor
        now()
        src = Tile.of(Storage(lowering.broadcast_to(tensor, (shape[0],) + src.shape[1:])))
    return src.broadcast_free(shape)


def gather_flattened(data, indices, *, mask=None, dtype=None, **_):
    """result[p, j] = data[p, indices[p, j]], the free axes of data flattened."""
    data, indices = tile(data, "nl.gather_flattened", "data"), tile(indices, "nl.gather_flattened", "indices")
    return _whole("nl.gather_flattened", data, indices.shape,
                  lambda dst: lowering.gather_flattened(data.tensor, indices.tensor, dtype, dst=dst),
                  _result_dtype(dtype, data.dtype), mask, ("SBUF",))


def dropout(x, rate, *, dtype=None, mask=None, **_):
    """x with elements replaced by 0, each with probability `rate`."""
    x, rate = tile(x, "nl.dropout", "x"), operand(rate, "nl.dropout", "rate")
    return _whole("nl.dropout", x, x.shape, lambda dst: lowering.dropout(x.tensor, native(rate), dtype, dst=dst),
                  _result_dtype(dtype, x.dtype), mask)


def rand(shape, dtype=dtypes.float32, **_):
    """A tile of uniform random numbers of [0, 1).

    While the simulator lacks the engines' random number instruction, they are data of the program that a DMA loads; the
    seed is that of trnsim.install().
    """
    now()
    if hasattr(isa, "rng") or hasattr(isa, "rand2"):
        return Tile.of(Storage(lowering.rand(tuple(shape), dtype_of(dtype))))
    numbers = run.current().random(session.settings.seed).random(tuple(shape), np.float32)
    return load(assign.constant(numbers, dtypes.float32, "rand"), dtype=dtype)


def random_seed(seed, **_):
    """Seed the engines' random numbers from a [1, 1] tile."""
    now()
    lowering.random_seed(native(operand(seed, "nl.random_seed", "seed")))


def atomic_rmw(dst, value, op, *, mask=None, **_):
    """Add the rows of `value` to rows of an HBM tensor chosen by an index tile."""
    from trnsim.beta1.isa_data import dma_copy

    dma_copy(dst=dst, src=value, dst_rmw_op=op, mask=mask)


def device_print(prefix, x=None, *, mask=None, **_):
    """Print a tile's values now."""
    run.current().flush()
    print(prefix, x if x is not None else "")


def static_cast(value, dtype):
    """A host array or a tile as another dtype."""
    if isinstance(value, Tile):
        return copy(value, dtype=dtype)
    return np.asarray(value).astype(dtypes.host_dtype(dtype_of(dtype)))
