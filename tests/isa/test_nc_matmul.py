"""nki.isa.nc_matmul against numpy: products exact, fp32 additions over k in ascending order."""

import numpy as np
import pytest
import trnsim
from vector_oracle import convert, fp32, load, new, nisa, nl, same, sample, store

INPUTS = ("float32", "bfloat16", "float16", "float8_e4m3", "float8_e5m2")


def chained(stationary, moving):
    """fma chains from +0: the product is exact in fp64, each sum is rounded once to fp32."""
    a, b = fp32(stationary).astype(np.float64), fp32(moving).astype(np.float64)
    result = np.zeros((a.shape[1], b.shape[1]), np.float32)
    for k in range(len(a)):
        result = (result + np.outer(a[k], b[k])).astype(np.float32)
    return result


def copy_of(psum, name="float32"):
    result = new(psum.shape, name)
    nisa.tensor_copy(dst=result, src=psum)
    return store(result)


def multiplied(run, stationary, moving, chip="trn2", out="float32", **arguments):
    def kernel(a, b):
        psum = new((a.shape[1], b.shape[1]), out, nl.psum)
        nisa.nc_matmul(dst=psum, stationary=load(a), moving=load(b), **arguments)
        return copy_of(psum, out)

    return run(kernel, stationary, moving, chip=chip)


def refused(run, rule, kernel, *arrays, chip="trn2"):
    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, *arrays, chip=chip)
    assert error.value.rule == "nc_matmul." + rule, str(error.value)


@pytest.mark.parametrize("k, m, n", [
    (1, 1, 1), (128, 128, 512), (128, 1, 1), (1, 128, 512), (3, 5, 7), (127, 65, 511), (64, 33, 129), (128, 17, 100),
])
def test_shapes(run, k, m, n):
    a, b = sample((k, m), "bfloat16"), sample((k, n), "bfloat16", seed=1)
    same(multiplied(run, a, b), chained(a, b))


@pytest.mark.parametrize("moving", INPUTS)
@pytest.mark.parametrize("stationary", INPUTS)
def test_dtypes(run, stationary, moving):
    a, b = sample((100, 20), stationary), sample((100, 70), moving, seed=1)
    if (stationary == "float32") == (moving == "float32"):
        same(multiplied(run, a, b), chained(a, b))
    else:
        def kernel(x, y):
            nisa.nc_matmul(dst=new((20, 70), buffer=nl.psum), stationary=load(x), moving=load(y))

        refused(run, "dtype_mix", kernel, a, b)


def test_fp8_of_the_newest_generation(run):
    a, b = sample((100, 20), "float8_e4m3fn"), sample((100, 70), "float8_e4m3fn", seed=1)
    same(multiplied(run, a, b, "trn3"), chained(a, b))


def test_v4_writes_bfloat16(run):
    a, b = sample((100, 20), "bfloat16"), sample((100, 70), "bfloat16", seed=1)
    same(multiplied(run, a, b, "trn3", "bfloat16"), convert(chained(a, b), "bfloat16"))


@pytest.mark.parametrize("columns, out", [(513, "float32"), (4096, "float32"), (1025, "bfloat16"), (8192, "bfloat16")])
def test_v4_spans_banks(run, columns, out):
    a, b = sample((16, 20), "float8_e4m3fn"), sample((16, columns), "bfloat16", seed=1)
    same(multiplied(run, a, b, "trn3", out), convert(chained(a, b), out))


@pytest.mark.parametrize("out", ("float32", "bfloat16"))
def test_v4_accumulates_over_several_banks(run, out):
    a, b = sample((3, 16, 20), "bfloat16"), sample((3, 16, 1500), "bfloat16", seed=1)

    def kernel(x, y):
        psum = new((20, 1500), out, nl.psum)
        for i in range(3):
            nisa.nc_matmul(dst=psum, stationary=load(x[i]), moving=load(y[i]))
        return copy_of(psum, out)

    expected = convert(chained(a[0], b[0]), out)
    for i in (1, 2):
        expected = convert(fp32(expected) + chained(a[i], b[i]), out)
    same(run(kernel, a, b, chip="trn3"), expected)


@pytest.mark.parametrize("names", [("float8_e4m3", "float8_e4m3fn"), ("float8_e4m3fn", "float8_e4m3")])
def test_the_two_kinds_of_e4m3_do_not_mix(run, names):
    def kernel(x, y):
        nisa.nc_matmul(dst=new((20, 20), buffer=nl.psum), stationary=load(x), moving=load(y))

    refused(run, "dtype_mix", kernel, sample((16, 20), names[0]), sample((16, 20), names[1]), chip="trn3")


def test_infinities_and_nan(run):
    a = np.array([[1, 2], [np.inf, 1]], np.float32)
    b = np.array([[1, 0, np.nan], [1, 0, 1]], np.float32)
    with np.errstate(all="ignore"):
        same(multiplied(run, a, b), chained(a, b))


@pytest.mark.parametrize("name", ("bfloat16", "float32"))
def test_strided_operands_and_several_free_dimensions(run, name):
    a, b = sample((40, 3, 8), name), sample((40, 5, 6), name, seed=1)

    def kernel(x, y):
        psum = new((12, 2, 10), buffer=nl.psum)
        nisa.nc_matmul(dst=psum, stationary=load(x)[:, :, 0:8:2], moving=load(y)[:, :, 1:5])
        return copy_of(psum)

    expected = chained(a[:, :, ::2].reshape(40, 12), b[:, :, 1:5].reshape(40, 20))
    same(run(kernel, a, b), expected.reshape(12, 2, 10))


def test_every_second_column(run):
    a, b = sample((40, 32), "bfloat16"), sample((40, 90), "bfloat16", seed=1)

    def kernel(x, y):
        psum = new((16, 60), buffer=nl.psum)
        nisa.nc_matmul(dst=psum[:, 0:60:2], stationary=load(x)[:, 0:32:2], moving=load(y)[:, 0:90:3])
        result = new((16, 30))
        nisa.tensor_copy(dst=result, src=psum[:, 0:60:2])
        return store(result)

    same(run(kernel, a, b), chained(a[:, ::2], b[:, ::3]))


@pytest.mark.parametrize("accumulate", [(False, True, True), (None, None, None), (None, True, None)])
def test_accumulation_adds_finished_chains(run, accumulate):
    a, b = sample((3, 64, 20), "bfloat16"), sample((3, 64, 50), "bfloat16", seed=1)

    def kernel(x, y):
        psum = new((20, 50), buffer=nl.psum)
        for i, flag in enumerate(accumulate):
            nisa.nc_matmul(dst=psum, stationary=load(x[i]), moving=load(y[i]), accumulate=flag)
        return copy_of(psum)

    expected = chained(a[0], b[0])
    for i in (1, 2):
        expected = expected + chained(a[i], b[i])
    same(run(kernel, a, b), expected)


def test_overwriting_starts_anew(run):
    a, b = sample((64, 20), "bfloat16"), sample((64, 50), "bfloat16", seed=1)

    def kernel(x, y):
        psum, x, y = new((20, 50), buffer=nl.psum), load(x), load(y)
        for _ in range(2):
            nisa.nc_matmul(dst=psum, stationary=x, moving=y, accumulate=False)
        return copy_of(psum)

    same(run(kernel, a, b), chained(a, b))


def test_none_overwrites_in_each_of_the_tensors_that_share_a_bank(run):
    """Kernels place the tiles of several groups in one bank; what another tile's group left there is not added to."""
    x, y = sample((64, 20), "bfloat16"), sample((64, 30), "bfloat16", seed=1)

    def kernel(x, y):
        x, y = load(x), load(y)
        out = nl.ndarray((3, 20, 30), nl.float32, nl.shared_hbm)
        groups = [nl.ndarray((20, 30), nl.float32, nl.psum, address=(0, 2048)) for _ in range(3)]
        for count, group in enumerate(groups, start=1):
            for _ in range(count):
                nisa.nc_matmul(dst=group, stationary=x, moving=y)
            nisa.dma_copy(dst=out[count - 1], src=nl.copy(group))
        return out

    result = run(kernel, x, y)
    once = x.astype(np.float32).T @ y.astype(np.float32)
    for count in (1, 2, 3):
        np.testing.assert_allclose(result[count - 1], count * once, rtol=1e-5, atol=1e-4)


def test_none_accumulates_only_where_a_matmul_wrote(run):
    a, b = sample((64, 20), "bfloat16"), sample((64, 50), "bfloat16", seed=1)

    def kernel(x, y):
        psum, x, y = new((20, 50), buffer=nl.psum), load(x), load(y)
        nisa.memset(dst=psum, value=100.0)
        nisa.nc_matmul(dst=psum[:, 10:30], stationary=x, moving=y[:, 10:30])
        nisa.nc_matmul(dst=psum, stationary=x, moving=y)
        return copy_of(psum)

    expected = chained(a, b)
    expected[:, 10:30] *= 2
    same(run(kernel, a, b), expected)


def test_accumulating_on_what_nothing_wrote(run):
    def kernel(x):
        psum, x = new((20, 20), buffer=nl.psum), load(x)
        nisa.nc_matmul(dst=psum, stationary=x, moving=x, accumulate=True)

    refused(run, "accumulate", kernel, sample((64, 20), "bfloat16"))


@pytest.mark.parametrize("value", [0.0, 100.0])
def test_accumulating_on_what_no_matmul_wrote_adds_with_a_warning(run, value):
    a, b = sample((64, 20), "bfloat16"), sample((64, 50), "bfloat16", seed=1)

    def kernel(x, y):
        psum, x, y = new((20, 50), buffer=nl.psum), load(x), load(y)
        nisa.memset(dst=psum, value=value)
        for _ in range(2):
            nisa.nc_matmul(dst=psum, stationary=x, moving=y, accumulate=True)
        return copy_of(psum)

    with pytest.warns(UserWarning, match="undefined on NeuronCore-v3") as seen:
        same(run(kernel, a, b), np.float32(value) + chained(a, b) + chained(a, b))
    assert len(seen) == 1


@pytest.mark.parametrize("name", ("bfloat16", "float16", "float32", "int32"))
def test_transpose_moves_bits(run, name):
    x = sample((50, 30), name)
    if name not in ("int32",):
        x.reshape(-1)[:3] = [np.nan, np.inf, -0.0]
    identity = np.eye(50, dtype=x.dtype)
    if name == "int32":
        def kernel(a, b):
            nisa.nc_matmul(dst=new((30, 50), name, nl.psum), stationary=load(a), moving=load(b), is_transpose=True)

        return refused(run, "dtype", kernel, x, identity)
    same(multiplied(run, x, identity, out=name, is_transpose=True), x.T)


def test_transpose_permutes(run):
    x = sample((50, 30), "bfloat16")
    order = np.random.default_rng(0).permutation(50)
    permutation = np.eye(50, dtype=np.float32)[:, order].astype(x.dtype)
    same(multiplied(run, x, permutation, out="bfloat16", is_transpose=True), x[order].T)


def test_v2_transposes_by_arithmetic(run):
    x = sample((50, 30), "bfloat16")
    identity = np.eye(50, dtype=np.float32).astype(x.dtype)
    same(multiplied(run, x, identity, "trn1", is_transpose=True), fp32(x.T))


@pytest.mark.parametrize("names", [("float8_e4m3", "float8_e4m3"), ("float8_e4m3", "float8_e5m2")])
def test_double_row(run, names):
    a, b = sample((64, 2, 24), names[0]), sample((64, 2, 100), names[1], seed=1)

    def kernel(x, y):
        psum = new((24, 100), buffer=nl.psum)
        nisa.nc_matmul(dst=psum, stationary=load(x), moving=load(y), perf_mode=nisa.matmul_perf_mode.double_row)
        return copy_of(psum)

    same(run(kernel, a, b), chained(a.reshape(128, 24), b.reshape(128, 100)))


@pytest.mark.parametrize("position, size, rows, columns", [
    ((0, 0), (128, 128), 128, 128), ((64, 0), (64, 128), 64, 128), ((32, 96), (32, 32), 32, 32),
    ((0, 64), (128, 64), 100, 40),
])
def test_array_tiles(run, position, size, rows, columns):
    a, b = sample((rows, columns), "bfloat16"), sample((rows, 50), "bfloat16", seed=1)
    same(multiplied(run, a, b, tile_position=position, tile_size=size), chained(a, b))


@pytest.mark.parametrize("position, size, chip", [
    ((0, 0), (16, 128), "trn2"), ((32, 0), (64, 128), "trn2"), ((0, 128), (64, 64), "trn2"), ((0, 0), (32, 32), "trn1"),
    ((0, 0), (32, 32), "trn2"), ((0,), (64, 64), "trn2"), ((0, 0), (), "trn2"),
])
def test_array_tile_rules(run, position, size, chip):
    def kernel(x):
        x = load(x)
        nisa.nc_matmul(dst=new((20, 20), buffer=nl.psum), stationary=x, moving=x, tile_position=position,
                       tile_size=size)

    refused(run, "array_tile", kernel, sample((40, 20), "bfloat16"), chip=chip)


@pytest.mark.parametrize("rule, a, b, dst, name", [
    ("stationary_free", (16, 129), (16, 10), (128, 10), "float32"),
    ("moving_free", (16, 10), (16, 513), (10, 513), "float32"),
    ("dst_shape", (16, 10), (16, 20), (10, 21), "float32"),
    ("dst_shape", (16, 10), (16, 20), (11, 20), "float32"),
    ("same_partitions", (16, 10), (17, 20), (10, 20), "float32"),
    ("dst_dtype", (16, 10), (16, 20), (10, 20), "bfloat16"),
])
def test_rules(run, rule, a, b, dst, name):
    def kernel(x, y):
        nisa.nc_matmul(dst=new(dst, name, nl.psum), stationary=load(x), moving=load(y))

    refused(run, rule, kernel, sample(a, "bfloat16"), sample(b, "bfloat16"))


def test_result_within_one_bank(run):
    def kernel(x, y):
        psum = new((10, 1024), buffer=nl.psum)
        nisa.nc_matmul(dst=psum[:, 256:768], stationary=load(x), moving=load(y))

    refused(run, "bank", kernel, sample((16, 10), "bfloat16"), sample((16, 512), "bfloat16"))


@pytest.mark.parametrize("columns, out", [(4096, "float32"), (8192, "bfloat16")])
def test_v4_limits(run, columns, out):
    def kernel(x, y):
        nisa.nc_matmul(dst=new((10, columns), out, nl.psum), stationary=load(x), moving=load(y))

    refused(run, "moving_free", kernel, sample((16, 10), "bfloat16"), sample((16, columns + 1), "bfloat16"),
            chip="trn3")


@pytest.mark.parametrize("name, chip", [("int8", "trn2"), ("int32", "trn2"), ("float8_e4m3fn", "trn2")])
def test_dtypes_that_the_array_does_not_read(run, name, chip):
    def kernel(x):
        x = load(x)
        nisa.nc_matmul(dst=new((10, 10), buffer=nl.psum), stationary=x, moving=x)

    refused(run, "dtype", kernel, sample((16, 10), name), chip=chip)


@pytest.mark.parametrize("shape, name, chip, rule, arguments", [
    ((16, 2, 10), "bfloat16", "trn2", "double_row", {}),
    ((16, 3, 10), "float8_e4m3", "trn2", "double_row", {}),
    ((16, 20), "float8_e4m3", "trn2", "double_row", {}),
    ((16, 2, 10), "float8_e4m3", "trn2", "double_row", {"is_transpose": True}),
    ((16, 2, 10), "float8_e4m3", "trn1", "generation", {}),
])
def test_double_row_rules(run, shape, name, chip, rule, arguments):
    def kernel(x):
        x = load(x)
        nisa.nc_matmul(dst=new((10, 10), buffer=nl.psum), stationary=x, moving=x,
                       perf_mode=nisa.matmul_perf_mode.double_row, **arguments)

    refused(run, rule, kernel, sample(shape, name), chip=chip)


def test_transpose_keeps_the_dtype(run):
    def kernel(x):
        x = load(x)
        nisa.nc_matmul(dst=new((16, 16), buffer=nl.psum), stationary=x, moving=x, is_transpose=True)

    refused(run, "transpose_dtype", kernel, np.eye(16, dtype=np.float32).astype(sample((1,), "bfloat16").dtype))


@pytest.mark.parametrize("buffers", [("psum", "sbuf", "psum"), ("sbuf", "psum", "psum"), ("sbuf", "sbuf", "sbuf")])
def test_buffers(run, buffers):
    def kernel(x):
        stationary, moving = (load(x, None if buffer == "sbuf" else nl.psum) for buffer in buffers[:2])
        nisa.nc_matmul(dst=new((10, 10), buffer=getattr(nl, buffers[2])), stationary=stationary, moving=moving)

    refused(run, "buffer", kernel, sample((16, 10), "bfloat16"))
