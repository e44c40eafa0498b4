"""nki.isa.tensor_reduce against numpy."""

import numpy as np
import pytest

from vector_oracle import (
    BITWISE,
    DTYPES,
    INTEGERS,
    apply,
    convert,
    fp32,
    load,
    new,
    nisa,
    nl,
    on_tiles,
    refused,
    same,
    sample,
    store,
)

START = {
    "add": 0,
    "multiply": 1,
    "maximum": -np.inf,
    "minimum": np.inf,
    "logical_and": 1,
    "logical_or": 0,
    "logical_xor": 0,
}


def sequential(op, x, dims):
    """Reduce the last `dims` dimensions with one fp32 accumulator, in ascending order."""
    kept = x.shape[: x.ndim - dims]
    columns = fp32(x).reshape(int(np.prod(kept)), -1).T
    state = columns[0] if op == "subtract" else np.full(columns.shape[1], START[op], np.float32)
    for column in columns[1:] if op == "subtract" else columns:
        state = apply(op, state, column)
    return state.reshape(kept)


def reduced(run, x, shape, out="float32", op="add", chip="trn2", **arguments):
    def body(dst, data):
        nisa.tensor_reduce(dst=dst, op=getattr(nl, op), data=data, **arguments)

    return on_tiles(run, body, x, out=[(shape, out)], chip=chip)


@pytest.mark.parametrize("shape", ((1, 1), (1, 7), (128, 1), (128, 16), (127, 33), (9, 9001), (128, 2049)))
def test_shapes(run, shape):
    x = sample(shape)
    same(reduced(run, x, (shape[0], 1), axis=1), sequential("add", x, 1).reshape(-1, 1))


@pytest.mark.parametrize(
    "axis, dims", ((3, 1), (-1, 1), ((2, 3), 2), ((-2, -1), 2), ((3, 2), 2), ((1, 2, 3), 3), ([1, 2, 3], 3))
)
def test_axes(run, axis, dims):
    x = sample((33, 3, 5, 7))
    kept = x.shape[: 4 - dims]
    same(
        reduced(run, x, kept if dims < 3 else kept + (1,), axis=axis),
        sequential("add", x, dims).reshape(kept if dims < 3 else kept + (1,)),
    )


def test_keepdims_concerns_the_shape_only(run):
    x = sample((16, 4, 6))
    same(reduced(run, x, (16, 4, 1), axis=2, keepdims=True), sequential("add", x, 1)[..., None])


@pytest.mark.parametrize("op", sorted(START) + ["subtract"])
def test_operators(run, op):
    x = np.round(sample((20, 13), low=-1.5, high=1.5))
    same(reduced(run, x, (20, 1), op=op, axis=1), sequential(op, x, 1).reshape(-1, 1))


def test_order_of_additions_is_ascending(run):
    x = np.tile(np.array([[2.0**24, 1.0, 1.0, -(2.0**24)]], np.float32), (9, 1))
    same(reduced(run, x, (9, 1), axis=1), np.zeros((9, 1), np.float32))


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(run, name):
    x = sample((128, 24), name, low=-1, high=1)
    same(reduced(run, x, (128, 1), axis=1), sequential("add", x, 1).reshape(-1, 1))
    same(
        reduced(run, x, (128, 1), name, op="maximum", axis=1),
        convert(fp32(x).max(axis=1, keepdims=True), name),
    )
    y = sample((128, 24))
    same(
        reduced(run, y, (128, 1), name, axis=1, negate=True),
        convert(-sequential("add", y, 1).reshape(-1, 1), name),
    )


def test_nan_wins_maximum(run):
    x = np.array([[1.0, np.nan, 2.0]], np.float32)
    same(reduced(run, x, (1, 1), op="maximum", axis=1), np.array([[np.nan]], np.float32))


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("op", sorted(BITWISE))
def test_bits(run, op, name):
    x = sample((40, 3, 5), name)
    same(reduced(run, x, (40, 3), name, op=op, axis=2), BITWISE[op].reduce(x, axis=2))


def test_abs_max_keeps_the_sign(run):
    x = np.array([[1.0, -5.0, 4.0], [0.5, 0.25, -0.125]], np.float32)
    same(reduced(run, x, (2, 1), op="abs_max", axis=1, chip="trn3"), np.array([[-5.0], [0.5]], np.float32))
    same(reduced(run, x, (2, 1), op="abs_min", axis=1, chip="trn3"), np.array([[1.0], [-0.125]], np.float32))


def test_destination_inside_the_data(run):
    x = sample((64, 10))

    def kernel(tensor):
        tile = load(tensor)
        nisa.tensor_reduce(dst=tile[:, 0:1], op=nl.add, data=tile, axis=1)
        return store(tile)

    same(run(kernel, x), np.concatenate([sequential("add", x, 1).reshape(-1, 1), x[:, 1:]], 1))


def test_strided_view_from_psum(run):
    x = sample((128, 4, 6))

    def kernel(tensor):
        data = load(tensor, nl.psum)
        dst = new((128, 4))
        nisa.tensor_reduce(dst=dst, op=nl.add, data=data[:, :, 0:6:2], axis=2)
        return store(dst)

    same(run(kernel, x), sequential("add", x[:, :, ::2], 1))


def refused_with(run, rule, x=None, dst=((32, 3), "float32"), chip="trn2", **changes):
    arguments = {"op": nl.add, "axis": 2} | changes
    x = sample((32, 3, 4)) if x is None else x
    refused(
        run,
        "tensor_reduce." + rule,
        lambda y, data: nisa.tensor_reduce(dst=y, data=data, **arguments),
        x,
        out=[dst],
        chip=chip,
    )


def test_rules(run):
    bits = sample((32, 3, 4), "int32")
    for axis in (0, (0, 1, 2), -3):
        refused_with(run, "axis_partition", axis=axis)
    for axis in (1, (1, 1), 3, (), -4, (2, 2)):
        refused_with(run, "axis", axis=axis)
    for op in (nl.power, nl.equal, nl.abs, nl.left_shift, nl.invert):
        refused_with(run, "op", op=op)
    refused_with(run, "generation", op=nl.abs_max)
    refused_with(run, "dst_size", dst=((32, 4), "float32"))
    refused_with(run, "negate", bits, ((32, 3), "int32"), op=nl.bitwise_or, negate=True)
    refused_with(run, "integer_bits", op=nl.bitwise_or)
    refused_with(run, "bit_width", bits, ((32, 3), "int8"), op=nl.bitwise_or)
