"""Subscripts: nl.arange and nl.mgrid expressions, slices, index tiles."""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np
import pytest

A = np.arange(256 * 1024, dtype=np.float32).reshape(256, 1024)


def picked(select, source=A, shape=(128, 512)):
    """What a kernel loads from `source` through the subscript that select() makes, and numpy's answer."""

    @nki.jit
    def kernel(a):
        out = nl.ndarray(shape, dtype=a.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.load(a[select(nl.arange)]))
        return out

    return kernel(source), source[select(np.arange)]


@pytest.mark.parametrize(
    "select",
    [
        lambda arange: (arange(128)[:, None], arange(512)[None, :]),
        lambda arange: (128 + arange(128)[:, None], 2 * arange(512)[None, :] + 1),
        lambda arange: (arange(128)[:, None] * 2, 511 - arange(512)[None, :]),
        lambda arange: (arange(128)[:, None], 512 + arange(512)[None, :] - 3),
        lambda arange: (arange(4, 260, 2)[:, None] - 4, arange(512)[None, :]),
    ],
    ids=["plain", "offset and stride", "reversed", "shifted", "start, stop, step"],
)
def test_affine_subscripts_select_what_numpy_selects(select):
    got, expected = picked(select)
    np.testing.assert_array_equal(got, expected)


def test_three_axes_and_sums_of_axes():
    def select(arange):
        return arange(64)[:, None, None], arange(8)[None, :, None] * 16 + arange(4)[None, None, :]

    got, expected = picked(select, shape=(64, 8, 4))
    np.testing.assert_array_equal(got, expected)


def test_an_axis_of_columns_may_become_the_partition():
    def select(arange):
        return arange(100)[None, :], arange(128)[:, None]

    got, expected = picked(select, shape=(128, 100))
    np.testing.assert_array_equal(got, expected)


def test_mgrid_fields_name_the_axes():
    @nki.jit
    def kernel(a):
        out = nl.ndarray((32, 4, 8), dtype=a.dtype, buffer=nl.shared_hbm)
        grid = nl.mgrid[0:32, 0:4, 0:8]
        tile = nl.load(a)
        copied = nl.ndarray((32, 4, 8), dtype=a.dtype)
        copied[grid.p, grid.x, grid.y] = nl.copy(tile[grid.p, grid.y * 4 + grid.x])
        nl.store(out[grid.p, grid.x, grid.y], copied)
        return out

    a = A[:32, :32]
    np.testing.assert_array_equal(kernel(a), a.reshape(32, 8, 4).transpose(0, 2, 1))


def test_slices_keep_partitions_and_two_axes():
    shapes = []

    @nki.jit
    def kernel(a):
        tile = nl.load(a[0:64])
        wide = nl.load(a[64:128, 0:512].reshape((64, 8, 64)))
        shapes.extend(
            [
                tile[:, 3].shape,
                tile[5].shape,
                tile[..., nl.ds(4, 6)].shape,
                wide[:, 2].shape,
                wide[:, 2, 1:3].shape,
                tile[:, None, 2:4].shape,
                a[0].shape,
                a[0:2, 1].shape,
            ]
        )
        out = nl.ndarray((64, 6), dtype=a.dtype, buffer=nl.shared_hbm)
        nl.store(out, tile[..., nl.ds(4, 6)])
        return out

    np.testing.assert_array_equal(kernel(A), A[:64, 4:10])
    assert shapes == [(64, 1), (1, 1024), (64, 6), (64, 64), (64, 2), (64, 1, 2), (1024,), (2,)]


def test_views_of_views_compose():
    @nki.jit
    def kernel(a):
        out = nl.ndarray((32, 16), dtype=a.dtype, buffer=nl.shared_hbm)
        half = nl.load(a[0:64, 0:64])[:, 32:64]
        i_p, i_f = nl.mgrid[0:32, 0:16]
        nl.store(out, half[0:32, 0:32:2][i_p, 15 - i_f])
        return out

    np.testing.assert_array_equal(kernel(A), A[:32, 32:64:2][:, ::-1])


def test_an_index_tile_chooses_rows(rng):
    rows = rng.permutation(256)[:64].astype(np.int32)

    @nki.jit
    def kernel(a, rows):
        gathered = nl.ndarray((64, 128), dtype=a.dtype, buffer=nl.shared_hbm)
        scattered = nl.zeros((256, 128), dtype=a.dtype, buffer=nl.shared_hbm)
        i_p, i_f = nl.arange(64)[:, None], nl.arange(128)[None, :]
        index = nl.load(rows[i_p])
        tile = nl.load(a[index[i_p, 0], i_f])
        nl.store(gathered, tile)
        nl.store(scattered[index, i_f], tile)
        return gathered, scattered

    gathered, scattered = kernel(A, rows)
    np.testing.assert_array_equal(gathered, A[rows, :128])
    expected = np.zeros((256, 128), np.float32)
    expected[rows] = A[rows, :128]
    np.testing.assert_array_equal(scattered, expected)


def test_iota_and_affine_select_take_expressions():
    @nki.jit
    def kernel():
        out = nl.ndarray((2, 64, 32), dtype=nl.int32, buffer=nl.shared_hbm)
        i_p, i_f = nl.arange(64)[:, None], nl.arange(32)[None, :]
        values = nisa.iota(3 * i_p - 2 * i_f + 7, dtype=nl.int32)
        nl.store(out[0], values)
        nl.store(out[1], nisa.affine_select(pred=(2 * i_f <= i_p), on_true_tile=values, on_false_value=-1))
        return out

    p, f = np.mgrid[0:64, 0:32]
    values = 3 * p - 2 * f + 7
    np.testing.assert_array_equal(kernel(), [values, np.where(2 * f <= p, values, -1)])


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("dtype", [nl.float32, nl.bfloat16])
def test_affine_select_takes_a_product_in_psum(rng, dtype, half):
    @nki.jit
    def kernel(x):
        out = nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        i_p, i_f = nl.mgrid[0:64, 0:64]
        tile = nl.load(x)
        kept = nl.full((64, 64), 5.0, dtype=dtype)
        mask = i_f < 32 if half else None
        product = nisa.nc_matmul(tile, tile)
        kept[...] = nisa.affine_select(i_p >= i_f, product, -9984.0, dtype=dtype, mask=mask)
        nl.store(out, nl.copy(kept, dtype=nl.float32))
        return out

    x = rng.integers(-2, 3, (32, 64)).astype(np.float32)
    expected = np.where(np.tri(64), x.T @ x, -9984.0)
    if half:
        expected[:, 32:] = 5.0
    np.testing.assert_array_equal(kernel(x), expected)


@pytest.mark.parametrize(
    "rule, select, word",
    [
        ("index.1d_arange", lambda a: a[nl.arange(128), nl.arange(128)], "[:, None]"),
        ("index.mixed", lambda a: a[nl.arange(128)[:, None], 0:512], "slices"),
        ("index.count", lambda a: a[nl.arange(128)[:, None]], "1 index"),
        ("index.count", lambda a: a[0, 0, 0], "2 dimensions"),
        ("index.not_affine", lambda a: a[nl.arange(128)[:, None] // 2, 0], "not affine"),
        ("index.not_affine", lambda a: a[nl.arange(128)[:, None] * 1.5, 0], "float"),
        ("index.type", lambda a: a["row"], "str"),
        ("index.control_flow", lambda a: 1 if nl.arange(128) else 0, "mask="),
        ("index.step", lambda a: a[::-1], "positive"),
        ("index.shape", lambda a: a[nl.arange(128)[:, None], nl.arange(64)[:, None]], "broadcast"),
    ],
)
def test_subscripts_that_nki_refuses(refused, rule, select, word):
    with refused(rule, word):
        nki.jit(lambda a: select(a))(A)


@pytest.mark.parametrize(
    "select",
    [
        lambda a: a[200:300, 0:16],
        lambda a: a[200 + nl.arange(100)[:, None], nl.arange(16)[None, :]],
        lambda a: a[nl.arange(16)[:, None] - 1, nl.arange(16)[None, :]],
    ],
    ids=["slice", "arange", "negative"],
)
def test_out_of_bounds_is_found_when_it_is_read(refused, select):
    with refused("index.out_of_bounds", "dimension 0 (size 256)"):
        nki.jit(lambda a: nl.load(select(a)))(A)
