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
    "selected twice": (lambda t, r: t.vector_select(0, r).select(1, 0), "tensor.indirect"),
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


def test_registers_and_loops(run):
    def kernel(counts):
        seen = nl.zeros((1, 8), nl.int32)
        register = nisa.register_alloc()
        nisa.register_load(register, nl.load(counts))

        def body(r):
            nisa.memset(dst=seen[:, int(r) : int(r) + 1], value=int(r))
            nisa.register_move(r, int(r) - 1)
            return r

        nl.while_loop(register, body)
        for i in nl.dynamic_range(nisa.register_alloc(5), 8, 2):
            nisa.memset(dst=seen[:, i : i + 1], value=i * 10)
        nl.fori_loop(
            0,
            nisa.register_alloc(1),
            lambda i: (
                nisa.memset(dst=seen[:, i : int(i) + 1], value=-1)
                if False
                else nisa.register_store(seen[:, 0:1], -1)
            ),
        )
        with nl.no_reorder():
            return fetched(seen, (1, 8))

    same(run(kernel, np.array([[3]], np.int32)), np.array([[-1, 1, 2, 3, 0, 50, 0, 70]], np.int32))


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
