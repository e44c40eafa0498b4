"""nki.isa.tensor_scalar_reduce against numpy."""

import numpy as np
import pytest

from vector_oracle import (
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

REDUCTIONS = {"add": 0.0, "multiply": 1.0, "maximum": -np.inf, "minimum": np.inf}


def sequential(op, values, start):
    """One fp32 accumulator per partition over the flattened free dimensions, in ascending order."""
    state = np.broadcast_to(np.float32(start), (values.shape[0],)).copy()
    for column in values.reshape(values.shape[0], -1).T:
        state = apply(op, state, column)
    return state.reshape(-1, 1)


def reduced(run, x, op="add", out="float32", res="float32", **arguments):
    def body(dst, total, data):
        nisa.tensor_scalar_reduce(
            dst=dst,
            data=data,
            op0=nl.multiply,
            operand0=1.5,
            reduce_op=getattr(nl, op),
            reduce_res=total,
            **arguments,
        )

    return on_tiles(run, body, x, out=[(x.shape, out), ((x.shape[0], 1), res)])


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(run, shape):
    x = sample(shape)
    values, total = reduced(run, x)
    same(values, apply("multiply", x, 1.5))
    same(total, sequential("add", values, 0))


@pytest.mark.parametrize("op", REDUCTIONS)
def test_reductions(run, op):
    x = sample((128, 37), low=0.5, high=1.1)
    values, total = reduced(run, x, op)
    same(total, sequential(op, values, REDUCTIONS[op]))


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(run, name):
    x = sample((64, 11), name)
    values, total = reduced(run, x, "maximum", "bfloat16")
    product = apply("multiply", fp32(x), 1.5)
    same(values, convert(product, "bfloat16"))
    same(total, product.max(axis=1, keepdims=True))  # before the conversion to dst's dtype


@pytest.mark.parametrize("name", DTYPES)
def test_result_dtypes(run, name):
    x = sample((64, 11))
    _, total = reduced(run, x, res=name)
    same(total, convert(sequential("add", apply("multiply", x, 1.5), 0), name))


def test_negated_result_leaves_the_accumulator(run):
    x = sample((16, 6))

    def body(dst, negated, total, data):
        arguments = {"dst": dst, "data": data, "op0": nl.add, "operand0": 0.0, "reduce_op": nl.add}
        nisa.tensor_scalar_reduce(reduce_res=negated, reduce_res_negate=True, **arguments)
        nisa.tensor_scalar_reduce(reduce_res=total, reduce_cmd=nisa.reduce_cmd.reduce, **arguments)

    _, negated, total = on_tiles(
        run, body, x, out=[(x.shape, "float32"), ((16, 1), "float32"), ((16, 1), "float32")]
    )
    same(negated, -sequential("add", x, 0))
    same(total, sequential("add", np.concatenate([x, x], 1), 0))


def test_chain_of_tiles(run):
    x, start = sample((128, 30)), sample((128, 1), seed=4)

    def body(dst, total, data, init):
        for i, cmd in enumerate(
            (nisa.reduce_cmd.load_reduce, nisa.reduce_cmd.reduce, nisa.reduce_cmd.reduce)
        ):
            part = slice(10 * i, 10 * i + 10)
            nisa.tensor_scalar_reduce(
                dst=dst[:, part],
                data=data[:, part],
                op0=nl.multiply,
                operand0=2.0,
                reduce_op=nl.add,
                reduce_cmd=cmd,
                reduce_init=init if i == 0 else None,
                reduce_res=total if i == 2 else None,
            )

    values, total = on_tiles(run, body, x, start, out=[(x.shape, "float32"), ((128, 1), "float32")])
    same(values, x * np.float32(2))
    same(total, sequential("add", values, start[:, 0]))


def test_result_inside_the_destination_survives(run):
    x = sample((32, 5))

    def kernel(tensor):
        tile = load(tensor)
        nisa.tensor_scalar_reduce(
            dst=tile, data=tile, op0=nl.multiply, operand0=1.0, reduce_op=nl.maximum, reduce_res=tile[:, 2:3]
        )
        return store(tile)

    expected = x.copy()
    expected[:, 2] = x.max(axis=1)
    same(run(kernel, x), expected)


def refused_with(run, rule, res=((32, 1), "float32"), **changes):
    def body(dst, total, data, init):
        arguments = {
            "dst": dst,
            "data": data,
            "op0": nl.add,
            "operand0": 1.0,
            "reduce_op": nl.add,
            "reduce_res": total,
        } | {k: init if v == "init" else v for k, v in changes.items()}
        nisa.tensor_scalar_reduce(**arguments)

    refused(
        run,
        "tensor_scalar_reduce." + rule,
        body,
        sample((32, 4)),
        sample((32, 1), "bfloat16"),
        out=[((32, 4), "float32"), res],
    )


@pytest.mark.parametrize("op, operand, expected", [
    ("square", 0, lambda x: x * x),
    ("relu", 0.0, lambda x: np.maximum(x, 0)),
    ("abs_max", 2.0, lambda x: np.where(np.abs(x) > 2, x, np.float32(2))),
    ("abs_min", 2.0, lambda x: np.where(np.abs(x) < 2, x, np.float32(2))),
])
def test_first_operators_of_v4(run, op, operand, expected):
    x = sample((40, 11))

    def body(dst, total, data):
        nisa.tensor_scalar_reduce(dst, data, getattr(nl, op), operand, nl.add, total)

    values, total = on_tiles(run, body, x, out=[(x.shape, "float32"), ((40, 1), "float32")], chip="trn3")
    same(values, expected(x))
    same(total, sequential("add", expected(x), 0.0))


def test_rules(run):
    refused_with(run, "generation", op0=nl.square, operand0=0)
    refused_with(run, "generation", op0=nl.abs_max)
    refused_with(run, "bitvec", op0=nl.bitwise_and)
    refused_with(run, "op", op0=nl.power)
    refused_with(run, "generation", op0=nl.relu, operand0=0)
    refused_with(run, "unary_operand", op0=nl.abs, operand0=1.0)
    refused_with(run, "reverse0", reverse0=True)
    for op in (nl.subtract, nl.logical_and, nl.bitwise_or):
        refused_with(run, "reduce_op", reduce_op=op)
    for cmd in (nisa.reduce_cmd.idle, nisa.reduce_cmd.reset):
        refused_with(run, "reduce_cmd", reduce_cmd=cmd)
    refused_with(run, "reduce_init", reduce_cmd=nisa.reduce_cmd.load_reduce)
    refused_with(run, "reduce_init", reduce_init=1.0)
    refused_with(run, "operand_dtype", operand0="init")
    refused_with(run, "operand_dtype", reduce_init="init", reduce_cmd=nisa.reduce_cmd.load_reduce)
    refused_with(run, "reduce_res", res=((32, 2), "float32"))
    refused_with(run, "reduce_res", res=((16, 1), "float32"))


def test_psum(run):
    x = sample((128, 8))

    def kernel(tensor):
        dst, total = new((128, 8), buffer=nl.psum), new((128, 1), buffer=nl.psum)
        nisa.tensor_scalar_reduce(
            dst=dst, data=load(tensor, nl.psum), op0=nl.add, operand0=1.0, reduce_op=nl.add, reduce_res=total
        )
        back = new((128, 1))
        nisa.tensor_copy(dst=back, src=total)
        return store(back)

    same(run(kernel, x), sequential("add", x + np.float32(1), 0))
