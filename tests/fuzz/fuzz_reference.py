"""The instructions on numpy arrays, slowly and plainly, as the public documents describe them.

Nothing here knows trnsim; where the documents leave a choice, docs/assumptions.md has it. Elementwise and copying
instructions are in this file, the others in fuzz_reductions.py and fuzz_movement.py.
"""

import math

import numpy as np
from fuzz_numbers import BITWISE, COMPARISONS, SHIFTS, UNARY, apply, apply_bits, convert, fp32, recast
from fuzz_programs import Columns, Token, View

GENERATION = {"inf1": 1, "trn1": 2, "inf2": 2, "trn2": 3, "trn3": 4}
INT32 = ("int32", "uint32")
FP32_MIN = np.float32(np.finfo(np.float32).min)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


FUNCTIONS = {
    "copy": lambda x: x,
    "square": lambda x: x * x,
    "relu": lambda x: np.where(x < 0, 0.0, x),
    "abs": np.abs,
    "sign": np.sign,
    "exp": np.exp,
    "tanh": np.tanh,
    "sigmoid": sigmoid,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "log": np.log,
    "reciprocal": lambda x: 1 / x,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "arctan": np.arctan,
}


def function(name, x):
    """An activation function: the exact one, rounded to float32."""
    with np.errstate(all="ignore"):
        return FUNCTIONS[name](x.astype(np.longdouble if name != "erf" else np.float64)).astype(np.float32)


def short(token):
    return token.name.split(".")[-1]


class Core:
    """The values of the tiles and of the engines' registers."""

    def __init__(self, chip):
        self.generation = GENERATION[chip]
        self.tiles, self.registers = {}, {}
        self.scalar_lanes = np.zeros(128, np.float32)
        self.vector_lanes = np.zeros(128, np.float32)
        self.by_matmul = {}  # PSUM: the elements that a matmul wrote last

    def add(self, tile):
        self.tiles[tile.name] = np.array(tile.values)
        if tile.buffer == "psum":
            self.by_matmul[tile.name] = np.zeros(tile.shape, bool)

    # A view's values; rows() has one row for each partition.
    def read(self, view):
        if isinstance(view, Columns):
            return self.rows(view.view)[:, list(view.offsets)]
        return np.array(view.of_array(self.tiles[view.tile.name]))

    def rows(self, view):
        values = self.read(view)
        return values.reshape(len(values), -1)

    def floats(self, view):
        return fp32(self.rows(view))

    def write(self, view, values, matmul=False):
        """Values of the tile's own dtype, in the order of the view."""
        if isinstance(view, Columns):
            return self.scatter(view, np.asarray(values).reshape(view.shape), matmul)
        target = view.of_array(self.tiles[view.tile.name])
        target[...] = np.asarray(values).reshape(target.shape)
        if view.tile.buffer == "psum":
            view.of_array(self.by_matmul[view.tile.name])[...] = matmul

    def scatter(self, view, values, matmul):
        arrays = [(self.tiles[view.tile.name], values)]
        if view.tile.buffer == "psum":
            arrays.append((self.by_matmul[view.tile.name], np.full(values.shape, matmul)))
        for array, new in arrays:
            target = view.view.of_array(array)
            rows = np.array(target).reshape(len(target), -1)
            for i, column in enumerate(view.offsets):  # of equal ones the last stays
                rows[:, column] = new[:, i]
            target[...] = rows.reshape(target.shape)

    def put(self, view, values):
        self.write(view, convert(values, view.tile.dtype))

    def operand(self, value):
        """A number, or a column of one number for each partition."""
        return self.floats(value) if isinstance(value, (View, Columns)) else np.float32(value)

    def lane_slice(self, view):
        return slice(self.first(view), self.first(view) + view.shape[0])

    def first(self, view):
        """The partition that a view starts at; its tile starts at 0."""
        numbers = np.broadcast_to(
            np.arange(view.tile.shape[0]).reshape(-1, *[1] * (len(view.tile.shape) - 1)), view.tile.shape
        )
        return int(View(view.tile, view.changes).of_array(np.ascontiguousarray(numbers)).reshape(-1)[0])

    def run(self, step):
        for i in range(*step.loop) if step.loop else (0,):
            getattr(self, step.instruction)(**step.in_round(i).arguments)

    # -- elementwise ------------------------------------------------------------------------------------------

    def tensor_tensor(self, dst, data1, data2, op, engine=None):
        name, tiles = short(op), (dst, data1, data2)
        a, b = self.rows(data1), self.rows(data2)
        if name in BITWISE or name in SHIFTS:
            return self.write(dst, apply_bits(name, a, b))
        on_gpsimd = engine is None and not any(view.tile.buffer == "psum" for view in tiles)
        if on_gpsimd and all(view.tile.dtype in INT32 for view in tiles):
            return self.write(dst, exact(name, a, b, self.tiles[dst.tile.name].dtype))
        self.put(dst, apply(name, fp32(a), fp32(b)))

    def tensor_scalar(
        self, dst, data, op0, operand0=None, reverse0=False, op1=None, operand1=None, reverse1=False, engine=None
    ):
        bits = short(op0) in BITWISE or short(op0) in SHIFTS
        value = self.rows(data) if bits else self.floats(data)
        for op, operand, reverse in ((op0, operand0, reverse0), (op1, operand1, reverse1)):
            if op is None:
                continue
            name = short(op)
            if bits:
                other = self.rows(operand) if isinstance(operand, View) else wrapped(operand, value.dtype)
                other = np.broadcast_to(other, value.shape).view(value.dtype)
                value = apply_bits(name, other, value) if reverse else apply_bits(name, value, other)
            elif name in UNARY:
                value = apply(name, value)
            else:
                other = self.operand(operand)
                value = apply(name, other, value) if reverse else apply(name, value, other)
        if bits:
            self.write(dst, value.view(self.tiles[dst.tile.name].dtype))
        else:
            self.put(dst, value)

    def scalar_tensor_tensor(self, dst, data, op0, operand0, op1, operand1, reverse0=False, reverse1=False):
        value, first, second = self.floats(data), self.operand(operand0), self.floats(operand1)
        value = apply(short(op0), first, value) if reverse0 else apply(short(op0), value, first)
        self.put(dst, apply(short(op1), second, value) if reverse1 else apply(short(op1), value, second))

    def tensor_copy(self, dst, src, engine=None):
        self.write(dst, recast(self.rows(src), src.tile.dtype, dst.tile.dtype))

    def tensor_copy_predicated(self, dst, src, predicate, reverse_pred=False):
        old, chosen = self.rows(dst), (self.rows(predicate) != 0) != reverse_pred
        new = self.rows(src) if isinstance(src, (View, Columns)) else convert(np.float32(src), dst.tile.dtype)
        self.write(dst, np.where(chosen, new, old))

    def reciprocal(self, dst, data):
        with np.errstate(all="ignore"):
            self.put(dst, np.float32(1) / self.floats(data))

    def memset(self, dst, value, engine=None):
        whole = np.full(dst.shape, value, self.tiles[dst.tile.name].dtype) if dst.tile.dtype in INT32 else None
        self.write(
            dst, whole if whole is not None else convert(np.full(dst.shape, value, np.float32), dst.tile.dtype)
        )

    def activation(self, dst, op, data, bias=None, scale=1.0, reduce_op=None, reduce_res=None, reduce_cmd=None):
        with np.errstate(all="ignore"):
            value = self.floats(data) * self.operand(scale)
            value = value if bias is None else value + self.operand(bias)
        value = function(short(op), value)
        command = short(reduce_cmd) if reduce_cmd else "idle"
        lanes = self.scalar_lanes[self.lane_slice(data)]
        if command in ("reset", "reset_reduce"):
            lanes[:] = 0
        if command in ("reduce", "reset_reduce"):
            lanes[:] = folded("add", lanes, value)
        self.put(dst, value)
        if reduce_res is not None:
            self.put(reduce_res, lanes)

    def activation_reduce(self, dst, op, data, reduce_op, reduce_res, bias=None, scale=1.0):
        self.activation(dst, op, data, bias, scale, reduce_op, reduce_res, Token("nisa.reduce_cmd.reset_reduce"))

    # -- selections -------------------------------------------------------------------------------------------

    def iota(self, dst, pattern, offset=0, channel_multiplier=0):
        numbers = affine(dst.shape[0], pattern, offset, channel_multiplier)
        if dst.tile.dtype in INT32:
            return self.write(dst, numbers.astype(self.tiles[dst.tile.name].dtype))
        self.put(dst, fp32(numbers))

    def affine_select(self, dst, pattern, channel_multiplier, on_true_tile, on_false_value, cmp_op=None, offset=0):
        numbers = affine(dst.shape[0], pattern, offset, channel_multiplier)
        name = short(cmp_op) if cmp_op else "equal"
        chosen = {
            "equal": numbers == 0,
            "not_equal": numbers != 0,
            "greater": numbers > 0,
            "less": numbers < 0,
            "greater_equal": numbers >= 0,
            "less_equal": numbers <= 0,
        }[name]
        kept = recast(self.rows(on_true_tile), on_true_tile.tile.dtype, dst.tile.dtype)
        self.write(dst, np.where(chosen, kept, convert(np.float32(on_false_value), dst.tile.dtype)))

    def range_select(
        self,
        dst,
        on_true_tile,
        comp_op0,
        comp_op1,
        bound0,
        bound1,
        reduce_cmd=None,
        reduce_res=None,
        reduce_op=None,
        range_start=0,
    ):
        value, index = self.floats(on_true_tile), None
        index = np.arange(value.shape[1], dtype=np.float32)[None, :] + np.float32(range_start)
        low = apply(short(comp_op0), index, self.floats(bound0))
        high = apply(short(comp_op1), index, self.floats(bound1))
        value = np.where((low != 0) & (high != 0), value, FP32_MIN)
        self.put(dst, value)
        self.reduce_maximum(on_true_tile, value, short(reduce_cmd) if reduce_cmd else "reset_reduce", reduce_res)

    def select_reduce(
        self, dst, predicate, on_true, on_false, reduce_res=None, reduce_cmd=None, reduce_op=None, reverse_pred=False
    ):
        chosen = (self.rows(predicate) != 0) != reverse_pred
        value = np.where(chosen, self.floats(on_true), self.operand(on_false)).astype(np.float32)
        self.put(dst, value)
        command = short(reduce_cmd) if reduce_cmd else "idle"
        if command == "idle":
            self.vector_lanes[self.lane_slice(on_true)] = np.nan
        self.reduce_maximum(on_true, value, command, reduce_res)

    def reduce_maximum(self, data, value, command, reduce_res):
        lanes = self.vector_lanes[self.lane_slice(data)]
        if command in ("reset", "reset_reduce"):
            lanes[:] = -np.inf
        if command in ("reduce", "reset_reduce"):
            lanes[:] = folded("maximum", lanes, value)
        if reduce_res is not None:
            self.put(reduce_res, lanes)


def folded(op, start, value):
    """The elements of each row worked into `start`, one after the other."""
    lanes = np.array(np.broadcast_to(start, len(value)), np.float32)
    for i in range(value.shape[1]):
        lanes = apply(op, lanes, value[:, i])
    return lanes


def wrapped(number, dtype):
    """The low bits of an integer, as `dtype` has them."""
    return np.array([int(number) & (2 ** (8 * dtype.itemsize) - 1)], np.dtype(f"u{dtype.itemsize}")).view(dtype)


def exact(op, a, b, dtype):
    """Integers of 32 bits as GpSimd computes them: exact, wrapping."""
    a, b = a.astype(np.int64), b.astype(np.int64)
    if op in COMPARISONS or op.startswith("logical"):
        return apply(op, np.sign(a - b) if op in COMPARISONS else a != 0, 0 if op in COMPARISONS else b != 0).astype(
            dtype
        )
    value = {
        "add": np.add,
        "subtract": np.subtract,
        "multiply": np.multiply,
        "maximum": np.maximum,
        "minimum": np.minimum,
    }[op](a, b)
    return value.astype(np.uint32).astype(dtype) if dtype == np.uint32 else value.astype(np.uint32).view(np.int32)


def affine(partitions, pattern, offset, channel_multiplier):
    """offset + p * channel_multiplier + the sum of steps, wrapping at 32 bits; one row for each partition."""
    row = np.zeros(1, np.int64)
    for step, count in pattern:
        row = (row[:, None] + step * np.arange(count, dtype=np.int64)[None, :]).reshape(-1)
    whole = offset + channel_multiplier * np.arange(partitions, dtype=np.int64)[:, None] + row[None, :]
    return whole.astype(np.uint32).view(np.int32)
