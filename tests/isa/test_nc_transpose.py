"""nki.isa.nc_transpose against numpy."""

import numpy as np
import pytest
from vector_oracle import DTYPES, load, new, nisa, nl, refused, same, sample, store

TWO_BYTES_AND_MORE = [name for name in DTYPES if not name.startswith("float8") and name not in ("int8", "uint8")]


def transposed(run, x, buffer="psum", chip="trn2", **arguments):
    def kernel(tensor):
        tile = load(tensor)
        result = nl.ndarray((x.shape[1], x.shape[0]), dtype=tensor.dtype, buffer=getattr(nl, buffer))
        nisa.nc_transpose(dst=result, data=tile, **arguments)
        if buffer == "sbuf":
            return store(result)
        copy = nl.ndarray(result.shape, dtype=result.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=copy, src=result)
        return store(copy)

    return run(kernel, x, chip=chip)


@pytest.mark.parametrize("shape", [(1, 1), (1, 128), (128, 1), (128, 128), (33, 5), (127, 65)])
def test_tensor_engine_shapes(run, shape):
    x = sample(shape)
    same(transposed(run, x), x.T)


@pytest.mark.parametrize("name", TWO_BYTES_AND_MORE)
def test_tensor_engine_dtypes(run, name):
    x = sample((48, 80), name)
    same(transposed(run, x), x.T)


@pytest.mark.parametrize("shape", [(1, 1), (32, 32), (5, 31), (1, 32)])
@pytest.mark.parametrize("name", DTYPES)
def test_vector_engine(run, name, shape):
    x = sample(shape, name)
    same(transposed(run, x, "sbuf"), x.T)


def test_vector_engine_writes_psum_when_asked(run):
    x = sample((32, 16))
    same(transposed(run, x, engine=nisa.vector_engine), x.T)


def test_bits_survive(run):
    bits = np.array([[0x7FC0, 0xFFC1], [0x7F80, 0xFF80], [0x8000, 0x0001]], np.uint16)
    x = bits.view(sample((1, 1), "bfloat16").dtype)
    np.testing.assert_array_equal(transposed(run, x).view(np.uint16), bits.T)


def test_bytes_lie_two_apart_in_psum(run):
    x = sample((40, 24), "float8_e5m2")

    def kernel(tensor):
        result = new((24, 40, 2), "float8_e5m2", nl.psum)
        nisa.nc_transpose(dst=result[:, :, 0], data=load(tensor))
        copy = new((24, 40), "float8_e5m2")
        nisa.tensor_copy(dst=copy, src=result[:, :, 0])
        return store(copy)

    same(run(kernel, x), x.T)


def test_bytes_widen_to_16_bits_with_zeros_on_top(run):
    x = sample((40, 24), "uint8")

    def kernel(tensor):
        result = new((24, 40), "uint16", nl.psum)
        nisa.nc_transpose(dst=result, data=load(tensor))
        copy = new((24, 40), "uint16")
        nisa.tensor_copy(dst=copy, src=result)
        return store(copy)

    same(run(kernel, x), x.T.astype(np.uint16))


def test_strided_data_and_several_free_dimensions(run):
    x = sample((20, 6, 8))

    def kernel(tensor):
        result = new((24, 20), buffer=nl.psum)
        nisa.nc_transpose(dst=result, data=load(tensor)[:, :, 0:8:2])
        copy = new((24, 20))
        nisa.tensor_copy(dst=copy, src=result)
        return store(copy)

    same(run(kernel, x), x[:, :, ::2].reshape(20, 24).T)


def test_v2_multiplies_by_an_identity(run):
    """There a NaN or infinity spoils its column of data, the row of the result."""
    x = sample((8, 4))
    x[3, 1] = np.inf
    expected = x.T.copy()
    expected[1] = np.nan
    expected[1, 3] = np.inf
    same(transposed(run, x, chip="trn1"), expected)


@pytest.mark.parametrize("rule, data, dst, buffer, arguments", [
    ("size", (64, 33), (33, 64), "sbuf", {}),
    ("size", (33, 8), (8, 33), "sbuf", {}),
    ("size", (8, 129), (128, 8), "psum", {}),
    ("dst_shape", (16, 32), (16, 32), "sbuf", {}),
    ("dst_shape", (16, 32), (16, 32), "psum", {}),
    ("buffer", (16, 32), (32, 16), "sbuf", {"engine": "tensor"}),
    ("engine", (16, 32), (32, 16), "sbuf", {"engine": "gpsimd"}),
])
def test_rules(run, rule, data, dst, buffer, arguments):
    arguments = {name: getattr(nisa.engine, value) for name, value in arguments.items()}

    def body(unused, tile):
        nisa.nc_transpose(dst=new(dst, buffer=getattr(nl, buffer)), data=tile, **arguments)

    refused(run, "nc_transpose." + rule, body, sample(data), out=[((1, 1), "float32")])


@pytest.mark.parametrize("rule, data, dst", [
    ("same_dtype", "bfloat16", "float32"), ("byte_pitch", "float8_e4m3", "float8_e4m3"),
])
def test_dtype_rules(run, rule, data, dst):
    def body(unused, tile):
        nisa.nc_transpose(dst=new((16, 16), dst, nl.psum), data=tile)

    refused(run, "nc_transpose." + rule, body, sample((16, 16), data), out=[((1, 1), "float32")])


def test_v2_reads_floats_only(run):
    def body(unused, tile):
        nisa.nc_transpose(dst=new((16, 16), "int32", nl.psum), data=tile)

    refused(run, "nc_transpose.dtype", body, sample((16, 16), "int32"), out=[((1, 1), "float32")], chip="trn1")
