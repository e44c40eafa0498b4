"""Reductions and normalisations of nki.language."""

import numpy as np
import pytest
import trnsim
from oracle import FLOATS, close, rounded, same, sample, wide

trnsim.install()

import nki.language as nl


def in_order(function, x, axis):
    """A reduction over the flattened trailing axes, element after element in float32."""
    flat = np.float32(x).reshape(x.shape[:axis] + (-1,))
    result = flat[..., 0]
    for i in range(1, flat.shape[-1]):
        result = function(result, flat[..., i]).astype(np.float32)
    return result


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "name, function", [("sum", np.add), ("prod", np.multiply), ("max", np.maximum), ("min", np.minimum)]
)
def test_one_axis(evaluate, name, function, dtype):
    x = sample((128, 40), dtype, -1.2, 1.2)
    expected = in_order(function, x, 1)[:, None]
    same(evaluate(lambda a: getattr(nl, name)(a, axis=1, dtype=nl.float32), x), expected)
    same(evaluate(lambda a: getattr(nl, name)(a, axis=1), x), rounded(expected, dtype))


@pytest.mark.parametrize("axis, first", [(2, 2), (-1, 2), ([1, 2], 1), ((2, 1), 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_several_dimensions(evaluate, axis, first, keepdims):
    x = sample((64, 5, 9))
    expected = in_order(np.add, x, first)
    shape = (
        x.shape[:first] + (1,) * (3 - first) if keepdims else expected.shape if expected.ndim > 1 else (64, 1)
    )
    same(evaluate(lambda a: nl.sum(a, axis=axis, keepdims=keepdims), x), expected.reshape(shape))


def test_all(evaluate):
    x = np.array([[1, 2, 3], [1, 0, 3], [0, 0, 0]], np.float32)
    same(evaluate(lambda a: nl.all(a, axis=1), x), np.array([[1], [0], [0]], np.float32))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", [2, (1, 2)])
def test_mean(evaluate, axis, dtype):
    x = sample((64, 5, 9), dtype)
    expected = wide(x).mean(axis)
    close(evaluate(lambda a: nl.mean(a, axis=axis), x), expected.reshape(64, -1), ulps=8)


@pytest.mark.parametrize("length", [1, 2, 3, 511, 512, 513, 1300])
def test_variance_of_any_length(evaluate, length):
    x = sample((32, length))
    np.testing.assert_allclose(
        evaluate(lambda a: nl.var(a, axis=1), x), wide(x).var(1, keepdims=True), rtol=1e-5, atol=1e-6
    )


def test_variance_of_several_dimensions(evaluate):
    x = sample((32, 4, 30))
    np.testing.assert_allclose(
        evaluate(lambda a: nl.var(a, axis=2), x), wide(x).var(2, keepdims=True), rtol=1e-5
    )
    np.testing.assert_allclose(
        evaluate(lambda a: nl.var(a, axis=(1, 2)), x), wide(x).var((1, 2), keepdims=True), rtol=1e-5
    )


def softmax(x, axis):
    powers = np.exp(wide(x) - wide(x).max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "shape, axis", [((128, 64), -1), ((128, 64), 1), ((16, 5, 9), 2), ((16, 5, 9), (1, 2))]
)
def test_softmax(evaluate, shape, axis, dtype):
    x = sample(shape, dtype, -20, 20)
    close(evaluate(lambda a: nl.softmax(a, axis=axis), x), softmax(x, axis), ulps=16)


def test_softmax_of_large_numbers(evaluate):
    x = np.array([[1000, 1000, -1000]], np.float32)
    same(evaluate(lambda a: nl.softmax(a), x), np.array([[0.5, 0.5, 0]], np.float32))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rows", [1, 64])
def test_rms_norm(evaluate, rows, dtype):
    x, w = sample((64, 48), dtype), sample((rows, 48), dtype, seed=1)
    expected = wide(x) / np.sqrt(np.square(wide(x)).mean(1, keepdims=True) + 1e-6) * wide(w)
    close(evaluate(lambda a, b: nl.rms_norm(a, b, axis=1, n=48), x, w), expected, ulps=8)


@pytest.mark.parametrize(
    "axis, text",
    [
        (0, "axis 0 is the partition dimension"),
        (1, "only the last free dimensions"),
        (3, "axis 3 of a tile with 3"),
        ((2, 2), "names a dimension twice"),
        ("x", "axis 'x'"),
    ],
)
def test_axes_that_are_refused(evaluate, axis, text):
    with pytest.raises(trnsim.ProgramError, match=text) as caught:
        evaluate(lambda a: nl.sum(a, axis=axis), sample((8, 4, 4)))
    assert caught.value.rule == "language.axis"
