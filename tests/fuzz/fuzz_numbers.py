"""The number formats of the fuzzer's reference, in numpy and ml_dtypes alone, and values to try them with.

The engines convert to float32, compute in float32 and convert to the destination's dtype (round to nearest even;
integers saturate and take NaN as 0). The tiles of the reference are numpy arrays; tfloat32 is float32 with ten
bits of mantissa.
"""

import ml_dtypes
import numpy as np

FLOATS = ("float32", "bfloat16", "float16", "float8_e4m3", "float8_e5m2", "float8_e4m3fn", "tfloat32")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32")
DTYPES = FLOATS + INTEGERS + ("bool_", "float8_e8m0fnu")
PACKED = {"float8_e4m3fn_x4": np.uint32, "float8_e5m2_x4": np.uint32, "float4_e2m1fn_x4": np.uint16}
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 3.4e38, 1e-45, 65504.0, 65520.0, 448.0, 464.0, 240.0, 248.0)


def host(name):
    """The numpy dtype that holds a tile's elements; of packed ones the four in a unit."""
    special = {"tfloat32": np.float32, "bool_": np.bool_} | PACKED
    if name in special:
        return np.dtype(special[name])
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


def size(name):
    return host(name).itemsize


def fp32(array):
    with np.errstate(all="ignore"):
        return np.asarray(array).astype(np.float32)


def round_tf32(values):
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    kept = (bits + 0xFFF + ((bits >> np.uint32(13)) & np.uint32(1))) & np.uint32(0xFFFFE000)
    return np.where(np.isnan(values), values, kept.view(np.float32)).astype(np.float32)


def round_e8m0(values):
    """The nearest power of two, of two equally near the larger; nothing for what is not positive or too large."""
    values = values.astype(np.float64)
    with np.errstate(all="ignore"):
        fraction, exponent = np.frexp(values)  # 0.5 <= fraction < 1
        exponent = exponent - 1 + (fraction >= 0.75)
        known = (values > 0) & np.isfinite(values) & (exponent <= 127)
    bits = np.where(known, np.maximum(exponent + 127, 0), 255).astype(np.uint8)
    return bits.view(ml_dtypes.float8_e8m0fnu)


def convert(values, name):
    """float32 to a dtype, as an engine writes it."""
    values = np.asarray(values, np.float32)
    if name == "tfloat32":
        return round_tf32(values)
    if name == "float8_e8m0fnu":
        return round_e8m0(values)
    dtype = host(name)
    if dtype.kind == "b":
        return values != 0
    with np.errstate(all="ignore"):
        if dtype.kind not in "iu":
            return values.astype(dtype)
        limits = np.iinfo(dtype)
        exact = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=1e30, neginf=-1e30)
        return np.clip(np.rint(exact), limits.min, limits.max).astype(dtype)


def recast(array, source, target):
    """A tile's elements in another dtype: through float32, or bit for bit where the dtypes are equal."""
    return np.array(array) if source == target else convert(fp32(array), target)


def sample(rng, shape, name, special=0.02):
    """Values of a dtype: small floats with some special ones among them; integers of the whole range or small."""
    count = int(np.prod(shape))
    if name in INTEGERS:
        limits = np.iinfo(host(name))
        near = rng.random() < 0.5
        low, high = (max(limits.min, -9), 9) if near else (limits.min, limits.max)
        return np.array([rng.randint(low, high) for _ in range(count)], host(name)).reshape(shape)
    values = [
        rng.choice(SPECIAL) if rng.random() < special else rng.uniform(-4, 4) * 2.0 ** rng.randint(-3, 3)
        for _ in range(count)
    ]
    with np.errstate(all="ignore"):
        values = np.array(values).astype(np.float32)
        return convert(np.abs(values) if name == "float8_e8m0fnu" else values, name).reshape(shape)


def same(a, b):
    """Equal bits, a NaN like any other NaN."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    equal = a.view(f"u{a.itemsize}") == b.view(f"u{b.itemsize}")
    if a.dtype.kind not in "iu":
        equal |= np.isnan(fp32(a)) & np.isnan(fp32(b))  # bool has none
    return bool(equal.all())


def fused(a, b, c):
    """a * b + c of float32 arrays, rounded once: the product is exact in float64, the sum is rounded to odd there."""
    with np.errstate(all="ignore"):
        product, c = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
        total = product + c
        part = total - product
        error = (product - (total - part)) + (c - part)
        bits = total.view(np.int64)
        nudge = (error != 0) & np.isfinite(error) & np.isfinite(total) & (bits & 1 == 0)
        up = (error > 0) == (total > 0)
        bits = np.where(nudge, np.where(up, bits + 1, bits - 1), bits)
        return bits.view(np.float64).astype(np.float32)


ARITHMETIC = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "maximum": lambda a, b: np.where(a >= b, a, b),
    "minimum": lambda a, b: np.where(a <= b, a, b),
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "logical_and": lambda a, b: (a != 0) & (b != 0),
    "logical_or": lambda a, b: (a != 0) | (b != 0),
    "logical_xor": lambda a, b: (a != 0) ^ (b != 0),
    "abs_max": lambda a, b: np.where(np.abs(a) > np.abs(b), a, b),
    "abs_min": lambda a, b: np.where(np.abs(a) < np.abs(b), a, b),
    "square": lambda a, _: a * a,
    "relu": lambda a, _: np.where(a < 0, np.float32(0), a),
    "abs": lambda a, _: np.abs(a),
    "rsqrt": lambda a, _: 1 / np.sqrt(a.astype(np.float64)),
}
WITH_NAN = ("maximum", "minimum", "abs_max", "abs_min")
COMPARISONS = ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")
UNARY = ("square", "relu", "abs", "rsqrt")
BITWISE = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}
SHIFTS = ("left_shift", "right_shift")


def apply(op, a, b=np.float32(0)):
    """An arithmetic operator on float32, in float32."""
    a, b = np.broadcast_arrays(np.asarray(a, np.float32), np.asarray(b, np.float32))
    with np.errstate(all="ignore"):
        result = np.asarray(ARITHMETIC[op](a, b), np.float64 if op == "rsqrt" else np.float32).astype(np.float32)
        return np.where(np.isnan(a) | np.isnan(b), np.float32(np.nan), result) if op in WITH_NAN else result


def apply_bits(op, a, b):
    """A bitwise operator; shifts are logical, and a count of the width or more leaves nothing."""
    if op in BITWISE:
        return BITWISE[op](a, b)
    bits = np.dtype(f"u{a.itemsize}")
    value, count = a.view(bits).astype(np.uint64), np.broadcast_to(b, a.shape).copy().view(bits).astype(np.uint64)
    gone, count = count >= 8 * a.itemsize, np.minimum(count, np.uint64(63))
    shifted = value << count if op == "left_shift" else value >> count
    return np.where(gone, np.uint64(0), shifted).astype(bits).view(a.dtype)
