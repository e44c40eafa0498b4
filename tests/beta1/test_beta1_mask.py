"""Masks: rectangles shrink instructions, other shapes become several, impossible ones are refused."""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np
import trnsim

A = np.arange(128 * 256, dtype=np.float32).reshape(128, 256)


def test_a_rectangle_makes_the_instruction_smaller():
    def kernel(a, narrow):
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        i_p, i_f = nl.mgrid[0:128, 0:256]
        tile = nl.load(a)
        result = nl.zeros(a.shape, dtype=a.dtype)
        result[i_p, i_f] = nisa.tensor_scalar(
            tile, np.multiply, 2.0, mask=(i_p < 64) & (i_f < 16) if narrow else None
        )
        nl.store(out, result)
        return out

    kernel = nki.jit(kernel)
    full = kernel(A, False)
    cost = _duration("tensor_scalar")
    part = kernel(A, True)
    np.testing.assert_array_equal(full, A * 2)
    expected = np.zeros_like(A)
    expected[:64, :16] = A[:64, :16] * 2
    np.testing.assert_array_equal(part, expected)
    assert _duration("tensor_scalar") < cost


def _duration(name):
    found = [i for i in trnsim.last_profile().instructions if i["opcode"] == name]
    assert len(found) == 1
    return found[0]["busy_end_ns"] - found[0]["start_ns"]


def test_ragged_edges_are_loaded_and_stored_within_bounds():
    @nki.jit
    def kernel(a):
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        i_p, i_f = nl.mgrid[0:128, 0:256]
        for i in nl.affine_range(3):
            inside = i * 128 + i_p < a.shape[0]
            tile = nl.load(a[i * 128 + i_p, i_f], mask=inside)
            nl.store(out[i * 128 + i_p, i_f], nl.multiply(tile, 2, mask=inside), mask=inside)
        return out

    a = np.arange(300 * 256, dtype=np.float32).reshape(300, 256)
    np.testing.assert_array_equal(kernel(a), a * 2)


def test_a_triangle_becomes_rows_of_dma():
    @nki.jit
    def kernel(a):
        out = nl.zeros((128, 128), dtype=a.dtype, buffer=nl.shared_hbm)
        i_p, i_f = nl.mgrid[0:128, 0:128]
        tile = nl.load(a[i_p, i_f])
        nl.store(out[i_p, i_f], tile, mask=i_f <= i_p)
        return out

    np.testing.assert_array_equal(kernel(A), np.tril(A[:, :128]))


def test_a_triangle_from_partition_zero_becomes_columns_of_an_engine():
    @nki.jit
    def kernel(a):
        out = nl.ndarray((32, 32), dtype=a.dtype, buffer=nl.shared_hbm)
        i_p, i_f = nl.mgrid[0:32, 0:32]
        tile = nl.load(a[i_p, i_f])
        result = nl.zeros((32, 32), dtype=a.dtype)
        result[i_p, i_f] = nisa.tensor_scalar(tile, np.add, 1.0, mask=i_p <= i_f)
        nl.store(out, result)
        return out

    np.testing.assert_array_equal(kernel(A), np.triu(A[:32, :32] + 1))


def test_a_triangle_that_starts_inside_quadrants_is_refused_for_engines(refused):
    @nki.jit
    def kernel(a):
        i_p, i_f = nl.mgrid[0:64, 0:64]
        tile = nl.load(a[i_p, i_f])
        nisa.tensor_scalar(tile, np.add, 1.0, mask=i_f <= i_p)

    with refused("mask.parts", "affine_select"):
        kernel(A)


def test_reductions_may_be_shortened():
    @nki.jit
    def kernel(a):
        out = nl.ndarray((128, 1), dtype=a.dtype, buffer=nl.shared_hbm)
        i_p, i_f = nl.mgrid[0:128, 0:256]
        nl.store(out, nisa.tensor_reduce(np.max, nl.load(a)[i_p, i_f], axis=1, mask=i_f < 100))
        return out

    np.testing.assert_array_equal(kernel(A)[:, 0], A[:, :100].max(1))


def test_a_mask_that_leaves_nothing_issues_nothing(opcodes):
    @nki.jit
    def kernel(a):
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        i_p, i_f = nl.mgrid[0:128, 0:256]
        tile = nl.load(a)
        tile[i_p, i_f] = nl.exp(tile, mask=i_p < 0)
        nl.store(out, tile)
        return out

    np.testing.assert_array_equal(kernel(A), A)
    assert opcodes() == ["dma_copy", "dma_copy"]


def test_masks_joined_by_and_are_refused(refused):
    @nki.jit
    def kernel(a):
        i_p, i_f = nl.mgrid[0:128, 0:256]
        nl.load(a, mask=(i_p < 64 and i_f < 16))

    with refused("mask.truth", "&"):
        kernel(A)


def test_a_mask_of_another_shape_is_refused(refused):
    @nki.jit
    def kernel(a):
        i_p, i_f = nl.mgrid[0:128, 0:64]
        nl.exp(nl.load(a), mask=i_f < 16)

    with refused("mask.shape", "(128, 256)"):
        kernel(A)


def test_index_tiles_may_be_masked(rng):
    rows = rng.permutation(128)[:64].astype(np.int32).reshape(64, 1)
    rows[50:] = 999  # left out by the mask

    @nki.jit
    def kernel(a, rows):
        out = nl.zeros((128, 32), dtype=a.dtype, buffer=nl.shared_hbm)
        i_p, i_f = nl.arange(64)[:, None], nl.arange(32)[None, :]
        index = nl.load(rows)
        tile = nl.load(a[index[i_p, 0], i_f], mask=i_p < 50)
        nl.store(out[index[i_p, 0], i_f], tile, mask=(i_p < 50) & (i_f < 16))
        return out

    expected = np.zeros((128, 32), np.float32)
    expected[rows[:50, 0], :16] = A[rows[:50, 0], :16]
    np.testing.assert_array_equal(kernel(A, rows), expected)
