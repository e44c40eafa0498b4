"""nki.isa.tensor_partition_reduce against numpy: ascending partitions, fp32."""

import numpy as np
import pytest
from vector_oracle import DTYPES, INTEGERS, convert, fp32, new, nisa, nl, on_tiles, refused, same, sample


def reduced(run, x, op, out="float32"):
    return on_tiles(run, lambda dst, data: nisa.tensor_partition_reduce(dst, getattr(nl, op), data), x,
                    out=[((1, *x.shape[1:]), out)])


def in_order(x, function):
    result = fp32(x[0])
    for row in x[1:]:
        result = function(result, fp32(row)).astype(np.float32)
    return result[None]


@pytest.mark.parametrize("shape", [(1, 1), (128, 1), (128, 32, 4), (33, 7), (127, 2, 3, 5), (2, 3001)])
def test_sum_in_order(run, shape):
    x = sample(shape, low=-1e3, high=1e3)
    same(reduced(run, x, "add"), in_order(x, np.add))


@pytest.mark.parametrize("name", DTYPES)
def test_maximum_of_every_dtype(run, name):
    x = sample((100, 40), name)
    same(reduced(run, x, "maximum", name), convert(in_order(x, np.maximum), name))


@pytest.mark.parametrize("name", ("float32", "bfloat16", "int8"))
def test_average(run, name):
    x = sample((100, 40), name)
    same(reduced(run, x, "average"), in_order(x, np.add) / np.float32(100))


@pytest.mark.parametrize("op", ("bitwise_and", "bitwise_or"))
@pytest.mark.parametrize("name", INTEGERS)
def test_bits(run, name, op):
    x = sample((3, 64), name)
    same(reduced(run, x, op, name), getattr(np, op).reduce(x, axis=0, keepdims=True))


@pytest.mark.parametrize("rule, op, name, out", [
    ("op", "multiply", "float32", (1, 8)), ("op", "minimum", "float32", (1, 8)), ("op", "bitwise_xor", "int32", (1, 8)),
    ("dst_partitions", "add", "float32", (4, 8)), ("same_free_size", "add", "float32", (1, 9)),
    ("integer_bits", "bitwise_or", "float32", (1, 8)),
])
def test_rules(run, rule, op, name, out):
    refused(run, "tensor_partition_reduce." + rule,
            lambda dst, data: nisa.tensor_partition_reduce(dst, getattr(nl, op), data), sample((4, 8), name),
            out=[(out, name)])


def test_writes_sbuf_only(run):
    def body(unused, data):
        nisa.tensor_partition_reduce(new((1, 8), buffer=nl.psum), nl.add, data)

    refused(run, "tensor_partition_reduce.buffer", body, sample((4, 8)), out=[((1, 1), "float32")])
