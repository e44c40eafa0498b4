"""nki.isa.tensor_scalar against numpy."""

import numpy as np
import pytest

from vector_oracle import (
    ARITHMETIC,
    BITWISE,
    DTYPES,
    INTEGERS,
    SHAPES,
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


def scaled(run, x, out="float32", chip="trn2", **arguments):
    return on_tiles(
        run,
        lambda dst, data: nisa.tensor_scalar(dst=dst, data=data, **arguments),
        x,
        out=[(x.shape, out)],
        chip=chip,
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(run, shape):
    x = sample(shape)
    same(
        scaled(run, x, op0=nl.multiply, operand0=2.5, op1=nl.add, operand1=-0.75),
        apply("add", apply("multiply", x, 2.5), -0.75),
    )


@pytest.mark.parametrize("name", DTYPES)
def test_input_dtypes(run, name):
    x = sample((128, 40), name)
    same(scaled(run, x, op0=nl.multiply, operand0=0.3), apply("multiply", fp32(x), 0.3))


@pytest.mark.parametrize("name", DTYPES)
def test_output_dtypes(run, name):
    x = sample((128, 40), low=-400, high=400)
    same(scaled(run, x, name, op0=nl.add, operand0=0.3), convert(apply("add", x, 0.3), name))


@pytest.mark.parametrize("reverse", (False, True))
@pytest.mark.parametrize("op", sorted(ARITHMETIC))
def test_operators(run, op, reverse):
    x = np.round(sample((32, 24)))
    expected = apply(op, 1.0, x) if reverse else apply(op, x, 1.0)
    same(scaled(run, x, op0=getattr(nl, op), operand0=1.0, reverse0=reverse), expected)


def test_special_values(run):
    x = np.array([[np.nan, np.inf, -np.inf, 0.0, -0.0, 3.4e38, 1e-45, -1e-45]], np.float32)
    for op in ("add", "multiply", "maximum", "minimum", "equal", "less", "logical_and"):
        same(scaled(run, x, op0=getattr(nl, op), operand0=2.0), apply(op, x, 2.0))


def test_one_operand_per_partition(run):
    x, a, b = sample((100, 12)), sample((100, 1), seed=1), sample((100, 1), seed=2)

    def body(dst, data, scale, shift):
        nisa.tensor_scalar(
            dst=dst,
            data=data,
            op0=nl.subtract,
            operand0=scale,
            reverse0=True,
            op1=nl.multiply,
            operand1=shift,
        )

    same(
        on_tiles(run, body, x, a, b, out=[(x.shape, "bfloat16")]),
        convert(apply("multiply", apply("subtract", a, x), b), "bfloat16"),
    )


def test_in_place_with_an_operand_inside_the_destination(run):
    x = sample((64, 9))

    def kernel(tensor):
        tile = load(tensor)
        nisa.tensor_scalar(
            dst=tile, data=tile, op0=nl.multiply, operand0=tile[:, 0:1], op1=nl.add, operand1=tile[:, 8:9]
        )
        return store(tile)

    same(run(kernel, x), apply("add", apply("multiply", x, x[:, 0:1]), x[:, 8:9]))


def test_overlapping_shift_reads_before_it_writes(run):
    x = sample((16, 20))

    def kernel(tensor):
        tile = load(tensor)
        nisa.tensor_scalar(dst=tile[:, 1:20], data=tile[:, 0:19], op0=nl.multiply, operand0=1.0)
        return store(tile)

    same(run(kernel, x), np.concatenate([x[:, :1], x[:, :19]], 1))


def test_strided_views(run):
    x = sample((48, 30), "bfloat16")

    def body(dst, data):
        nisa.memset(dst, 0.0)
        nisa.tensor_scalar(dst=dst[:, 0:20:2], data=data[:, 0:30:3], op0=nl.add, operand0=1.0)

    expected = np.zeros((48, 20), np.float32)
    expected[:, 0:20:2] = apply("add", fp32(x)[:, 0:30:3], 1.0)
    same(on_tiles(run, body, x, out=[((48, 20), "float32")]), expected)


def test_between_quadrants_and_psum(run):
    x = sample((32, 8))

    def kernel(tensor):
        data = load(tensor, nl.psum)
        wide = new((128, 8))
        nisa.memset(wide, 0.0)
        nisa.tensor_scalar(dst=wide[96:128], data=data, op0=nl.add, operand0=1.0)
        return store(wide)

    expected = np.zeros((128, 8), np.float32)
    expected[96:] = x + np.float32(1)
    same(run(kernel, x), expected)


def test_unary_operators(run):
    x = sample((16, 8), low=-2, high=2)
    same(scaled(run, x, op0=nl.abs, operand0=0.0, op1=nl.add, operand1=1.0), apply("add", np.abs(x), 1.0))
    same(scaled(run, x, op0=nl.square, operand0=0, chip="trn3"), x * x)
    same(
        scaled(run, x, op0=nl.relu, operand0=None, op1=nl.multiply, operand1=2.0, chip="trn3"),
        np.maximum(x, 0) * np.float32(2),
    )


def test_abs_max_keeps_the_sign(run):
    x = np.array([[-3.0, 1.0, 2.0, -2.0]], np.float32)
    same(
        scaled(run, x, op0=nl.abs_max, operand0=2.0, chip="trn3"),
        np.array([[-3.0, 2.0, 2.0, 2.0]], np.float32),
    )
    same(
        scaled(run, x, op0=nl.abs_min, operand0=2.0, chip="trn3"),
        np.array([[2.0, 1.0, 2.0, 2.0]], np.float32),
    )


def test_rsqrt_on_gpsimd(run):
    x = sample((128, 10), low=0.01, high=9)
    expected = (1 / np.sqrt(x.astype(np.float64))).astype(np.float32)
    np.testing.assert_array_max_ulp(scaled(run, x, op0=nl.rsqrt, operand0=0.0), expected, maxulp=1)


@pytest.mark.parametrize("name", ("float32", "bfloat16"))
def test_scalar_engine(run, name):
    x = sample((128, 10), name)
    same(
        scaled(
            run, x, name, op0=nl.multiply, operand0=2.0, op1=nl.add, operand1=0.1, engine=nisa.engine.scalar
        ),
        convert(apply("add", apply("multiply", fp32(x), 2.0), 0.1), name),
    )


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("op", sorted(BITWISE))
def test_bitwise_operators(run, name, op):
    x = sample((128, 9), name)
    mask = np.iinfo(x.dtype).max // 3
    same(scaled(run, x, name, op0=getattr(nl, op), operand0=int(mask)), BITWISE[op](x, mask))


def test_all_bits_of_an_immediate_count(run):
    x = sample((8, 9), "uint32")
    same(scaled(run, x, "uint32", op0=nl.bitwise_and, operand0=0x7FFFFFFF), x & np.uint32(0x7FFFFFFF))
    same(scaled(run, x, "uint32", op0=nl.bitwise_xor, operand0=0xFFFFFFFF), ~x)
    y = x.view(np.int32)
    same(scaled(run, y, "int32", op0=nl.bitwise_xor, operand0=-1), ~y)


def test_shifts_are_logical(run):
    x = sample((8, 9), "int32")
    same(
        scaled(run, x, "int32", op0=nl.right_shift, operand0=3),
        (x.view(np.uint32) >> np.uint32(3)).view(np.int32),
    )
    same(
        scaled(run, x, "int32", op0=nl.left_shift, operand0=5, op1=nl.bitwise_or, operand1=1),
        (x << np.int32(5)) | np.int32(1),
    )
    counts = np.arange(9, dtype=np.uint8)[None] + np.zeros((8, 1), np.uint8)
    same(
        scaled(run, counts, "uint8", op0=nl.left_shift, operand0=1, reverse0=True),
        np.where(counts < 8, 1 << counts, 0).astype(np.uint8),
    )


def test_bitwise_operand_per_partition(run):
    x, mask = sample((128, 9), "uint16"), sample((128, 1), "uint16", seed=3)

    def body(dst, data, operand):
        nisa.tensor_scalar(dst=dst, data=data, op0=nl.bitwise_and, operand0=operand, op1=nl.invert)

    same(on_tiles(run, body, x, mask, out=[(x.shape, "uint16")]), ~(x & mask))


def refused_with(run, rule, x=None, out="float32", chip="trn2", **arguments):
    x = sample((32, 4)) if x is None else x
    return refused(
        run,
        "tensor_scalar." + rule,
        lambda dst, data: nisa.tensor_scalar(dst=dst, data=data, **arguments),
        x,
        out=[(x.shape, out)],
        chip=chip,
    )


def test_rules_of_operators(run):
    bits = sample((32, 4), "int32")
    refused_with(run, "op_mix", bits, "int32", op0=nl.bitwise_and, operand0=1, op1=nl.add, operand1=1)
    for op in (nl.power, nl.reciprocal):
        refused_with(run, "op", op0=op, operand0=0)
    refused_with(run, "op", op0=nl.add, operand0=1.0, op1=nl.square, chip="trn3")
    refused_with(run, "generation", op0=nl.square, operand0=0)
    refused_with(run, "generation", op0=nl.abs_max, operand0=1.0)
    refused_with(run, "operand", op0=nl.add)
    refused_with(run, "operand", op0=nl.add, operand0=1.0, operand1=1.0)
    refused_with(run, "operand", op0=nl.add, operand0=1.0, op1=nl.add)
    refused_with(run, "operand", bits, "int32", op0=nl.bitwise_and)
    refused_with(run, "unary_operand", op0=nl.abs, operand0=1.0)
    refused_with(run, "unary_operand", bits, "int32", op0=nl.invert, operand0=1)
    refused_with(run, "unary_operand", op0=nl.rsqrt, operand0=1.0)


def test_rules_of_bits(run):
    bits = sample((32, 4), "int32")
    refused_with(run, "integer_bits", op0=nl.bitwise_and, operand0=1)
    refused_with(run, "integer_bits", bits, "float32", op0=nl.bitwise_and, operand0=1)
    refused_with(run, "bit_width", bits, "int16", op0=nl.bitwise_and, operand0=1)
    for wrong in (0.5, 2**32, -(2**31) - 1):
        refused_with(run, "bit_operand", bits, "int32", op0=nl.bitwise_and, operand0=wrong)


def test_rules_of_engines(run):
    assert "NeuronCore-v2" in refused_with(
        run, "generation", op0=nl.add, operand0=1.0, engine=nisa.engine.scalar, chip="trn1"
    )
    refused_with(run, "scalar_ops", op0=nl.subtract, operand0=1.0, engine=nisa.engine.scalar)
    refused_with(
        run, "scalar_ops", op0=nl.add, operand0=1.0, op1=nl.multiply, operand1=1.0, engine=nisa.engine.scalar
    )
    refused_with(
        run,
        "scalar_ops",
        sample((32, 4), "int32"),
        "int32",
        op0=nl.bitwise_and,
        operand0=1,
        engine=nisa.engine.scalar,
    )
    refused_with(run, "gpsimd_ops", op0=nl.add, operand0=1.0, engine=nisa.engine.gpsimd)
    refused_with(run, "gpsimd_ops", op0=nl.rsqrt, operand0=0.0, op1=nl.add, operand1=1.0)
    refused_with(run, "engine", op0=nl.add, operand0=1.0, engine=nisa.engine.tensor)
    refused_with(run, "engine", op0=nl.rsqrt, operand0=0.0, chip="inf1")


def test_rules_of_operand_tiles(run):
    x, half, wide = sample((32, 4)), sample((32, 1), "bfloat16"), sample((32, 2))

    def body(dst, data, operand):
        nisa.tensor_scalar(dst=dst, data=data, op0=nl.add, operand0=operand)

    refused(run, "tensor_scalar.operand_dtype", body, x, half, out=[(x.shape, "float32")])
    refused(run, "tensor_scalar.per_partition", body, x, wide, out=[(x.shape, "float32")])
    refused(run, "tensor_scalar.per_partition", body, x, sample((1, 1)), out=[(x.shape, "float32")])


def test_gpsimd_does_not_reach_psum(run):
    def body(dst, data):
        elsewhere = new((32, 4), buffer=nl.psum)
        nisa.tensor_scalar(dst=elsewhere, data=data, op0=nl.rsqrt, operand0=0.0)

    refused(run, "tensor_scalar.buffer", body, sample((32, 4)), out=[((32, 4), "float32")])
