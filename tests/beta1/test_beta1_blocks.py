"""Beta 1: tensors with several block dimensions, of which a kernel fixes some and hands on the rest."""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np
import pytest
from neuronxcc.nki.language import par_dim

A = np.arange(2 * 3 * 2 * 16 * 4, dtype=np.float32).reshape(2, 3, 2, 16, 4)


def fill(row, a):
    """Writes the blocks of one row, as a function of the kernel does with what it is handed."""
    for j in nl.affine_range(3):
        for k in nl.affine_range(2):
            row[j, k, :, :] = nl.load(a[j, k])


@pytest.mark.parametrize("buffer", [nl.sbuf, nl.psum])
@pytest.mark.parametrize(
    "tile_of",
    [
        lambda t, i, j, k: t[i, j, k],
        lambda t, i, j, k: t[i][j][k],
        lambda t, i, j, k: t[i, j][k],
        lambda t, i, j, k: t[i][j, k],
        lambda t, i, j, k: t[i - 2][j, k, :, 0:4],
        lambda t, i, j, k: list(list(t)[i])[j][k],
    ],
)
def test_some_block_dimensions_may_be_fixed_first(tile_of, buffer):
    @nki.jit
    def kernel(a):
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        t = nl.ndarray((2, 3, 2, par_dim(16), 4), dtype=a.dtype, buffer=buffer)
        for i in nl.affine_range(2):
            fill(t[i], a[i])
        for i, j, k in np.ndindex(2, 3, 2):
            assert t[i].shape == (3, 2, 16, 4) and t[i][j].shape == (2, 16, 4)
            nl.store(out[i, j, k], nl.add(tile_of(t, i, j, k), 1.0))
        return out

    np.testing.assert_array_equal(kernel(A), A + 1)


@pytest.mark.parametrize("rule, body, word", [
    ("index.blocks", lambda t: t.__setitem__(0, 1.0), "'t' with shape (2, 3, 16, 4) has 2 block dimensions"),
    ("index.out_of_bounds", lambda t: t[0].__setitem__(3, 1.0), "block index 3 is out of bounds for 't[0]'"),
    ("index.out_of_bounds", lambda t: t[2], "block index 2 is out of bounds for 't'"),
    ("index.blocks", lambda t: t[0][0:1], "block dimensions of 't[0]'"),
    ("index.blocks", lambda t: nisa.tensor_copy(t[1]), "'t[1]' with shape (3, 16, 4) is 3 tiles"),
    ("index.blocks", lambda t: t[1].__iadd__(1.0), "'t[1]' is 3 tiles"),
])  # fmt: skip
def test_blocks_are_no_tile(refused, rule, body, word):
    @nki.jit
    def kernel(a):
        t = nl.ndarray((2, 3, par_dim(16), 4), dtype=a.dtype)
        body(t)

    with refused(rule, word):
        kernel(A)
