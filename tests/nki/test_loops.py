"""Loops of the hardware: what they compute, and what they refuse."""

import numpy as np
import pytest
import trnsim
from oracle import same, sample

trnsim.install()

import nki.isa as nisa
import nki.language as nl


def fetched(source, shape):
    out = nl.ndarray(shape, source.dtype, nl.shared_hbm)
    nisa.dma_copy(dst=out, src=source)
    return out


def test_while_loop(run):
    def kernel(counts):
        seen = nl.zeros((1, 8), nl.int32)
        register = nisa.register_alloc()
        nisa.register_load(register, nl.load(counts))

        def body(r):
            nisa.register_store(seen[:, nl.ds(r, 1)], r)
            nisa.register_move(r, int(r) - 1)
            return r

        nl.while_loop(register, body)
        assert int(register) == 3  # the body has a copy
        nl.while_loop(nisa.register_alloc(0), body)  # no round at all
        return fetched(seen, (1, 8))

    same(run(kernel, np.array([[3]], np.int32)), np.array([[0, 1, 2, 3, 0, 0, 0, 0]], np.int32))


@pytest.mark.parametrize("bounds", [(2, 8, 2), (5,), (1, 1), (4, 2), (-3, 2)])
@pytest.mark.parametrize("registers", [False, True])
def test_dynamic_range_and_fori_loop_count_as_range(run, bounds, registers):
    def kernel(x):
        bound = nisa.register_alloc if registers else int
        given = [bound(value) for value in bounds[:2]] + list(bounds[2:])
        assert [int(i) for i in nl.dynamic_range(*given)] == list(range(*bounds))
        rounds = []
        pair = given if len(given) > 1 else [0, *given]
        assert nl.fori_loop(*pair[:2], lambda i: rounds.append(int(i)), *pair[2:]) is None
        assert rounds == list(range(*bounds))

    run(kernel, sample((2, 2)))


def test_the_index_addresses_tensors(run):
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
        tile = nl.ndarray((2, 4), x.dtype, nl.sbuf)
        for r in nl.dynamic_range(0, 8, 2):
            nisa.dma_copy(dst=tile, src=x[r : r + 2])
            nisa.dma_copy(dst=out[nl.ds(r, 2)], src=tile)
        nl.fori_loop(
            8,
            10,
            lambda r: nisa.dma_copy(
                dst=out.ap([[4, 1], [1, 4]], scalar_offset=r), src=x.ap([[4, 1], [1, 4]], scalar_offset=r)
            ),
        )
        return out

    x = sample((10, 4))
    same(run(kernel, x), x)


def test_the_loop_register_computes(run):
    def kernel(x):
        for i in nl.dynamic_range(3, 4):
            assert [int(v) for v in (i + 1, 1 + i, i - 1, 10 - i, 2 * i, i * 2)] == [4, 4, 2, 7, 6, 6]
            assert x[i * 2 : i * 2 + 2].is_indirect()
        with nl.no_reorder():
            pass
        for _ in nl.dynamic_range(2):
            with nl.no_reorder():
                pass

    run(kernel, sample((10, 4)))


BEYOND = {  # five rounds over nine rows, two at a time: the last does not exist
    "slice": (lambda x, r: x[r : r + 2], "tensor.out_of_bounds", "index 8 to 9 .*size 9"),
    "ds": (lambda x, r: x[nl.ds(r, 2)], "tensor.out_of_bounds", "index 8 to 9 .*size 9"),
    "ap": (
        lambda x, r: x.ap([[4, 2], [1, 4]], scalar_offset=r),
        "dma_copy.out_of_bounds",
        "index 8 of dimension 0 .size 9.*element 32 to 39",
    ),
    "select": (lambda x, r: x.reshape((9, 1, 4)).select(0, r + 1), "dma_copy.out_of_bounds", "index 9 .*size 9"),
    "before": (lambda x, r: x[nl.ds(r - 1, 2)], "tensor.out_of_bounds", "index -1 to 0"),
    "open": (lambda x, r: x[r + 8 :].slice(0, 0, 1), "tensor.out_of_bounds", "dimension 0 .size 0"),
}


@pytest.mark.parametrize("loop", ["dynamic_range", "fori_loop"])
@pytest.mark.parametrize("name", BEYOND)
def test_rows_beyond_the_end_are_refused(run, name, loop):
    view, rule, text = BEYOND[name]

    def kernel(x):
        tile = nl.ndarray((2, 4), x.dtype, nl.sbuf)

        def body(r):
            source = view(x, r)
            nisa.dma_copy(dst=tile[0 : source.shape[0]], src=source)

        if loop == "fori_loop":
            return nl.fori_loop(0, 10, body, 2)
        for r in nl.dynamic_range(0, 10, 2):
            body(r)

    with pytest.raises(trnsim.ProgramError, match=text) as caught:
        run(kernel, sample((9, 4)))
    assert caught.value.rule == rule


def inside_no_reorder(loop):
    with nl.no_reorder():
        loop()


def write_index(write):
    for i in nl.dynamic_range(2):
        write(i)


def compare_index(compare):
    for i in nl.dynamic_range(2):
        compare(i)


REFUSED = {
    "dynamic_range in no_reorder": (lambda: inside_no_reorder(lambda: nl.dynamic_range(2)), "loop.no_reorder"),
    "fori_loop in no_reorder": (lambda: inside_no_reorder(lambda: nl.fori_loop(0, 2, print)), "loop.no_reorder"),
    "while_loop in no_reorder": (
        lambda: inside_no_reorder(lambda: nl.while_loop(nisa.register_alloc(0), print)),
        "loop.no_reorder",
    ),
    "step 0": (lambda: nl.dynamic_range(0, 4, 0), "loop.step"),
    "step backwards": (lambda: nl.fori_loop(4, 0, print, -1), "loop.step"),
    "step in a register": (lambda: nl.dynamic_range(0, 4, nisa.register_alloc(1)), "loop.step"),
    "float bound": (lambda: nl.dynamic_range(2.5), "loop.bound"),
    "tile as bound": (lambda: nl.fori_loop(0, nl.zeros((1, 1), nl.int32), print), "loop.bound"),
    "no body": (lambda: nl.fori_loop(0, 2, None), "loop.body"),
    "no body of while": (lambda: nl.while_loop(nisa.register_alloc(0), None), "loop.body"),
    "while of an integer": (lambda: nl.while_loop(1, print), "loop.condition"),
    "body that returns nothing": (lambda: nl.while_loop(nisa.register_alloc(1), lambda r: None), "loop.condition"),
    "move to the index": (
        lambda: write_index(lambda i: nisa.register_move(i, 0)),
        "register_move.read_only",
    ),
    "load to the index": (
        lambda: write_index(lambda i: nisa.register_load(i, nl.zeros((1, 1), nl.int32))),
        "register_load.read_only",
    ),
    "if of the index": (lambda: compare_index(lambda i: 1 if i else 2), "loop.index_in_python"),
    "equality": (lambda: compare_index(lambda i: i == 0), "loop.index_in_python"),
    "order": (lambda: compare_index(lambda i: i + 1 < 2), "loop.index_in_python"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(run, name):
    action, rule = REFUSED[name]

    def kernel(x):
        action()

    with pytest.raises(trnsim.ProgramError) as caught:
        run(kernel, sample((2, 2)))
    assert caught.value.rule == rule
