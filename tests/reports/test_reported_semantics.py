"""Reports about what a statement means: layouts, sums in loops, copies between shapes, indices known at run time."""

import neuronxcc.nki as nki1
import neuronxcc.nki.isa as nisa1
import neuronxcc.nki.language as nl1
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
import trnsim


def whole(shape, seed=0):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def load(x, dtype=None):
    tile = nl.ndarray(x.shape, dtype=dtype or x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    return tile


def store(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out


# -- where a product lands ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transpose_x", (False, True))
@pytest.mark.parametrize("direct", (False, True), ids=("through SBUF", "stored from PSUM"))
def test_layout_of_a_product(transpose_x, direct):
    @nki1.jit
    def kernel(x, y):
        out = nl1.ndarray((64, 512), dtype=x.dtype, buffer=nl1.shared_hbm)
        product = nl1.matmul(nl1.load(x), nl1.load(y), transpose_x=transpose_x)
        nl1.store(out, product if direct else nl1.copy(product))
        return out

    x, y = whole((64, 128)), whole((128, 512), 1)
    np.testing.assert_array_equal(kernel(x.T.copy() if transpose_x else x, y), x @ y)


def test_psum_is_not_stored_directly_any_more(refused):
    @nki.jit
    def kernel(x):
        tile, psum = load(x), nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=psum, stationary=tile, moving=tile)
        return store(psum)

    with refused("dma_copy.buffer", "PSUM", "tensor_copy"):
        kernel(whole((128, 64)))


# -- sums in loops -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ("affine_range", "sequential_range", "static_range"))
@pytest.mark.parametrize("augmented", (True, False), ids=("+=", "whole tile"))
def test_a_running_sum_in_sbuf(kind, augmented):
    @nki1.jit
    def kernel(x):
        out = nl1.ndarray((128, 16), dtype=x.dtype, buffer=nl1.shared_hbm)
        total = nl1.zeros((128, 16), dtype=x.dtype, buffer=nl1.sbuf)
        for i in getattr(nl1, kind)(2):
            for j in getattr(nl1, kind)(3):
                part = nl1.load(x[nl1.ds(i * 128, 128), nl1.ds(j * 16, 16)])
                if augmented:
                    total += part
                else:
                    total[...] = nl1.add(total, part)
        nl1.store(out, total)
        return out

    x = whole((256, 48))
    np.testing.assert_array_equal(kernel(x), x.reshape(2, 128, 3, 16).sum((0, 2)))


@pytest.mark.parametrize("kind", ("affine_range", "sequential_range", "static_range"))
def test_a_running_sum_in_psum(kind):
    @nki1.jit
    def kernel(x):
        out = nl1.ndarray((48, 48), dtype=x.dtype, buffer=nl1.shared_hbm)
        total = nl1.zeros((48, 48), dtype=np.float32, buffer=nl1.psum)
        for i in getattr(nl1, kind)(3):
            tile = nl1.load(x[nl1.ds(i * 128, 128), :])
            total += nl1.matmul(tile, tile, transpose_x=True)
        nl1.store(out, nl1.copy(total))
        return out

    x = whole((384, 48))
    np.testing.assert_array_equal(kernel(x), x.T @ x)


# -- the convolution that a simulator took and a device did not --------------------------------------------------------


def convolved(image, weights, bias):
    """[H, W] valid correlation over channels: image [C, H, W], weights [3, 3, C, K]."""
    height, width = image.shape[1] - 2, image.shape[2] - 2
    total = np.broadcast_to(bias[:, None, None], (weights.shape[3], height, width)).astype(np.float64)
    for dy in range(3):
        for dx in range(3):
            window = image[:, dy : dy + height, dx : dx + width]
            total = total + np.einsum("ck,chw->khw", weights[dy, dx], window)
    return total


@nki.jit
def convolution(image, weights, bias, bias_in_psum):
    """One image a time, 3 x 3; the bias belongs to the copy out of PSUM."""
    batch, channels, height, width = image.shape
    rows, columns = height - 2, width - 2
    out = nl.ndarray((batch, 128, rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    taps = [[load(weights[dy, dx]) for dx in range(3)] for dy in range(3)]
    column = load(bias)
    for b in range(batch):
        pixels = load(image[b])
        psum = nl.ndarray((128, rows, columns), dtype=nl.float32, buffer=nl.psum)
        if bias_in_psum:
            nisa.tensor_scalar(dst=psum, data=pixels[:, 0:rows, 0:columns], op0=nl.multiply, operand0=0.0, op1=nl.add,
                               operand1=column)
        for tap in range(9):
            dy, dx = divmod(tap, 3)
            window = pixels[:, dy : dy + rows, dx : dx + columns]
            nisa.nc_matmul(dst=psum, stationary=taps[dy][dx], moving=window, accumulate=bias_in_psum or tap > 0)
        result = nl.ndarray((128, rows, columns), dtype=nl.float32, buffer=nl.sbuf)
        if bias_in_psum:
            nisa.tensor_copy(dst=result, src=psum)
        else:
            nisa.tensor_scalar(dst=result, data=psum, op0=nl.add, operand0=column)
        nisa.dma_copy(dst=out[b], src=result)
    return out


def test_a_convolution_with_its_bias():
    image, weights, bias = whole((4, 128, 32, 16)), whole((3, 3, 128, 128), 1), whole((128, 1), 2)
    expected = [convolved(one, weights, bias[:, 0]) for one in image]
    np.testing.assert_array_equal(convolution(image, weights, bias, False), expected)
    with pytest.warns(UserWarning, match="another instruction than a matmul wrote.*undefined"):
        np.testing.assert_array_equal(convolution(image, weights, bias, True), expected)


# -- copies ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chip", ("trn1", "trn2", "trn3"))
def test_a_copy_between_shapes_of_equal_size(chip, refused):
    trnsim.install(chip=chip)

    def copy(x, shape):
        out = nl.ndarray(shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=x)
        return out

    x = whole((128, 512))
    np.testing.assert_array_equal(nki.jit(copy)(x, (64, 1024)), x.reshape(64, 1024))
    with refused("dma_copy.elements", "65536"):
        nki.jit(copy)(x, (64, 1023))


def test_a_copy_of_several_inputs_and_outputs():
    @nki.jit
    def kernel(x, y):
        outs = [nl.ndarray(t.shape, dtype=t.dtype, buffer=nl.shared_hbm) for t in (y, x)]
        nisa.dma_copy(dst=outs[0], src=y)
        nisa.dma_copy(dst=outs[1], src=x)
        return tuple(outs)

    x, y = whole((128, 512)), whole((64, 3), 1)
    for result, expected in zip(kernel(x, y), (y, x), strict=True):
        np.testing.assert_array_equal(result, expected)


# -- indices known at run time -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows, inside", [(10, True), (9, False)])
def test_a_dynamic_loop_that_runs_past_the_end(rows, inside, refused):
    @nki.jit
    def kernel(x):
        out = nl.ndarray((10, 8), dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray((2, 8), dtype=x.dtype, buffer=nl.sbuf)
        for step in nl.dynamic_range(5):
            r = step * 2
            nisa.dma_copy(dst=tile, src=x[r : r + 2])
            nisa.dma_copy(dst=out[r : r + 2], src=tile)
        return out

    x = whole((rows, 8))
    if inside:
        np.testing.assert_array_equal(kernel(x), x)
    else:
        with refused("tensor.out_of_bounds", "8 to 9", "size 9"):
            kernel(x)


@pytest.mark.parametrize("chip", ("trn1", "trn2", "trn3"))
def test_rows_chosen_by_a_tile_through_a_scalar_offset(chip, refused):
    trnsim.install(chip=chip)

    @nki.jit
    def kernel(x, rows):
        out = nl.ndarray((4, 8), dtype=x.dtype, buffer=nl.shared_hbm)
        index = load(rows)
        for i in range(4):
            pattern = x.ap([[8, 1], [1, 8]], scalar_offset=index[0:1, i : i + 1])
            nisa.dma_copy(dst=out[i : i + 1], src=pattern)
        return out

    x, rows = whole((16, 8)), np.array([[3, 15, 0, 3]], np.int32)
    np.testing.assert_array_equal(kernel(x, rows), x[rows[0]])
    with refused("dma_copy.out_of_bounds", "16"):
        kernel(x, np.array([[0, 1, 2, 16]], np.int32))


@pytest.mark.parametrize("skip", (True, False))
def test_a_ragged_gather_and_its_transpose(skip, refused):
    x = np.arange(32 * 24).reshape(32, 24).astype(np.float16)
    rows = np.array([0, 5, 99, 31, 1, 2, 3, 4, 6, 7, 32, 8, 9, 10, 11, 12], np.int32)[:, None]

    @nki.jit
    def kernel(x, rows):
        index = load(rows)
        tile = nl.ndarray((16, 24), dtype=x.dtype, buffer=nl.sbuf)
        nisa.memset(tile, -1.0)
        mode = nisa.oob_mode.skip if skip else nisa.oob_mode.error
        nisa.dma_copy(dst=tile, src=x.ap([[24, 16], [1, 24]], vector_offset=index), oob_mode=mode)
        turned = nl.ndarray((24, 16), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_transpose(dst=turned, src=tile)
        return store(turned)

    if not skip:
        with refused("dma_copy.out_of_bounds", "99"):
            kernel(x, rows)
        return
    inside = rows[:, 0] < 32
    expected = np.full((16, 24), -1, np.float16)
    expected[inside] = x[rows[inside, 0]]
    np.testing.assert_array_equal(kernel(x, rows), expected.T)


# -- more than eight of the largest ------------------------------------------------------------------------------------


def test_sixteen_of_the_largest_in_two_rounds():
    @nki.jit
    def kernel(x):
        tile = load(x)
        values = nl.ndarray((128, 16), dtype=x.dtype, buffer=nl.sbuf)
        places = nl.ndarray((128, 16), dtype=nl.uint32, buffer=nl.sbuf)
        for part in (slice(0, 8), slice(8, 16)):
            nisa.max8(dst=values[:, part], src=tile)
            nisa.nc_find_index8(dst=places[:, part], data=tile, vals=values[:, part])
            nisa.nc_match_replace8(dst=tile, data=tile, vals=values[:, part], imm=-1e30)
        return store(values), store(places)

    x = np.random.default_rng(0).permuted(np.tile(np.arange(1024, dtype=np.float32), (128, 1)), axis=1)
    values, places = kernel(x)
    np.testing.assert_array_equal(places, np.argsort(-x, axis=1)[:, :16])
    np.testing.assert_array_equal(values, -np.sort(-x, axis=1)[:, :16])


@pytest.mark.parametrize("k", (8, 4096))
def test_as_many_of_the_largest_as_there_are(k):
    @nki.jit
    def kernel(x):
        src = load(x)
        values = nl.ndarray((16, k), dtype=nl.bfloat16, buffer=nl.sbuf)
        places = nl.ndarray((16, k), dtype=nl.uint32, buffer=nl.sbuf)
        nisa.memset(values, 0.0), nisa.memset(places, 0)
        nisa.topk(val_dst=values, idx_dst=places, src=src, n=4096)
        return store(places)

    import ml_dtypes

    logits = np.random.default_rng(1).standard_normal(4096).astype(ml_dtypes.bfloat16)
    places = kernel(logits.reshape(256, 16).T.copy()).T.reshape(-1)[:k]  # a list runs down the partitions first
    assert len(set(places.tolist())) == k
    np.testing.assert_array_equal(np.sort(logits)[-k:], logits[places])  # in ascending order


# -- a wrong formula ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation, error", [(np.multiply, 1e-5), (np.add, None)])
def test_attention_that_adds_one_instead_of_multiplying_by_it(operation, error):
    """Draining PSUM by x + 1 instead of x * 1 is legal; only the numbers tell."""

    @nki1.jit
    def kernel(q, k, v):
        out = nl1.ndarray((128, 64), dtype=q.dtype, buffer=nl1.shared_hbm)
        scores = nisa1.tensor_scalar(nl1.matmul(nl1.load(q), nl1.load(k), transpose_x=True), operation, 1.0)
        weights = nl1.softmax(nl1.copy(scores), axis=-1)
        turned = nisa1.tensor_scalar(nisa1.nc_transpose(weights), operation, 1.0)
        nl1.store(out, nl1.copy(nisa1.nc_matmul(turned, nl1.load(v))))
        return out

    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal(shape).astype(np.float32) for shape in ((64, 128), (64, 128), (128, 64)))
    weights = np.exp(q.T.astype(np.float64) @ k)
    expected = weights / weights.sum(1, keepdims=True) @ v
    away = np.abs(kernel(q, k, v) - expected).max()
    assert away < error if error else away > 1


@pytest.mark.parametrize("style", ("arange", "mgrid"))
def test_both_styles_of_indices(style):
    @nki1.jit
    def kernel(x):
        out = nl1.ndarray((96, 128), dtype=x.dtype, buffer=nl1.shared_hbm)
        if style == "arange":
            i_p, i_f = nl1.arange(128)[:, None], nl1.arange(96)[None, :]
            j_p, j_f = nl1.arange(96)[:, None], nl1.arange(128)[None, :]
        else:
            i_p, i_f = nl1.mgrid[0:128, 0:96]
            j_p, j_f = nl1.mgrid[0:96, 0:128]
        tile = nl1.load(x[i_p, i_f])
        nl1.store(out[j_p, j_f], nl1.copy(nisa1.nc_transpose(tile[i_p, i_f])))
        return out

    x = whole((128, 96))
    np.testing.assert_array_equal(kernel(x), x.T)


# -- an index outside its loop -----------------------------------------------------------------------------------------


def test_an_index_of_a_loop_that_has_ended_is_named_with_its_line():
    """A low-rank update, x @ w + x @ a @ b, whose last store stands one level too far out."""

    @nki1.jit
    def kernel(x, w, a, b):
        out = nl1.ndarray((256, 512), dtype=x.dtype, buffer=nl1.shared_hbm)
        for m in nl1.affine_range(2):
            product = nl1.zeros((128, 512), nl1.float32, buffer=nl1.psum)
            for k in nl1.affine_range(2):
                rows, columns = nl1.ds(k * 128, 128), nl1.ds(m * 128, 128)
                product += nl1.matmul(nl1.load(x[rows, columns]), nl1.load(w[rows]), transpose_x=True)
            low = nl1.zeros((8, 128), nl1.float32, buffer=nl1.psum)
            for j in nl1.affine_range(2):
                rows, columns = nl1.ds(j * 128, 128), nl1.ds(m * 128, 128)
                low += nl1.matmul(nl1.load(a[rows]), nl1.load(x[rows, columns]), transpose_x=True)
            small = nl1.copy(low, dtype=x.dtype)
            update = nl1.add(product, nl1.matmul(small, nl1.load(b), transpose_x=True))
            nl1.store(out[nl1.ds(m * 128, 128)], update)
        nl1.store(out[nl1.ds(m * 128, 128)], update)
        return out

    x, w, a, b = (whole(shape, i) for i, shape in enumerate(((256, 256), (256, 512), (256, 8), (8, 512))))
    first = kernel.function.__code__.co_firstlineno
    with pytest.warns(UserWarning, match=f"'m' is the index of the loop in line {first + 3}, which has end") as caught:
        np.testing.assert_array_equal(kernel(x, w, a, b), x.T @ w + x.T @ a @ b)
    assert [w.lineno for w in caught if "'m' is" in str(w.message)] == [first + 15]
