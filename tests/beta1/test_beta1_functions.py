"""Every function and instruction of Beta 1 that no other test calls, once against numpy."""

import functools
import math

import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt
import numpy as np
import pytest
import trnsim

SHAPE = (32, 40)


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
    return rng.uniform(-1.5, 1.5, SHAPE).astype(np.float32)


@pytest.fixture
def y(rng):
    return rng.uniform(0.5, 2.0, SHAPE).astype(np.float32)


erf = np.vectorize(math.erf)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return x * (1 + erf(x / math.sqrt(2))) / 2


def slope(function, x, step=1e-5):
    """The derivative by central differences, in float64."""
    return (function(x + step) - function(x - step)) / (2 * step)


UNARY = {
    "arctan": np.arctan,
    "ceil": np.ceil,
    "cos": np.cos,
    "erf": erf,
    "erf_dx": lambda x: slope(erf, x),
    "exp": np.exp,
    "floor": np.floor,
    "gelu": gelu,
    "gelu_apprx_sigmoid": lambda x: x * sigmoid(1.702 * x),
    "gelu_apprx_tanh": lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "gelu_dx": lambda x: slope(gelu, x),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "negative": np.negative,
    "reciprocal": lambda x: 1 / x,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": sigmoid,
    "sign": np.sign,
    "silu": lambda x: x * sigmoid(x),
    "silu_dx": lambda x: slope(lambda t: t * sigmoid(t), x),
    "sin": np.sin,
    "softplus": lambda x: np.log1p(np.exp(x)),
    "square": np.square,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
}


@pytest.mark.parametrize("name", UNARY)
def test_unary_functions(name, x):
    got = computed(getattr(nl, name), x)
    np.testing.assert_allclose(got, UNARY[name](x.astype(np.float64)), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", ["log", "sqrt", "rsqrt", "abs", "copy"])
def test_unary_functions_of_positive_numbers(name, y):
    oracle = {"rsqrt": lambda t: 1 / np.sqrt(t), "copy": lambda t: t}.get(name) or getattr(np, name)
    np.testing.assert_allclose(computed(getattr(nl, name), y), oracle(y), rtol=2e-5, atol=1e-6)


BINARY = "add subtract multiply divide maximum minimum power equal not_equal greater greater_equal less less_equal"
LOGICAL = "logical_and logical_or logical_xor"


def test_remainders(y):
    np.testing.assert_allclose(computed(lambda t: nl.mod(t, 0.75), y), np.mod(y, np.float32(0.75)), atol=1e-5)
    with pytest.raises(trnsim.Unimplemented, match="nl.fmod: NeuronCores have no remainder operator"):
        computed(lambda t: nl.fmod(t, 0.75), y)


@pytest.mark.parametrize("name", f"{BINARY} {LOGICAL}".split())
def test_binary_functions(name, y, rng):
    z = rng.permutation(y.ravel()).reshape(SHAPE)
    z[:4] = y[:4]
    if name in LOGICAL.split():
        y, z = y * rng.integers(0, 2, SHAPE), z * rng.integers(0, 2, SHAPE)
    y, z = y.astype(np.float32), z.astype(np.float32)
    np.testing.assert_allclose(computed(getattr(nl, name), y, z), getattr(np, name)(y, z), rtol=2e-5)


@pytest.mark.parametrize("name", "bitwise_and bitwise_or bitwise_xor left_shift right_shift invert logical_not".split())
def test_functions_of_bits(name, rng):
    a, b = rng.integers(0, 1 << 20, SHAPE, np.uint32), rng.integers(0, 8, SHAPE, np.uint32)
    arrays = (a,) if name in ("invert", "logical_not") else (a, b)
    got = computed(getattr(nl, name), *arrays, dtype=nl.uint32)
    np.testing.assert_array_equal(got, getattr(np, name)(*arrays).astype(np.uint32))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "all"])
def test_reductions(name, y):
    y[3, 5] = 0
    kept = name == "var"
    got = computed(lambda t: getattr(nl, name)(t, axis=1, keepdims=True), y, shape=(32, 1))
    np.testing.assert_allclose(got, getattr(np, name)(y.astype(np.float64), axis=1, keepdims=True), rtol=1e-4)
    assert kept in (True, False)


def test_softmax_and_rms_norm(x, y):
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(computed(lambda t: nl.softmax(t, axis=1), x), e / e.sum(1, keepdims=True), rtol=1e-5)
    got = computed(lambda t, w: nl.rms_norm(t, w, 1, 40, 1e-6), x, y)
    np.testing.assert_allclose(got, x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-6) * y, rtol=1e-4)


def test_shapes_of_tiles(x, y):
    np.testing.assert_array_equal(
        computed(lambda t: nl.broadcast_to(t[:, 0:1], shape=SHAPE), x), np.broadcast_to(x[:, :1], SHAPE)
    )
    got = computed(lambda t: nl.copy(nl.expand_dims(t, axis=1)[:, 0, :]), x)
    np.testing.assert_array_equal(got, x)
    np.testing.assert_array_equal(computed(lambda t: nl.add(nl.zeros_like(t), 1.0), x), np.ones(SHAPE))
    got = computed(lambda t, u: nl.where(nl.greater(t, 0), t, u), x, y)
    np.testing.assert_array_equal(got, np.where(x > 0, x, y))
    got = computed(lambda t: nl.static_cast(t, nl.int32), x, dtype=nl.int32)
    np.testing.assert_array_equal(got, np.rint(x).astype(np.int32))


def test_dropout_of_all_and_nothing(x):
    for function in (nl.dropout, nisa.dropout):
        np.testing.assert_array_equal(computed(lambda t, f=function: f(t, 0.0), x), x)
        np.testing.assert_array_equal(computed(lambda t, f=function: f(t, 1.0), x), 0 * x)


def column(tile):
    return tile[:, 0:1]


INSTRUCTIONS = {
    "scalar_tensor_tensor": (
        lambda t, u: nisa.scalar_tensor_tensor(data=t, op0=np.add, operand0=2.0, op1=np.multiply, operand1=u),
        lambda t, u: (t + 2) * u,
    ),
    "tensor_tensor_scan": (
        lambda t, u: nisa.tensor_tensor_scan(t, u, 0.0, np.multiply, np.add),
        lambda t, u: scan(t, u),
    ),
    "tensor_copy_predicated": (
        lambda t, u: predicated(t, u),
        lambda t, u: np.where(t > 0, t, u),
    ),
    "nc_stream_shuffle": (lambda t, u: shuffled(t), lambda t, u: t[::-1]),
}


def scan(a, b):
    out = np.zeros_like(a, dtype=np.float64)
    for i in range(a.shape[1]):
        out[:, i] = (out[:, i - 1] if i else 0) * a[:, i] + b[:, i]
    return out


def predicated(t, u):
    out = nl.copy(u)
    nisa.tensor_copy_predicated(src=t, dst=out, predicate=nl.greater(t, 0, dtype=nl.uint8))
    return out


def shuffled(t):
    out = nl.zeros_like(t)
    nisa.nc_stream_shuffle(src=t, dst=out, shuffle_mask=list(range(31, -1, -1)))
    return out


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_instructions(name, x, y):
    instruction, oracle = INSTRUCTIONS[name]
    np.testing.assert_allclose(computed(instruction, x, y), oracle(x, y), rtol=1e-4, atol=1e-5)


def test_instructions_that_search(x):
    best = np.sort(x, axis=1)[:, ::-1][:, :8]
    np.testing.assert_array_equal(computed(lambda t: nisa.max8(src=t), x, shape=(32, 8)), best)
    got = computed(
        lambda t: nisa.nc_find_index8(data=t, vals=nisa.max8(src=t)), x, shape=(32, 8), dtype=nl.uint32
    )
    np.testing.assert_array_equal(got, np.argsort(-x, axis=1, kind="stable")[:, :8])
    got = computed(lambda t: nisa.nc_match_replace8(data=t, vals=nisa.max8(src=t), imm=-9.0), x)
    np.testing.assert_array_equal(got, np.where(x >= best[:, 7:8], np.float32(-9), x))


def test_instructions_that_reduce(x):
    def statistics(t):
        return nisa.bn_aggr(nisa.bn_stats(t))

    got = computed(statistics, x, shape=(32, 2))
    np.testing.assert_allclose(got, np.stack([x.mean(1), x.var(1)], 1), rtol=1e-4, atol=1e-6)

    def scalar_reduce(t):
        total = nl.ndarray((nl.par_dim(32), 1), dtype=nl.float32)
        nisa.tensor_scalar_reduce(data=t, op0=np.multiply, operand0=2.0, reduce_op=np.add, reduce_res=total)
        return total

    np.testing.assert_allclose(computed(scalar_reduce, x, shape=(32, 1)), 2 * x.sum(1, keepdims=True), rtol=1e-4,
                               atol=1e-5)
    got = computed(lambda t: nisa.tensor_partition_reduce(np.add, t), x, shape=(1, 40))
    np.testing.assert_allclose(got, x.sum(0, keepdims=True), rtol=1e-4, atol=1e-5)


def test_instructions_that_select(x):
    lowest = np.finfo(np.float32).min

    def ranges(t):
        low, high = nisa.memset((32, 1), 3, nl.float32), nisa.memset((32, 1), 9, nl.float32)
        return nisa.range_select(on_true_tile=t, comp_op0=np.greater_equal, comp_op1=np.less, bound0=low, bound1=high)

    columns = np.arange(40)
    np.testing.assert_array_equal(computed(ranges, x), np.where((columns >= 3) & (columns < 9), x, lowest))
    assert nisa.fp32.min == lowest and nl.fp32.min == lowest

    def selected(t):
        out = nl.ndarray((nl.par_dim(32), 40), dtype=nl.float32)
        nisa.select_reduce(dst=out, predicate=nl.greater(t, 0, dtype=nl.uint8), on_true=t, on_false=-5.0)
        return out

    np.testing.assert_array_equal(computed(selected, x), np.where(x > 0, x, np.float32(-5)))


def test_gathers_and_sequences(rng):
    data = rng.integers(0, 100, (16, 40)).astype(np.float32)
    index = rng.integers(0, 40, (16, 2)).astype(np.uint16)
    got = computed(lambda t, i: nisa.local_gather(t, i, 1, 32), data, index, shape=(16, 32))
    order = index.T.ravel()  # the indices of 16 partitions, column by column
    np.testing.assert_array_equal(got, data[:, order])
    segments = np.array([[1, 1, 2, 2, 2, 3]], np.float32)
    got = computed(lambda s: nisa.sequence_bounds(segment_ids=s), segments, shape=(1, 2, 6))
    np.testing.assert_array_equal(got[0], [[0, 0, 2, 2, 2, 5], [2, 2, 5, 5, 5, 6]])


def test_moves_between_memories(x, rng):
    assert nl.hbm.space == nl.private_hbm.space == "HBM" and nl.uint16 == np.uint16 and nl.tfloat32.itemsize == 4
    np.testing.assert_array_equal(computed(lambda t: nisa.dma_transpose(t), x, shape=(40, 32)), x.T)
    indices = rng.integers(0, 40, SHAPE).astype(np.uint32)
    got = computed(lambda t, i: nl.gather_flattened(t, i), x, indices)
    np.testing.assert_array_equal(got, np.take_along_axis(x, indices.astype(np.int64), 1))

    def through_hbm(t):
        kept = nl.ndarray(SHAPE, dtype=nl.float32, buffer=nl.private_hbm)
        nl.store(kept, t)
        out = nl.empty_like(t)
        out[...] = nl.load(kept)
        return out

    np.testing.assert_array_equal(computed(through_hbm, x), x)
    assert [list(loop(1, 7, 2)) for loop in (nl.affine_range, nl.sequential_range, nl.static_range)] == [[1, 3, 5]] * 3


def test_engines_and_enumerations(x):
    for engine in (nisa.vector_engine, nisa.scalar_engine, nisa.gpsimd_engine, nisa.unknown_engine):
        np.testing.assert_array_equal(computed(lambda t, e=engine: nisa.tensor_copy(t, engine=e), x), x)
    assert nisa.tensor_engine == nisa.engine.tensor and nisa.dma_engine == nisa.engine.dma
    assert {c.name for c in nisa.reduce_cmd} >= {"idle", "reset", "reduce", "reset_reduce"}
    assert {c.name for c in nisa.oob_mode} == {"error", "skip"} and nisa.dge_mode.none.name == "none"
    seen = []
    computed(lambda t: seen.append(nisa.get_nc_version()) or t, x)
    assert seen == [nisa.nc_version.gen3]
    assert nl.bfp16.min == float("-inf") and nl.bool_ == np.bool_


def test_decorators_and_placements_of_the_compiler(x):
    @ncc.enable_stack_allocator
    @ncc.skip_middle_end_transformations
    @ncc.force_auto_alloc
    @nki.jit
    def kernel(a: nt.tensor):
        tile = nl.ndarray((nl.par_dim(32), 40), dtype=a.dtype, buffer=ncc.sbuf.auto_alloc())
        total = nl.zeros((nl.par_dim(32), 40), dtype=nl.float32, buffer=ncc.psum.auto_alloc())
        tile[...] = nl.load(a)
        total[...] = nl.copy(tile)
        out = nl.ndarray(SHAPE, dtype=a.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.copy(total))
        return out

    np.testing.assert_array_equal(kernel(x), x)

    def banks(t):
        place = ncc.psum.alloc(lambda index, partitions, size: (1, 0, 0))
        tile = nl.ndarray((nl.par_dim(32), 40), dtype=nl.float32, buffer=place)
        tile[...] = nl.copy(t)
        return nl.copy(tile)

    np.testing.assert_array_equal(computed(banks, x), x)
    assert repr(ncc.no_reorder()) == "no_reorder"


def test_allocation_functions_may_have_their_first_parameter_bound():
    def bank_of(offset, idx, pdim_size, fdim_size):
        assert (idx, pdim_size, fdim_size) == ((), 32, 160)
        return offset, 0, 0

    def moved(t):
        place = ncc.psum.alloc(functools.partial(bank_of, offset=3))
        tile = nl.ndarray((nl.par_dim(32), 40), dtype=nl.float32, buffer=place)
        tile[...] = nl.copy(t)
        return nl.copy(tile)

    x = np.arange(32 * 40, dtype=np.float32).reshape(32, 40)
    np.testing.assert_array_equal(computed(moved, x), x)


REFUSED = {
    "nki.FrameworkKernel": lambda: type("Own", (nki.FrameworkKernel,), {}),
    "nki.compiler.multi_buffer": lambda: ncc.multi_buffer(2),
    "nki.compiler.allocation_scope": lambda: ncc.allocation_scope(),
    "nisa.builtin_custom_op": lambda: nisa.builtin_custom_op(),
    "nl.all_reduce": lambda: nl.all_reduce(1, np.add, [0]),
    "nl.gemm_grid": lambda: nl.gemm_grid(),
    "nl.gemm_stationary_grid": lambda: nl.gemm_stationary_grid(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_names_that_say_why_they_do_not_run(name):
    with pytest.raises(trnsim.Unsupported, match=f"{name}, because"):
        REFUSED[name]()
