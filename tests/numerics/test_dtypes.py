"""Every dtype against numpy and ml_dtypes: every pattern of up to 16 bits, edges and random values otherwise."""

import ml_dtypes
import numpy as np
import pytest

from trnsim import _native

SMALL_FLOATS = {
    "float8_e3m4": ml_dtypes.float8_e3m4,
    "float8_e4m3": ml_dtypes.float8_e4m3,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "float4_e2m1fn": ml_dtypes.float4_e2m1fn,
    "bfloat16": ml_dtypes.bfloat16,
    "float16": np.float16,
}
INTEGERS = {name: np.dtype(name) for name in ("int8", "int16", "int32", "uint8", "uint16", "uint32")}


def convert(array, src, dst, **options):
    return _native.convert(np.ascontiguousarray(array).view(np.uint8), src, dst, **options)


def to_fp32(array, src):
    return convert(array, src, "float32").view(np.float32)


def sample_floats(count=1_000_000):
    """Uniform bit patterns, values around every power of two, and values near the usual scale."""
    rng = np.random.default_rng(7)
    patterns = rng.integers(0, 2**32, count, dtype=np.uint32).view(np.float32)
    powers = np.ldexp(1.0, np.arange(-149, 128))
    edges = []
    factors = [1, 1.5, 1.25, 1.125, 1.0625, 1.03125, 1.75, 1.875, 1.9375, 1.96875, 1 + 2**-8, 1 + 2**-9, 1 + 2**-11]
    for factor in factors:
        value = (powers * factor).astype(np.float32)
        edges += [value, np.nextafter(value, np.float32(0)), np.nextafter(value, np.float32(np.inf))]
    edges = np.concatenate(edges + [np.float32([0, np.inf, np.nan, 3.4028235e38, 1e-45])])
    usual = rng.normal(size=count).astype(np.float32) * np.float32(10) ** rng.integers(-9, 6, count).astype(np.float32)
    return np.concatenate([patterns, edges, -edges, usual])


def assert_same(ours, theirs):
    """Equal bits; NaN only has to be NaN."""
    bits = np.dtype(f"u{ours.dtype.itemsize}")
    nan = np.isnan(theirs.astype(np.float32))
    assert np.array_equal(np.isnan(ours.astype(np.float32)), nan)
    different = (ours.view(bits) != theirs.view(bits)) & ~nan
    assert not different.any(), (ours[different][:8], theirs[different][:8])


@pytest.mark.parametrize("name", SMALL_FLOATS)
def test_every_pattern_reads_as_in_ml_dtypes(name):
    dtype = np.dtype(SMALL_FLOATS[name])
    count = 16 if name == "float4_e2m1fn" else 256**dtype.itemsize
    patterns = np.arange(count, dtype=f"u{dtype.itemsize}")
    assert_same(to_fp32(patterns, name), patterns.view(dtype).astype(np.float32))


@pytest.mark.parametrize("name", SMALL_FLOATS)
def test_fp32_narrows_as_in_ml_dtypes(name):
    values = sample_floats()
    if name == "float4_e2m1fn":
        values = values[~np.isnan(values)]  # the type has no NaN; what becomes of one is checked below
    if name == "float8_e8m0fnu":  # ml_dtypes sends everything between 2^-127 and 2^-126 up, we go to the nearer one
        values = values[(values <= 2.0**-127) | (values >= 2.0**-126) | np.isnan(values)]
    with np.errstate(all="ignore"):
        expected = values.astype(SMALL_FLOATS[name])
    assert_same(convert(values, "float32", name).view(expected.dtype), expected)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_round_to_even_and_saturate(name):
    dtype = INTEGERS[name]
    limits = np.iinfo(dtype)
    halves = np.arange(-70000, 70000, dtype=np.float32) / 2
    edges = np.float32([limits.min, limits.max, 2.0**31, 2.0**32, -(2.0**31)])
    values = np.concatenate([sample_floats(), halves, edges])
    with np.errstate(invalid="ignore"):  # signalling NaNs among the patterns
        expected = np.rint(np.nan_to_num(values.astype(np.float64))).clip(limits.min, limits.max).astype(dtype)
    assert np.array_equal(convert(values, "float32", name).view(dtype), expected)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_read_as_in_numpy(name):
    rng = np.random.default_rng(3)
    limits = np.iinfo(INTEGERS[name])
    values = rng.integers(limits.min, limits.max, 1_000_003, dtype=name, endpoint=True)
    values = np.concatenate([values, np.array([limits.min, limits.max], dtype=name)])
    assert np.array_equal(to_fp32(values, name), values.astype(np.float32))


def test_bool_is_anything_but_zero():
    values = np.float32([0, -0.0, 1, 0.25, np.nan, np.inf, -3, 1e-45])
    assert convert(values, "float32", "bool_").tolist() == [0, 0, 1, 1, 1, 1, 1, 1]
    assert to_fp32(np.uint8([0, 1, 2, 255]), "bool").tolist() == [0, 1, 1, 1]


def test_tfloat32_keeps_ten_mantissa_bits():
    values = sample_floats()
    bits = values.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0xFFF + ((bits >> 13) & 1)) & 0xFFFFE000).astype(np.uint32).view(np.float32)
    rounded[np.isnan(values)] = np.nan
    assert_same(convert(values, "float32", "tfloat32").view(np.float32), rounded)


def test_nan_is_written_in_one_way():
    nans = np.uint32([0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF812345]).view(np.float32)
    codes = {"float32": 0x7FC00000, "tfloat32": 0x7FC00000, "bfloat16": 0x7FC0, "float16": 0x7E00, "float8_e3m4": 0x78,
             "float8_e4m3": 0x7C, "float8_e4m3fn": 0x7F, "float8_e5m2": 0x7E, "float8_e8m0fnu": 0xFF,
             "float4_e2m1fn": 0x8}
    for name, code in codes.items():
        out = convert(nans, "float32", name)
        assert out.view(f"u{len(out) // len(nans)}").tolist() == [code] * len(nans), name


def test_lowest_fp32_becomes_minus_infinity():
    lowest = np.uint32([0xFF7FFFFF]).view(np.float32)
    for name in ("float16", "bfloat16", "float8_e3m4", "float8_e4m3", "float8_e5m2"):
        assert to_fp32(convert(lowest, "float32", name), name).tolist() == [-np.inf]


@pytest.mark.parametrize("name", [n for n in SMALL_FLOATS if n != "float8_e8m0fnu"])
def test_saturation_clips_to_the_largest_finite(name):
    largest = float(ml_dtypes.finfo(SMALL_FLOATS[name]).max)
    values = np.float32([np.inf, -np.inf, 3.4e38, -3.4e38, 1.0])
    ours = to_fp32(convert(values, "float32", name, saturate=True), name)
    assert ours.tolist() == [largest, -largest, largest, -largest, 1.0]


@pytest.mark.parametrize("pack, element", [("float8_e4m3fn_x4", "float8_e4m3fn"), ("float8_e5m2_x4", "float8_e5m2")])
def test_packs_of_bytes_hold_elements_in_order(pack, element):
    values = np.float32(np.random.default_rng(1).normal(size=400))
    packed = convert(values, "float32", pack)
    assert np.array_equal(packed, convert(values, "float32", element))
    assert np.array_equal(to_fp32(packed, pack), to_fp32(packed, element))


def test_packs_of_nibbles_put_the_even_element_low():
    values = np.float32([0.5, 1, 1.5, 6, -0.5, 0, -6, 4])
    packed = convert(values, "float32", "float4_e2m1fn_x4")
    assert packed.tolist() == [0x21, 0x73, 0x09, 0x6F]
    assert np.array_equal(to_fp32(packed, "float4_e2m1fn_x4"), values)


STOCHASTIC = ["tfloat32", "bfloat16", "float16", "float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e5m2",
              "float4_e2m1fn"]


@pytest.mark.parametrize("name", STOCHASTIC)
@pytest.mark.parametrize("value", [1.0, 1 + 2**-12, 1.3, 5.9, -2.7, 2.0**-9 * 0.3, 0.3])
def test_stochastic_rounding_is_right_on_average(name, value):
    value = np.float32(value)
    count = 100_000
    out = to_fp32(convert(np.full(count, value), "float32", name, rounding="stochastic", seed=5), name).astype(float)
    steps = np.unique(out)
    assert len(steps) <= 2 and steps[0] <= value <= steps[-1]
    spread = 5 * (steps[-1] - steps[0]) / np.sqrt(count)
    assert abs(out.mean() - float(value)) <= spread


@pytest.mark.parametrize("name", STOCHASTIC)
def test_stochastic_rounding_keeps_what_fits(name):
    patterns = np.arange(256, dtype=np.uint8) if name.startswith("float8") else None
    values = to_fp32(patterns, name) if patterns is not None else np.float32([0, 0.5, 1, 1.5, -2, 3, 4, -6])
    ours = to_fp32(convert(values, "float32", name, rounding="stochastic", seed=1), name)
    assert np.array_equal(ours, values, equal_nan=True)


def test_stochastic_rounding_repeats_with_its_seed():
    values = np.float32(np.random.default_rng(1).normal(size=1000))
    first, again, other = (convert(values, "float32", "bfloat16", rounding="stochastic", seed=s) for s in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
