"""Custom operators compute what numpy does, by every accessor, operation and dtype."""

import itertools

import ml_dtypes
import numpy as np
import pytest
import trnsim

RNG = np.random.default_rng(8)
FLOATS = (np.float32, np.float16, ml_dtypes.bfloat16)
INTEGERS = (np.int32, np.int16, np.int8, np.uint8)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 1, 5), (4, 7, 9)])
def test_elements_of_three_dimensions(arithmetic, shape):
    x = floats(*shape)
    np.testing.assert_array_equal(arithmetic.by_element(x), 2 * x + 1)


@pytest.mark.parametrize("size", [1, 1023, 1024, 1025, 5000])
def test_streams(arithmetic, size):
    a, b = floats(size), floats(size)
    expected = (a + 0.5 * b.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(arithmetic.by_stream(a, b, 0.5), expected)


@pytest.mark.parametrize("size, block", [(1, 64), (100, 64), (128, 64), (9000, 4096)])
def test_blocks_of_tcm_into_the_result_itself(arithmetic, size, block):
    x = floats(size)
    np.testing.assert_array_equal(arithmetic.by_tcm(x, block), -x)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_every_dtype_by_stream_and_element(arithmetic, dtype):
    x = np.array([0, 1, 2, 3, 60, 61, 5.25, 0.1], dtype=np.float32).astype(dtype)
    got = arithmetic.of_dtype(x)
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(got, x + x)


def test_halves_keep_every_value(arithmetic):
    bits = np.arange(65536, dtype=np.uint16)
    for dtype in (np.float16, ml_dtypes.bfloat16):
        x = bits.view(dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            expected = (x.astype(np.float32) * 2).astype(dtype)
        got = arithmetic.of_dtype(x)
        same = (got.view(np.uint16) == expected.view(np.uint16)) | (np.isnan(got) & np.isnan(expected))
        assert same.all()


UNARY = [np.abs, np.ceil, np.floor, np.sin, np.cos, np.tan, np.log, np.log2, np.log10, np.exp, np.square, np.exp2,
         lambda x: np.clip(x, 0.5, 2), lambda x: x + 6, lambda x: x - 3, lambda x: x * 3, lambda x: x / 4]


@pytest.mark.parametrize("what, dtype", list(itertools.product(range(len(UNARY)), FLOATS)))
def test_operations_on_whole_tensors_are_rounded_once(arithmetic, what, dtype):
    x = np.abs(floats(5, 8)).astype(dtype)
    wide = x.astype(np.float64)
    np.testing.assert_array_equal(arithmetic.of_whole(x, what), UNARY[what](wide).astype(np.float32).astype(dtype))


INTEGER = {0: np.abs, 1: np.positive, 2: np.positive, 10: np.square, 12: lambda x: np.clip(x, 1, 2),
           13: lambda x: x + 6, 14: lambda x: x - 3, 15: lambda x: x * 3, 17: np.invert, 18: lambda x: x & 6,
           19: lambda x: 5 | x}


@pytest.mark.parametrize("what, dtype", list(itertools.product(set(INTEGER) - {12}, INTEGERS)))
def test_operations_on_integers_wrap(arithmetic, what, dtype):
    x = RNG.integers(0 if dtype == np.uint8 else -100, 120, (4, 6)).astype(dtype)
    np.testing.assert_array_equal(arithmetic.of_whole(x, what), INTEGER[what](x.astype(np.int64)).astype(dtype))


PAIRS = [np.add, lambda a, b: a + 2 * b, lambda a, b: a - 3 * b, np.multiply, np.divide, np.power, np.bitwise_and,
         np.bitwise_or]


@pytest.mark.parametrize("what", range(6))
def test_operations_on_two_tensors(arithmetic, what):
    a, b = np.abs(floats(3, 4)), floats(3, 4)
    expected = PAIRS[what](a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(arithmetic.of_pairs(a, b, what), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("what, dtype", list(itertools.product((0, 1, 2, 3, 6, 7), INTEGERS)))
def test_operations_on_two_integer_tensors(arithmetic, what, dtype):
    a, b = (RNG.integers(0, 100, (3, 4)).astype(dtype) for _ in range(2))
    np.testing.assert_array_equal(arithmetic.of_pairs(a, b, what),
                                  PAIRS[what](a.astype(np.int64), b.astype(np.int64)).astype(dtype))


@pytest.mark.parametrize("what", [3, 16])
def test_operations_whose_result_is_floating_refuse_integers(arithmetic, what):
    with pytest.raises(trnsim.ProgramError, match="floating") as info:
        arithmetic.of_whole(np.ones((2, 2), np.int32), what)
    assert info.value.rule == "gpsimd.dtype"


def test_factories_and_scalars(arithmetic):
    np.testing.assert_array_equal(arithmetic.unit(floats(4, 6), 1), np.eye(4, 6, dtype=np.float16))
    filled = arithmetic.unit(np.zeros((0,), np.float32), 5)
    assert filled.dtype == np.int32 and (filled == 5).all() and filled.shape == (2, 3)
    np.testing.assert_array_equal(arithmetic.of_whole(floats(3), 99), np.full(3, 7, np.float32))


def test_wide_host_types_are_narrowed(arithmetic):
    x = np.array([1.5, -2.25])
    got = arithmetic.of_whole(x, 0)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, [1.5, 2.25])


def test_static_variables_last_and_printf_is_shown(arithmetic, capfd, monkeypatch):
    x = floats(2)
    first = int(arithmetic.counted(x)[0])
    assert int(arithmetic.counted(x)[0]) == first + 1
    assert capfd.readouterr().out == f"call {first}\ncall {first + 1}\n"
    monkeypatch.setenv("NEURON_RT_GPSIMD_STDOUT_QUEUE_SIZE_BYTES", "4")
    arithmetic.counted(x)
    assert capfd.readouterr().out == f"call {first + 2}\n"[-4:]
    monkeypatch.setenv("NEURON_RT_GPSIMD_STDOUT_QUEUE_SIZE_BYTES", "0")
    arithmetic.counted(x)
    assert capfd.readouterr().out == ""
    monkeypatch.setenv("NEURON_RT_GPSIMD_STDOUT_QUEUE_SIZE_BYTES", "1000")
    with pytest.raises(trnsim.ConfigError, match="power of two"):
        arithmetic.counted(x)


@pytest.mark.needs_torch
def test_torch_tensors_come_back_as_torch_tensors(arithmetic):
    torch = pytest.importorskip("torch")
    x = torch.tensor([1.0, -2.0], dtype=torch.bfloat16)
    got = arithmetic.of_whole(x, 0)
    assert got.dtype == torch.bfloat16 and got.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("size", [1, 7, 8, 9, 5000])
def test_all_processors_write_their_parts_each_with_variables_of_its_own(together, size, capfd):
    x = np.zeros(size, np.float32)
    first = together.split(x, 0)
    np.testing.assert_array_equal(together.split(x, 0), first + 1)
    assert capfd.readouterr().out == "processor 0 of 8\n" * 2  # only processor 0 prints
