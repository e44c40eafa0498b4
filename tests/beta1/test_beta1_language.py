"""nki.language: functions on tiles against numpy, promotion of dtypes, operators."""

import ml_dtypes
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np
import pytest
import trnsim


def computed(function, *arrays, shape=None, dtype=nl.float32):
    """What function(*tiles) gives inside a kernel."""

    @nki.jit
    def kernel(*inputs):
        out = nl.ndarray(shape or arrays[0].shape, dtype=dtype, buffer=nl.shared_hbm)
        nl.store(out, function(*map(nl.load, inputs)))
        return out

    return kernel(*arrays)


@pytest.fixture
def x(rng):
    return rng.uniform(0.5, 2.0, (128, 64)).astype(np.float32)


@pytest.fixture
def y(rng):
    return rng.uniform(0.5, 2.0, (128, 64)).astype(np.float32)


@pytest.mark.parametrize(
    "expression",
    [
        lambda x, y: x + y,
        lambda x, y: x - y,
        lambda x, y: x * y,
        lambda x, y: x / y,
        lambda x, y: 2.0 - x,
        lambda x, y: 1.0 / x,
        lambda x, y: -x,
        lambda x, y: x * 3 + 1,
        lambda x, y: (x < y) * 1.0,
        lambda x, y: x**y,
    ],
)
def test_python_operators(expression, x, y):
    np.testing.assert_allclose(computed(expression, x, y), expression(x, y), rtol=2e-6)


@pytest.mark.parametrize(
    "a, b", [((128, 64), (128, 1)), ((128, 64), (1, 64)), ((128, 64), (1, 1)), ((128, 1), (1, 64))]
)
def test_tiles_broadcast(a, b, rng):
    a, b = (rng.integers(-8, 8, shape).astype(np.float32) for shape in (a, b))
    np.testing.assert_array_equal(computed(nl.subtract, a, b, shape=(128, 64)), a - b)


@pytest.mark.parametrize(
    "name, reference",
    [
        ("exp", np.exp),
        ("log", np.log),
        ("sqrt", np.sqrt),
        ("tanh", np.tanh),
        ("square", np.square),
        ("sin", np.sin),
        ("reciprocal", np.reciprocal),
        ("negative", np.negative),
        ("abs", np.abs),
        ("floor", np.floor),
    ],
)
def test_functions(name, reference, x):
    np.testing.assert_allclose(computed(getattr(nl, name), x), reference(x), rtol=1e-5, atol=1e-6)


def test_reductions_take_any_free_axes(rng):
    a = rng.integers(-8, 8, (64, 4, 2, 4, 2)).astype(np.float32)
    np.testing.assert_array_equal(
        computed(lambda t: nl.sum(t, axis=[2, 4]), a, shape=(64, 4, 4)), a.sum((2, 4))
    )
    np.testing.assert_array_equal(
        computed(lambda t: nl.max(t, axis=1, keepdims=True), a, shape=(64, 1, 2, 4, 2)),
        a.max(1, keepdims=True),
    )
    np.testing.assert_allclose(
        computed(lambda t: nl.mean(t, axis=[3, 4]), a, shape=(64, 4, 2)), a.mean((3, 4)), rtol=1e-6
    )


def test_softmax_and_where(x, y):
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(
        computed(lambda t: nl.softmax(t, axis=1), x), e / e.sum(1, keepdims=True), rtol=1e-5
    )
    np.testing.assert_array_equal(computed(lambda s, t: nl.where(s > t, s, 0.0), x, y), np.where(x > y, x, 0))


@pytest.mark.parametrize("transposed", [False, True])
def test_matmul(transposed, rng):
    a, b = rng.standard_normal((128, 128)).astype(np.float32), rng.standard_normal((128, 256)).astype(
        np.float32
    )
    got = computed(lambda s, t: nl.matmul(s, t, transpose_x=transposed), a, b, shape=(128, 256))
    np.testing.assert_allclose(got, (a.T if transposed else a) @ b, rtol=1e-4, atol=1e-4)


def test_transposes(x):
    np.testing.assert_array_equal(computed(nl.transpose, x, shape=(64, 128)), x.T)

    @nki.jit
    def kernel(a):
        out = nl.ndarray((64, 128), dtype=a.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.load_transpose2d(a))
        return out

    np.testing.assert_array_equal(kernel(x), x.T)


@pytest.mark.parametrize(
    "a, b, expected",
    [
        (nl.float32, nl.bfloat16, nl.float32),
        (nl.float16, nl.bfloat16, nl.float32),
        (nl.int8, nl.uint8, nl.int16),
        (nl.int32, nl.float16, nl.float16),
        (nl.int32, nl.uint32, nl.float32),
        (nl.int8, nl.int32, nl.int32),
        (nl.float8_e4m3, nl.float8_e5m2, nl.bfloat16),
        (nl.float8_e5m2, nl.float16, nl.float16),
    ],
)
def test_results_have_the_common_dtype(a, b, expected):
    dtypes = []

    def add(s, t):
        dtypes.extend([nl.add(s, t).dtype, nisa.tensor_tensor(s, t, op=nl.add).dtype])
        return s

    computed(add, np.ones((8, 8), a), np.ones((8, 8), b))
    assert dtypes == [expected, expected]


@pytest.mark.parametrize(
    "dtype, number, expected",
    [
        (nl.bfloat16, 2.5, nl.bfloat16),
        (nl.int32, 2, nl.int32),
        (nl.int32, 2.5, nl.float32),
        (nl.uint8, True, nl.uint8),
    ],
)
def test_numbers_are_weak(dtype, number, expected):
    found = []
    computed(lambda t: found.append(nl.add(t, number).dtype) or t, np.ones((8, 8), dtype))
    assert found == [expected]


def test_numpy_functions_are_operators(x, y):
    np.testing.assert_array_equal(
        computed(lambda s, t: nisa.tensor_tensor(s, t, op=np.maximum), x, y), np.maximum(x, y)
    )
    np.testing.assert_array_equal(
        computed(lambda s: nisa.tensor_reduce(np.max, s, axis=[1]), x, shape=(128, 1))[:, 0], x.max(1)
    )
    np.testing.assert_array_equal(
        computed(lambda s: nisa.tensor_scalar(s, np.subtract, 1.0, reverse0=True), x), 1 - x
    )


def test_broadcast_to_repeats_partitions_and_columns(rng):
    row, column = rng.integers(0, 99, (1, 64)).astype(np.float32), rng.integers(0, 99, (128, 1)).astype(
        np.float32
    )
    np.testing.assert_array_equal(
        computed(lambda t: nl.copy(t.broadcast_to((128, 64))), row, shape=(128, 64)), np.repeat(row, 128, 0)
    )
    np.testing.assert_array_equal(
        computed(lambda t: nl.copy(nl.broadcast_to(t, shape=(128, 64))), column, shape=(128, 64)),
        np.repeat(column, 64, 1),
    )


def test_constants_are_data_of_the_program(opcodes):
    @nki.jit
    def kernel():
        out = nl.ndarray((16, 16), dtype=nl.float32, buffer=nl.shared_hbm)
        nl.store(out, nl.load(nl.shared_constant(np.eye(16, dtype=np.int8), dtype=nl.float32)))
        return out

    np.testing.assert_array_equal(kernel(), np.eye(16))
    assert opcodes() == ["dma_copy", "dma_copy"]


def test_low_precision_is_stored_as_on_the_chip(x):
    got = computed(lambda t: nl.multiply(t, 1.0, dtype=nl.bfloat16), x)
    np.testing.assert_array_equal(got, x.astype(ml_dtypes.bfloat16).astype(np.float32))


def test_device_print_shows_values(capsys, x):
    computed(lambda t: nl.device_print("x is", t) or t, x)
    out = capsys.readouterr().out
    assert out.startswith(f"x is float32{list(x.shape)} in SBUF:\n[[")
    assert f"{x[0, 0]}"[:6] in out


def test_small_tiles_are_transposed_by_the_vector_engine(rng):
    a = rng.standard_normal((32, 16)).astype(np.float32)
    got = computed(lambda t: nisa.nc_transpose(t, engine=nisa.vector_engine), a, shape=(16, 32))
    np.testing.assert_array_equal(got, a.T)
    assert trnsim.last_profile().instructions[1]["engine"] == "Vector"


def test_products_of_mixed_widths_are_float32(rng):
    a, b = rng.standard_normal((64, 64)).astype(np.float32), rng.standard_normal((64, 64)).astype(nl.bfloat16)
    got = computed(lambda s, t: nl.matmul(s, t, transpose_x=True), a, b)
    np.testing.assert_allclose(got, a.T @ b.astype(np.float32), rtol=1e-4, atol=1e-4)


def test_a_transposing_matmul_may_widen(rng):
    a = rng.standard_normal((64, 32)).astype(nl.bfloat16)

    @nki.jit
    def kernel(a):
        out = nl.ndarray((32, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        turned = nl.ndarray((32, 64), dtype=nl.float32, buffer=nl.psum)
        identity = nl.load(nl.shared_identity_matrix(64, dtype=nl.bfloat16))
        turned[...] = nisa.nc_matmul(nl.load(a), identity, is_transpose=True, is_moving_onezero=True)
        nl.store(out, turned)
        return out

    np.testing.assert_array_equal(kernel(a), a.T.astype(np.float32))


def test_statistics_take_any_free_axes(rng):
    a = rng.standard_normal((64, 8, 4)).astype(np.float32)
    np.testing.assert_allclose(
        computed(lambda t: nl.mean(t, axis=1), a, shape=(64, 4)), a.mean(1), rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(
        computed(lambda t: nl.var(t, axis=[1]), a, shape=(64, 1, 4)),
        a.var(1, keepdims=True),
        rtol=1e-4,
        atol=1e-6,
    )


def test_functions_that_are_not_there_say_so_when_called():
    with pytest.raises(trnsim.Unimplemented, match="sendrecv"):
        nisa.sendrecv()
    assert not hasattr(nisa, "no_such_instruction")


def test_random_numbers_come_from_the_vector_engine(opcodes):
    @nki.jit
    def kernel(seeds):
        out = nl.ndarray((64, 33), dtype=nl.float32, buffer=nl.shared_hbm)
        nl.random_seed(nl.load(seeds))
        nl.store(out, nl.rand((64, 33), nl.float32))
        return out

    one, two, again = (kernel(np.array([[seed]], np.int32)) for seed in (1, 2, 1))
    np.testing.assert_array_equal(one, again)
    assert (one != two).any() and one.min() >= 0 and one.max() < 1
    assert one.mean() == pytest.approx(0.5, abs=0.03)
    assert opcodes()[1:3] == ["set_rng_seed", "rng"]
