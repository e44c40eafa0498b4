"""nki.isa.nc_stream_shuffle against numpy."""

import numpy as np
import pytest
import trnsim
from vector_oracle import DTYPES, load, new, nisa, nl, on_tiles, refused, same, sample, store

REVERSED = list(reversed(range(32)))
RANDOM = [int(i) for i in np.random.default_rng(0).integers(0, 32, 32)]


def shuffled(src, mask, before=None):
    """Every quadrant of `src` by the same mask; 255 keeps what stood there."""
    result = np.empty_like(src) if before is None else before.copy()
    for p in range(len(src)):
        if mask[p % 32] != 255:
            result[p] = src[p // 32 * 32 + mask[p % 32]]
    return result


def shuffle(mask):
    return lambda dst, src: nisa.nc_stream_shuffle(dst, src, mask)


@pytest.mark.parametrize("mask", (REVERSED, RANDOM))
@pytest.mark.parametrize("shape", [(32, 1), (64, 7), (96, 5), (128, 3, 5)])
def test_shapes(run, shape, mask):
    x = sample(shape)
    same(on_tiles(run, shuffle(mask), x, out=[(shape, "float32")]), shuffled(x, mask))


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes_keep_their_bits(run, name):
    x = np.random.default_rng(1).integers(0, 256, (64, 16 * sample((1,), name).itemsize), np.uint8)
    x = x.view(sample((1,), name).dtype)
    result = on_tiles(run, shuffle(RANDOM), x, out=[(x.shape, name)])
    np.testing.assert_array_equal(result.view(np.uint8), shuffled(x, RANDOM).view(np.uint8))


def test_255_keeps_the_destination(run):
    x, before = sample((64, 5)), sample((64, 5), seed=1)
    mask = [255 if i % 3 else i for i in range(32)]

    def body(dst, src, old):
        nisa.nc_stream_shuffle(old, src, mask)
        nisa.tensor_copy(dst=dst, src=old)

    same(on_tiles(run, body, x, before, out=[((64, 5), "float32")]), shuffled(x, mask, before))


def test_in_place(run):
    x = sample((96, 4))

    def body(dst, tile):
        nisa.nc_stream_shuffle(tile, tile, REVERSED)
        nisa.tensor_copy(dst=dst, src=tile)

    same(on_tiles(run, body, x, out=[((96, 4), "float32")]), shuffled(x, REVERSED))


def test_one_partition_to_a_quadrant(run):
    x = sample((1, 9))

    def kernel(tensor):
        tile, result = load(tensor), new((128, 9))
        for quadrant in range(4):
            nisa.nc_stream_shuffle(src=tile, dst=result[quadrant * 32:quadrant * 32 + 32, :], shuffle_mask=[0] * 32)
        return store(result)

    same(run(kernel, x), np.repeat(x, 128, axis=0))


def test_fewer_partitions_than_a_quadrant(run):
    x = sample((1, 9))
    same(on_tiles(run, shuffle([0] * 32), x, out=[((5, 9), "float32")]), np.repeat(x, 5, axis=0))


def test_psum(run):
    x = sample((32, 8))

    def kernel(tensor):
        psum, result = new((32, 8), buffer=nl.psum), new((32, 8))
        nisa.nc_stream_shuffle(psum, load(tensor, nl.psum), REVERSED)
        nisa.tensor_copy(dst=result, src=psum)
        return store(result)

    same(run(kernel, x), x[::-1])


@pytest.mark.parametrize("rule, mask, src, dst, name", [
    ("mask_size", REVERSED[1:], (32, 4), (32, 4), "float32"),
    ("mask_value", [32] + REVERSED[1:], (32, 4), (32, 4), "float32"),
    ("mask_value", [-1] + REVERSED[1:], (32, 4), (32, 4), "float32"),
    ("source", REVERSED, (31, 4), (32, 4), "float32"),
    ("same_free_size", REVERSED, (32, 4), (32, 5), "float32"),
    ("same_dtype", REVERSED, (32, 4), (32, 4), "bfloat16"),
])
def test_rules(run, rule, mask, src, dst, name):
    refused(run, "nc_stream_shuffle." + rule, shuffle(mask), sample(src), out=[(dst, name)])


def test_start_partitions_count_whole_quadrants(run):
    def body(dst, src):
        nisa.nc_stream_shuffle(dst[32:64, :], src, [0] * 32)

    refused(run, "nc_stream_shuffle.start", body, sample((64, 4)), out=[((64, 4), "float32")])


def test_keeping_what_was_never_written(run):
    with pytest.raises(trnsim.ProgramError) as error:
        on_tiles(run, shuffle([255] + REVERSED[1:]), sample((32, 4)), out=[((32, 4), "float32")])
    assert error.value.rule == "memory.never_written"
