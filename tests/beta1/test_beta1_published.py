"""What published kernels of Beta 1 use beside the usual: many free axes, remainders, limits of types, annotations."""

import ml_dtypes
import neuronxcc.nki as nki
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
