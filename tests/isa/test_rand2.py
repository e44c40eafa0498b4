"""nki.isa.rand2: uniform numbers from the state of NeuronCore-v4's Vector Engine."""

import numpy as np
import pytest
from random_oracle import lane_words, unit
from vector_oracle import convert, nisa, on_tiles, refused, same, sample

TYPES = ("float32", "bfloat16", "float16", "float8_e4m3", "float8_e5m2",
         "int8", "uint8", "int16", "uint16", "int32", "uint32")
SIZES = ((1, 1), (3, 7), (128, 16), (2, 3, 5))


def drawn(run, state, shape, name, low, high, *columns):
    def body(dst, seeds, *tiles):
        nisa.rand_set_state(seeds, engine=nisa.engine.vector)
        nisa.rand2(dst=dst, min=tiles[0] if tiles else low, max=tiles[1] if tiles else high)

    return on_tiles(run, body, state, *columns, out=[(shape, name)], chip="trn3")


def expected(state, shape, low, high):
    n = int(np.prod(shape[1:]))
    u = np.stack([unit(lane_words(row.reshape(-1, 6), n)[0]) for row in state[: shape[0]]])
    low, high = (np.broadcast_to(np.float32(v).reshape(-1, 1), (shape[0], 1)) for v in (low, high))
    return (low + (high - low) * u).astype(np.float32).reshape(shape)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("shape", SIZES)
def test_every_dtype(run, name, shape):
    state = sample((128, 24), "uint32", seed=len(shape))
    same(drawn(run, state, shape, name, -3.0, 200.0), convert(expected(state, shape, -3.0, 200.0), name))


def test_limits_per_partition(run):
    state = sample((5, 24), "uint32")
    low, high = np.arange(5, dtype=np.float32)[:, None], np.arange(1, 11, 2, dtype=np.float32)[:, None]
    y = drawn(run, state, (5, 300), "float32", None, None, low, high)
    same(y, expected(state, (5, 300), low, high))
    assert (y >= low).all() and (y <= high).all()


def test_they_are_uniform(run):
    y = drawn(run, sample((128, 24), "uint32"), (128, 500), "float32", 2.0, 6.0)
    counts = np.histogram(y, 8, (2, 6))[0] / y.size
    np.testing.assert_allclose(counts, 1 / 8, atol=0.006)


def test_rules(run):
    draw = lambda low, high: lambda dst, *x: nisa.rand2(dst, low, high)
    small = [((2, 4), "float32")]
    refused(run, "rand2.generation", draw(0, 1), out=small, chip="trn2")
    refused(run, "rand2.range", draw(1.0, 1.0), out=small, chip="trn3")
    refused(run, "rand2.range", draw(float("nan"), 1.0), out=small, chip="trn3")
    refused(run, "rand2.dtype", draw(0, 1), out=[((2, 4), "float8_e4m3fn")], chip="trn3")
    columns = lambda dst, x: nisa.rand2(dst, x, 1.0)
    refused(run, "rand2.per_partition", columns, sample((2, 2)), out=small, chip="trn3")
    refused(run, "rand2.operand_dtype", columns, sample((2, 1), "bfloat16"), out=small, chip="trn3")
    refused(run, "rand2.range", columns, np.float32([[0], [2]]), out=small, chip="trn3")
