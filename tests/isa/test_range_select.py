"""nki.isa.range_select against numpy."""

import numpy as np
import pytest

from vector_oracle import (
    FLOATS,
    SHAPES,
    apply,
    convert,
    fp32,
    load,
    nisa,
    nl,
    on_tiles,
    refused,
    same,
    sample,
    store,
)

FP32_MIN = np.finfo(np.float32).min


def bounds(shape):
    random = np.random.default_rng(5)
    n = int(np.prod(shape[1:]))
    low = random.integers(0, n + 1, (shape[0], 1)).astype(np.float32)
    return low, low + random.integers(0, n + 1, (shape[0], 1)).astype(np.float32)


def kept(x, low, high, op0="greater_equal", op1="less", start=0):
    rows = fp32(x).reshape(len(x), -1)
    index = np.arange(rows.shape[1], dtype=np.float32)[None] + np.float32(start)
    mask = (apply(op0, index, low) != 0) & (apply(op1, index, high) != 0)
    return np.where(mask, rows, FP32_MIN).reshape(x.shape)


def selected(
    run, x, low, high, op0="greater_equal", op1="less", out="float32", res="float32", chip="trn2", **arguments
):
    def body(dst, result, tile, bound0, bound1):
        nisa.range_select(
            dst=dst,
            on_true_tile=tile,
            comp_op0=getattr(nl, op0),
            comp_op1=getattr(nl, op1),
            bound0=bound0,
            bound1=bound1,
            reduce_res=result,
            **arguments,
        )

    return on_tiles(run, body, x, low, high, out=[(x.shape, out), ((x.shape[0], 1), res)], chip=chip)


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(run, shape):
    x = sample(shape)
    low, high = bounds(shape)
    values, result = selected(run, x, low, high)
    expected = kept(x, low, high)
    same(values, expected)
    same(result, expected.reshape(shape[0], -1).max(axis=1, keepdims=True))


@pytest.mark.parametrize("op0", ("equal", "less", "less_equal", "greater", "greater_equal"))
@pytest.mark.parametrize("op1", ("equal", "less", "less_equal", "greater", "greater_equal"))
def test_comparisons_and_start(run, op0, op1):
    x = sample((20, 12))
    low, high = bounds((20, 12))
    values, _ = selected(
        run, x, low, high, op0, op1, range_start=3, reduce_op=nl.maximum, on_false_value=float(FP32_MIN)
    )
    same(values, kept(x, low, high, op0, op1, 3))


@pytest.mark.parametrize("name", FLOATS)
def test_dtypes(run, name):
    x = sample((128, 10), name)
    low, high = bounds(x.shape)
    expected = kept(x, low, high)
    values, result = selected(run, x, low, high, out=name)
    same(values, convert(expected, name))  # FP32_MIN becomes -inf in the smaller types that have one
    same(result, expected.max(axis=1, keepdims=True))


def test_chain_and_idle(run):
    x = sample((64, 20))
    low, high = bounds(x.shape)
    cmd = nisa.reduce_cmd

    def body(dst, first, second, tile, bound0, bound1):
        for start, command, result in (
            (0, cmd.reset_reduce, None),
            (10, cmd.reduce, first),
            (0, cmd.idle, second),
        ):
            part = slice(start, start + 10)
            nisa.range_select(
                dst[:, part],
                tile[:, part],
                nl.greater_equal,
                nl.less,
                bound0,
                bound1,
                command,
                result,
                range_start=start,
            )

    values, first, second = on_tiles(
        run, body, x, low, high, out=[(x.shape, "float32")] + [((64, 1), "float32")] * 2
    )
    same(values, kept(x, low, high))
    same(first, values.max(axis=1, keepdims=True))
    same(second, first)


def test_in_place(run):
    x = sample((16, 9), "bfloat16")
    low, high = bounds(x.shape)

    def kernel(tensor, bound0, bound1):
        tile = load(tensor)
        nisa.range_select(tile, tile, nl.greater_equal, nl.less, load(bound0), load(bound1))
        return store(tile)

    same(run(kernel, x, low, high), convert(kept(x, low, high), "bfloat16"))


def refused_with(run, rule, x="float32", bound=((32, 1), "float32"), chip="trn2", **changes):
    def body(dst, tile, bounds):
        arguments = {
            "dst": dst,
            "on_true_tile": tile,
            "comp_op0": nl.greater_equal,
            "comp_op1": nl.less,
            "bound0": bounds,
            "bound1": bounds,
        }
        nisa.range_select(**arguments | changes)

    return refused(
        run,
        "range_select." + rule,
        body,
        sample((32, 4), x),
        sample(*bound),
        out=[((32, 4), "float32")],
        chip=chip,
    )


def test_rules(run):
    assert "NeuronCore-v3" in refused_with(run, "generation", chip="trn1")
    refused_with(run, "on_true_dtype", x="int16")
    refused_with(run, "bound_dtype", bound=((32, 1), "bfloat16"))
    refused_with(run, "per_partition", bound=((32, 2), "float32"))
    for op in (nl.not_equal, nl.add, nl.logical_and):
        refused_with(run, "comp_op", comp_op0=op)
        refused_with(run, "comp_op", comp_op1=op)
    refused_with(run, "on_false_value", on_false_value=0.0)
    refused_with(run, "reduce_op", reduce_op=nl.add)
    refused_with(run, "reduce_cmd", reduce_cmd=nisa.reduce_cmd.load_reduce)
    refused_with(run, "range", range_start=2**24 - 3)
