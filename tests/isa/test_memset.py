"""nki.isa.memset."""

import numpy as np
import pytest
from vector_oracle import DTYPES, FLOATS, INTEGERS, SHAPES, convert, host, new, nisa, nl, on_tiles, refused, same, store


def filled(run, shape, name, value, **arguments):
    return on_tiles(run, lambda dst: nisa.memset(dst=dst, value=value, **arguments), out=[(shape, name)])


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(run, shape):
    same(filled(run, shape, "float32", -1.25), np.full(shape, -1.25, np.float32))


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("value", (0, 1, 100))
def test_dtypes(run, name, value):
    same(filled(run, (128, 20), name, value), np.full((128, 20), value, host(name)))


@pytest.mark.parametrize("name", INTEGERS)
def test_integer_limits_are_exact(run, name):
    limits = np.iinfo(name)
    same(filled(run, (2, 3), name, limits.min), np.full((2, 3), limits.min, name))
    same(filled(run, (2, 3), name, limits.max), np.full((2, 3), limits.max, name))


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("value", (0.1, -3.3e4, float("inf"), float("-inf"), float("nan"), 1e-30))
def test_floats_round_to_nearest(run, name, value):
    same(filled(run, (2, 3), name, value), np.full((2, 3), convert(value, name)))


@pytest.mark.parametrize("engine", ("vector", "gpsimd"))
def test_part_of_a_tile(run, engine):
    def body(dst):
        nisa.memset(dst=dst, value=1, engine=getattr(nisa.engine, engine))
        nisa.memset(dst=dst[32:64, 1:9:3], value=2, engine=getattr(nisa.engine, engine))

    expected = np.ones((64, 10), np.int16)
    expected[32:, 1:9:3] = 2
    same(on_tiles(run, body, out=[((64, 10), "int16")]), expected)


def test_psum(run):
    def kernel():
        psum, result = new((16, 8), buffer=nl.psum), new((16, 8))
        nisa.memset(dst=psum, value=7.0)
        nisa.tensor_copy(dst=result, src=psum)
        return store(result)

    same(run(kernel), np.full((16, 8), 7, np.float32))


@pytest.mark.parametrize("name, carrier", [
    ("float8_e4m3fn_x4", np.uint32), ("float8_e5m2_x4", np.uint32), ("float4_e2m1fn_x4", np.uint16),
])
@pytest.mark.parametrize("engine", ("vector", "gpsimd"))
def test_packed_types_become_zero(run, name, carrier, engine):
    body = lambda dst: nisa.memset(dst=dst, value=0, engine=getattr(nisa.engine, engine))
    same(on_tiles(run, body, out=[((33, 7), name)], chip="trn3"), np.zeros((33, 7), carrier))


@pytest.mark.parametrize("value, byte", [(1.0, 127), (2.0**-127, 0), (2.0**127, 254)])
def test_scales(run, value, byte):
    result = on_tiles(run, lambda dst: nisa.memset(dst=dst, value=value), out=[((4, 8), "float8_e8m0fnu")], chip="trn3")
    same(result.view(np.uint8), np.full((4, 8), byte, np.uint8))


@pytest.mark.parametrize("rule, name, value, arguments", [
    ("value", "int8", 128, {}), ("value", "uint8", -1, {}), ("value", "int32", 0.5, {}), ("value", "uint32", 2**32, {}),
    ("packed", "float8_e4m3fn_x4", 1, {}), ("packed", "float4_e2m1fn_x4", 1, {}),
    ("engine", "float32", 1, {"engine": nisa.scalar_engine}),
])
def test_rules(run, rule, name, value, arguments):
    refused(run, "memset." + rule, lambda dst: nisa.memset(dst=dst, value=value, **arguments), out=[((4, 8), name)],
            chip="trn3")


@pytest.mark.parametrize("buffer, arguments", [("shared_hbm", {}), ("psum", {"engine": nisa.gpsimd_engine})])
def test_buffers(run, buffer, arguments):
    refused(run, "memset.buffer",
            lambda unused: nisa.memset(dst=new((4, 8), buffer=getattr(nl, buffer)), value=0, **arguments),
            out=[((1, 1), "float32")])
