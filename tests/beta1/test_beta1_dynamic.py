"""Beta 1: addresses from tiles, read-modify-write by DMA, and the custom operator that is refused."""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np
import pytest
import trnsim


def added_rows(call):
    """A kernel that copies `table` to its output, loads rows and values, and calls call(out, values, rows)."""

    @nki.jit
    def kernel(table, values, rows):
        out = nl.ndarray(table.shape, dtype=table.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=table)
        call(out, nl.load(values), nl.load(rows))
        return out

    return kernel


ROWS = np.array([[5], [0], [5], [7]], np.int32)


@pytest.mark.parametrize("how", ["atomic_rmw", "dma_copy"])
def test_rows_are_added_to_in_hbm(rng, opcodes, how):
    i_f = nl.arange(6)[None, :]

    def call(out, values, rows):
        if how == "atomic_rmw":
            nl.atomic_rmw(out[rows, i_f], value=values, op=np.add)
        else:
            nisa.dma_copy(dst=out[rows, i_f], src=values, dst_rmw_op=np.add)

    table, values = rng.random((9, 6), np.float32), rng.random((4, 6), np.float32)
    expected = table.copy()
    for row, value in zip(ROWS[:, 0], values):
        expected[row] = expected[row] + value
    np.testing.assert_array_equal(added_rows(call)(table, values, ROWS), expected)
    assert opcodes()[-1] == "dma_compute"


def test_a_whole_tensor_is_added_to_in_hbm(rng):
    def call(out, values, rows):
        nisa.dma_copy(dst=out[0:4, 0:6], src=values, dst_rmw_op=np.add)

    table, values = rng.random((9, 6), np.float32), rng.random((4, 6), np.float32)
    expected = table.copy()
    expected[:4] += values
    np.testing.assert_array_equal(added_rows(call)(table, values, ROWS), expected)


@pytest.mark.parametrize("options, words", [
    ({"dst_rmw_op": np.multiply}, "only np.add"),
    ({"dst_rmw_op": np.add, "oob_mode": nisa.oob_mode.skip}, "oob_mode.error"),
])
def test_what_a_read_modify_write_refuses(refused, options, words):
    call = lambda out, values, rows: nisa.dma_copy(dst=out[0:4, 0:6], src=values, **options)
    with refused("dma_copy.rmw", words):
        added_rows(call)(np.zeros((9, 6), np.float32), np.zeros((4, 6), np.float32), ROWS)


@pytest.mark.parametrize("dtype", (None, nl.bfloat16))
def test_a_source_address_from_a_tile(rng, opcodes, dtype):
    @nki.jit
    def kernel(x, offsets):
        data, at = nl.load(x), nl.load(offsets)
        out = nl.ndarray((16, 3, 4), dtype=dtype or x.dtype, buffer=nl.shared_hbm)
        picked = nl.ndarray((16, 3, 4), dtype=dtype or x.dtype, buffer=nl.sbuf)
        i_p, _, i_f = nl.mgrid[0:16, 0:1, 0:4]
        for k in nl.affine_range(3):
            picked[i_p, k, i_f] = nisa.tensor_copy_dynamic_src(data[i_p, at[0, k], i_f], dtype=dtype)
        nl.store(out, picked)
        return out

    x, offsets = rng.random((16, 8, 4), np.float32), np.array([[6, 0, 3]], np.int32)
    y = kernel(x, offsets)
    np.testing.assert_array_equal(y, x[:, [6, 0, 3]].astype(y.dtype))
    assert opcodes().count("tensor_copy_dynamic_src") == 3


@pytest.mark.parametrize("swapped", (False, True))
def test_an_offset_added_to_an_index(rng, swapped):
    @nki.jit
    def kernel(x, offsets):
        data, at = nl.load(x), nl.load(offsets)
        out = nl.ndarray((16, 5), dtype=x.dtype, buffer=nl.shared_hbm)
        i_p, i_f = nl.mgrid[0:16, 0:5]
        index = at[0, 1] + i_f if swapped else i_f + at[0, 1]
        nl.store(out, nisa.tensor_copy_dynamic_src(data[i_p, index + 1]))
        return out

    x = rng.random((16, 20), np.float32)
    np.testing.assert_array_equal(kernel(x, np.array([[0, 7]], np.int32)), x[:, 8:13])


def test_a_destination_address_from_a_tile(rng):
    @nki.jit
    def kernel(x, offsets):
        at = nl.load(offsets)
        wide = nl.zeros((16, 20), x.dtype, buffer=nl.sbuf)
        i_p, i_f = nl.mgrid[0:16, 0:5]
        nisa.tensor_copy_dynamic_dst(dst=wide[i_p, i_f + at[0, 0]], src=nl.load(x))
        out = nl.ndarray((16, 20), dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, wide)
        return out

    x = rng.random((16, 5), np.float32)
    expected = np.zeros((16, 20), np.float32)
    expected[:, 9:14] = x
    np.testing.assert_array_equal(kernel(x, np.array([[9]], np.int32)), expected)


def test_custom_operators_are_refused_by_name():
    with pytest.raises(trnsim.Unsupported, match="builtin_custom_op, because"):
        nisa.builtin_custom_op(function_name="f", lib_file_name="l", srcs=[], dsts=[])
