"""nki.isa.dma_compute against numpy: sums in fp32, and rows read, added and written back by index."""

import json

import numpy as np
import pytest
import trnsim
from vector_oracle import DTYPES, convert, fp32, load, new, nisa, nl, refused, same, sample, store


def total(arrays, name):
    result = fp32(arrays[0]).reshape(-1)
    for array in arrays[1:]:
        result = result + fp32(array).reshape(-1)
    return convert(result, name)


def summed(run, arrays, shape, name, on_chip=(), to_hbm=False, chip="trn2", **options):
    def kernel(*tensors):
        srcs = [load(tensor) if i in on_chip else tensor for i, tensor in enumerate(tensors)]
        dst = new(shape, name, nl.shared_hbm if to_hbm else nl.sbuf)
        nisa.dma_compute(dst=dst, srcs=srcs, reduce_op=nl.add, **options)
        return dst if to_hbm else store(dst)

    return run(kernel, *arrays, chip=chip)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("to", ("float32", "bfloat16", "int32"))
def test_every_dtype(run, name, to):
    arrays = [sample((33, 7), name, seed=i) for i in range(3)]
    same(summed(run, arrays, (33, 7), to), total(arrays, to).reshape(33, 7))


@pytest.mark.parametrize("count", (1, 2, 3, 16))
@pytest.mark.parametrize("to_hbm", (False, True))
@pytest.mark.parametrize("chip", ("trn1", "trn2", "trn3"))
def test_up_to_sixteen_sources_from_both_memories(run, count, to_hbm, chip):
    arrays = [sample((128, 5), ("float32", "bfloat16")[i % 2], seed=i) for i in range(count)]
    y = summed(run, arrays, (128, 5), "float32", range(0, count, 3), to_hbm, chip, scales=[1.0] * count)
    same(y, total(arrays, "float32").reshape(128, 5))


def test_shapes_may_differ_and_views_be_strided(run):
    a, b = sample((6, 4)), sample((16, 12), seed=1)

    def kernel(x, y):
        dst = new((2, 12))
        nisa.dma_compute(dst, [x, y[0:16:4, 0:12:2]], nl.add)
        return store(dst)

    same(run(kernel, a, b), total([a, np.ascontiguousarray(b[::4, ::2])], "float32").reshape(2, 12))


def test_in_place(run):
    x = sample((8, 8))

    def kernel(t):
        tile = load(t)
        nisa.dma_compute(tile, [tile, tile, t], nl.add)
        return store(tile)

    same(run(kernel, x), x + x + x)


def test_the_order_of_arguments_of_release_0_2(run):
    x = sample((4, 4))
    run_it = lambda t: (dst := new((4, 4)), nisa.dma_compute(dst, (t, t), (1.0, 1.0), nl.add), store(dst))[2]
    same(run(run_it, x), x + x)


# ---- Rows by index

ROWS = np.array([[5], [0], [19], [7]], np.int32)


def pattern(n, width):
    return {"pattern": [[width, n], [1, width]], "indirect_dim": 0}


def scattered(run, table, x, rows, chip="trn2", first="rows", **options):
    def kernel(t, values, indices):
        out = nl.ndarray(t.shape, dtype=t.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=t)
        index = load(indices)
        view = lambda: out.ap(**pattern(x.shape[0], table.shape[1]), vector_offset=index)
        srcs = [view(), load(values)]
        nisa.dma_compute(dst=view(), srcs=srcs if first == "rows" else srcs[::-1], reduce_op=nl.add, **options)
        return out

    return run(kernel, table, x, rows, chip=chip)


def gathered(run, table, x, rows, chip="trn2", first="rows", **options):
    def kernel(t, values, indices):
        tile, index = load(values), load(indices)
        srcs = [t.ap(**pattern(x.shape[0], table.shape[1]), vector_offset=index), tile]
        nisa.dma_compute(dst=tile, srcs=srcs if first == "rows" else srcs[::-1], reduce_op=nl.add, **options)
        return store(tile)

    return run(kernel, table, x, rows, chip=chip)


@pytest.mark.parametrize("chip", ("trn1", "trn2", "trn3"))
@pytest.mark.parametrize("first", ("rows", "data"))
@pytest.mark.parametrize("name", ("float32", "bfloat16", "int32"))
def test_scatter_and_gather(run, chip, first, name):
    table, x = sample((20, 6), name), sample((4, 6), name, seed=1)
    both = total([table[ROWS[:, 0]], x], name).reshape(4, 6)
    expected = table.copy()
    expected[ROWS[:, 0]] = both
    same(scattered(run, table, x, ROWS, chip, first), expected)
    same(gathered(run, table, x, ROWS.astype(np.uint32), chip, first), both)


def test_rows_named_twice_add_up_in_order(run):
    table, x = sample((6, 3)), sample((3, 3), seed=1)
    expected = table.copy()
    for row, values in zip((2, 2, 4), x):
        expected[row] = expected[row] + values
    same(scattered(run, table, x, np.array([[2], [2], [4]], np.int32)), expected)


@pytest.mark.parametrize("bad", (20, -1))
def test_rows_out_of_range(run, bad):
    table, x, rows = sample((20, 6)), sample((4, 6), seed=1), ROWS.copy()
    rows[2] = bad
    for form in (scattered, gathered):
        with pytest.raises(trnsim.ProgramError, match=f"index.2. is {bad}") as error:
            form(run, table, x, rows)
        assert error.value.rule == "dma_compute.out_of_bounds"
    kept = [0, 1, 3]
    expected = table.copy()
    expected[rows[kept, 0]] += x[kept]
    same(scattered(run, table, x, rows, oob_mode=nisa.oob_mode.skip), expected)
    y = gathered(run, table, x, rows, oob_mode=nisa.oob_mode.skip)
    same(y[kept], table[rows[kept, 0]] + x[kept])
    same(y[2], x[2])


# ---- Time


def test_accumulating_halves_the_rate_before_v4(run):
    x = np.zeros((128, 8192), np.float32)

    def spent(chip, compute):
        def kernel(t):
            dst = new(t.shape)
            if compute:
                nisa.dma_compute(dst, [t], nl.add)
            else:
                nisa.dma_copy(dst, t, dge_mode=nisa.dge_mode.none)
            return store(dst[0:1, 0:1])

        run(kernel, x, chip=chip)
        first = trnsim.last_profile().instructions[0]
        return first["end_ns"] - first["start_ns"]

    assert spent("trn2", True) / spent("trn2", False) == pytest.approx(2, abs=0.15)
    assert spent("trn3", True) == spent("trn3", False)


# ---- Rules

X = sample((4, 8))


@pytest.mark.parametrize("rule, call", [
    ("sources", lambda dst, x: nisa.dma_compute(dst, [], nl.add)),
    ("argument", lambda dst, x: nisa.dma_compute(dst, [x] * 17, nl.add)),
    ("argument", lambda dst, x: nisa.dma_compute(dst, x, nl.add)),
    ("argument", lambda dst, x: nisa.dma_compute(dst, [x, 3], nl.add)),
    ("reduce_op", lambda dst, x: nisa.dma_compute(dst, [x, x], nl.multiply)),
    ("scales", lambda dst, x: nisa.dma_compute(dst, [x, x], nl.add, scales=[1.0, 2.0])),
    ("scales", lambda dst, x: nisa.dma_compute(dst, [x, x], nl.add, scales=[1.0])),
    ("elements", lambda dst, x: nisa.dma_compute(dst, [x, x[0:2]], nl.add)),
    ("buffer", lambda dst, x: nisa.dma_compute(dst, [x, load(x, nl.psum)], nl.add)),
    ("mx_dtype", lambda dst, x: nisa.dma_compute(new((4, 8), "float8_e4m3fn_x4"), [x], nl.add)),
    ("mx_dtype", lambda dst, x: nisa.dma_compute(dst, [x.view(nl.float8_e4m3fn_x4)], nl.add)),
])
def test_rules(run, rule, call):
    with pytest.raises(trnsim.ProgramError) as error:
        run(lambda x: call(new((4, 8)), x), X)
    assert error.value.rule == "dma_compute." + rule, str(error.value)


def rows_of(t, index, n=4):
    return t.ap(**pattern(n, 8), vector_offset=index)


@pytest.mark.parametrize("rule, call", [
    ("unique_indices", lambda t, tile, i: nisa.dma_compute(tile, [rows_of(t, i), tile], nl.add, unique_indices=False)),
    ("sources", lambda t, tile, i: nisa.dma_compute(tile, [rows_of(t, i), tile, tile], nl.add)),
    ("sources", lambda t, tile, i: nisa.dma_compute(tile, [rows_of(t, i)], nl.add)),
    ("read_modify_write", lambda t, tile, i: nisa.dma_compute(tile, [rows_of(t, i), load(t[0:4])], nl.add)),
    ("read_modify_write", lambda t, tile, i: nisa.dma_compute(tile, [rows_of(t, i), rows_of(t, i)], nl.add)),
    ("read_modify_write", lambda t, tile, i: nisa.dma_compute(rows_of(t, i), [tile, tile], nl.add)),
    ("read_modify_write", lambda t, tile, i: nisa.dma_compute(rows_of(t, i), [rows_of(t, new((4, 1), "int32")), tile],
                                                              nl.add)),
    ("read_modify_write", lambda t, tile, i: nisa.dma_compute(t, [rows_of(t, i), tile], nl.add)),
    ("index_shape", lambda t, tile, i: nisa.dma_compute(tile[0:2], [rows_of(t, i), tile[0:2]], nl.add)),
    ("elements", lambda t, tile, i: nisa.dma_compute(tile[:, 0:4], [rows_of(t, i), tile[:, 0:4]], nl.add)),
])
def test_rules_of_rows(run, rule, call):
    def kernel(t, rows):
        call(t, load(t[0:4]), load(rows))

    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, sample((20, 8)), ROWS)
    assert error.value.rule == "dma_compute." + rule, str(error.value)


def test_the_native_form_checks_its_rows(run):
    def index_in_sbuf(t, rows):
        tile = load(t[0:4])
        trnsim._native.isa.dma_compute(tile, [tile, tile], nl.add, index=load(rows))

    def index_of_halves(t, rows):
        tile, index = load(t[0:4]), new((4, 1), "int16")
        nisa.memset(index, 0)
        trnsim._native.isa.dma_compute(tile, [t, tile], nl.add, index=index)

    for rule, kernel in (("index_side", index_in_sbuf), ("index_dtype", index_of_halves)):
        with pytest.raises(trnsim.ProgramError) as error:
            run(kernel, sample((20, 8)), ROWS)
        assert error.value.rule == "dma_compute." + rule


# ---- What crosses HBM


def hbm_bytes(run, kernel, *arrays):
    run(kernel, *arrays)
    return json.loads(trnsim.last_profile().to_json())["runs"][0]["dma"]["hbm_bytes"]


@pytest.mark.parametrize("count", (1, 2, 16))
def test_a_sum_is_written_to_hbm_once(run, count):
    def kernel(*tensors):
        dst = new((128, 4), "float32", nl.shared_hbm)
        nisa.dma_compute(dst=dst, srcs=list(tensors), reduce_op=nl.add)
        return dst

    arrays = [sample((128, 4), seed=i) for i in range(count)]
    assert hbm_bytes(run, kernel, *arrays) == (count + 1) * 128 * 4 * 4


def test_rows_by_index_cross_hbm_once_each_way(run):
    table, x = sample((20, 6)), sample((4, 6), seed=1)

    def scattering(t, values, indices):
        index, tile = load(indices), load(values)
        rows = t.ap(**pattern(4, 6), vector_offset=index)
        nisa.dma_compute(dst=rows, srcs=[t.ap(**pattern(4, 6), vector_offset=index), tile], reduce_op=nl.add)
        return t

    def gathering(t, values, indices):
        index, tile = load(indices), load(values)
        nisa.dma_compute(dst=tile, srcs=[t.ap(**pattern(4, 6), vector_offset=index), tile], reduce_op=nl.add)
        return t

    loads, rows = 4 * 6 * 4 + 4 * 4, 4 * 6 * 4
    assert hbm_bytes(run, scattering, table, x, ROWS) == loads + 2 * rows
    assert hbm_bytes(run, gathering, table, x, ROWS) == loads + rows
