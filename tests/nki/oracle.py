"""numpy's answers, by the number path of the engines: to float32, compute, round to the result's dtype."""

import ml_dtypes
import numpy as np

FLOATS = ("float32", "bfloat16", "float16")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32")
SHAPES = ((1, 1), (1, 7), (128, 1), (128, 64), (33, 5), (96, 3, 9), (2, 2, 3, 5))


def host(name):
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


def sample(shape, name="float32", low=-4, high=4, seed=0):
    values = np.random.default_rng(seed).uniform(low, high, shape)
    if name in INTEGERS:
        values = np.rint(values).clip(np.iinfo(host(name)).min, np.iinfo(host(name)).max)
    return values.astype(host(name))


def wide(x):
    return np.asarray(x).astype(np.float64)


def rounded(values, name):
    """Results as the engines write them: to nearest even; integers saturate."""
    dtype = host(name)
    values = np.asarray(values, np.float32)
    if dtype.kind in "iu":
        values = np.clip(np.rint(wide(values)), np.iinfo(dtype).min, np.iinfo(dtype).max)
    return values.astype(dtype)


def same(got, expected):
    assert got.shape == expected.shape and got.dtype == expected.dtype
    np.testing.assert_array_equal(wide(got), wide(expected))


def close(got, expected, ulps=2):
    """Within so many units in the last place of the result's dtype, and of float32's for what cancels."""
    expected = wide(expected)
    assert got.shape == expected.shape
    epsilon = float(ml_dtypes.finfo(got.dtype).eps)
    np.testing.assert_allclose(wide(got), expected, rtol=ulps * epsilon, atol=ulps * 2.0**-23)
