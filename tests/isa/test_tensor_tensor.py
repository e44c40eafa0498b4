"""nki.isa.tensor_tensor against numpy."""

import numpy as np
import pytest
import trnsim
from vector_oracle import (
    ARITHMETIC, BITWISE, DTYPES, FLOATS, INTEGERS, SHAPES, apply, convert, fp32, load, new, nisa, nl, on_tiles,
    refused, same, sample, store,
)

INT32_OPS = {name: function for name, function in ARITHMETIC.items() if not name.startswith("logical")}


def combined(run, a, b, op, out="float32", chip="trn2", **arguments):
    def body(dst, x, y):
        nisa.tensor_tensor(dst=dst, data1=x, data2=y, op=getattr(nl, op), **arguments)

    return on_tiles(run, body, a, b, out=[(a.shape, out)], chip=chip)


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(run, shape):
    a, b = sample(shape), sample(shape, seed=1)
    same(combined(run, a, b, "add"), a + b)


@pytest.mark.parametrize("name", FLOATS + ("int8", "uint8", "int16", "uint16"))
@pytest.mark.parametrize("op", sorted(ARITHMETIC))
def test_operators_and_dtypes(run, op, name):
    a, b = sample((32, 40), name), sample((32, 40), name, seed=1)
    b[:, ::4] = a[:, ::4]
    a[:, 1::4] = 0
    same(combined(run, a, b, op, name), convert(apply(op, fp32(a), fp32(b)), name))


@pytest.mark.parametrize("out", DTYPES)
def test_output_dtypes(run, out):
    a, b = sample((64, 40), low=-400, high=400), sample((64, 40), seed=1, low=-400, high=400)
    same(combined(run, a, b, "subtract", out), convert(a - b, out))


@pytest.mark.parametrize("names", [
    ("bfloat16", "float32"), ("int32", "float16"), ("uint8", "float8_e5m2"), ("int16", "uint16"),
])
def test_mixed_inputs(run, names):
    a, b = sample((64, 40), names[0]), sample((64, 40), names[1], seed=1)
    same(combined(run, a, b, "multiply"), apply("multiply", fp32(a), fp32(b)))


@pytest.mark.parametrize("name", ("int32", "uint32"))
@pytest.mark.parametrize("op", sorted(INT32_OPS))
def test_32_bit_integers_are_exact_on_gpsimd(run, op, name):
    a, b = sample((16, 24), name), sample((16, 24), name, seed=1)
    b[:, ::4] = a[:, ::4]
    with np.errstate(over="ignore"):
        same(combined(run, a, b, op, name), INT32_OPS[op](a, b).astype(a.dtype))


def test_32_bit_integers_on_the_vector_engine_go_through_fp32(run):
    a, b = sample((16, 24), "int32"), sample((16, 24), "int32", seed=1)
    same(combined(run, a, b, "add", "int32", engine=nisa.vector_engine),
         convert(apply("add", fp32(a), fp32(b)), "int32"))


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("op", sorted(BITWISE))
def test_bitwise(run, op, name):
    a, b = sample((16, 24), name), sample((16, 24), name, seed=1)
    same(combined(run, a, b, op, name), BITWISE[op](a, b))


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("op", ("left_shift", "right_shift"))
def test_shifts_are_logical(run, op, name):
    a = sample((16, 80), name)
    width = a.dtype.itemsize * 8
    counts = np.broadcast_to(np.arange(80) % (width + 2), a.shape).astype(a.dtype)
    bits = a.view(f"u{a.dtype.itemsize}").astype(np.uint64)
    shifted = bits << counts.astype(np.uint64) if op == "left_shift" else bits >> counts.astype(np.uint64)
    shifted[:, counts[0] >= width] = 0
    same(combined(run, a, counts, op, name), shifted.astype(f"u{a.dtype.itemsize}").view(a.dtype))


def test_power_on_gpsimd(run):
    a, b = sample((16, 24), low=0.1), sample((16, 24), seed=1)
    np.testing.assert_allclose(combined(run, a, b, "power"), np.power(a.astype(np.float64), b), rtol=1e-6)


def test_power_of_special_values(run):
    a = np.array([[2, -2, 0, np.inf, 1, -1, 0, 4]], np.float32)
    b = np.array([[10, 3, 0, -1, np.nan, 2.5, -1, 0.5]], np.float32)
    with np.errstate(all="ignore"):
        same(combined(run, a, b, "power"), np.power(a, b))


@pytest.mark.parametrize("op", ("abs_max", "abs_min"))
def test_larger_and_smaller_magnitude(run, op):
    a, b = sample((16, 24)), sample((16, 24), seed=1)
    b[:, ::3] = -a[:, ::3]
    first = np.abs(a) > np.abs(b) if op == "abs_max" else np.abs(a) < np.abs(b)
    same(combined(run, a, b, op, chip="trn3"), np.where(first, a, b))


def test_special_values(run):
    specials = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 3.4e38, 1e-45], np.float32)
    a, b = (np.ascontiguousarray(x.reshape(1, -1)) for x in np.meshgrid(specials, specials))
    for op in sorted(ARITHMETIC):
        same(combined(run, a, b, op), apply(op, a, b))


def test_one_input_in_psum_and_the_result(run):
    a, b = sample((128, 32)), sample((128, 32), seed=1)

    def kernel(x, y):
        psum, result = new((128, 32), buffer=nl.psum), new((128, 32), "bfloat16")
        nisa.tensor_tensor(dst=psum, data1=load(x, nl.psum), data2=load(y), op=nl.add)
        nisa.tensor_copy(dst=result, src=psum)
        return store(result)

    same(run(kernel, a, b), convert(a + b, "bfloat16"))


def test_strides_and_broadcasts(run):
    a, b = sample((16, 6, 8)), sample((16, 1, 4), seed=1)

    def kernel(x, y):
        result = new((16, 6, 4))
        nisa.tensor_tensor(dst=result, data1=load(x)[:, :, 0:8:2], data2=load(y).broadcast(1, 6), op=nl.multiply)
        return store(result)

    same(run(kernel, a, b), a[:, :, ::2] * b)


def test_overlapping_in_place(run):
    x = sample((8, 17))

    def kernel(tensor):
        tile = load(tensor)
        nisa.tensor_tensor(dst=tile[:, 1:17], data1=tile[:, 0:16], data2=tile[:, 1:17], op=nl.add)
        return store(tile)

    expected = x.copy()
    expected[:, 1:] += x[:, :-1]
    same(run(kernel, x), expected)


@pytest.mark.parametrize("rule, arguments, name, chip", [
    ("op", {"op": nl.abs}, "float32", "trn2"),
    ("integer_bits", {"op": nl.bitwise_and}, "float32", "trn2"),
    ("engine", {"op": nl.bitwise_and, "engine": nisa.gpsimd_engine}, "int32", "trn2"),
    ("engine", {"op": nl.power, "engine": nisa.vector_engine}, "float32", "trn2"),
    ("engine", {"op": nl.add, "engine": nisa.scalar_engine}, "float32", "trn2"),
    ("generation", {"op": nl.abs_max}, "float32", "trn2"),
])
def test_rules(run, rule, arguments, name, chip):
    x = sample((4, 8), name)
    refused(run, "tensor_tensor." + rule, lambda dst, a, b: nisa.tensor_tensor(dst=dst, data1=a, data2=b, **arguments),
            x, x, out=[((4, 8), name)], chip=chip)


@pytest.mark.parametrize("rule, a, b, out", [
    ("same_partitions", (4, 8), (5, 8), (4, 8)), ("same_partitions", (4, 8), (4, 8), (5, 8)),
    ("same_free_size", (4, 8), (4, 9), (4, 8)), ("same_free_size", (4, 8), (4, 8), (4, 9)),
])
def test_shape_rules(run, rule, a, b, out):
    refused(run, "tensor_tensor." + rule, lambda dst, x, y: nisa.tensor_tensor(dst=dst, data1=x, data2=y, op=nl.add),
            sample(a), sample(b), out=[(out, "float32")])


@pytest.mark.parametrize("rule, buffers, arguments", [
    ("both_psum", ("psum", "psum"), {"op": nl.add}),
    ("buffer", ("sbuf", "shared_hbm"), {"op": nl.add}),
    ("buffer", ("psum", "sbuf"), {"op": nl.power}),
])
def test_buffer_rules(run, rule, buffers, arguments):
    def kernel(x):
        tiles = [x if buffer == "shared_hbm" else load(x, None if buffer == "sbuf" else nl.psum) for buffer in buffers]
        nisa.tensor_tensor(dst=new((4, 8)), data1=tiles[0], data2=tiles[1], **arguments)

    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, sample((4, 8)))
    assert error.value.rule == "tensor_tensor." + rule


def test_start_partition(run):
    def body(dst, a):
        nisa.tensor_tensor(dst=dst, data1=a[16:32, :], data2=a[0:16, :], op=nl.add)

    refused(run, "tensor_tensor.start_partition", body, sample((32, 8)), out=[((16, 8), "float32")])
