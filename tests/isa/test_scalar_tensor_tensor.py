"""nki.isa.scalar_tensor_tensor against numpy."""

import numpy as np
import pytest

from vector_oracle import (
    ARITHMETIC,
    DTYPES,
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


def computed(run, x, y, out="float32", chip="trn2", **arguments):
    def body(dst, data, other):
        nisa.scalar_tensor_tensor(dst=dst, data=data, operand1=other, **arguments)

    return on_tiles(run, body, x, y, out=[(x.shape, out)], chip=chip)


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(run, shape):
    x, y = sample(shape), sample(shape, seed=1)
    same(
        computed(run, x, y, op0=nl.subtract, operand0=0.5, op1=nl.multiply),
        apply("multiply", apply("subtract", x, 0.5), y),
    )


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(run, name):
    x, y = sample((128, 10), name), sample((128, 10), "bfloat16", seed=1)
    expected = apply("add", apply("multiply", fp32(x), 0.5), fp32(y))
    same(computed(run, x, y, name, op0=nl.multiply, operand0=0.5, op1=nl.add), convert(expected, name))


@pytest.mark.parametrize("reverse", (False, True))
@pytest.mark.parametrize("op", sorted(ARITHMETIC))
def test_operators(run, op, reverse):
    x, y = np.round(sample((32, 9))), np.round(sample((32, 9), seed=1))
    first = apply(op, 1.0, x) if reverse else apply(op, x, 1.0)
    expected = apply(op, y, first) if reverse else apply(op, first, y)
    same(
        computed(
            run,
            x,
            y,
            op0=getattr(nl, op),
            operand0=1.0,
            op1=getattr(nl, op),
            reverse0=reverse,
            reverse1=reverse,
        ),
        expected,
    )


def test_accumulating_in_place(run):
    x, scale, sums = sample((128, 20)), sample((128, 1), seed=1), sample((128, 20), seed=2)

    def kernel(data, factor, start):
        total = load(start)
        nisa.scalar_tensor_tensor(
            dst=total, data=load(data), op0=nl.multiply, operand0=load(factor), op1=nl.add, operand1=total
        )
        return store(total)

    same(run(kernel, x, scale, sums), apply("add", apply("multiply", x, scale), sums))


def test_different_ranks_and_psum(run):
    x, y = sample((64, 3, 4)), sample((64, 12), seed=1)

    def kernel(a, b):
        dst = new((64, 12))
        nisa.scalar_tensor_tensor(
            dst=dst, data=load(a, nl.psum), op0=nl.add, operand0=1.0, op1=nl.subtract, operand1=load(b)
        )
        return store(dst)

    same(run(kernel, x, y), apply("subtract", x.reshape(64, 12) + np.float32(1), y))


def refused_with(run, rule, chip="trn2", psum=False, **changes):
    def body(dst, data, other):
        if psum:
            data, other = (_in_psum(tile) for tile in (data, other))
        arguments = {
            "dst": dst,
            "data": data,
            "op0": nl.add,
            "operand0": 1.0,
            "op1": nl.add,
            "operand1": other,
        } | changes
        nisa.scalar_tensor_tensor(**arguments)

    refused(
        run,
        "scalar_tensor_tensor." + rule,
        body,
        sample((32, 4)),
        sample((32, 4)),
        out=[((32, 4), "float32")],
        chip=chip,
    )


def _in_psum(tile):
    moved = new(tile.shape, buffer=nl.psum)
    nisa.tensor_copy(dst=moved, src=tile)
    return moved


def test_rules(run):
    refused_with(run, "bitvec", op0=nl.bitwise_and)
    refused_with(run, "bitvec", op1=nl.left_shift)
    refused_with(run, "op", op1=nl.abs)
    refused_with(run, "op", op1=nl.power)
    refused_with(run, "op", op0=nl.reciprocal)
    refused_with(run, "unary_operand", op0=nl.abs)
    refused_with(run, "generation", op1=nl.abs_max)
    refused_with(run, "both_psum", psum=True)
