"""stop_on_nan: the instruction that makes the first NaN or infinity is named, and no other one."""

import numpy as np
import pytest
import trnsim

trnsim.install()

import nki
import nki.isa as nisa
import nki.language as nl


@pytest.fixture(autouse=True)
def watched():
    trnsim.install(stop_on_nan=True)
    yield
    trnsim.install()


def launch(body, *arrays, dtype=nl.float32):
    """Load the arrays, let `body` compute on the tiles, store the tile that it returns."""

    def kernel(*tensors):
        tiles = []
        for tensor in tensors:
            tile = nl.ndarray(tensor.shape, tensor.dtype, nl.sbuf, name=f"tile{len(tiles)}")
            nisa.dma_copy(dst=tile, src=tensor)
            tiles.append(tile)
        result = body(*tiles)
        out = nl.ndarray(result.shape, result.dtype, nl.shared_hbm)
        nisa.dma_copy(dst=out, src=result)
        return out

    return nki.jit(kernel)(*arrays)


def new(shape, dtype=nl.float32, buffer=nl.sbuf):
    return nl.ndarray(shape, dtype, buffer)


def applied(op, x, other=None, dtype=nl.float32, **arguments):
    y = new(x.shape, dtype)
    if other is None:
        nisa.activation(dst=y, op=op, data=x, **arguments)
    else:
        nisa.tensor_tensor(dst=y, data1=x, data2=other, op=op)
    return y


def scaled(x, by, dtype=nl.float32, op=nl.multiply):
    y = new(x.shape, dtype)
    nisa.tensor_scalar(dst=y, data=x, op0=op, operand0=by)
    return y


ONES = np.ones((4, 8), np.float32)


def with_value(value, at=(2, 5), base=ONES):
    array = base.copy()
    array[at] = value
    return array


def stopped(body, *arrays):
    with pytest.raises(trnsim.NonFiniteError) as caught:
        launch(body, *arrays)
    assert caught.value.rule == "numerics.nan"
    assert isinstance(caught.value, trnsim.ProgramError) and isinstance(caught.value, ArithmeticError)
    return str(caught.value)


def test_the_message_names_the_instruction_the_place_and_the_values():
    text = stopped(lambda x: applied(nl.exp, x), with_value(200.0))
    assert text.startswith("activation: dst[2, 5] is the first infinity of this kernel")
    assert "1 of 32 elements are not finite" in text and "Instruction 1," in text
    assert "test_stop_on_nan.py:" in text and "in applied" in text
    assert "data = tile0 SBUF partitions 0-3 byte 0 float32 [4, 8] strides [4]" in text
    assert "1 to 200, there 200" in text
    assert len(trnsim.last_profile().instructions) == 2  # the culprit is recorded


def test_difference_of_infinities_makes_a_nan():
    x = np.full((4, 8), -np.inf, np.float32)
    text = stopped(lambda a, b: applied(nl.subtract, a, b), x, x)
    assert text.startswith("tensor_tensor: dst[0, 0] is the first NaN") and "there -inf" in text


def test_a_result_in_place_shows_what_was_there_before():
    def body(x):
        nisa.tensor_scalar(dst=x, data=x, op0=nl.multiply, operand0=2e30)
        return x

    text = stopped(body, with_value(3e9))
    assert "1 to 3e+09, there 3e+09" in text and "there inf" in text


def test_zero_times_infinity():
    assert "first NaN" in stopped(lambda a, b: applied(nl.multiply, a, b), with_value(np.inf), with_value(0.0))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_only_passes_on_is_not_blamed(value):
    x = with_value(value)
    got = launch(lambda t: scaled(t, 2.0), x)
    np.testing.assert_array_equal(got, x * 2)


def test_sums_are_blamed_for_their_overflow_only():
    def total(x):
        y = new((4, 1))
        nisa.tensor_reduce(dst=y, op=nl.add, data=x, axis=1)
        return y

    text = stopped(total, np.full((4, 8), 3e38, np.float32))
    assert "tensor_reduce: dst[0, 0] is the first infinity" in text and "in that row 3" in text
    assert np.isinf(launch(total, with_value(np.inf))[2])


def test_matmul_is_blamed_for_its_overflow_only():
    def product(x):
        y = new((8, 8), buffer=nl.psum)
        nisa.nc_matmul(dst=y, stationary=x, moving=x)
        z = new((8, 8))
        nisa.tensor_copy(dst=z, src=y)
        return z

    text = stopped(product, with_value(1e30))
    assert "nc_matmul: dst[5, 5] is the first infinity" in text and "in all 1 to 1" in text
    assert np.isnan(launch(product, with_value(np.nan))).any()


@pytest.mark.parametrize("dtype, value, what", [
    (nl.float8_e4m3, 1000.0, "infinity"), (nl.float8_e5m2, 1e6, "infinity"), (nl.float16, 1e6, "infinity")])
def test_overflow_of_a_narrow_type_counts(dtype, value, what):
    text = stopped(lambda x: scaled(x, 1.0, dtype), with_value(value))
    assert f"the first {what}" in text


@pytest.mark.parametrize("dtype", [nl.int32, nl.int8, nl.uint8])
def test_integers_are_not_looked_at(dtype):
    host = np.dtype(str(dtype))
    got = launch(lambda x: scaled(x, 1e9, dtype), ONES)
    np.testing.assert_array_equal(got, np.full((4, 8), min(10**9, np.iinfo(host).max), host))


@pytest.mark.parametrize("value", [float("-inf"), float("inf"), -3.4028235e38])
@pytest.mark.parametrize("dtype", [nl.float32, nl.bfloat16])
def test_a_memset_to_infinity_is_on_purpose(value, dtype):
    def body(x):
        y = new((4, 8), dtype)
        nisa.memset(dst=y, value=value)
        return y

    got = np.asarray(launch(body, ONES), np.float32)
    assert (got == (value if dtype is nl.float32 or np.isinf(value) else np.float32(-np.inf))).all()


def test_masked_softmax_passes():
    def body(x, mask):
        masked = new((4, 8))
        nisa.tensor_tensor(dst=masked, data1=x, data2=mask, op=nl.add)
        top = new((4, 1))
        nisa.tensor_reduce(dst=top, op=nl.maximum, data=masked, axis=1, negate=True)
        return applied(nl.exp, masked, bias=top)

    for hidden in (-np.inf, np.finfo(np.float32).min):
        mask = with_value(hidden, base=np.zeros((4, 8), np.float32))
        assert launch(body, ONES, mask)[2, 5] == 0


def test_row_masked_entirely_is_found():
    def body(x):
        top = new((4, 1))
        nisa.tensor_reduce(dst=top, op=nl.maximum, data=x, axis=1)
        y = new((4, 8))
        nisa.tensor_scalar(dst=y, data=x, op0=nl.subtract, operand0=top)
        return y

    x = ONES.copy()
    x[1] = -np.inf
    text = stopped(body, x)
    assert text.startswith("tensor_scalar: dst[1, 0] is the first NaN") and "operand0 = " in text
    assert "in that row -inf" in text


def test_without_the_option_nothing_stops():
    trnsim.install()
    assert np.isinf(launch(lambda x: applied(nl.exp, x), with_value(200.0))[2, 5])


def test_timing_only_has_nothing_to_watch():
    trnsim.install(stop_on_nan=True, timing_only=True)
    launch(lambda x: applied(nl.exp, x), with_value(200.0))
    assert len(trnsim.last_profile().instructions) == 3  # none of them stopped the launch
