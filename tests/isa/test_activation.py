"""nki.isa.activation against numpy, with functions in double precision as the oracle."""

import math

import numpy as np
import pytest
import trnsim

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
    sums,
)

erf = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


FUNCTIONS = {
    "copy": lambda x: x,
    "square": lambda x: x * x,
    "sigmoid": sigmoid,
    "relu": lambda x: np.maximum(x, 0),
    "gelu": gelu,
    "gelu_apprx_tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "gelu_apprx_sigmoid": lambda x: x * sigmoid(1.702 * x),
    "silu": lambda x: x * sigmoid(x),
    "silu_dx": lambda x: sigmoid(x) * (1 + x * (1 - sigmoid(x))),
    "tanh": np.tanh,
    "softplus": lambda x: np.log1p(np.exp(x)),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "erf": erf,
    "exp": np.exp,
    "sign": np.sign,
    "abs": np.abs,
    "arctan": np.arctan,
    "sin": np.sin,
}
POSITIVE = {"log": np.log, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x}


def activated(run, x, op="copy", out="float32", chip="trn2", **arguments):
    return on_tiles(
        run,
        lambda dst, data: nisa.activation(dst=dst, op=getattr(nl, op), data=data, **arguments),
        x,
        out=[(x.shape, out)],
        chip=chip,
    )


@pytest.mark.parametrize("op", sorted(FUNCTIONS) + sorted(POSITIVE))
def test_functions(run, op):
    positive = op in POSITIVE
    x = sample((64, 50), low=0.01 if positive else -3, high=30 if positive else 3)
    exact = (POSITIVE if positive else FUNCTIONS)[op](x.astype(np.float64))
    # Near a zero of the function the oracle's own cancellation counts.
    np.testing.assert_allclose(activated(run, x, op), exact, rtol=2e-7, atol=1e-13)


@pytest.mark.parametrize(
    "op, base",
    (("gelu_dx", gelu), ("erf_dx", erf), ("gelu_apprx_sigmoid_dx", FUNCTIONS["gelu_apprx_sigmoid"])),
)
def test_derivatives(run, op, base):
    x = sample((32, 20), low=-3, high=3)
    wide, step = x.astype(np.float64), 1e-5
    np.testing.assert_allclose(
        activated(run, x, op), (base(wide + step) - base(wide - step)) / (2 * step), rtol=1e-6, atol=1e-8
    )


def test_sin_extrapolates_beyond_pi(run):
    assert activated(run, np.array([[9.0]], np.float32), "sin")[0, 0] == pytest.approx(27.65, abs=0.01)


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(run, shape):
    x = sample(shape)
    same(
        activated(run, x, "square", scale=0.5),
        apply("multiply", apply("multiply", x, 0.5), apply("multiply", x, 0.5)),
    )


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(run, name):
    x = sample((128, 20), name)
    same(activated(run, x, "relu"), np.maximum(fp32(x), 0))
    y = sample((128, 20), low=-400, high=400)
    same(activated(run, y, "abs", name), convert(np.abs(y), name))


def test_scale_then_bias_each_rounded(run):
    x, scale, bias = sample((128, 10)), sample((128, 1), seed=1), sample((128, 1), "bfloat16", seed=2)
    expected = apply("add", apply("multiply", x, scale), fp32(bias))

    def body(dst, data, factor, term):
        nisa.activation(dst=dst, op=nl.copy, data=data, bias=term, scale=factor)

    for chip in ("trn1", "trn2", "trn3"):
        same(on_tiles(run, body, x, scale, bias, out=[(x.shape, "float32")], chip=chip), expected)
    same(activated(run, x, bias=0.25, scale=1.5), apply("add", apply("multiply", x, 1.5), 0.25))


def test_reduction_sums_before_the_conversion(run):
    x = sample((128, 37))

    def body(dst, total, data):
        nisa.activation(
            dst=dst,
            op=nl.square,
            data=data,
            reduce_op=nl.add,
            reduce_res=total,
            reduce_cmd=nisa.reduce_cmd.reset_reduce,
        )

    values, total = on_tiles(run, body, x, out=[(x.shape, "bfloat16"), ((128, 1), "float32")])
    same(values, convert(x * x, "bfloat16"))
    same(total, sums(x * x))


def test_registers_persist_until_reset(run):
    x = sample((32, 10))
    cmd = nisa.reduce_cmd

    def body(dst, first, second, third, data):
        step = lambda command, result=None: nisa.activation(
            dst=dst, op=nl.copy, data=data, reduce_op=nl.add, reduce_cmd=command, reduce_res=result
        )
        step(cmd.reset)
        step(cmd.reduce)
        step(cmd.idle, first)
        step(cmd.reduce, second)
        step(cmd.reset, third)

    _, first, second, third = on_tiles(run, body, x, out=[(x.shape, "float32")] + [((32, 1), "float32")] * 3)
    same(first, sums(x))
    same(second, sums(np.concatenate([x, x], 1)))
    same(third, np.zeros((32, 1), np.float32))


def test_result_inside_the_destination_survives(run):
    x = sample((32, 5))

    def kernel(tensor):
        tile = load(tensor)
        nisa.activation(
            dst=tile,
            op=nl.copy,
            data=tile,
            reduce_op=nl.add,
            reduce_res=tile[:, 4:5],
            reduce_cmd=nisa.reduce_cmd.reset_reduce,
        )
        return store(tile)

    same(run(kernel, x), np.concatenate([x[:, :4], sums(x)], 1))


def test_from_psum_to_psum(run):
    x = sample((64, 12))

    def kernel(tensor):
        dst = new((64, 12), "float32", nl.psum)
        nisa.activation(dst=dst, op=nl.relu, data=load(tensor, nl.psum))
        back = new((64, 12))
        nisa.tensor_copy(dst=back, src=dst)
        return store(back)

    same(run(kernel, x), np.maximum(x, 0))


def refused_with(run, rule, res=((32, 1), "float32"), chip="trn2", **changes):
    def body(dst, total, data, half, wide, rounded):
        tiles = {"total": total, "half": half, "wide": wide, "tf32": rounded}
        nisa.tensor_copy(dst=rounded, src=half)
        arguments = {"dst": dst, "op": nl.exp, "data": data}
        nisa.activation(
            **arguments | {k: tiles.get(v, v) if isinstance(v, str) else v for k, v in changes.items()}
        )

    def with_tf32(dst, total, data, half, wide):
        body(dst, total, data, half, wide, new((32, 1), "tfloat32"))

    refused(
        run,
        "activation." + rule,
        with_tf32,
        sample((32, 4)),
        sample((32, 1), "bfloat16"),
        sample((32, 2)),
        out=[((32, 4), "float32"), res],
        chip=chip,
    )


def test_rules(run):
    accumulate = {"reduce_cmd": nisa.reduce_cmd.reset_reduce, "reduce_op": nl.add}
    refused_with(run, "scale_dtype", scale="half")
    refused_with(run, "bias_dtype", bias="tf32")
    refused_with(run, "bias_immediate", bias=1.0, chip="trn1")
    refused_with(run, "bias_reciprocal", bias="half", op=nl.reciprocal, chip="trn1")
    refused_with(run, "per_partition", scale="wide")
    refused_with(run, "reduce_op", reduce_op=nl.maximum)
    refused_with(run, "reduce_op", reduce_cmd=nisa.reduce_cmd.reduce)
    refused_with(run, "reduce_cmd", reduce_op=nl.add, reduce_cmd=nisa.reduce_cmd.load_reduce)
    refused_with(run, "reduce_res", res=((32, 2), "float32"), reduce_res="total", **accumulate)


def test_prelu_has_no_public_slope(run):
    with pytest.raises(trnsim.MissingSpec, match="prelu"):
        activated(run, sample((2, 2)), "prelu")
