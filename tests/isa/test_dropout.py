"""nki.isa.dropout: which elements fall is not public, how many and what becomes of them is."""

import numpy as np
import pytest

from vector_oracle import DTYPES, FLOATS, INTEGERS, SHAPES, nisa, on_tiles, refused, same, sample


def dropped(run, x, prob, *more):
    body = (
        (lambda dst, data: nisa.dropout(dst=dst, data=data, prob=prob))
        if prob is not None
        else (lambda dst, data, column: nisa.dropout(dst=dst, data=data, prob=column))
    )
    return on_tiles(run, body, x, *more, out=[(x.shape, x.dtype.name)])


@pytest.mark.parametrize("shape", SHAPES)
def test_extremes(run, shape):
    x = sample(shape)
    same(dropped(run, x, 0.0), x)
    same(dropped(run, x, 1.0), np.zeros_like(x))


@pytest.mark.parametrize("name", DTYPES)
def test_elements_are_zeroed_or_kept_unscaled(run, name):
    x = sample((128, 40), name, low=1, high=4)
    y = dropped(run, x, 0.25)
    assert ((y == x) | (y == np.zeros((), x.dtype))).all()


def test_rate(run):
    kept = np.count_nonzero(dropped(run, np.ones((128, 1000), np.float32), 0.3)) / 128000
    assert kept == pytest.approx(0.7, abs=0.01)


def test_same_seed_same_elements(run):
    x = sample((16, 100))
    same(dropped(run, x, 0.5), dropped(run, x, 0.5))


@pytest.mark.parametrize(
    "data, prob",
    [(f, p) for f in ("float32", "bfloat16") for p in FLOATS] + [(i, "float32") for i in INTEGERS],
)
def test_one_probability_per_partition(run, data, prob):
    x = sample((2, 50), data, low=1, high=2)
    x[x == 0] = 1
    column = np.array([[0], [1]]).astype(sample((1, 1), prob).dtype)
    y = dropped(run, x, None, column)
    same(y[:1], x[:1])
    assert not y[1].any()


def test_rules(run):
    x, out = sample((32, 4)), [((32, 4), "float32")]
    for wrong in (-0.1, 1.5, float("nan")):
        refused(run, "dropout.prob", lambda dst, data, p=wrong: nisa.dropout(dst, data, p), x, out=out)
    refused(
        run,
        "dropout.same_dtype",
        lambda dst, data: nisa.dropout(dst, data, 0.5),
        x,
        out=[((32, 4), "bfloat16")],
    )
    column = lambda dst, data, prob: nisa.dropout(dst, data, prob)
    refused(run, "dropout.prob_dtype", column, x, sample((32, 1), "int8"), out=out)
    refused(
        run,
        "dropout.prob_dtype",
        column,
        sample((32, 4), "int16"),
        sample((32, 1), "bfloat16"),
        out=[((32, 4), "int16")],
    )
    refused(run, "dropout.per_partition", column, x, sample((32, 2)), out=out)
