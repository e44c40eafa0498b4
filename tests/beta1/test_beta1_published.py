"""What published kernels of Beta 1 use beside the usual: many free axes, remainders, limits of types, annotations."""

import inspect

import ml_dtypes
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np
import pytest


def test_elementwise_functions_take_more_free_axes_than_an_access_pattern_has(rng):
    @nki.jit
    def corners(x):
        """The eight neighbours of each point of a 3-D grid, in a tile with six free axes."""
        p, d, h, w = x.shape
        out = nl.ndarray((p, 2, 2, 2, d - 1, h - 1, w - 1), dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        i_p, i_d, i_h, i_w, j_d, j_h, j_w = nl.mgrid[0:p, 0:2, 0:2, 0:2, 0 : d - 1, 0 : h - 1, 0 : w - 1]
        twice = nl.multiply(tile[i_p, i_d + j_d, i_h + j_h, i_w + j_w], 2.0)
        total = nl.add(twice, tile[i_p, j_d, j_h, j_w])
        for a in range(2):
            for b in range(2):
                nl.store(out[:, a, b], total[:, a, b])
        return out

    x = rng.standard_normal((8, 3, 4, 5)).astype(np.float32)
    result = corners(x)
    for a in range(2):
        for b in range(2):
            for c in range(2):
                expected = 2 * x[:, a : a + 2, b : b + 3, c : c + 4] + x[:, :2, :3, :4]
                assert np.array_equal(result[:, a, b, c], expected)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("divisor", [1, 3, 38, 59, 1000])
@pytest.mark.parametrize("as_operator", [False, True])
def test_remainders_of_tiles_by_numbers_are_exact(dtype, divisor, as_operator):
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        nl.store(out, tile % divisor if as_operator else nl.mod(tile, divisor, dtype=x.dtype))
        return out

    x = np.arange(-4096, 12288, dtype=dtype).reshape(128, 128)
    assert np.array_equal(kernel(x), np.mod(x, divisor))


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.int16])
@pytest.mark.parametrize("kind", ["operator", "function", "tiles"])
def test_integers_divide_to_fractions(dtype, kind):
    """As numpy's true division: an index kernel takes the floor of it."""

    @nki.jit
    def kernel(x, y):
        out = nl.ndarray(x.shape, dtype=np.float32, buffer=nl.shared_hbm)
        tile, other = nl.load(x), nl.load(y)
        result = tile / 4 if kind == "operator" else nl.divide(tile, 4 if kind == "function" else other)
        nl.store(out, nl.floor(result, dtype=np.float32))
        return out

    x = np.arange(120, dtype=dtype).reshape(8, 15)
    assert np.array_equal(kernel(x, np.full_like(x, 4)), np.floor(x / 4))


def test_a_remainder_by_a_number_that_is_not_positive_is_refused(refused):
    @nki.jit
    def kernel(x):
        return nl.mod(nl.load(x), -3)

    with refused("language.argument", "positive", "-3"):
        kernel(np.ones((4, 4), np.float32))


@pytest.mark.parametrize("dtype, limits", [(nl.float32, np.finfo(np.float32)), (np.float16, np.finfo(np.float16)),
                                           (nl.bfloat16, ml_dtypes.finfo(ml_dtypes.bfloat16))])
def test_limits_of_types(dtype, limits):
    assert nl.finfo(dtype).min == limits.min and nl.finfo(dtype).max == limits.max


def test_annotations_of_the_package_itself():
    @nki.jit
    def kernel(x: nki.tensor, n: int) -> nki.tensor[4, 4]:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.load(x) * n)
        return out

    assert (kernel(np.ones((4, 4), np.float32), 3) == 3).all()


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize("masked", [False, True])
def test_an_index_tile_chooses_along_any_dimension(rng, at, masked):
    count, used = 16, 11 if masked else 16

    @nki.jit
    def kernel(x, rows):
        gathered = nl.ndarray((count, 6), dtype=x.dtype, buffer=nl.shared_hbm)
        scattered = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        filled = nl.load(x.reshape((20, -1)))
        nl.store(scattered.reshape((20, -1)), filled)
        index, i_p, i_f = nl.load(rows), nl.arange(count)[:, None], nl.arange(6)[None, :]
        place = [index if d == at else 2 if d == (at + 1) % 3 else i_f for d in range(3)]
        mask = i_p < used
        values = nl.ndarray((count, 6), dtype=x.dtype, buffer=nl.sbuf)
        values[...] = 0
        values[i_p, i_f] = nl.load(x[tuple(place)], mask=mask)
        nl.store(gathered, values)
        nl.store(scattered[tuple(place)], nl.multiply(values, 2.0), mask=mask)
        return gathered, scattered

    shape = [0, 0, 0]
    shape[at], shape[(at + 1) % 3], shape[(at + 2) % 3] = 20, 20, 6
    x = rng.standard_normal(shape).astype(np.float32)
    rows = rng.permutation(20)[:count].astype(np.int32)[:, None]
    moved = np.moveaxis(x, (at, (at + 1) % 3), (0, 1))  # rows, the fixed dimension, the rest
    plane = moved[:, 2]
    expected = np.zeros((count, 6), np.float32)
    expected[:used] = plane[rows[:used, 0]]
    changed = x.copy()
    np.moveaxis(changed, (at, (at + 1) % 3), (0, 1))[rows[:used, 0], 2] = 2 * expected[:used]
    gathered, scattered = kernel(x, rows)
    assert np.array_equal(gathered, expected)
    assert np.array_equal(scattered, changed)


def test_two_index_tiles_in_a_subscript_are_refused(refused):
    @nki.jit
    def kernel(x, rows):
        index = nl.load(rows)
        return nl.load(x[index, index])

    with refused("index.tile", "takes one tile of indices"):
        kernel(np.zeros((8, 8), np.float32), np.zeros((8, 1), np.int32))


@pytest.mark.parametrize("use", ["pushed out and back", "filled"])
def test_a_whole_tile_may_have_more_free_axes_than_an_access_pattern(rng, use):
    @nki.jit
    def kernel(x):
        out = nl.ndarray((8, 2048), dtype=x.dtype, buffer=nl.shared_hbm)
        wide = nl.zeros((8, 2, 2, 2, 4, 8, 8), dtype=x.dtype, buffer=nl.sbuf)
        if use == "pushed out and back":
            wide[...] = nl.load(x).reshape(wide.shape)
            for _ in range(3):
                other = nl.ndarray((8, 30000), dtype=x.dtype, buffer=nl.sbuf)
                other[...] = 1.0
        nl.store(out, wide.reshape((8, 2048)))
        return out

    x = rng.standard_normal((8, 2048)).astype(np.float32)
    assert np.array_equal(kernel(x), x if use != "filled" else np.zeros_like(x))


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize("shape", [(32, 32), (128, 128), (64, 96), (33, 40), (5, 7)])
def test_the_vector_engine_transposes_in_blocks(rng, opcodes, dtype, shape):
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape[::-1], dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nisa.nc_transpose(nl.load(x), engine=nisa.vector_engine))
        return out

    x = rng.standard_normal(shape).astype(dtype)
    assert np.array_equal(kernel(x), x.T)
    assert opcodes().count("nc_transpose") == -(-shape[0] // 32) * -(-shape[1] // 32)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, nl.float8_e4m3, nl.float8_e5m2])
@pytest.mark.parametrize("shape", [(128, 128), (17, 40)])
@pytest.mark.parametrize("assigned", [True, False])
def test_the_tensor_engine_transposes_bytes(rng, dtype, shape, assigned):
    """It writes them two apart into PSUM; the kernel sees the plain transpose."""

    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape[::-1], dtype=x.dtype, buffer=nl.shared_hbm)
        if assigned:
            turned = nl.ndarray(x.shape[::-1], dtype=x.dtype, buffer=nl.sbuf)
            turned[...] = nisa.nc_transpose(nl.load(x))
        else:
            turned = nisa.nc_transpose(nl.load(x))
        nl.store(out, turned)
        return out

    x = rng.integers(0, 100, shape).astype(nl.static_cast(np.zeros(1), dtype).dtype)
    assert np.array_equal(kernel(x).view(np.uint8), np.ascontiguousarray(x.T).view(np.uint8))


@pytest.mark.parametrize("dtype", [nl.int32, nl.float32])
@pytest.mark.parametrize("in_variable", [False, True])
def test_products_add_up_in_psum_of_any_type(rng, dtype, in_variable):
    """The Tensor engine accumulates floats; integers are added by the Vector engine."""

    @nki.jit
    def kernel(x, y):
        out = nl.ndarray((32, 48), dtype=nl.float32, buffer=nl.shared_hbm)
        total = nl.zeros((32, 48), dtype, buffer=nl.psum)
        left, right = nl.load(x), nl.load(y)
        for _ in nl.affine_range(3):
            if in_variable:
                product = nl.matmul(left, right, transpose_x=True)
                total += product
            else:
                total += nl.matmul(left, right, transpose_x=True)
        nl.store(out, nl.copy(total, dtype=nl.float32))
        return out

    x, y = (rng.integers(-9, 9, (64, n)).astype(np.float32) for n in (32, 48))
    assert np.array_equal(kernel(x, y), 3 * (x.T @ y))


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_a_column_of_any_number_of_axes_goes_beside_a_tile(rng, axes):
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        column = nl.sum(tile, axis=1)
        for _ in range(axes - 1):
            column = column[:, None]
        nl.store(out, nl.multiply(tile, column) if axes < 3 else nl.multiply(column, tile))
        return out

    x = rng.integers(-8, 8, (16, 24)).astype(np.float32)
    assert np.array_equal(kernel(x), x * x.sum(axis=1, keepdims=True))


class TestWhatAMaskLeavesOut:
    """An instruction whose mask leaves nothing writes nothing; its destination may be read by others whose results
    are masked too."""

    def kernel(self, rows, masked_store, touched=True):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.shared_hbm)
            nl.store(out, nl.load(x))
            i_p, i_f = nl.mgrid[0:8, 0:8]
            total = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.psum)
            if touched:
                tile = nl.load(x)
                total += nisa.nc_matmul(tile, tile, mask=i_p < rows)
            copied = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.sbuf)
            copied[...] = nl.copy(total)
            nl.store(out, copied, mask=i_p < rows if masked_store else None)
            return out

        return kernel

    x = np.arange(64, dtype=np.float32).reshape(8, 8)

    @pytest.mark.filterwarnings("default")
    def test_is_nan_that_goes_nowhere(self):
        with pytest.warns(UserWarning, match="never written"):
            assert np.array_equal(self.kernel(0, True)(self.x), self.x)

    def test_is_written_where_the_mask_leaves_all(self):
        assert np.array_equal(self.kernel(8, True)(self.x), self.x.T @ self.x)

    @pytest.mark.filterwarnings("ignore:.*never written")
    def test_is_seen_where_it_is_stored(self):
        assert np.isnan(self.kernel(0, False)(self.x)).all()

    def test_is_no_excuse_for_a_tile_that_nobody_was_to_write(self, refused):
        with refused("memory.never_written", "never written"):
            self.kernel(0, True, touched=False)(self.x)


def test_a_benchmark_takes_shapes_for_arrays():
    import neuronxcc.nki.typing as nt
    import trnsim

    @nki.jit
    def kernel(x, factor):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.multiply(nl.load(x), factor))
        return out

    timed = nki.benchmark(warmup=1, iters=2)(kernel)
    result = timed(nt.tensor[[128, 256], nl.bfloat16], 2.0)
    described = timed.benchmark_result.nc_latency.get_latency_percentile(99)
    assert result.shape == (128, 256) and result.dtype == ml_dtypes.bfloat16
    timed(np.ones((128, 256), ml_dtypes.bfloat16), 2.0)
    assert timed.benchmark_result.nc_latency.get_latency_percentile(99) == described
    assert trnsim.session.settings.timing_only is False


@pytest.mark.parametrize("annotation", ["tensor", "tensor[128, 256]", "tensor[[128, 256]]"])
def test_a_shape_without_a_type_is_no_array(refused, annotation):
    import neuronxcc.nki.typing as nt

    timed = nki.benchmark(nki.jit(lambda x: x))
    with refused("benchmark.argument", "needs a shape and a dtype"):
        timed(eval(annotation, {"tensor": nt.tensor}))


def test_the_module_of_constants_can_be_imported():
    import neuronxcc.nki.language.constants as constants

    with pytest.raises(AttributeError, match="constants.pmax: no public document"):
        _ = constants.pmax


@pytest.mark.parametrize("name", [
    n for n in dir(nisa) if inspect.isfunction(getattr(nisa, n)) and n not in ("builtin_custom_op", "get_nc_version")
    and not n.startswith("_")
])
def test_every_instruction_takes_a_name(name):
    with pytest.raises(Exception) as caught:  # noqa: PT011  (arguments are missing)
        getattr(nisa, name)(name="mine")
    assert "'name'" not in str(caught.value)


def test_a_name_changes_nothing(rng):
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        tile[...] = nisa.tensor_scalar(tile, np.multiply, 2.0, name="twice")
        nl.store(out, nisa.activation(np.abs, tile, name="positive"))
        return out

    x = rng.standard_normal((8, 8)).astype(np.float32)
    assert np.array_equal(kernel(x), np.abs(2 * x))


def test_numpys_copy_is_an_operator(rng):
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nisa.activation(np.copy, nl.load(x), scale=-1.0))
        return out

    x = rng.standard_normal((8, 8)).astype(np.float32)
    assert np.array_equal(kernel(x), -x)
