"""Ranks that do not come together: what is refused, with which lines, and that everything ends."""

import numpy as np
import pytest

import trnsim

trnsim.install()

import nki
import nki.collectives as ncc
import nki.isa as nisa
import nki.language as nl

X = np.ones((4, 4), np.float32)


@nki.jit
def program(x, body):
    y = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=y, src=x)
    body(x, y)
    return y


def reduces(group, op=nl.add, times=1):
    def body(x, y):
        for _ in range(times):
            ncc.all_reduce([x], [y], ncc.ReplicaGroup(group), op)

    return body


def gathers(x, y):
    big = nl.ndarray((8, 4), x.dtype, nl.shared_hbm)
    ncc.all_gather([x], [big], ncc.ReplicaGroup([[0, 1]]), 0)


def refused(on_ranks, rule, bodies, *words, x=None, on="trn2.48xlarge"):
    with pytest.raises(trnsim.ProgramError) as caught:
        on_ranks(len(bodies), lambda rank: program(X if x is None else x[rank], bodies[rank]), on)
    assert caught.value.rule == f"collectives.{rule}", caught.value
    for word in words:
        assert word in str(caught.value), caught.value


def test_ranks_that_call_different_collectives_name_both_lines(on_ranks):
    refused(on_ranks, "mismatch", [reduces([[0, 1]]), gathers], "they call different ones",
            "rank 0 waits in all_reduce of ranks [0, 1] at", "rank 1 waits in all_gather", "test_meetings.py:")


def test_ranks_that_disagree_on_operator_shape_dtype_or_group_are_told_so(on_ranks):
    refused(on_ranks, "mismatch", [reduces([[0, 1]]), reduces([[0, 1]], nl.maximum)], "op is add and maximum")
    refused(on_ranks, "mismatch", [reduces([[0, 1]])] * 2, "shapes is [(4, 4)] and [(2, 4)]", x=[X, X[:2].copy()])
    refused(on_ranks, "mismatch", [reduces([[0, 1]])] * 2, "dtypes", x=[X, X.astype(np.int32)])
    refused(on_ranks, "mismatch", [reduces([[0, 1]]), reduces([[1, 0]]), reduces([[2]])],
            "replica groups are [0, 1] and [1, 0]")


def test_ranks_that_wait_for_each_other_in_a_circle_are_a_deadlock(on_ranks):
    def pairwise(*groups):
        def body(x, y):
            for group in groups:
                ncc.all_reduce([x], [y], ncc.ReplicaGroup([group]), nl.add)

        return body

    refused(on_ranks, "deadlock",
            [pairwise([0, 1], [0, 2]), pairwise([1, 2], [0, 1]), pairwise([0, 2], [1, 2])],
            *(f"rank {rank} waits in all_reduce" for rank in range(3)))


def test_a_rank_that_ends_early_is_named(on_ranks):
    refused(on_ranks, "deadlock", [reduces([[0, 1]], times=2), reduces([[0, 1]], times=1)],
            "after 1 collectives", "rank 0 waits in all_reduce", "rank 1 has ended")


def test_a_rank_without_a_group_or_of_none_is_refused(on_ranks):
    refused(on_ranks, "group", [reduces([[0, 1]])] * 3, "rank 2, which runs, is in no list")
    refused(on_ranks, "group", [reduces([[0, 1, 2]])] * 2, "there is no rank 2")


def test_shapes_must_fit_the_number_of_ranks(on_ranks):
    def to(name, shape, dtype="float32", **more):
        def body(x, y):
            target = nl.ndarray(shape, getattr(nl, dtype), nl.shared_hbm)
            getattr(ncc, name)([x], [target], ncc.ReplicaGroup([[0, 1]]), **more)

        return [body] * 2

    refused(on_ranks, "shape", to("all_gather", (4, 8), collective_dim=0), "(8, 4)")
    refused(on_ranks, "shape", to("reduce_scatter", (4, 4), collective_dim=0, op=nl.add), "(2, 4)")
    refused(on_ranks, "shape", to("reduce_scatter", (1, 4), collective_dim=0, op=nl.add), "cannot be split",
            x=[np.ones((3, 4), np.float32)] * 2)
    refused(on_ranks, "shape", to("all_to_all", (3, 4), collective_dim=0), "cannot be split",
            x=[np.ones((3, 4), np.float32)] * 2)
    refused(on_ranks, "shape", to("all_reduce", (4, 5), op=nl.add))
    refused(on_ranks, "dtype", to("all_reduce", (4, 4), "bfloat16", op=nl.add))


def test_channels_depend_on_the_group(on_ranks):
    def ring(channels):
        def body(x, y):
            ncc.collective_permute_implicit([[x]] * channels, [[y]] * channels, ncc.ReplicaGroup([[0, 1]]),
                                            channel_ids=list(range(channels)))

        return [body] * 2

    refused(on_ranks, "channels", ring(3), "at most 2 channels")


def test_variable_forms_keep_to_what_the_release_takes(on_ranks):
    def variable(name, group, counts, **more):
        def body(x, y):
            table = nl.ndarray(np.shape(counts), nl.uint32, nl.shared_hbm)
            given = nl.shared_constant(np.array(counts, np.uint32)) if hasattr(nl, "shared_constant") else table
            getattr(ncc, name)([x], [y], ncc.ReplicaGroup(group), given, **more)

        return body

    four = [[0, 1, 2, 3]]
    rows = [[1] * 4, [0] * 4, [0] * 4]
    refused(on_ranks, "group", [variable("all_gather_v", [[0, 1]], rows)] * 2, "4 ranks")
    refused(on_ranks, "group", [variable("all_to_all_v", four, rows)] * 4, "without NeuronSwitch")
    refused(on_ranks, "metadata", [variable("all_gather_v", four, [[1] * 4] * 2)] * 4, "uint32 (3, 4)")


def test_launches_on_two_cores_are_refused_by_name(on_ranks):
    with pytest.raises(trnsim.Unsupported, match="all_reduce in a launch on 2 cores"):
        on_ranks(2, lambda rank: program[2](X, reduces([[0, 1]])))


def test_an_error_of_one_rank_ends_all(on_ranks):
    def fails(x, y):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        on_ranks(3, lambda rank: program(X, fails if rank == 1 else reduces([[0, 1, 2]])))


def test_without_several_ranks_the_command_to_use_is_named():
    trnsim.install()
    with pytest.raises(trnsim.Unsupported, match="trnsim run --ranks N"):
        program(X, reduces([[0, 1]]))


def test_more_ranks_than_a_topology_has_are_refused(on_ranks):
    with pytest.raises(trnsim.ConfigError, match="1 to 4 ranks"):
        on_ranks(5, lambda rank: None, "trn2.3xlarge")


def test_ranks_run_in_the_same_order_every_time(on_ranks):
    def run():
        order = []

        def body(x, y):
            for step in range(3):
                order.append((trnsim.rank(), step))
                ncc.all_reduce([x], [y], ncc.ReplicaGroup([[0, 1], [2, 3]]), nl.add)

        on_ranks(4, lambda rank: program(X, body))
        return order

    assert run() == run()
