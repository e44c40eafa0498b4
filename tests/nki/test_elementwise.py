"""Functions of nki.language on one and two tiles."""

import numpy as np
import pytest
import trnsim
from oracle import FLOATS, SHAPES, close, rounded, same, sample, wide

trnsim.install()

import nki.language as nl

EXACT = {
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
BITS = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "left_shift": np.left_shift,
}


def fp32(function, *operands):
    return function(*(np.float32(operand) for operand in operands)).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", EXACT)
def test_two_tiles(evaluate, name, shape):
    x, y = np.rint(sample(shape)), np.rint(sample(shape, seed=1))
    same(evaluate(lambda a, b: getattr(nl, name)(a, b), x, y), fp32(EXACT[name], x, y))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "less"])
def test_dtypes(evaluate, name, dtype):
    x, y = sample((128, 16), dtype), sample((128, 16), dtype, seed=1)
    expected = rounded(fp32(EXACT[name], x, y), dtype)
    same(evaluate(lambda a, b: getattr(nl, name)(a, b), x, y), expected)
    same(evaluate(lambda a, b: getattr(nl, name)(a, b, dtype=nl.float32), x, y), fp32(EXACT[name], x, y))


@pytest.mark.parametrize("number", [2, -1.5, np.float32(0.5), True])
@pytest.mark.parametrize("name", EXACT)
def test_a_number_on_either_side(evaluate, name, number):
    x = np.rint(sample((64, 10)))
    same(evaluate(lambda a: getattr(nl, name)(a, number), x), fp32(EXACT[name], x, number))
    same(evaluate(lambda a: getattr(nl, name)(number, a), x), fp32(EXACT[name], number, x))


@pytest.mark.parametrize(
    "shapes",
    [
        ((64, 10), (64, 1)),
        ((64, 1), (64, 10)),
        ((1, 10), (64, 10)),
        ((64, 10), (1, 10)),
        ((64, 1), (1, 10)),
        ((1, 1), (64, 10)),
        ((128, 600), (1, 600)),
        ((32, 4, 6), (32, 1, 6)),
        ((32, 4, 1), (32, 1, 6)),
        ((32, 4, 6), (32, 1)),
        ((32, 1), (32, 4, 6)),
    ],
)
@pytest.mark.parametrize("name", ["add", "subtract", "greater"])
def test_broadcasting(evaluate, name, shapes):
    x, y = (sample(shape, seed=seed) for seed, shape in enumerate(shapes))
    a, b = (t.reshape(t.shape + (1,) * (max(x.ndim, y.ndim) - t.ndim)) for t in (x, y))
    same(evaluate(lambda s, t: getattr(nl, name)(s, t), x, y), fp32(EXACT[name], a, b))


@pytest.mark.parametrize("dtype", ["float16", "int16", "int32"])
def test_broadcasting_of_columns_that_are_not_float32(evaluate, dtype):
    x, y = sample((64, 10), dtype, 0, 90), sample((64, 1), dtype, 0, 90, seed=1)
    same(evaluate(lambda a, b: nl.add(a, b), x, y), rounded(fp32(np.add, x, y), dtype))


@pytest.mark.parametrize("dtype", ["int32", "uint32", "uint16", "int8"])
@pytest.mark.parametrize("name", BITS)
def test_bits(evaluate, name, dtype):
    x, y = sample((64, 10), dtype, -100, 100), sample((64, 10), dtype, 0, 5, seed=1)
    function = getattr(nl, name)
    same(evaluate(lambda a, b: function(a, b), x, y), BITS[name](x, y))
    same(evaluate(lambda a, b: function(a, b), x, y[:, :1]), BITS[name](x, y[:, :1]))
    same(evaluate(lambda a, b: function(a, b), x, y[:1]), BITS[name](x, y[:1]))
    same(evaluate(lambda a: function(a, 3), x), BITS[name](x, x.dtype.type(3)))


def test_32_bit_integers_are_exact_between_tiles(evaluate):
    x = np.array([[2**24 + 1, 2**30 + 3, -(2**30) - 1]], np.int32)
    same(evaluate(lambda a: nl.add(a, a[:, 0:1]), x), x + x[:, :1])
    same(evaluate(lambda a: nl.add(a, a), x // 2), x // 2 * 2)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "uint16"])
def test_invert(evaluate, dtype):
    x = sample((64, 10), dtype, -100, 100)
    same(evaluate(nl.invert, x), ~x)


@pytest.mark.parametrize("operands", ["tiles", "number", "base"])
def test_power(evaluate, operands):
    x, y = sample((64, 10), low=0.1), sample((64, 10), seed=1)
    function, expected = {
        "tiles": (lambda a, b: nl.power(a, b), wide(x) ** wide(y)),
        "number": (lambda a, b: nl.power(a, 2.5), wide(x) ** 2.5),
        "base": (lambda a, b: nl.power(2.5, b), 2.5 ** wide(y)),
    }[operands]
    close(evaluate(function, x, y), expected, ulps=4)


def test_divide(evaluate):
    x, y = sample((64, 10)), sample((64, 10), low=0.5, seed=1)
    close(evaluate(lambda a, b: nl.divide(a, b), x, y), wide(x) / wide(y))
    close(evaluate(lambda a, b: nl.divide(a, 3), x, y), wide(x) / 3)
    close(evaluate(lambda a, b: nl.divide(3, b), x, y), 3 / wide(y))


FUNCTIONS = {
    "abs": np.abs,
    "square": np.square,
    "negative": np.negative,
    "sign": np.sign,
    "exp": np.exp,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "copy": lambda x: x,
    "logical_not": lambda x: x == 0,
    "sin": np.sin,
    "cos": np.cos,
    "silu": lambda x: x / (1 + np.exp(-x)),
    "softplus": lambda x: np.log1p(np.exp(x)),
}
POSITIVE = {"log": np.log, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", [*FUNCTIONS, *POSITIVE])
def test_one_tile(evaluate, name, dtype):
    x = sample((64, 3, 7), dtype, low=-4 if name in FUNCTIONS else 0.25)
    close(evaluate(lambda a: getattr(nl, name)(a), x), (FUNCTIONS | POSITIVE)[name](wide(x)), ulps=3)


@pytest.mark.parametrize(
    "name",
    [
        "gelu",
        "gelu_dx",
        "gelu_apprx_tanh",
        "gelu_apprx_sigmoid",
        "silu_dx",
        "mish",
        "erf",
        "erf_dx",
        "gelu_apprx_sigmoid_dx",
        "arctan",
    ],
)
def test_every_activation_function_can_be_called(evaluate, name):
    x = sample((16, 9), low=-1.5, high=1.5)
    assert np.isfinite(evaluate(lambda a: getattr(nl, name)(a), x)).all()


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_range_reduction_over_many_periods(evaluate, name):
    x = np.linspace(-1000, 1000, 128 * 100).reshape(128, 100).astype(np.float32)
    np.testing.assert_allclose(
        evaluate(lambda a: getattr(nl, name)(a), x), getattr(np, name)(wide(x)), atol=5e-7
    )


def test_tangent(evaluate):
    x = sample((64, 10), low=-1.4, high=1.4)
    np.testing.assert_allclose(evaluate(nl.tan, x), np.tan(wide(x)), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc"])
def test_rounding_at_halves_and_integers(evaluate, name):
    x = np.array([[-2.5, -2, -1.5, -0.5, 0, 0.5, 1, 1.5, 2.5, 8388609.0, 2147483500.0]], np.float32)
    np.testing.assert_array_equal(evaluate(lambda a: getattr(nl, name)(a), x), getattr(np, name)(x))


def test_integers_are_their_own_floor(evaluate):
    x = sample((4, 9), "int32", -100, 100)
    same(evaluate(nl.floor, x), x)


@pytest.mark.parametrize("name, old, new", [("rsqrt", "Scalar", "GpSimd"), ("copy", "Scalar", "Vector")])
def test_functions_run_where_the_release_says(evaluate, name, old, new):
    def engine(release):
        trnsim.install(nki=release)
        import nki

        @nki.jit
        def kernel(x):
            y = getattr(nl, name)(nl.load(x))
            out = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
            nl.store(out, y)
            return out

        kernel(np.ones((2, 2), np.float32))
        return [i["engine"] for i in trnsim.last_profile().instructions if i["opcode"] != "dma_copy"]

    assert engine("0.4") == [old]
    assert engine("0.6") == [new]


def test_two_tiles_of_psum(evaluate):
    x, y = sample((32, 16)), sample((32, 24), seed=1)
    result = evaluate(lambda a, b: nl.add(nl.matmul(a, b, True), nl.matmul(a, b, True)), x, y)
    np.testing.assert_allclose(result, 2 * wide(x).T @ wide(y), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    "text, function",
    [
        ("remainder", lambda a: nl.mod(a, 2)),
        ("remainder", lambda a: nl.fmod(a, 2)),
        ("at least one of x and y must be a tile", lambda a: nl.add(1, 2)),
        ("y must be a tile or a number, got str", lambda a: nl.add(a, "one")),
        ("shapes (8, 6) and (8, 5) neither agree nor broadcast", lambda a: nl.add(a, a[:, :5])),
        ("shapes (8, 6) and (4, 6) neither agree nor broadcast", lambda a: nl.add(a, a[:4])),
        ("y is the number 0", lambda a: nl.divide(a, 0)),
        ("nl.bypass is an operand of instructions", lambda a: nl.bypass(a)),
        ("x must be a tensor, got list", lambda a: nl.exp([1.0])),
    ],
)
def test_refusals(evaluate, text, function):
    with pytest.raises(trnsim.Error, match=text.replace("(", r"\(").replace(")", r"\)")):
        evaluate(function, sample((8, 6)))


def test_hbm_is_no_operand(run):
    with pytest.raises(trnsim.ProgramError, match="x 'x' is in HBM") as caught:
        run(lambda x: nl.exp(x), sample((8, 6)))
    assert caught.value.rule == "language.buffer"
