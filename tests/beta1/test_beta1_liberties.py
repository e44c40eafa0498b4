"""What Beta 1's compiler is known to do with a program: rows broadcast in PSUM, loads made again instead of spills,
invariant work out of loops. The values never change."""

import numpy as np
import pytest
import trnsim
from neuronxcc import nki
from neuronxcc.nki import isa as nisa
from neuronxcc.nki import language as nl


@pytest.fixture(autouse=True)
def on_trainium1():
    trnsim.install(chip="trn1")


def _opcodes():
    return [entry["opcode"] for entry in trnsim.last_profile().instructions]


def _operands(opcode):
    return [entry["operands"] for entry in trnsim.last_profile().instructions if entry["opcode"] == opcode]


@nki.jit
def scaled_columns(x, row):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    factors = nl.load(row).broadcast_to(x.shape)
    nl.store(out, nisa.tensor_tensor(tile, factors, op=nl.multiply))
    return out


@pytest.mark.parametrize("columns, copies", [(1, 0), (512, 0), (513, 2)])
def test_a_broadcast_row_is_read_in_psum_where_one_bank_holds_it(columns, copies):
    rng = np.random.default_rng(7)
    x, row = rng.random((128, columns), np.float32), rng.random((1, columns), np.float32)
    np.testing.assert_array_equal(scaled_columns(x, row), x * row)
    assert _opcodes().count("tensor_copy") == copies
    assert ("PSUM" in _operands("tensor_tensor")[0]) == (copies == 0)


@nki.jit
def broadcast_used_everywhere(row):
    outs = [nl.ndarray((128, row.shape[1]), dtype=row.dtype, buffer=nl.shared_hbm) for _ in range(3)]
    wide = nl.load(row).broadcast_to((128, row.shape[1]))
    nl.store(outs[0], nl.add(wide, wide))  # one of two operands may be in PSUM
    nl.store(outs[1], wide)  # DMA does not reach PSUM
    wide[0:64, 0:1] = 5.0
    nl.store(outs[2], nl.add(wide, 1.0))
    return tuple(outs)


def test_a_broadcast_row_moves_to_sbuf_once_something_needs_it_there():
    row = np.arange(32, dtype=np.float32)[None]
    doubled, same, changed = broadcast_used_everywhere(row)
    wide = np.repeat(row, 128, 0)
    np.testing.assert_array_equal(doubled, 2 * wide)
    np.testing.assert_array_equal(same, wide)
    wide[0:64, 0] = 5
    np.testing.assert_array_equal(changed, wide + 1)
    copies = [text for text in _operands("tensor_copy") if "PSUM" in text]
    assert len(copies) == 1


@nki.jit
def many_broadcasts(rows):
    out = nl.ndarray((128, rows.shape[1]), dtype=rows.dtype, buffer=nl.shared_hbm)
    held = [nl.load(rows[i : i + 1]).broadcast_to((128, rows.shape[1])) for i in range(rows.shape[0])]
    total = nl.zeros((128, rows.shape[1]), dtype=rows.dtype)
    for wide in held:
        total[...] = nl.add(total, wide)
    nl.store(out, total)
    return out


def test_more_broadcasts_than_psum_has_banks_make_room_for_each_other():
    rows = np.random.default_rng(8).random((12, 512), np.float32)
    expected = np.zeros((128, 512), np.float32)
    for row in rows:
        expected += row
    np.testing.assert_array_equal(many_broadcasts(rows), expected)
    assert _opcodes().count("tensor_copy") >= 4


@nki.jit
def reads_all_again(x, count):
    out = nl.ndarray((128, 1024), dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = nl.ndarray((count, nl.par_dim(128), 1024), dtype=x.dtype, buffer=nl.sbuf)
    total = nl.zeros((128, 1024), dtype=x.dtype)
    for i in nl.affine_range(count):
        tiles[i] = nl.load(x[i])
    for i in nl.affine_range(count):
        total[0:128, 512:1024] = nl.add(total[0:128, 512:1024], tiles[i, 0:128, 512:1024])
        total[0:128, 0:512] = nl.add(total[0:128, 0:512], tiles[i, 0:128, 0:512])
    nl.store(out, total)
    return out


def test_a_tile_that_was_loaded_is_loaded_again_and_never_spilled():
    x = np.random.default_rng(9).random((60, 128, 1024), np.float32)  # 240 KiB of each partition
    expected = np.zeros((128, 1024), np.float32)
    for tile in x:
        expected += tile
    np.testing.assert_array_equal(reads_all_again(x, 60), expected)
    copies = _operands("dma_copy")
    assert not any("tiles" in text and ".spill" in text for text in copies)
    # Loads wait until they are needed, each tile is read once more right after: nothing need give way.
    assert sum("dst=tiles" in text for text in copies) == 60


@nki.jit
def reads_all_twice(x, count):
    out = nl.ndarray((128, 1024), dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = nl.ndarray((count, nl.par_dim(128), 1024), dtype=x.dtype, buffer=nl.sbuf)
    total = nl.zeros((128, 1024), dtype=x.dtype)
    for i in nl.affine_range(count):
        tiles[i] = nl.load(x[i])
    for _ in nl.affine_range(2):
        for i in nl.affine_range(count):
            total[...] = nl.add(total, tiles[i])
    nl.store(out, total)
    return out


def test_of_tiles_that_do_not_all_fit_only_some_are_loaded_again():
    x = np.random.default_rng(9).random((60, 128, 1024), np.float32)
    reads_all_twice(x, 60)
    loads = sum("dst=tiles" in text for text in _operands("dma_copy"))
    assert 60 + 60 - 51 <= loads < 2 * 60  # 51 tiles fit beside the sum
    assert not any("spill" in text for text in _operands("dma_copy"))


@nki.jit
def writes_what_it_loaded(x, count):
    out = nl.ndarray((count, 128, 1024), dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = nl.ndarray((count, nl.par_dim(128), 1024), dtype=x.dtype, buffer=nl.sbuf)
    for i in nl.affine_range(count):
        tiles[i] = nl.load(x[i])
        tiles[i, 0:128, 0:1] = nl.add(tiles[i, 0:128, 0:1], 1.0)
    for i in nl.affine_range(count):
        nl.store(out[i], tiles[i])
    return out


def test_a_tile_that_was_changed_after_its_load_is_spilled():
    x = np.random.default_rng(10).random((60, 128, 1024), np.float32)
    result = writes_what_it_loaded(x, 60)
    x[:, :, 0] += 1
    np.testing.assert_array_equal(result, x)
    assert any(".spill" in text for text in _operands("dma_copy"))


@nki.jit
def sums_of_products(a, b, c, unrolled):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    left, right = nl.load(a), nl.load(b)
    total = nl.zeros(a.shape, dtype=a.dtype)
    for i in range(8) if unrolled else nl.affine_range(8):
        product = nisa.tensor_tensor(left, right, op=nl.multiply)
        more = nl.load(c[i])
        total[...] = nl.add(total, nisa.tensor_tensor(product, more, op=nl.add))
    nl.store(out, total)
    return out


def test_work_that_no_round_of_a_loop_changes_is_timed_once():
    rng = np.random.default_rng(11)
    a, b, c = (rng.random(shape, np.float32) for shape in ((128, 512), (128, 512), (8, 128, 512)))
    times = {}
    for unrolled in (False, True):
        expected = np.zeros_like(a)
        for more in c:
            expected += a * b + more
        np.testing.assert_array_equal(sums_of_products(a, b, c, unrolled), expected)
        entries = [e for e in trnsim.last_profile().instructions if "product" in e["operands"].split(",")[0]]
        assert len(entries) == 8
        times[unrolled] = [entry["busy_end_ns"] - entry["start_ns"] for entry in entries]
    assert times[False] == [pytest.approx(times[True][0])] + [0] * 7  # 2 N cycles, once
    assert min(times[True]) == pytest.approx(2 * 512 / 1.12)
