"""nki.isa.select_reduce against numpy."""

import numpy as np
import pytest

from vector_oracle import (
    DTYPES,
    FLOATS,
    SHAPES,
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

SOURCES = tuple(name for name in DTYPES if name not in ("int32", "uint32"))


def predicate_of(shape, name="uint8", seed=9):
    return np.random.default_rng(seed).integers(0, 2, shape).astype(name)


def selected(run, x, p, on_false=-2.5, out="float32", **arguments):
    def body(dst, on_true, predicate):
        nisa.select_reduce(dst=dst, predicate=predicate, on_true=on_true, on_false=on_false, **arguments)

    return on_tiles(run, body, x, p, out=[(x.shape, out)])


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(run, shape):
    x, p = sample(shape), predicate_of(shape)
    same(selected(run, x, p), np.where(p, x, np.float32(-2.5)))
    same(selected(run, x, p, reverse_pred=True), np.where(p, np.float32(-2.5), x))


@pytest.mark.parametrize("name", SOURCES)
def test_source_dtypes(run, name):
    x, p = sample((128, 10), name), predicate_of((128, 10))
    same(selected(run, x, p), np.where(p, fp32(x), np.float32(-2.5)))


@pytest.mark.parametrize("name", DTYPES)
def test_destination_dtypes(run, name):
    x, p = sample((128, 10)), predicate_of((128, 10))
    same(selected(run, x, p, out=name), convert(np.where(p, x, np.float32(-2.5)), name))


@pytest.mark.parametrize("name", ("int8", "uint8", "int16", "uint16"))
def test_predicate_dtypes(run, name):
    x, p = sample((16, 10)), predicate_of((16, 10), name) * sample((16, 10), name)
    same(selected(run, x, p), np.where(p != 0, x, np.float32(-2.5)))


@pytest.mark.parametrize("name", FLOATS)
def test_maximum_over_tiles(run, name):
    x, p, other = sample((128, 20)), predicate_of((128, 20)), sample((128, 1), seed=2)

    def body(dst, result, on_true, predicate, on_false):
        for i, cmd in enumerate((nisa.reduce_cmd.reset_reduce, nisa.reduce_cmd.reduce)):
            part = slice(10 * i, 10 * i + 10)
            nisa.select_reduce(
                dst[:, part], predicate[:, part], on_true[:, part], on_false, result if i else None, cmd
            )

    values, result = on_tiles(run, body, x, p, other, out=[(x.shape, "bfloat16"), ((128, 1), name)])
    expected = np.where(p, x, other)
    same(values, convert(expected, "bfloat16"))
    same(result, convert(expected.max(axis=1, keepdims=True), name))


def test_idle_spoils_the_accumulator(run):
    x, p = sample((8, 4)), predicate_of((8, 4))

    def body(dst, result, on_true, predicate):
        nisa.select_reduce(dst, predicate, on_true, 0.0)
        nisa.select_reduce(dst, predicate, on_true, 0.0, result, nisa.reduce_cmd.reduce)

    _, result = on_tiles(run, body, x, p, out=[(x.shape, "float32"), ((8, 1), "float32")])
    assert np.isnan(result).all()


def test_in_place_from_psum(run):
    x, p = sample((32, 6)), predicate_of((32, 6))

    def kernel(values, mask):
        dst = new((32, 6))
        nisa.select_reduce(dst, load(mask), load(values, nl.psum), 0.0)
        nisa.select_reduce(dst, load(mask), dst, 1.0)
        return store(dst)

    same(run(kernel, x, p), np.where(p, x, np.float32(1)))


def refused_with(run, rule, source="float32", mask="uint8", res=((32, 1), "float32"), psum=False, **changes):
    def body(dst, result, on_true, predicate):
        if psum:
            on_true, predicate = (_in_psum(tile) for tile in (on_true, predicate))
        arguments = {"dst": dst, "predicate": predicate, "on_true": on_true, "on_false": 0.0}
        nisa.select_reduce(**arguments | {k: result if v == "res" else v for k, v in changes.items()})

    refused(
        run,
        "select_reduce." + rule,
        body,
        sample((32, 4), source),
        predicate_of((32, 4), mask),
        out=[((32, 4), "float32"), res],
    )


def _in_psum(tile):
    moved = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.psum)
    nisa.tensor_copy(dst=moved, src=tile)
    return moved


def test_rules(run):
    for name in ("int32", "uint32"):
        refused_with(run, "on_true_dtype", source=name)
    for name in ("int32", "uint32", "float32"):
        refused_with(run, "predicate_dtype", mask=name)
    refused_with(run, "both_psum", psum=True)
    refused_with(run, "reduce_op", reduce_op=nl.add)
    for cmd in (nisa.reduce_cmd.reset, nisa.reduce_cmd.load_reduce):
        refused_with(run, "reduce_cmd", reduce_cmd=cmd)
    refused_with(run, "reduce_idle", reduce_res="res")
    accumulate = {"reduce_res": "res", "reduce_cmd": nisa.reduce_cmd.reset_reduce}
    refused_with(run, "reduce_res_dtype", res=((32, 1), "int32"), **accumulate)
    refused_with(run, "reduce_res", res=((32, 2), "float32"), **accumulate)
