"""nki.isa.tensor_copy against numpy."""

import numpy as np
import pytest
import trnsim
from vector_oracle import (
    DTYPES, SHAPES, convert, fp32, host, load, new, nisa, nl, on_tiles, refused, same, sample, store,
)

ENGINES = ("vector", "scalar", "gpsimd")


def copied(run, x, out, chip="trn2", **arguments):
    return on_tiles(run, lambda dst, src: nisa.tensor_copy(dst=dst, src=src, **arguments), x, out=[(x.shape, out)],
                    chip=chip)


@pytest.mark.parametrize("out", DTYPES)
@pytest.mark.parametrize("name", DTYPES)
def test_every_pair_of_dtypes(run, name, out):
    x = sample((33, 40), name, low=-300, high=300)
    same(copied(run, x, out), x if name == out else convert(fp32(x), out))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", DTYPES)
def test_equal_dtypes_keep_every_bit(run, name, engine):
    size = host(name).itemsize
    x = np.random.default_rng(0).integers(0, 256, (16, 64 * size), np.uint8).view(host(name))
    result = copied(run, x, name, engine=getattr(nisa.engine, engine))
    np.testing.assert_array_equal(result.view(np.uint8), x.view(np.uint8))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_and_engines(run, shape, engine):
    x = sample(shape)
    same(copied(run, x, "bfloat16", engine=getattr(nisa.engine, engine)), convert(x, "bfloat16"))


def test_rounding_is_to_nearest_even(run):
    x = np.array([[0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 128.4, -128.5, -129, np.inf, -np.inf, np.nan, 1e30]], np.float32)
    same(copied(run, x, "int8"), np.array([[0, 2, 2, 0, -2, 127, 127, -128, -128, 127, -128, 0, 127]], np.int8))


def test_different_shapes_and_strides(run):
    x = sample((20, 4, 9))

    def kernel(tensor):
        result = new((20, 3, 6))
        nisa.tensor_copy(dst=result, src=load(tensor)[:, 0:4:2, :])
        return store(result)

    same(run(kernel, x), x[:, ::2].reshape(20, 3, 6))


def test_across_quadrants(run):
    x = sample((32, 9))

    def kernel(tensor):
        tile, result = load(tensor), new((128, 9))
        for start in (0, 32, 64, 96):
            nisa.tensor_copy(dst=result[start:start + 32, :], src=tile)
        return store(result)

    same(run(kernel, x), np.tile(x, (4, 1)))


@pytest.mark.parametrize("shift", (1, -1))
def test_overlapping_in_place(run, shift):
    x = sample((8, 17))

    def kernel(tensor):
        tile = load(tensor)
        low, high = tile[:, 0:16], tile[:, 1:17]
        nisa.tensor_copy(dst=high if shift > 0 else low, src=low if shift > 0 else high)
        return store(tile)

    expected = x.copy()
    if shift > 0:
        expected[:, 1:] = x[:, :-1]
    else:
        expected[:, :-1] = x[:, 1:]
    same(run(kernel, x), expected)


@pytest.mark.parametrize("rule, out, arguments, chip", [
    ("same_partitions", (5, 8), {}, "trn2"), ("same_free_size", (4, 9), {}, "trn2"),
    ("engine", (4, 8), {"engine": nisa.tensor_engine}, "trn2"),
    ("generation", (4, 8), {"engine": nisa.scalar_engine}, "trn1"),
])
def test_rules(run, rule, out, arguments, chip):
    refused(run, "tensor_copy." + rule, lambda dst, src: nisa.tensor_copy(dst=dst, src=src, **arguments),
            sample((4, 8)), out=[(out, "float32")], chip=chip)


@pytest.mark.parametrize("buffer, arguments", [("shared_hbm", {}), ("psum", {"engine": nisa.gpsimd_engine})])
def test_buffers(run, buffer, arguments):
    refused(run, "tensor_copy.buffer",
            lambda unused, src: nisa.tensor_copy(dst=new((4, 8), buffer=getattr(nl, buffer)), src=src, **arguments),
            sample((4, 8)), out=[((1, 1), "float32")])


def test_reading_what_was_never_written(run):
    with pytest.raises(trnsim.ProgramError) as error:
        on_tiles(run, lambda dst: nisa.tensor_copy(dst=dst, src=new((4, 8))), out=[((4, 8), "float32")])
    assert error.value.rule == "memory.never_written"
