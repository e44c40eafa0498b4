"""nki.isa.tensor_scalar_cumulative against numpy."""

import numpy as np
import pytest

from vector_oracle import SHAPES, apply, convert, fp32, nisa, nl, on_tiles, refused, same, sample

START = {"add": 0, "subtract": 0, "multiply": 1, "maximum": -np.inf, "minimum": np.inf}
LEGAL = (
    "float32",
    "bfloat16",
    "float16",
    "float8_e4m3",
    "float8_e4m3fn",
    "float8_e5m2",
    "int8",
    "uint8",
    "int16",
    "uint16",
)


def cumulative(x, op0, imm0, op1, start=None):
    values = apply(op0, fp32(x), imm0)
    rows = values.reshape(x.shape[0], -1)
    state = np.broadcast_to(np.float32(START[op1] if start is None else start), (x.shape[0],))
    out = np.empty_like(rows)
    for i in range(rows.shape[1]):
        state = out[:, i] = apply(op1, rows[:, i], state)
    return out.reshape(x.shape)


def computed(run, x, op0="multiply", imm0=1.5, op1="add", out="float32", **arguments):
    def body(dst, src):
        nisa.tensor_scalar_cumulative(
            dst=dst, src=src, op0=getattr(nl, op0), op1=getattr(nl, op1), imm0=imm0, **arguments
        )

    return on_tiles(run, body, x, out=[(x.shape, out)])


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(run, shape):
    x = sample(shape)
    same(computed(run, x), cumulative(x, "multiply", 1.5, "add"))


@pytest.mark.parametrize("op0", ("add", "multiply", "maximum", "subtract", "greater"))
@pytest.mark.parametrize("op1", sorted(START))
def test_operators(run, op0, op1):
    x = sample((21, 19), low=-1.2, high=1.2)
    same(computed(run, x, op0, 0.5, op1), cumulative(x, op0, 0.5, op1))


@pytest.mark.parametrize("name", LEGAL)
def test_dtypes(run, name):
    x = sample((128, 10), name, low=-1, high=1)
    same(computed(run, x), cumulative(x, "multiply", 1.5, "add"))
    y = sample((128, 10))
    same(computed(run, y, out=name), convert(cumulative(y, "multiply", 1.5, "add"), name))


def test_loaded_and_continued(run):
    x, start, factor = sample((128, 20)), sample((128, 1), seed=1), sample((128, 1), seed=2)

    def body(dst, src, init, scale):
        nisa.tensor_scalar_cumulative(
            dst[:, 0:12], src[:, 0:12], nl.multiply, nl.add, scale, init, nisa.reduce_cmd.load_reduce
        )
        nisa.tensor_scalar_cumulative(
            dst[:, 12:20], src[:, 12:20], nl.multiply, nl.add, scale, reduce_cmd=nisa.reduce_cmd.reduce
        )

    same(
        on_tiles(run, body, x, start, factor, out=[(x.shape, "float32")]),
        cumulative(x, "multiply", factor, "add", start[:, 0]),
    )


def test_registers_are_shared_with_tensor_scalar_reduce(run):
    x = sample((16, 6))

    def body(dst, total, src):
        nisa.tensor_scalar_cumulative(dst, src, nl.add, nl.maximum, 0.0)
        nisa.tensor_scalar_reduce(
            dst, src, nl.subtract, 100.0, nl.maximum, total, reduce_cmd=nisa.reduce_cmd.reduce
        )

    _, total = on_tiles(run, body, x, out=[(x.shape, "float32"), ((16, 1), "float32")])
    same(total, x.max(axis=1, keepdims=True))


def test_in_place(run):
    x = sample((9, 33))

    def body(dst, src):
        nisa.tensor_copy(dst=dst, src=src)
        nisa.tensor_scalar_cumulative(dst, dst, nl.add, nl.add, 0.0)

    same(on_tiles(run, body, x, out=[(x.shape, "float32")]), cumulative(x, "add", 0, "add"))


def refused_with(run, rule, dtype="float32", dst="float32", **changes):
    def body(y, src, half):
        arguments = {"dst": y, "src": src, "op0": nl.add, "op1": nl.add, "imm0": 1.0}
        nisa.tensor_scalar_cumulative(
            **arguments | {k: half if v == "half" else v for k, v in changes.items()}
        )

    refused(
        run,
        "tensor_scalar_cumulative." + rule,
        body,
        sample((32, 4), dtype),
        sample((32, 1), "float16"),
        out=[((32, 4), dst)],
    )


def test_rules(run):
    refused_with(run, "bitvec", op0=nl.bitwise_or)
    refused_with(run, "op", op0=nl.rsqrt)
    for op in (nl.logical_and, nl.equal, nl.bitwise_or):
        refused_with(run, "op1", op1=op)
    for name in ("int32", "uint32"):
        refused_with(run, "dtype", name)
        refused_with(run, "dtype", dst=name)
    refused_with(run, "dtype", dst="tfloat32")
    for cmd in (nisa.reduce_cmd.idle, nisa.reduce_cmd.reset):
        refused_with(run, "reduce_cmd", reduce_cmd=cmd)
    refused_with(run, "imm1", imm1=1.0)
    refused_with(run, "imm1", reduce_cmd=nisa.reduce_cmd.load_reduce)
    refused_with(run, "operand_dtype", imm0="half")
    refused_with(run, "operand_dtype", imm1="half", reduce_cmd=nisa.reduce_cmd.load_reduce)
