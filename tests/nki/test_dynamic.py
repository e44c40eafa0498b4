"""Addresses and loop bounds that the kernel computes: tiles and registers as indices, gathers and
scatters."""

import numpy as np
import pytest
import trnsim
from oracle import same, sample

trnsim.install()

import nki.isa as nisa
import nki.language as nl


def index_tile(values):
    tile = nl.ndarray((len(values), 1), nl.int32, nl.sbuf)
    for p, value in enumerate(values):
        if p == 0:
            nisa.memset(dst=tile[0:1], value=value)
    return tile


def scalar(value):
    return index_tile([value])


def fetched(source, shape):
    out = nl.ndarray(shape, source.dtype, nl.shared_hbm)
    nisa.dma_copy(dst=out, src=source)
    return out


@pytest.mark.parametrize(
    "index",
    [lambda: 2, lambda: scalar(2), lambda: nisa.register_alloc(2)],
    ids=["number", "tile", "register"],
)
def test_select(run, index):
    x = sample((4, 16, 8))
    same(run(lambda t: fetched(t.select(0, index()), (16, 8)), x), x[2])
    same(run(lambda t: fetched(t.select(1, index()), (4, 8)), x), x[:, 2])
    same(run(lambda t: fetched(t.ap([[8, 16], [1, 8]], scalar_offset=index()), (16, 8)), x), x[2])
    same(
        run(lambda t: fetched(t.ap([[8, 4], [1, 8]], scalar_offset=index(), indirect_dim=1), (4, 8)), x),
        x.reshape(64, 8)[2:6],
    )


def test_a_tile_in_a_subscript(run):
    x = sample((4, 16, 8))
    same(run(lambda t: fetched(t[scalar(3)], (16, 8)), x), x[3])
    same(run(lambda t: fetched(t[:, scalar(3), 2:4], (4, 2)), x), x[:, 3, 2:4])


def test_a_dynamic_address_on_chip(run):
    def kernel(x):
        tile = nl.load(x)
        picked = nl.ndarray((16, 4), x.dtype, nl.sbuf)
        nisa.tensor_copy(dst=picked, src=tile.ap([[24, 16], [1, 4]], scalar_offset=scalar(5), indirect_dim=1))
        return fetched(picked, (16, 4))

    x = sample((16, 24))
    same(run(kernel, x), x[:, 5:9])


ROWS = [5, 0, 63, 5, 17]


def rows_tile(rows):
    return nl.load(rows)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_gather(run, dtype):
    x, rows = sample((64, 40)), np.array(ROWS, dtype)[:, None]
    same(run(lambda t, r: fetched(t.vector_select(0, rows_tile(r)), (5, 40)), x, rows), x[ROWS])
    pattern = [[40, 5], [1, 40]]
    same(
        run(
            lambda t, r: fetched(t.ap(pattern, vector_offset=rows_tile(r), indirect_dim=0), (5, 40)), x, rows
        ),
        x[ROWS],
    )


def test_gather_of_parts_of_rows(run):
    x, rows = sample((64, 40)), np.array(ROWS, np.int32)[:, None]
    same(
        run(lambda t, r: fetched(t.ap([[40, 5], [2, 8]], 3, vector_offset=rows_tile(r)), (5, 8)), x, rows),
        x[ROWS, 3:19:2],
    )
    same(run(lambda t, r: fetched(t.vector_select(0, rows_tile(r))[:, 4:9], (5, 5)), x, rows), x[ROWS, 4:9])
    same(
        run(lambda t, r: fetched(t.ap([[40, 3], [1, 40]], vector_offset=rows_tile(r)), (3, 40)), x, rows),
        x[ROWS[:3]],
    )


ROW_VIEWS = {  # of rows chosen from a tensor of shape [64, 4, 1, 6]
    "slice": (lambda t: t.slice(3, 1, 5, 2), lambda x: x[:, :, :, 1:5:2]),
    "subscript": (lambda t: t[:, 1:3, 0, ::2], lambda x: x[:, 1:3, 0, ::2]),
    "ellipsis": (lambda t: t[..., nl.ds(2, 3)], lambda x: x[..., 2:5]),
    "select": (lambda t: t.select(1, 2), lambda x: x[:, 2]),
    "permute": (lambda t: t.permute((0, 3, 2, 1)), lambda x: x.transpose(0, 3, 2, 1)),
    "broadcast": (lambda t: t.broadcast(2, 3), lambda x: np.repeat(x, 3, 2)),
    "expand and squeeze": (lambda t: t.expand_dim(1).squeeze_dim(3), lambda x: x[:, None, :, 0]),
    "reshape_dim": (lambda t: t.reshape_dim(3, (2, -1)), lambda x: x.reshape(5, 4, 1, 2, 3)),
    "flatten_dims": (lambda t: t.flatten_dims(1, 3), lambda x: x.reshape(5, 24)),
    "reshape": (lambda t: t.reshape((5, 6, 4)), lambda x: x.reshape(5, 6, 4)),
    "rearrange": (
        lambda t: t.rearrange(("p", "a", "u", "b"), ("p", "b", ("u", "a"))),
        lambda x: x[:, :, 0].transpose(0, 2, 1),
    ),
}


@pytest.mark.parametrize("name", ROW_VIEWS)
def test_views_of_gathered_rows(run, name):
    view, expected = ROW_VIEWS[name]
    x, rows = sample((64, 4, 1, 6)), np.array(ROWS, np.int32)[:, None]
    wanted = expected(x[ROWS])

    def kernel(t, r):
        gathered = view(t.vector_select(0, rows_tile(r)))
        assert gathered.is_indirect() and gathered.shape == wanted.shape and gathered.size == wanted.size
        assert [size for _, size in gathered.get_pattern()] == list(wanted.shape)
        return fetched(gathered, wanted.shape)

    same(run(kernel, x, rows), wanted)


ROWS_STAY = {
    "permute": lambda t: t.permute((1, 0, 2, 3)),
    "squeeze": lambda t: t.squeeze_dim(0),
    "expand": lambda t: t.expand_dim(0),
    "expand from the end": lambda t: t.expand_dim(-5),
    "reshape_dim": lambda t: t.reshape_dim(0, (5, 1)),
    "flatten_dims": lambda t: t.flatten_dims(0, 1),
    "reshape": lambda t: t.reshape((20, 6)),
    "slice": lambda t: t.slice(0, 0, 2),
    "select": lambda t: t.select(-4, 1),
    "subscript": lambda t: t[0],
    "broadcast": lambda t: t.broadcast(0, 5),
    "rearrange": lambda t: t.rearrange(("p", "a", "u", "b"), ("a", "p", "u", "b")),
}


@pytest.mark.parametrize("name", ROWS_STAY)
def test_gathered_rows_stay_in_front(run, name):
    x, rows = sample((64, 4, 1, 6)), np.array(ROWS, np.int32)[:, None]
    with pytest.raises(trnsim.ProgramError, match="dimension 0 of .* is chosen by a vector") as caught:
        run(lambda t, r: ROWS_STAY[name](t.vector_select(0, rows_tile(r))), x, rows)
    assert caught.value.rule == "tensor.indirect"


def test_gather_of_rows_that_the_last_row_has_not(run):
    x, rows = sample((8, 10)), np.array([0, 6, 2], np.int32)[:, None]
    pattern = [[10, 3], [1, 10]]
    gather = lambda t, r: fetched(t.ap(pattern, 5, vector_offset=rows_tile(r)), (3, 10))  # noqa: E731
    flat = x.reshape(-1)
    same(run(gather, x, rows), np.stack([flat[5 + 10 * r : 15 + 10 * r] for r in (0, 6, 2)]))
    with pytest.raises(trnsim.ProgramError, match=r"index\[1\] is 7, but src has rows 0 to 6"):
        run(gather, x, np.array([0, 7, 2], np.int32)[:, None])


def test_a_dynamic_view_says_so(run):
    def kernel(x):
        for view in (
            x.select(0, scalar(2)),
            x[nisa.register_alloc(2)],
            x[nl.ds(nisa.register_alloc(2), 2)],
            x.ap([[8, 2], [1, 8]], scalar_offset=scalar(2)),
        ):
            assert view.is_indirect() and view[..., 0:2].is_indirect()
        assert not x[2].is_indirect() and not x[nl.ds(2, 2)].is_indirect()

    run(kernel, sample((4, 16, 8)))


def test_gather_of_matrices(run):
    x, rows = sample((64, 4, 10)), np.array(ROWS, np.int32)[:, None]
    same(run(lambda t, r: fetched(t.vector_select(0, rows_tile(r)), (5, 4, 10)), x, rows), x[ROWS])


def test_scatter(run):
    def kernel(x, rows):
        out = nl.zeros((64, 40), nl.float32, nl.shared_hbm)
        nisa.dma_copy(dst=out.vector_select(0, rows_tile(rows)), src=nl.load(x))
        return out

    x, rows = sample((5, 40)), np.array([5, 0, 63, 6, 17], np.int32)[:, None]
    expected = np.zeros((64, 40), np.float32)
    expected[rows[:, 0]] = x
    same(run(kernel, x, rows), expected)


def test_transpose_of_gathered_rows(run):
    def kernel(x, rows):
        result = nl.ndarray((40, 16), x.dtype, nl.sbuf)
        source = x.ap([[40, 16], [1, 40]], vector_offset=rows_tile(rows), indirect_dim=0)
        nisa.dma_transpose(dst=result, src=source, dge_mode=nisa.dge_mode.swdge)
        return fetched(result, (40, 16))

    x, rows = sample((64, 40), "bfloat16"), np.arange(16, dtype=np.uint32)[::-1, None] * 3
    same(run(kernel, x, rows), x[rows[:, 0]].T)


@pytest.mark.parametrize("positional", [False, True])
def test_skipping_what_a_scalar_offset_misses(run, positional):
    skip = nisa.oob_mode.skip

    def kernel(x, row):
        copied, turned = nl.zeros((16, 8), x.dtype), nl.zeros((8, 16), x.dtype)
        source = x.ap([[8, 16], [1, 8]], scalar_offset=nl.load(row))
        if positional:
            nisa.dma_copy(copied, source, None, skip)
            nisa.dma_transpose(turned, source, None, None, nisa.dge_mode.unknown, skip)
        else:
            nisa.dma_copy(dst=copied, src=source, oob_mode=skip)
            nisa.dma_transpose(dst=turned, src=source, oob_mode=skip)
        return fetched(copied, (16, 8)), fetched(turned, (8, 16))

    x = sample((20, 8), "bfloat16")
    for row, expected in ((4, x[4:]), (5, np.zeros_like(x[4:])), (20, np.zeros_like(x[4:]))):
        copied, turned = run(kernel, x, np.array([[row]], np.int32))
        same(copied, expected)
        same(turned, expected.T)


def test_scattering_outside_leaves_the_tensor(run):
    def kernel(x, row):
        out = nl.zeros((4, 8), x.dtype, nl.shared_hbm)
        nisa.dma_copy(
            dst=out.ap([[8, 2], [1, 8]], scalar_offset=nl.load(row)), src=nl.load(x), oob_mode=nisa.oob_mode.skip
        )
        return out

    x = sample((2, 8))
    same(run(kernel, x, np.array([[3]], np.int32)), np.zeros((4, 8), np.float32))
    same(run(kernel, x, np.array([[2]], np.int32))[2:], x)


def test_what_an_indirect_view_says(run):
    def kernel(x, rows):
        view = x.vector_select(0, rows_tile(rows))
        assert view.is_indirect() and view.shape == (5, 40) and view.ndim == 2 and view.dtype == nl.float32

    run(kernel, sample((64, 40)), np.array(ROWS, np.int32)[:, None])


def test_an_index_that_does_not_exist(run):
    x = sample((4, 8))
    with pytest.raises(trnsim.ProgramError, match="index 9 is out of bounds for dimension 0") as caught:
        run(lambda t: fetched(t.select(0, scalar(9)), (8,)), x)
    assert caught.value.rule == "dma_copy.out_of_bounds"

    def kernel(tensor):
        tile = nl.zeros((1, 8), nl.float32)
        nisa.dma_copy(
            dst=tile, src=tensor.ap([[8, 1], [1, 8]], scalar_offset=scalar(9)), oob_mode=nisa.oob_mode.skip
        )
        return fetched(tile, (1, 8))

    same(run(kernel, x), np.zeros((1, 8), np.float32))


def one():
    return scalar(1)


REFUSED = {
    "both offsets": (
        lambda t, r: t.ap([[8, 1], [1, 8]], scalar_offset=0, vector_offset=r),
        "tensor.indirect",
    ),
    "vector on another dimension": (
        lambda t, r: t.ap([[8, 1], [1, 8]], vector_offset=r, indirect_dim=1),
        "tensor.indirect",
    ),
    "vector_select of dim 1": (lambda t, r: t.vector_select(1, r), "tensor.indirect"),
    "vector on chip": (lambda t, r: nl.load(t).vector_select(0, r), "tensor.indirect"),
    "partition chosen at run time": (lambda t, r: nl.load(t).select(0, r[0:1]), "tensor.indirect"),
    "sliced rows": (lambda t, r: t.vector_select(0, r)[1:2], "tensor.indirect"),
    "selected twice": (lambda t, r: t.vector_select(0, r).select(1, r[0:1]), "tensor.indirect"),
    "vectors twice": (lambda t, r: t.vector_select(0, r).vector_select(0, r), "tensor.indirect"),
    "select, then select": (lambda t, r: t.select(0, one()).select(0, one()), "tensor.indirect"),
    "select, then a register": (lambda t, r: t.select(0, one())[nisa.register_alloc(1)], "tensor.indirect"),
    "two registers": (lambda t, r: t[nisa.register_alloc(1), nisa.register_alloc(1)], "tensor.indirect"),
    "select, then vector_select": (lambda t, r: t.select(0, one()).vector_select(0, r), "tensor.indirect"),
    "select, then ap": (
        lambda t, r: t.select(0, one()).ap([[8, 2], [1, 8]], scalar_offset=one()),
        "tensor.indirect",
    ),
    "view of a selection": (lambda t, r: t.select(0, one()).view(nl.int32), "tensor.view"),
    "view of rows": (lambda t, r: t.vector_select(0, r).view(nl.int32), "tensor.indirect"),
    "assignment to rows": (lambda t, r: t.vector_select(0, r).__setitem__(0, 1), "tensor.indirect"),
    "vector in HBM": (lambda t, r: t.vector_select(0, t), "tensor.indirect"),
    "rows beyond": (lambda t, r: t.ap([[8, 5], [1, 8]], 8 * 64, vector_offset=r), "tensor.out_of_bounds"),
    "indirect_dim that is not there": (
        lambda t, r: t.ap([[8, 1], [1, 8]], scalar_offset=one(), indirect_dim=2),
        "tensor.dim",
    ),
    "on chip beyond": (
        lambda t, r: nl.load(t).ap([[8, 64], [1, 4]], scalar_offset=nisa.register_alloc(5), indirect_dim=1),
        "tensor.out_of_bounds",
    ),
    "vector as scalar": (lambda t, r: t.select(0, r), "tensor.indirect"),
    "float index": (lambda t, r: t.select(0, nl.zeros((1, 1), nl.float32)), "tensor.indirect"),
    "computed with": (
        lambda t, r: nisa.tensor_copy(dst=nl.ndarray((5, 8), nl.float32), src=t.vector_select(0, r)),
        "tensor_copy.argument",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(run, name):
    action, rule = REFUSED[name]
    with pytest.raises(trnsim.ProgramError) as caught:
        run(lambda t, r: action(t, nl.load(r)), sample((64, 8)), np.array(ROWS, np.int32)[:, None])
    assert caught.value.rule == rule


def test_timing_only_has_no_addresses():
    trnsim.install(timing_only=True)
    import nki

    try:
        with pytest.raises(trnsim.Unsupported, match="a timing-only run has no values"):
            nki.jit(lambda t: fetched(t.select(0, scalar(2)), (8,)))(sample((4, 8)))
        with pytest.raises(trnsim.Unsupported, match="a timing-only run has no values"):
            nki.jit(lambda t: nisa.register_load(nisa.register_alloc(), scalar(2)))(sample((4, 8)))
    finally:
        trnsim.install()
