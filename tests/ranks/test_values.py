"""What collectives leave in the ranks' tensors, against numpy: every dtype, uneven and empty sizes, groups, 2 to 64
ranks, and the order of reductions bit for bit."""

import ml_dtypes
import numpy as np
import pytest
from rank_inputs import sample

import trnsim

trnsim.install()

import nki
import nki.collectives as ncc
import nki.isa as nisa
import nki.language as nl

FLOATS = ("float32", "bfloat16", "float16", "float8_e4m3", "float8_e5m2", "float8_e3m4")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32")
OPERATORS = {"add": nl.add, "minimum": nl.minimum, "maximum": nl.maximum}


@nki.jit
def collective(x, name, group, shape, **more):
    y = nl.ndarray(shape, x.dtype, buffer=nl.shared_hbm)
    getattr(ncc, name)([x], [y], ncc.ReplicaGroup(group), **more)
    return y


def everyone(count):
    return [list(range(count))]


def bits(a):
    return np.ascontiguousarray(a).view(np.uint8).tolist()


def fold(op, values, dtype):
    """values combined in order in fp32 (integers exactly), rounded once."""
    if np.dtype(dtype).kind in "iu":
        total = values[0].astype(np.int64)
        for value in values[1:]:
            total = {"add": np.add, "minimum": np.minimum, "maximum": np.maximum}[op](total, value.astype(np.int64))
        return total.astype(dtype)
    total = values[0].astype(np.float32)
    for value in values[1:]:
        total = {"add": np.add, "minimum": np.minimum, "maximum": np.maximum}[op](total, value.astype(np.float32))
    return total.astype(dtype)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
@pytest.mark.parametrize("op", OPERATORS)
def test_a_small_all_reduce_adds_in_the_order_of_ranks(on_ranks, dtype, op):
    inputs = [sample((3, 5), dtype, rank) for rank in range(8)]  # one step: everybody reduces everything
    got = on_ranks(8, lambda rank: collective(inputs[rank], "all_reduce", everyone(8), (3, 5), op=OPERATORS[op]))
    for result in got:
        assert bits(result) == bits(fold(op, inputs, inputs[0].dtype))


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_a_ring_rounds_after_each_hop(on_ranks, dtype):
    count, elements = 4, 2**20  # one chip, above the mesh's size
    inputs = [sample((elements,), dtype, rank) for rank in range(count)]
    got = on_ranks(count, lambda rank: collective(inputs[rank], "all_reduce", everyone(count), (elements,), op=nl.add))
    expected = []
    for chunk, part in enumerate(np.split(np.arange(elements), count)):
        total = inputs[(chunk + 1) % count][part]
        for hop in range(2, count + 1):
            total = fold("add", [total, inputs[(chunk + hop) % count][part]], inputs[0].dtype)
        expected.append(total)
    for result in got:
        assert bits(result) == bits(np.concatenate(expected))


def test_recursive_halving_rounds_after_each_exchange(on_ranks):
    count, elements = 16, 2**19 + 2**14  # four chips of four
    inputs = [sample((elements,), "bfloat16", rank) for rank in range(count)]
    got = on_ranks(count, lambda rank: collective(inputs[rank], "all_reduce", everyone(count), (elements,), op=nl.add))
    # Within each chip the exchange reduces all four at once; then two chips, then two pairs of chips.
    exact = sum(x.astype(np.float64) for x in inputs)
    error = np.abs(got[0].astype(np.float64) - exact)
    assert error.max() <= 3 * np.abs(exact).max() * 2**-8 + 3 * 2**-7
    assert all(bits(result) == bits(got[0]) for result in got)
    assert np.any(error > 0)


@pytest.mark.parametrize("count", [2, 3, 5, 8, 12, 16, 32, 64])
def test_all_reduce_of_integers_is_exact_on_any_number_of_ranks(on_ranks, count):
    for elements in (1, count + 1, 40_000):
        inputs = [sample((elements,), "int32", rank) for rank in range(count)]
        got = on_ranks(count, lambda rank: collective(inputs[rank], "all_reduce", everyone(count), (elements,),
                                                      op=nl.add))
        for result in got:
            np.testing.assert_array_equal(result, sum(inputs))


@pytest.mark.parametrize("count", [2, 4, 6, 16, 64])
@pytest.mark.parametrize("rows", [1, 7, 700])
def test_reduce_scatter_gives_each_rank_its_part(on_ranks, count, rows):
    inputs = [sample((count * rows, 3), "int32", rank) for rank in range(count)]
    got = on_ranks(count, lambda rank: collective(inputs[rank], "reduce_scatter", everyone(count), (rows, 3),
                                                  collective_dim=0, op=nl.add))
    for rank, result in enumerate(got):
        np.testing.assert_array_equal(result, sum(inputs)[rank * rows:(rank + 1) * rows])


def test_large_reduce_scatters_leave_parts_in_the_order_of_ranks(on_ranks):
    rows = 3 * 2**20 // 8
    inputs = [np.arange(8 * rows, dtype=np.uint8) * (rank + 1) for rank in range(8)]
    got = on_ranks(8, lambda rank: collective(inputs[rank], "reduce_scatter", everyone(8), (rows,), collective_dim=0,
                                              op=nl.maximum))
    for rank, result in enumerate(got):
        np.testing.assert_array_equal(result, np.max(inputs, axis=0)[rank * rows:(rank + 1) * rows])


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_all_gather_keeps_every_bit(on_ranks, dtype):
    inputs = [sample((2, 3), dtype, rank) for rank in range(5)]
    got = on_ranks(5, lambda rank: collective(inputs[rank], "all_gather", everyone(5), (10, 3), collective_dim=0))
    for result in got:
        assert bits(result) == bits(np.concatenate(inputs))


@pytest.mark.parametrize("count", [2, 3, 64])
def test_all_to_all_is_a_transposition(on_ranks, count):
    inputs = [np.arange(count * 2, dtype=np.int32) + 1000 * rank for rank in range(count)]
    got = on_ranks(count, lambda rank: collective(inputs[rank], "all_to_all", everyone(count), (count * 2,),
                                                  collective_dim=0))
    for rank, result in enumerate(got):
        np.testing.assert_array_equal(result, np.concatenate([x[2 * rank:2 * rank + 2] for x in inputs]))


def test_empty_tensors_meet_and_leave_nothing(on_ranks):
    @nki.jit
    def kernel(x):
        nothing = nl.ndarray((0, 4), x.dtype, nl.shared_hbm)
        ncc.all_reduce([nothing], [nothing], ncc.ReplicaGroup(everyone(4)), nl.add)
        y = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
        ncc.all_reduce([x], [y], ncc.ReplicaGroup(everyone(4)), nl.add)
        return y

    assert [float(y[0]) for y in on_ranks(4, lambda rank: kernel(np.ones((1,), np.float32)))] == [4] * 4


def test_groups_keep_to_themselves(on_ranks):
    groups = [[0, 5], [3, 1, 4], [2]]
    inputs = [np.full((4,), 10**rank, np.int32) for rank in range(6)]
    got = on_ranks(6, lambda rank: collective(inputs[rank], "all_reduce", groups, (4,), op=nl.add))
    assert [int(result[0]) for result in got] == [100001, 11010, 100, 11010, 11010, 100001]
    gathered = on_ranks(6, lambda rank: collective(inputs[rank], "all_gather", [[3, 1, 4], [0, 2, 5]], (12,),
                                                   collective_dim=0))
    np.testing.assert_array_equal(gathered[1], np.repeat([1000, 10, 10000], 4))  # in the order of the group


@pytest.mark.parametrize("name, dim, shape", [("all_reduce", None, (8, 6)), ("all_gather", 0, (24, 6)),
                                              ("all_gather", 1, (8, 18)), ("reduce_scatter", 0, (4, 6))])
def test_tiles_in_sbuf(on_ranks, name, dim, shape):
    count = 2 if name == "reduce_scatter" else 3

    @nki.jit
    def kernel(x):
        source, target = nl.load(x), nl.ndarray(shape, x.dtype, buffer=nl.sbuf)
        more = {} if dim is None else {"collective_dim": dim}
        more |= {"op": nl.add} if "reduce" in name else {}
        getattr(ncc, name)([source], [target], ncc.ReplicaGroup(everyone(count)), **more)
        y = nl.ndarray(shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=y, src=target)
        return y

    inputs = [sample((8, 6), "int32", rank) for rank in range(count)]
    got = on_ranks(count, lambda rank: kernel(inputs[rank]))
    for rank, result in enumerate(got):
        if name == "all_gather":
            np.testing.assert_array_equal(result, np.concatenate(inputs, axis=dim))
        else:
            total = sum(inputs)
            np.testing.assert_array_equal(result, total if name == "all_reduce" else total[4 * rank:4 * rank + 4])


def test_several_tensors_at_a_time(on_ranks):
    @nki.jit
    def kernel(x, y):
        a, b = nl.ndarray(x.shape, x.dtype, nl.shared_hbm), nl.ndarray(y.shape, y.dtype, nl.shared_hbm)
        ncc.all_reduce([x, y], [a, b], ncc.ReplicaGroup(everyone(2)), nl.add)
        return a, b

    got = on_ranks(2, lambda rank: kernel(np.full((4,), rank + 1, np.int32), np.full((2, 3), 10 * rank, np.int32)))
    for a, b in got:
        np.testing.assert_array_equal(a, np.full((4,), 3))
        np.testing.assert_array_equal(b, np.full((2, 3), 10))


def test_permutes_send_where_the_pairs_say(on_ranks):
    @nki.jit
    def kernel(x):
        y = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
        nisa.dma_copy(dst=y, src=x)
        ncc.collective_permute([x], [y], [(0, 2), (2, 1), (4, 4)])
        return y

    got = on_ranks(5, lambda rank: kernel(np.full((3,), rank, np.int32)))
    assert [int(result[0]) for result in got] == [0, 2, 0, 3, 4]  # 0 is no target, 3 takes no part


@pytest.mark.parametrize("channels", [1, 2])
def test_rings_pass_everything_around(on_ranks, channels):
    count = 4

    @nki.jit
    def kernel(x):
        group = ncc.ReplicaGroup(everyone(count))
        mine = [nl.ndarray((4,), x.dtype, nl.shared_hbm) for _ in range(channels)]
        results = []
        for channel in range(channels):
            nisa.dma_copy(dst=mine[channel], src=x)
        for step in range(count):
            for channel in range(channels):
                owner = ncc.collective_permute_implicit_current_processing_rank_id(step, group, channel)
                results.append((int(owner), mine[channel]))
            fresh = [nl.ndarray((4,), x.dtype, nl.shared_hbm) for _ in range(channels)]
            ncc.collective_permute_implicit([[t] for t in mine], [[t] for t in fresh], group,
                                            channel_ids=list(range(channels)))
            mine = fresh
        owners.append([owner for owner, _ in results])
        return tuple(t for _, t in results) + tuple(mine)

    owners = []
    got = on_ranks(count, lambda rank: kernel(np.full((4,), rank * 7, np.int32)))
    assert len(owners) == count
    for named, values in zip(owners, sorted(got, key=lambda r: 0)):
        assert len(values) == channels * (count + 1)
    for rank, values in enumerate(got):
        firsts = [int(value[0]) // 7 for value in values]
        assert firsts[:channels] == [rank] * channels and firsts[-channels:] == [rank] * channels
        assert sorted(firsts[:channels * count:channels]) == list(range(count))
    by_rank = {tuple(int(v[0]) // 7 for v in values[:channels * count]) for values in got}
    assert by_rank == {tuple(named) for named in owners}  # what came is what the register said


def test_a_reducing_ring_sends_the_combined_value(on_ranks):
    @nki.jit
    def kernel(x, y):
        z = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
        ncc.collective_permute_implicit_reduce([[x]], [[y]], [[z]], ncc.ReplicaGroup(everyone(3)), nl.add)
        return z

    got = on_ranks(3, lambda rank: kernel(np.full((4,), rank, np.float32), np.full((4,), 10, np.float32)))
    assert [float(z[0]) for z in got] == [12, 10, 11]


def metadata(*rows):
    return np.array(rows, np.uint32)


def test_all_gather_v_gathers_chunks_of_their_own_lengths(on_ranks):
    @nki.jit
    def kernel(x, counts):
        y = nl.ndarray((12,), x.dtype, nl.shared_hbm)
        nisa.dma_copy(dst=y, src=x)
        ncc.all_gather_v([x], [y], ncc.ReplicaGroup(everyone(4)), counts)
        return y, counts

    lengths, starts = [3, 0, 1, 2], [0, 0, 5, 1]
    source = [np.arange(12, dtype=np.int32) + 100 * rank for rank in range(4)]
    got = on_ranks(4, lambda rank: kernel(source[rank], metadata([lengths[rank]] * 4, [starts[rank]] * 4, [9] * 4)))
    for rank, (y, counts) in enumerate(got):
        expected = source[rank].copy()
        for sender in range(4):
            chunk = source[sender][starts[sender]:starts[sender] + lengths[sender]]
            expected[3 * sender:3 * sender + len(chunk)] = chunk
        np.testing.assert_array_equal(y, expected)
        np.testing.assert_array_equal(counts[2], lengths)


def test_all_to_all_v_between_nodes_and_through_switches(on_ranks):
    @nki.jit
    def kernel(x, counts, group):
        y = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
        nisa.dma_copy(dst=y, src=x)
        ncc.all_to_all_v([x], [y], ncc.ReplicaGroup(group), counts, recv_counts_known=True)
        return y

    def job(group, size):
        place = {rank: i for i, rank in enumerate(group)}

        def run(rank):
            if rank not in place:
                return None
            lengths = [(place[rank] + to) % 3 for to in range(size)]
            return kernel(np.arange(3 * size, dtype=np.int32) + 100 * rank,
                          metadata(lengths, [3 * to for to in range(size)], [0] * size), [group])

        return run

    for group, on, count in (([1, 65], "trn2.48xlarge:2", 66), (list(range(4, 12)), "trn3-gen2-ultraserver", 12)):
        size = len(group)
        got = on_ranks(count, job(group, size), on)
        for i, rank in enumerate(group):
            expected = np.arange(3 * size, dtype=np.int32) + 100 * rank
            for j, sender in enumerate(group):
                length = (j + i) % 3
                expected[3 * j:3 * j + length] = np.arange(3 * i, 3 * i + length) + 100 * sender
            np.testing.assert_array_equal(got[rank], expected)


def test_rank_id_tells_the_ranks_apart(on_ranks):
    @nki.jit
    def kernel(x):
        seen.append(int(ncc.rank_id()))
        y = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
        nisa.dma_copy(dst=y, src=x)
        return y

    seen = []
    on_ranks(5, lambda rank: kernel(np.zeros((2, 2), np.float32)))
    assert seen == [0, 1, 2, 3, 4]


def test_arrays_that_a_collective_stores_into_are_updated(on_ranks):
    @nki.jit
    def kernel(x, y):
        ncc.all_reduce([x], [y], ncc.ReplicaGroup(everyone(2)), nl.add)

    def job(rank):
        y = np.zeros((4,), np.float32)
        kernel(np.full((4,), rank + 1, np.float32), y)
        return y

    for y in on_ranks(2, job):
        np.testing.assert_array_equal(y, np.full((4,), 3))


def test_nan_goes_everywhere(on_ranks):
    inputs = [np.array([rank, np.nan if rank == 1 else 0], ml_dtypes.bfloat16) for rank in range(3)]
    for op in OPERATORS.values():
        got = on_ranks(3, lambda rank: collective(inputs[rank], "all_reduce", everyone(3), (2,), op=op))
        assert all(np.isnan(result[1]) and not np.isnan(result[0]) for result in got)
