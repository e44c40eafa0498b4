"""nki.isa.activation_reduce against numpy."""

import numpy as np
import pytest

from vector_oracle import DTYPES, SHAPES, apply, convert, fp32, nisa, nl, on_tiles, refused, same, sample, sums


def computed(run, x, out="float32", res="float32", chip="trn2", **arguments):
    def body(dst, total, data):
        nisa.activation_reduce(
            dst=dst, op=nl.relu, data=data, reduce_op=nl.add, reduce_res=total, **arguments
        )

    return on_tiles(run, body, x, out=[(x.shape, out), ((x.shape[0], 1), res)], chip=chip)


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(run, shape):
    x = sample(shape)
    values, total = computed(run, x, scale=2.0, bias=0.5)
    same(values, np.maximum(apply("add", apply("multiply", x, 2.0), 0.5), 0))
    same(total, sums(values))


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(run, name):
    x = sample((128, 12), name, low=-1, high=1)
    values, total = computed(run, x, name, name)
    same(values, convert(np.maximum(fp32(x), 0), name))
    same(total, convert(sums(np.maximum(fp32(x), 0)), name))


def test_each_call_resets_the_registers(run):
    x = sample((16, 4))

    def twice(dst, first, second, data):
        nisa.activation_reduce(dst, nl.copy, data, nl.add, first)
        nisa.activation_reduce(dst, nl.copy, data, nl.add, second)

    _, first, second = on_tiles(run, twice, x, out=[(x.shape, "float32")] + [((16, 1), "float32")] * 2)
    same(first, sums(x))
    same(second, sums(x))


def test_rules(run):
    def body(dst, total, data, **changes):
        arguments = {"dst": dst, "op": nl.exp, "data": data, "reduce_op": nl.add, "reduce_res": total}
        nisa.activation_reduce(**arguments | changes)

    x, out = sample((32, 4)), [((32, 4), "float32"), ((32, 1), "float32")]
    refused(run, "activation_reduce.reduce_op", lambda *t: body(*t, reduce_op=nl.maximum), x, out=out)
    refused(run, "activation_reduce.bias_immediate", lambda *t: body(*t, bias=1.0), x, out=out, chip="trn1")
    refused(run, "activation_reduce.reduce_res", body, x, out=[out[0], ((32, 4), "float32")])
    refused(
        run,
        "activation_reduce.bias_reciprocal",
        lambda dst, total, data: body(dst, total, data, bias=total, op=nl.reciprocal),
        x,
        out=out,
        chip="trn1",
    )
    refused(
        run,
        "activation_reduce.scale_dtype",
        lambda dst, total, data: body(dst, total, data, scale=total),
        x,
        out=[out[0], ((32, 1), "bfloat16")],
    )
    refused(
        run,
        "activation_reduce.bias_dtype",
        lambda dst, total, data: body(dst, total, data, bias=total),
        x,
        out=[out[0], ((32, 1), "tfloat32")],
    )
