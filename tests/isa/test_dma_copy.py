"""nki.isa.dma_copy against numpy, rows gathered and scattered by index included."""

import numpy as np
import pytest
import trnsim
from vector_oracle import DTYPES, convert, fp32, host, load, new, nisa, nl, same, sample, store


def refused(run, rule, kernel, *arrays, chip="trn2"):
    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, *arrays, chip=chip)
    assert error.value.rule == rule, str(error.value)
    return str(error.value)


@pytest.mark.parametrize("shape", [(1, 1), (128, 1), (128, 512), (127, 33), (5, 3, 4, 2), (3, 20000)])
def test_through_sbuf(run, shape):
    x = sample(shape)
    same(run(lambda tensor: store(load(tensor)), x), x)


@pytest.mark.parametrize("shape", [(1,), (1000,), (300, 7), (2, 3, 4, 5, 6)])
def test_from_hbm_to_hbm(run, shape):
    x = sample(shape, "int16")
    same(run(store, x), x)


def test_from_sbuf_to_sbuf_at_any_partition(run):
    x = sample((64, 9))

    def kernel(tensor):
        tile, result = load(tensor), new((128, 9))
        nisa.memset(dst=result, value=0.0)
        nisa.dma_copy(dst=result[3:67, :], src=tile)
        return store(result)

    expected = np.zeros((128, 9), np.float32)
    expected[3:67] = x
    same(run(kernel, x), expected)


@pytest.mark.parametrize("name", DTYPES)
def test_equal_dtypes_keep_every_bit(run, name):
    x = np.random.default_rng(0).integers(0, 256, (16, 64 * host(name).itemsize), np.uint8).view(host(name))
    np.testing.assert_array_equal(run(lambda tensor: store(load(tensor)), x).view(np.uint8), x.view(np.uint8))


@pytest.mark.parametrize("out", DTYPES)
@pytest.mark.parametrize("name", DTYPES)
def test_every_pair_of_dtypes(run, name, out):
    x = sample((20, 40), name, low=-300, high=300)

    def kernel(tensor):
        tile = new((20, 40), out)
        nisa.dma_copy(dst=tile, src=tensor)
        return store(tile)

    same(run(kernel, x), x if name == out else convert(fp32(x), out))


def test_shapes_may_differ_and_strides(run):
    x = sample((12, 10, 8))

    def kernel(tensor):
        tile = new((24, 5, 4))
        nisa.dma_copy(dst=tile, src=tensor[:, 0:10:2, :])
        result = nl.ndarray((24, 10, 4), dtype=nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=result[:, 0:10:2, :], src=tile)
        nisa.dma_copy(dst=result[:, 1:10:2, :], src=tile)
        return result

    same(run(kernel, x), np.repeat(x[:, ::2].reshape(24, 5, 4), 2, axis=1))


def test_modes_do_not_change_the_values(run):
    x = sample((16, 40))
    for mode in (nisa.dge_mode.none, nisa.dge_mode.swdge, nisa.dge_mode.hwdge, nisa.dge_mode.unknown, 0, 1, 2, 3):
        def kernel(tensor):
            tile = new((16, 40))
            nisa.dma_copy(dst=tile, src=tensor, dge_mode=mode)
            return store(tile)

        same(run(kernel, x), x)


# ---- Rows by index

INDEX_DTYPES = ("int32", "uint32")


def gather(run, x, index, out="float32", chip="trn2", **arguments):
    def kernel(tensor, rows):
        tile = new((index.shape[0], *x.shape[1:]), out)
        nisa.dma_copy(dst=tile, src=tensor, src_index=load(rows), **arguments)
        return store(tile)

    return run(kernel, x, index, chip=chip)


def scatter(run, x, index, rows, **arguments):
    def kernel(tensor, indices):
        result = nl.ndarray((rows, *x.shape[1:]), dtype=tensor.dtype, buffer=nl.shared_hbm)
        zeros = new((rows, *x.shape[1:]), x.dtype.name)
        nisa.memset(dst=zeros, value=0)
        nisa.dma_copy(dst=result, src=zeros)
        nisa.dma_copy(dst=result, src=load(tensor), dst_index=load(indices), **arguments)
        return result

    return run(kernel, x, index)


@pytest.mark.parametrize("name", INDEX_DTYPES)
@pytest.mark.parametrize("shape, count", [((1, 1), 1), ((300, 40), 128), ((7, 3, 5), 20), ((50, 1), 33)])
def test_gathered_rows(run, shape, count, name):
    x = sample(shape)
    index = np.random.default_rng(1).integers(0, shape[0], (count, 1)).astype(name)
    same(gather(run, x, index), x[index[:, 0]])


@pytest.mark.parametrize("name, out", [("bfloat16", "float32"), ("float32", "bfloat16"), ("int8", "int8")])
def test_gathered_rows_are_converted(run, name, out):
    x = sample((30, 20), name)
    index = np.random.default_rng(1).integers(0, 30, (16, 1)).astype(np.int32)
    same(gather(run, x, index, out), convert(fp32(x[index[:, 0]]), out))


@pytest.mark.parametrize("name", INDEX_DTYPES)
def test_scattered_rows(run, name):
    x = sample((40, 6), "bfloat16")
    index = np.random.default_rng(1).permutation(60)[:40, None].astype(name)
    expected = np.zeros((60, 6), x.dtype)
    expected[index[:, 0]] = x
    same(scatter(run, x, index, 60), expected)


def test_of_equal_rows_the_last_stays(run):
    x = sample((8, 3))
    expected = np.zeros((4, 3), np.float32)
    expected[2] = x[7]
    same(scatter(run, x, np.full((8, 1), 2, np.int32), 4), expected)


def test_rows_within_a_part_of_the_tensor(run):
    """The rows that exist are those of the view."""
    x = sample((50, 12))
    index = np.array([[0], [4], [2]], np.int32)

    def kernel(tensor, rows):
        tile = new((3, 5))
        nisa.dma_copy(dst=tile, src=tensor[10:20:2, 3:8], src_index=load(rows))
        return store(tile)

    same(run(kernel, x, index), x[10:20:2, 3:8][index[:, 0]])


@pytest.mark.parametrize("bad", (30, -1, 2**31 - 1))
def test_rows_out_of_range(run, bad):
    x = sample((30, 4), "int32")
    index = np.array([[3], [bad], [29]], np.int32)
    with pytest.raises(trnsim.ProgramError, match=f"index.1. is {bad}") as error:
        gather(run, x, index, "int32")
    assert error.value.rule == "dma_copy.out_of_bounds"

    def kernel(tensor, rows):
        tile = new((3, 4), "int32")
        nisa.memset(dst=tile, value=-7)
        nisa.dma_copy(dst=tile, src=tensor, src_index=load(rows), oob_mode=nisa.oob_mode.skip)
        return store(tile)

    expected = np.full((3, 4), -7, np.int32)
    expected[[0, 2]] = x[[3, 29]]
    same(run(kernel, x, index), expected)


def test_skipped_rows_of_a_scatter(run):
    x = sample((3, 4))
    expected = np.zeros((2, 4), np.float32)
    expected[1] = x[1]
    same(scatter(run, x, np.array([[5], [1], [-3]], np.int32), 2, oob_mode=nisa.oob_mode.skip), expected)


def test_a_skipped_row_that_was_never_written(run):
    with pytest.raises(trnsim.ProgramError) as error:
        gather(run, sample((4, 4)), np.array([[4]], np.int32), oob_mode=nisa.oob_mode.skip)
    assert error.value.rule == "memory.never_written"


# ---- Rules


@pytest.mark.parametrize("rule, dst, name, arguments, chip", [
    ("elements", (4, 9), "float32", {}, "trn2"),
    ("hwdge_dtype", (4, 8), "bfloat16", {"dge_mode": nisa.dge_mode.hwdge}, "trn2"),
    ("generation", (4, 8), "float32", {"dge_mode": nisa.dge_mode.hwdge}, "trn1"),
    ("generation", (4, 8), "float32", {"priority": 0}, "trn2"),
    ("priority", (4, 8), "float32", {"priority": 4}, "trn3"),
    ("engine", (4, 8), "float32", {"engine": nisa.vector_engine}, "trn2"),
    ("engine", (4, 8), "float32", {"engine": nisa.sync_engine, "dge_mode": nisa.dge_mode.swdge}, "trn2"),
    ("mx_dtype", (4, 8), "float8_e4m3fn_x4", {}, "trn3"),
    ("mx_dtype", (4, 8), "float4_e2m1fn_x4", {}, "trn3"),
])
def test_rules(run, rule, dst, name, arguments, chip):
    refused(run, "dma_copy." + rule, lambda tensor: nisa.dma_copy(dst=new(dst, name), src=tensor, **arguments),
            sample((4, 8)), chip=chip)


@pytest.mark.parametrize("side", ("dst", "src"))
def test_psum_is_out_of_reach(run, side):
    def kernel(tensor):
        psum = load(tensor, nl.psum)
        nisa.dma_copy(dst=psum if side == "dst" else new((4, 8)), src=psum if side == "src" else tensor)

    refused(run, "dma_copy.buffer", kernel, sample((4, 8)))


@pytest.mark.parametrize("rule, index, dst, arguments", [
    ("index_dtype", np.zeros((4, 1), np.int16), (4, 8), {}),
    ("index_shape", np.zeros((3, 1), np.int32), (4, 8), {}),
    ("index_shape", np.zeros((4, 2), np.int32), (4, 8), {}),
    ("elements", np.zeros((4, 1), np.int32), (4, 9), {}),
    ("index_dge", np.zeros((4, 1), np.int32), (4, 8), {"dge_mode": nisa.dge_mode.hwdge}),
    ("index_dge", np.zeros((4, 1), np.int32), (4, 8), {"dge_mode": nisa.dge_mode.none}),
])
def test_index_rules(run, rule, index, dst, arguments):
    def kernel(tensor, rows):
        nisa.dma_copy(dst=new(dst), src=tensor, src_index=load(rows), **arguments)

    refused(run, "dma_copy." + rule, kernel, sample((20, 8)), index)


def test_only_hbm_can_be_indexed(run):
    def kernel(tensor, rows):
        nisa.dma_copy(dst=new((4, 8)), src=load(tensor), src_index=load(rows))

    refused(run, "dma_copy.index_side", kernel, sample((20, 8)), np.zeros((4, 1), np.int32))


def test_one_side_at_a_time(run):
    def kernel(tensor, rows):
        rows = load(rows)
        nisa.dma_copy(dst=new((4, 8)), src=tensor, src_index=rows, dst_index=rows)

    refused(run, "dma_copy.both_indexed", kernel, sample((20, 8)), np.zeros((4, 1), np.int32))


@pytest.mark.parametrize("name, carrier", [
    ("float8_e4m3fn_x4", np.uint32), ("float8_e5m2_x4", np.uint32), ("float4_e2m1fn_x4", np.uint16),
])
def test_packed_types_move_bit_by_bit(run, name, carrier):
    x = np.random.default_rng(0).integers(0, np.iinfo(carrier).max, (64, 10), carrier, endpoint=True)

    def kernel(tensor):
        tile = new((64, 5), name)
        nisa.dma_copy(dst=tile, src=tensor.view(getattr(nl, name))[:, 0:10:2])
        return store(tile)

    same(run(kernel, x, chip="trn3"), np.ascontiguousarray(x[:, ::2]))


def test_packed_types_are_not_cast_from_one_to_the_other(run):
    def kernel(tensor):
        nisa.dma_copy(dst=new((4, 8), "float8_e5m2_x4"), src=tensor.view(nl.float8_e4m3fn_x4))

    refused(run, "dma_copy.mx_dtype", kernel, sample((4, 8), "uint32"), chip="trn3")


def test_scales_move_and_convert(run):
    x = np.arange(256, dtype=np.uint8).reshape(4, 64)

    def kernel(tensor):
        scales, wide = new((4, 64), "float8_e8m0fnu"), new((4, 64))
        nisa.dma_copy(dst=scales, src=tensor.view(nl.float8_e8m0fnu))
        nisa.dma_copy(dst=wide, src=scales)
        return store(scales), store(wide)

    scales, wide = run(kernel, x, chip="trn3")
    same(scales.view(np.uint8), x)
    same(wide, np.where(x == 255, np.nan, np.exp2(x.astype(np.float64) - 127)).astype(np.float32))
