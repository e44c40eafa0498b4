"""Activation functions against float64 (numpy and math), in units in the last place of the fp32 result.

An ulp of 0.5 is a correctly rounded result; the references themselves are good to about 1e-15, which costs nothing
except where their own formula cancels, so those are written without cancellation.
"""

import math

import numpy as np
import pytest

from trnsim import _native


def vector(function):
    return lambda x: np.array([function(v) for v in x.tolist()])


erf, erfc = vector(math.erf), vector(math.erfc)


def sigmoid(x):
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


def gated_dx(x, c):
    return sigmoid(c * x) * (1 + c * x * sigmoid(-c * x))


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def gelu_tanh_gate(x):
    return 2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)


REFERENCES = {
    "copy": lambda x: x,
    "square": lambda x: x * x,
    "sigmoid": sigmoid,
    "relu": lambda x: np.maximum(x, 0),
    "prelu": lambda x: np.where(x < 0, 0.25 * x, x),
    "gelu": lambda x: 0.5 * x * erfc(-x / math.sqrt(2)),
    "gelu_dx": lambda x: 0.5 * erfc(-x / math.sqrt(2)) + x * np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi),
    "gelu_apprx_tanh": lambda x: x * sigmoid(gelu_tanh_gate(x)),
    "gelu_apprx_sigmoid": lambda x: x * sigmoid(1.702 * x),
    "gelu_apprx_sigmoid_dx": lambda x: gated_dx(x, 1.702),
    "silu": lambda x: x * sigmoid(x),
    "silu_dx": lambda x: gated_dx(x, 1.0),
    "tanh": np.tanh,
    "softplus": softplus,
    "mish": lambda x: x * np.tanh(softplus(x)),
    "erf": erf,
    "erf_dx": lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x),
    "exp": np.exp,
    "sign": np.sign,
    "abs": np.abs,
    "log": np.log,
    "sin": np.sin,
    "arctan": np.arctan,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
}
POSITIVE = {"log", "sqrt", "rsqrt"}
# Where the function crosses zero between fp32 numbers, a relative error means nothing: there the scale is this one.
ROOTS = {"gelu_dx": 0.1, "silu_dx": 0.1, "gelu_apprx_sigmoid_dx": 0.1}


def inputs(name):
    rng = np.random.default_rng(11)
    wide = rng.uniform(-20, 20, 60_000)
    narrow = rng.normal(size=20_000) * 10.0 ** rng.uniform(-12, 0, 20_000)
    far = rng.uniform(-110, 110, 20_000)
    x = np.concatenate([wide, narrow, far, [0.0]]).astype(np.float32)
    if name in POSITIVE:
        x = np.abs(x) * np.float32(10) ** rng.integers(-18, 18, x.size).astype(np.float32)
    if name == "sin":
        x = np.clip(x, -np.float32(np.pi), np.float32(np.pi))
    return x[x != 0] if name in {"log", "rsqrt", "reciprocal"} else x


def ulp_error(ours, exact, floor=0.0):
    with np.errstate(over="ignore"):
        largest = exact.astype(np.float32)
    kept = np.isfinite(largest)
    assert np.array_equal(ours[~kept], largest[~kept])
    scale = np.spacing(np.maximum(np.abs(largest[kept]), np.float32(floor))).astype(np.float64)
    return np.max(np.abs(ours[kept].astype(np.float64) - exact[kept]) / scale)


@pytest.mark.parametrize("name", REFERENCES)
def test_within_0_501_ulp(name):
    x = inputs(name)
    with np.errstate(over="ignore", under="ignore"):
        exact = REFERENCES[name](x.astype(np.float64))
    assert ulp_error(_native.activate(name, x, alpha=0.25), exact, ROOTS.get(name, 0.0)) <= 0.501


def test_sin_extrapolates_as_documented():
    x = np.float32([9.0, -9.0, 4.0])
    beyond = np.abs(x.astype(np.float64)) - np.pi
    expected = np.sign(x) * (beyond**3 / 6 - beyond)
    np.testing.assert_allclose(_native.activate("sin", x), expected, rtol=1e-7)
    assert abs(_native.activate("sin", x)[0] - 27.65) < 0.005


def test_unknown_functions_are_refused():
    with pytest.raises(ValueError, match="cosh"):
        _native.activate("cosh", np.zeros(1, np.float32))
