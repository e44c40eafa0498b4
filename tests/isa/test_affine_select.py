"""nki.isa.affine_select against numpy."""

import numpy as np
import pytest
from test_iota import affine
from vector_oracle import DTYPES, convert, fp32, new, nisa, nl, on_tiles, refused, same, sample

COMPARISONS = {"equal": np.equal, "not_equal": np.not_equal, "greater": np.greater, "greater_equal": np.greater_equal,
               "less": np.less, "less_equal": np.less_equal}


def selected(run, x, out="float32", **arguments):
    return on_tiles(run, lambda dst, tile: nisa.affine_select(dst=dst, on_true_tile=tile, **arguments), x,
                    out=[(x.shape, out)])


@pytest.mark.parametrize("op", COMPARISONS)
def test_comparisons(run, op):
    x = sample((16, 24))
    mask = COMPARISONS[op](affine(16, [[-1, 24]], 3, 1), 0)
    same(selected(run, x, pattern=[[-1, 24]], channel_multiplier=1, offset=3, on_false_value=-9.5,
                  cmp_op=getattr(nl, op)), np.where(mask, x, np.float32(-9.5)))


@pytest.mark.parametrize("shape, pattern", [
    ((1, 1), [[1, 1]]), ((128, 1), [[1, 1]]), ((127, 33), [[-1, 33]]), ((8, 3, 5), [[7, 3], [-2, 5]]),
    ((4, 2, 3, 2, 2), [[1, 2], [-5, 3], [2, 2], [0, 2]]),
])
def test_shapes(run, shape, pattern):
    x = sample(shape)
    mask = (affine(shape[0], pattern, 0, 2) >= 0).reshape(shape)
    same(selected(run, x, pattern=pattern, channel_multiplier=2, on_false_value=0.0, cmp_op=nl.greater_equal),
         np.where(mask, x, np.float32(0)))


@pytest.mark.parametrize("name", DTYPES)
def test_equal_dtypes_keep_the_bits(run, name):
    x = sample((32, 40), name)
    mask = affine(32, [[-1, 40]], 0, 1) >= 0
    same(selected(run, x, name, pattern=[[-1, 40]], channel_multiplier=1, on_false_value=3.0, cmp_op=nl.greater_equal),
         np.where(mask, x, convert(3.0, name)))


@pytest.mark.parametrize("out", ("bfloat16", "int8", "float32"))
@pytest.mark.parametrize("name", ("float16", "int32", "float8_e4m3"))
def test_conversions(run, name, out):
    x = sample((32, 40), name)
    mask = affine(32, [[-1, 40]], 0, 1) == 0
    same(selected(run, x, out, pattern=[[-1, 40]], channel_multiplier=1, on_false_value=1000.3),
         convert(np.where(mask, fp32(x), np.float32(1000.3)), out))


def test_in_place(run):
    x = sample((8, 8))

    def body(dst, tile):
        nisa.affine_select(dst=tile, pattern=[[1, 8]], channel_multiplier=-1, on_true_tile=tile, on_false_value=0.0)
        nisa.tensor_copy(dst=dst, src=tile)

    same(on_tiles(run, body, x, out=[((8, 8), "float32")]), x * np.eye(8, dtype=np.float32))


@pytest.mark.parametrize("rule, arguments", [
    ("pattern", {"pattern": [[1, 7]]}), ("cmp_op", {"cmp_op": nl.add}),
])
def test_rules(run, rule, arguments):
    arguments = {"pattern": [[1, 8]], "channel_multiplier": 0, "on_false_value": 0.0} | arguments
    refused(run, "affine_select." + rule,
            lambda dst, tile: nisa.affine_select(dst=dst, on_true_tile=tile, **arguments), sample((4, 8)),
            out=[((4, 8), "float32")])


@pytest.mark.parametrize("rule, shape, buffer", [
    ("same_partitions", (3, 8), "sbuf"), ("same_free_size", (4, 9), "sbuf"), ("buffer", (4, 8), "psum"),
])
def test_destination_rules(run, rule, shape, buffer):
    def body(unused, tile):
        nisa.affine_select(dst=new(shape, buffer=getattr(nl, buffer)), pattern=[[1, 8]], channel_multiplier=0,
                           on_true_tile=tile, on_false_value=0.0)

    refused(run, "affine_select." + rule, body, sample((4, 8)), out=[((1, 1), "float32")])


def test_packed_types(run):
    def body(dst, tile):
        nisa.affine_select(dst=dst, pattern=[[1, 8]], channel_multiplier=0, on_true_tile=tile, on_false_value=0.0)

    refused(run, "affine_select.packed", body, sample((4, 8)), out=[((4, 8), "float8_e4m3fn_x4")], chip="trn3")
