"""What the tests of the Vector and Scalar Engines' instructions share: small kernels, and numpy's answers.

The number path of these engines is: convert to fp32, compute in fp32, convert to the destination's dtype,
rounding to nearest even; integers saturate and take NaN as 0.
"""

import ml_dtypes
import numpy as np
import pytest
import trnsim

trnsim.install()

import nki.isa as nisa
import nki.language as nl

FLOATS = ("float32", "bfloat16", "float16", "float8_e4m3", "float8_e4m3fn", "float8_e5m2")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32")
DTYPES = FLOATS + INTEGERS
# [partitions, free...]: the edges, odd sizes, more free dimensions, one row longer than a block of work.
SHAPES = ((1, 1), (1, 7), (128, 1), (128, 16), (127, 33), (33, 5), (65, 3, 9), (2, 2, 3, 5), (3, 9001))

ARITHMETIC = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}
BITWISE = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}


def apply(op, a, b):
    """An operator of two fp32 arrays, in fp32."""
    with np.errstate(all="ignore"):
        return ARITHMETIC[op](np.float32(a), np.float32(b)).astype(np.float32)


def host(name):
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


def convert(values, name):
    """fp32 to the dtype, as the engines write results."""
    values = np.asarray(values, np.float32)
    dtype = host(name)
    with np.errstate(all="ignore"):
        if dtype.kind not in "iu":
            return values.astype(dtype)
        limits = np.iinfo(dtype)
        return np.clip(
            np.rint(np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=1e30, neginf=-1e30)),
            limits.min,
            limits.max,
        ).astype(dtype)


def sample(shape, name="float32", seed=0, low=-4.0, high=4.0):
    """Random values of the dtype; integers span their whole range."""
    random = np.random.default_rng(seed + 17 * len(name))
    dtype = host(name)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return random.uniform(low, high, shape).astype(np.float32).astype(dtype)


def fp32(array):
    with np.errstate(all="ignore"):
        return np.asarray(array).astype(np.float32)


def same(actual, expected):
    """Equal element by element: dtype, shape and value, NaN like NaN."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    np.testing.assert_array_equal(actual.astype(np.float64), expected.astype(np.float64))


def sums(values):
    """One fp32 accumulator per partition, in ascending order."""
    return np.cumsum(fp32(values).reshape(len(values), -1), axis=1, dtype=np.float32)[:, -1:]


def load(tensor, buffer=None):
    tile = nl.ndarray(tensor.shape, dtype=tensor.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=tensor)
    if buffer is None:
        return tile
    elsewhere = nl.ndarray(tensor.shape, dtype=tensor.dtype, buffer=buffer)
    nisa.tensor_copy(dst=elsewhere, src=tile)
    return elsewhere


def store(tile):
    tensor = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=tensor, src=tile)
    return tensor


def new(shape, name="float32", buffer=None):
    return nl.ndarray(shape, dtype=getattr(nl, name), buffer=buffer or nl.sbuf)


def on_tiles(run, body, *arrays, out, chip="trn2"):
    """Load the arrays, call body(*new tiles, *loaded tiles), return the new ones: (shape, dtype)s in `out`."""

    def kernel(*tensors):
        results = [new(*each) for each in out]
        body(*results, *[load(tensor) for tensor in tensors])
        return tuple(store(result) for result in results)

    results = run(kernel, *arrays, chip=chip)
    return results[0] if len(out) == 1 else results


def refused(run, rule, body, *arrays, out, chip="trn2"):
    """body must break the rule; returns the message."""
    with pytest.raises(trnsim.ProgramError) as error:
        on_tiles(run, body, *arrays, out=out, chip=chip)
    assert error.value.rule == rule, str(error.value)
    return str(error.value)
