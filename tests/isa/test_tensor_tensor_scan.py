"""nki.isa.tensor_tensor_scan against numpy."""

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


def scan(a, b, start, op0, op1, reverse0=False, reverse1=False):
    a, b = (fp32(x).reshape(x.shape[0], -1) for x in (a, b))
    state = np.broadcast_to(np.float32(start), (a.shape[0],))
    out = np.empty_like(a)
    for i in range(a.shape[1]):
        state = apply(op0, state, a[:, i]) if reverse0 else apply(op0, a[:, i], state)
        state = apply(op1, b[:, i], state) if reverse1 else apply(op1, state, b[:, i])
        out[:, i] = state
    return out


def scanned(run, a, b, start, op0="multiply", op1="add", out="float32", **arguments):
    def body(dst, data0, data1):
        nisa.tensor_tensor_scan(
            dst=dst,
            data0=data0,
            data1=data1,
            initial=start,
            op0=getattr(nl, op0),
            op1=getattr(nl, op1),
            **arguments,
        )

    return on_tiles(run, body, a, b, out=[(a.shape, out)])


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(run, shape):
    a, b = sample(shape, low=-1, high=1), sample(shape, seed=1)
    same(scanned(run, a, b, 0.5), scan(a, b, 0.5, "multiply", "add").reshape(shape))


@pytest.mark.parametrize("reverse0", (False, True))
@pytest.mark.parametrize("reverse1", (False, True))
@pytest.mark.parametrize(
    "op0, op1", (("subtract", "subtract"), ("add", "minimum"), ("maximum", "multiply"), ("greater", "add"))
)
def test_operators(run, op0, op1, reverse0, reverse1):
    a, b = sample((19, 21), low=-1, high=1), sample((19, 21), seed=1)
    same(
        scanned(run, a, b, 0.5, op0, op1, reverse0=reverse0, reverse1=reverse1),
        scan(a, b, 0.5, op0, op1, reverse0, reverse1),
    )


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(run, name):
    a, b = sample((128, 10), name, low=-1, high=1), sample((128, 10), "bfloat16", seed=1)
    same(scanned(run, a, b, 1.0, "add", "subtract"), scan(a, b, 1.0, "add", "subtract"))
    c = sample((128, 10), low=-1, high=1)
    same(scanned(run, c, b, 1.0, out=name), convert(scan(c, b, 1.0, "multiply", "add"), name))


def test_initial_per_partition_and_in_place(run):
    a, b, start = (
        sample((128, 12), low=-1, high=1),
        sample((128, 12), seed=1),
        sample((128, 1), "bfloat16", seed=2),
    )

    def kernel(x, y, seed):
        data0 = load(x)
        nisa.tensor_tensor_scan(data0, data0, load(y, nl.psum), load(seed), op0=nl.multiply, op1=nl.add)
        return store(data0)

    same(run(kernel, a, b, start), scan(a, b, fp32(start)[:, 0], "multiply", "add"))


def refused_with(run, rule, chip="trn2", psum=False, **changes):
    def body(dst, a, b, wide):
        if psum:
            a, b = (_in_psum(tile) for tile in (a, b))
        arguments = {"dst": dst, "data0": a, "data1": b, "initial": 0.0, "op0": nl.multiply, "op1": nl.add}
        nisa.tensor_tensor_scan(**arguments | {k: wide if v == "wide" else v for k, v in changes.items()})

    refused(
        run,
        "tensor_tensor_scan." + rule,
        body,
        sample((32, 4)),
        sample((32, 4)),
        sample((32, 2)),
        out=[((32, 4), "float32")],
        chip=chip,
    )


def _in_psum(tile):
    moved = new(tile.shape, buffer=nl.psum)
    nisa.tensor_copy(dst=moved, src=tile)
    return moved


def test_rules(run):
    refused_with(run, "bitvec", op0=nl.bitwise_or)
    refused_with(run, "op", op0=nl.abs)
    refused_with(run, "op", op1=nl.power)
    refused_with(run, "generation", op1=nl.abs_min)
    refused_with(run, "per_partition", initial="wide")
    refused_with(run, "same_free_size", data1="wide")
    refused_with(run, "both_psum", psum=True)
