"""nki.collectives in a world of one rank: copies, one operation, and refusals by name."""

import numpy as np
import pytest
import trnsim
from oracle import sample

trnsim.install()

import nki
import nki.collectives as ncc
import nki.isa as nisa
import nki.language as nl

ALONE = [[0]]
FOUR = [[0, 1, 2, 3]]


def launch(body, *arrays, space="HBM", chip="trn2", outputs=1):
    """Run body(sources, destinations) on tensors of one memory, and return what the destinations hold."""
    trnsim.install(chip=chip)

    @nki.jit
    def kernel(*inputs):
        results = [nl.ndarray(inputs[0].shape, inputs[0].dtype, nl.shared_hbm) for _ in range(outputs)]
        if space == "HBM":
            body(inputs, results)
            return tuple(results)
        tiles = [nl.load(x) for x in inputs]
        made = [nl.ndarray(tiles[0].shape, tiles[0].dtype, nl.sbuf) for _ in range(outputs)]
        body(tiles, made)
        for result, tile in zip(results, made):
            nisa.dma_copy(result, tile)
        return tuple(results)

    try:
        return kernel(*arrays)
    finally:
        trnsim.install()


def call(name, srcs, dsts, group=ALONE, **more):
    arguments = {"srcs": srcs, "dsts": dsts, "replica_group": ncc.ReplicaGroup(group)}
    arguments |= {"collective_dim": 0} if name not in ("all_reduce",) else {}
    arguments |= {"op": nl.add} if "reduce" in name else {}
    getattr(ncc, name)(**{**arguments, **more})


PLAIN = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "uint8"])
def test_a_group_of_one_copies(name, dtype):
    x = sample((4, 6), dtype)
    (got,) = launch(lambda srcs, dsts: call(name, list(srcs), dsts), x)
    assert got.tobytes() == np.asarray(x).tobytes()
    assert [i["opcode"] for i in trnsim.last_profile().instructions] == ["dma_copy"]


@pytest.mark.parametrize(
    "name, dim", [("all_reduce", None), ("all_gather", 0), ("all_gather", 1), ("reduce_scatter", 0)]
)
def test_tiles_in_sbuf(name, dim):
    x = sample((4, 6))
    more = {} if dim is None else {"collective_dim": dim}
    (got,) = launch(lambda srcs, dsts: call(name, list(srcs), dsts, **more), x, space="SBUF")
    np.testing.assert_array_equal(got, x)


def test_several_tensors_at_a_time_and_groups_of_others():
    x, y = sample((4, 6)), sample((4, 6), seed=1)
    a, b = launch(lambda s, d: call("all_reduce", list(s), d, group=[[0], [1, 2]]), x, y, outputs=2)
    np.testing.assert_array_equal(a, x)
    np.testing.assert_array_equal(b, y)


def test_the_rings():
    x, y = sample((200, 30)), sample((200, 30), seed=1)
    group = ncc.ReplicaGroup(ALONE)

    def permute(srcs, dsts):
        ncc.collective_permute_implicit([[srcs[0]], [srcs[1]]], [[dsts[0]], [dsts[1]]], group, channel_ids=[0, 1])

    a, b = launch(permute, x, y, outputs=2)
    np.testing.assert_array_equal(a, x)
    np.testing.assert_array_equal(b, y)
    for op, expected in ((nl.add, x + y), (nl.maximum, np.maximum(x, y)), (nl.minimum, np.minimum(x, y))):
        (got,) = launch(
            lambda s, d, op=op: ncc.collective_permute_implicit_reduce([[s[0]]], [[s[1]]], [[d[0]]], group, op), x, y
        )
        np.testing.assert_array_equal(got, expected)


def test_a_ring_of_one_reduces_tiles_in_sbuf():
    x, y = sample((100, 30)), sample((100, 30), seed=1)
    group = ncc.ReplicaGroup(ALONE)
    (got,) = launch(
        lambda s, d: ncc.collective_permute_implicit_reduce([[s[0]]], [[s[1]]], [[d[0]]], group, nl.add),
        x, y, space="SBUF",
    )  # fmt: skip
    np.testing.assert_array_equal(got, x + y)


def test_permute_pairs():
    x = sample((4, 6))
    (got,) = launch(lambda s, d: ncc.collective_permute(list(s), d, [(0, 0)]), x)
    np.testing.assert_array_equal(got, x)
    with pytest.raises(trnsim.Unsupported, match="collective_permute of 2 ranks, because this process simulates one"):
        launch(lambda s, d: ncc.collective_permute(list(s), d, [(0, 1), (1, 0)]), x)
    refused("pairs", lambda s, d: ncc.collective_permute(list(s), d, [(0, 0), (0, 1)]), x)


def test_ranks_are_registers():
    seen = []

    def body(srcs, dsts):
        group = ncc.ReplicaGroup(ALONE)
        seen.append(int(ncc.rank_id()))
        for step in range(3):
            seen.append(int(ncc.collective_permute_implicit_current_processing_rank_id(step, group) * 4 + 1))
        with pytest.raises(trnsim.ProgramError, match="the number of a rank is a register"):
            bool(ncc.rank_id() == 0)
        nisa.dma_copy(dsts[0], srcs[0])

    launch(body, sample((4, 4)))
    assert seen == [0, 1, 1, 1]


def refused(rule, body, *arrays, **options):
    with pytest.raises(trnsim.ProgramError) as caught:
        launch(body, *(arrays or (sample((4, 6)),)), **options)
    assert caught.value.rule == f"collectives.{rule}", caught.value


@pytest.mark.parametrize("name", PLAIN)
def test_more_ranks_need_the_fabric(name):
    with pytest.raises(trnsim.Unsupported, match=f"{name} of 4 ranks, because this process simulates one"):
        launch(lambda srcs, dsts: call(name, list(srcs), dsts, group=FOUR), sample((4, 6)))


def test_rings_and_variable_lengths_of_more_ranks_need_the_fabric():
    four = ncc.ReplicaGroup(FOUR)
    for body in (
        lambda s, d: ncc.collective_permute_implicit([list(s)], [d], four),
        lambda s, d: ncc.collective_permute_implicit_reduce([list(s)], [list(s)], [d], four, nl.add),
        lambda s, d: ncc.collective_permute_implicit_current_processing_rank_id(0, four),
        lambda s, d: ncc.all_gather_v(list(s), d, four, s[0]),
        lambda s, d: ncc.all_to_all_v(list(s), d, four, s[0]),
    ):
        with pytest.raises(trnsim.Unsupported, match="this process simulates one; `trnsim run --ranks"):
            launch(body, sample((4, 6)))


def test_the_rules_of_groups():
    for lists in ([], [[]], [[0], [0]], [[0, 0]], [[-1]], [["a"]]):
        with pytest.raises(trnsim.ProgramError) as caught:
            ncc.ReplicaGroup(lists)
        assert caught.value.rule == "collectives.group"
    assert repr(ncc.ReplicaGroup(ALONE)) == "ReplicaGroup([[0]])"
    refused("group", lambda s, d: call("all_reduce", list(s), d, group=[[1, 2]]))
    refused("group", lambda s, d: call("all_reduce", list(s), d, replica_group=[[0]]))
    refused("group", lambda s, d: ncc.all_gather_v(list(s), d, ncc.ReplicaGroup(ALONE), s[0]))
    refused("group", lambda s, d: ncc.all_to_all_v(list(s), d, ncc.ReplicaGroup(ALONE), s[0]))
    refused("displacements", lambda s, d: ncc.all_gather_v(list(s), d, ncc.ReplicaGroup(FOUR), s[0], has_rdispls=True))


def test_the_rules_of_tensors():
    refused("tensors", lambda s, d: call("all_reduce", [], []))
    refused("tensors", lambda s, d: call("all_reduce", s[0], d))
    refused("tensors", lambda s, d: call("all_reduce", [s[0], s[0]], d))
    refused("memory", lambda s, d: call("all_reduce", [nl.load(s[0])], d))
    refused("memory", lambda s, d: call("all_to_all", list(s), d), space="SBUF")
    refused("memory", lambda s, d: ncc.collective_permute(list(s), d, [(0, 0)]), space="SBUF")
    refused("coalesced", lambda s, d: call("all_reduce", [s[0], s[0]], [d[0], d[0]]), space="SBUF")
    refused("coalesced", lambda s, d: ncc.collective_permute([s[0], s[0]], [d[0], d[0]], [(0, 0)]))
    refused("shape", lambda s, d: call("all_reduce", [s[0][:2]], d))
    refused("dtype", lambda s, d: call("all_reduce", list(s), [nl.ndarray((4, 6), nl.bfloat16, nl.shared_hbm)]))


def test_the_rules_of_options():
    refused("dim", lambda s, d: call("all_gather", list(s), d, collective_dim=1))
    refused("dim", lambda s, d: call("reduce_scatter", list(s), d, collective_dim=1), space="SBUF")
    refused("dim", lambda s, d: call("all_gather", [s[0].reshape((4, 2, 3))], d), space="SBUF")
    refused("op", lambda s, d: call("all_reduce", list(s), d, op=nl.multiply))
    refused("priority", lambda s, d: call("all_reduce", list(s), d, priority=0))
    refused("priority", lambda s, d: call("all_reduce", list(s), d, priority=4), chip="trn3")
    launch(lambda s, d: call("all_reduce", list(s), d, priority=3), sample((4, 6)), chip="trn3")
    ring = ncc.collective_permute_implicit
    group = ncc.ReplicaGroup(ALONE)
    refused("channels", lambda s, d: ring([list(s)], [d], group, channel_ids=[1]))
    refused("channels", lambda s, d: ring([list(s)], [d], group, channel_ids=[0, 1]))
    refused("channels", lambda s, d: ring([list(s)] * 5, [d] * 5, group, channel_ids=[0, 1, 2, 3, 4]))
    rank = ncc.collective_permute_implicit_current_processing_rank_id
    refused("channels", lambda s, d: rank(0, group, channel_id=4))


@pytest.mark.parametrize("trigger", [ncc.all_gather_v_trigger, ncc.all_to_all_v_trigger])
def test_a_trigger_without_its_preparation_is_refused(trigger):
    refused("prepare", lambda s, d: trigger(None))
