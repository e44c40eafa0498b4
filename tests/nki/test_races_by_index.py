"""Races on rows of shared HBM that an index chooses: the rows that it names, and no others."""

import numpy as np
import pytest
import trnsim

trnsim.install()

import nki
import nki.isa as nisa
import nki.language as nl

TABLE = np.arange(32 * 8, dtype=np.float32).reshape(32, 8)
VALUES = np.ones((2, 4, 8), np.float32)


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    monkeypatch.delenv("NEURON_LOGICAL_NC_CONFIG", raising=False)
    trnsim.install()
    yield
    trnsim.install()


def load(x):
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    return tile


def by_index(table, index, count=4, width=8):
    return table.ap([[width, count], [1, width]], vector_offset=index)


def scatter(table, values, index, me):
    nisa.dma_copy(dst=by_index(table, index), src=values)


def add(table, values, index, me):
    rows = by_index(table, index)
    nisa.dma_compute(dst=rows, srcs=[by_index(table, index), values], reduce_op=nl.add)


def gather(table, values, index, me):
    nisa.dma_copy(dst=values, src=by_index(table, index))


def write_all(table, values, index, me):
    nisa.dma_copy(dst=table[0:4], src=values)


def run(first, second, rows, options=(), values=VALUES):
    """Each core does its part with its rows of the table."""
    if options:
        trnsim.install(**dict(options))

    @nki.jit
    def kernel(table, values, rows):
        me = nl.program_id(0)
        tile, index = load(values[me]), load(rows[me])
        (second if me else first)(table, tile, index, me)
        return table

    return kernel[2](TABLE.copy(), values, np.array(rows, np.int32)[:, :, None])


APART, TOGETHER = ([0, 1, 2, 3], [4, 9, 31, 5]), ([0, 1, 2, 3], [4, 9, 3, 5])


@pytest.mark.parametrize("first, second", [(scatter, gather), (gather, scatter), (add, gather), (add, add),
                                           (write_all, gather), (gather, add), (write_all, add)])
def test_rows_that_both_use_are_a_race(first, second):
    with pytest.raises(trnsim.ProgramError, match="shared tensor .* at byte 96 .*core 0 .*core 1 ") as caught:
        run(first, second, TOGETHER, values=VALUES * np.array([1, 2], np.float32)[:, None, None])
    assert caught.value.rule == "race.shared_hbm"


@pytest.mark.parametrize("first", (scatter, add, write_all, gather))
@pytest.mark.parametrize("second", (scatter, add, gather))
def test_rows_apart_are_none(first, second):
    after = {scatter: lambda rows: 1, add: lambda rows: TABLE[rows] + 1, write_all: lambda rows: 1,
             gather: lambda rows: TABLE[rows]}
    expected = TABLE.copy()
    for part, rows in zip((first, second), APART, strict=True):
        expected[rows] = after[part](rows)
    np.testing.assert_array_equal(run(first, second, APART), expected)


def test_two_that_write_different_values_to_a_row():
    with pytest.raises(trnsim.ProgramError, match="bytes 96 to 127.*values differ") as caught:
        run(scatter, scatter, TOGETHER, values=VALUES * np.array([1, 2], np.float32)[:, None, None])
    assert caught.value.rule == "race.shared_hbm"


def test_two_that_write_the_same_values_to_a_row_are_none():
    expected = TABLE.copy()
    expected[[0, 1, 2, 3, 4, 9, 5]] = 1
    np.testing.assert_array_equal(run(scatter, scatter, TOGETHER), expected)


def test_a_barrier_in_between_puts_them_in_order():
    @nki.jit
    def kernel(table, values, rows):
        me = nl.program_id(0)
        tile, index = load(values[me]), load(rows[me])
        if me == 0:
            scatter(table, tile, index, me)
        nisa.core_barrier(table, (0, 1))
        if me == 1:
            add(table, tile, index, me)
        return table

    expected = TABLE.copy()
    expected[TOGETHER[0]] = 1
    expected[TOGETHER[1]] += 1
    got = kernel[2](TABLE.copy(), VALUES, np.array(TOGETHER, np.int32)[:, :, None])
    np.testing.assert_array_equal(got, expected)


def test_a_transpose_of_rows_by_index():
    table = np.arange(64 * 16, dtype=np.float16).reshape(64, 16)

    def launch(rows):
        @nki.jit
        def kernel(table, rows):
            me = nl.program_id(0)
            if me == 0:
                zeros = nl.ndarray((16, 16), nl.float16, buffer=nl.sbuf)
                nisa.memset(zeros, 0.0)
                nisa.dma_copy(dst=table[0:16], src=zeros)
            else:
                turned = nl.ndarray((16, 16), nl.float16, buffer=nl.sbuf)
                pattern = table.ap([[16, 16], [1, 16]], vector_offset=load(rows))
                nisa.dma_transpose(dst=turned, src=pattern)
            return table

        return kernel[2](table.copy(), np.array(rows, np.uint32)[:, None])

    launch(range(16, 32))
    with pytest.raises(trnsim.ProgramError) as caught:
        launch([*range(16, 31), 15])
    assert caught.value.rule == "race.shared_hbm"


def test_a_run_without_values_leaves_them_out():
    got = run(scatter, gather, TOGETHER, options={"timing_only": True})
    assert got.shape == TABLE.shape
    written = [i for i in trnsim.last_profile().instructions if i["opcode"] == "dma_copy"]
    assert len(written) > 2  # the loads and the copies by index were timed
