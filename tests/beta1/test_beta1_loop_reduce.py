"""nl.loop_reduce reduces into its destination, assigned by subscript or by name."""

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import numpy as np
import pytest


@nki.jit
def into_a_tile(x, op, initial=None):
    out = nl.ndarray(x.shape[1:], dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.ndarray((nl.par_dim(x.shape[1]), x.shape[2]), dtype=x.dtype, buffer=nl.sbuf)
    if initial is not None:
        total[...] = initial
    for i in nl.affine_range(x.shape[0]):
        total[...] = nl.loop_reduce(nl.load(x[i]), op=op, loop_indices=[i])
    nl.store(out, total)
    return out


@nki.jit
def into_a_name(x):
    out = nl.ndarray(x.shape[1:], dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.zeros((nl.par_dim(x.shape[1]), x.shape[2]), dtype=x.dtype, buffer=nl.sbuf)
    for i in nl.affine_range(x.shape[0]):
        tile = nl.load(x[i])
        total = nl.loop_reduce(tile, op=np.add, loop_indices=(i,), dtype=x.dtype)
    nl.store(out, total)
    return out


@pytest.mark.parametrize("op, numpy_op", [(np.add, np.add), (nl.multiply, np.multiply), (np.max, np.maximum),
                                          (np.minimum, np.minimum)])
@pytest.mark.parametrize("initial", [None, 2.0])
def test_a_tile_is_reduced_in_order(rng, op, numpy_op, initial):
    x = rng.standard_normal((5, 128, 16)).astype(np.float32)
    expected = x[0] if initial is None else numpy_op(np.float32(initial), x[0])
    for entry in x[1:]:
        expected = numpy_op(expected, entry)
    assert np.array_equal(into_a_tile(x, op, initial), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_a_name_keeps_its_tile(rng, dtype):
    x = (rng.standard_normal((4, 32, 8)) * 9).astype(dtype)
    expected = np.zeros_like(x[0])
    for entry in x:
        expected = expected + entry
    assert np.array_equal(into_a_name(x), expected)


def test_products_are_reduced_from_psum(rng):
    @nki.jit
    def kernel(a, b):
        out = nl.ndarray((a.shape[2], b.shape[2]), dtype=a.dtype, buffer=nl.shared_hbm)
        total = nl.zeros((nl.par_dim(a.shape[2]), b.shape[2]), dtype=nl.float32, buffer=nl.sbuf)
        for i in nl.affine_range(2):
            partial = nl.zeros((nl.par_dim(a.shape[2]), b.shape[2]), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(2):
                partial += nl.matmul(nl.load(a[2 * i + k]), nl.load(b[2 * i + k]), transpose_x=True)
            total[...] = nl.loop_reduce(partial, op=np.add, loop_indices=[i], dtype=nl.float32)
        nl.store(out, total)
        return out

    a = rng.integers(-3, 4, (4, 16, 8)).astype(np.float32)
    b = rng.integers(-3, 4, (4, 16, 8)).astype(np.float32)
    assert np.array_equal(kernel(a, b), np.einsum("nki,nkj->ij", a, b))


def test_a_mask_leaves_the_rest_alone():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        total = nl.zeros(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        i_p, i_f = nl.mgrid[0:x.shape[0], 0:x.shape[1]]
        for i in nl.affine_range(3):
            total[i_p, i_f] = nl.loop_reduce(nl.load(x), np.add, [i], mask=i_f < 3)
        nl.store(out, total)
        return out

    expected = np.zeros((4, 8), np.float32)
    expected[:, :3] = 3
    assert np.array_equal(kernel(np.ones((4, 8), np.float32)), expected)


def test_another_dtype_than_the_destinations_is_refused(refused):
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        total = nl.zeros(x.shape, dtype=nl.float32, buffer=nl.sbuf)
        total[...] = nl.loop_reduce(nl.load(x), np.add, [0], dtype=nl.bfloat16)
        nl.store(out, total)
        return out

    with refused("language.dtype", "bfloat16", "total", "float32"):
        kernel(np.ones((4, 8), np.float32))
