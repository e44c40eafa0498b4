"""Collectives in the ranks' clocks: how long, who waits for whom, and what compute beside them costs."""

import json

import numpy as np
import pytest

import trnsim

trnsim.install()

import nki
import nki.collectives as ncc
import nki.isa as nisa
import nki.language as nl


@nki.jit
def reduced(x, loads_of_rank_0=0):
    y = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    source = x
    if loads_of_rank_0 and trnsim.rank() == 0:
        tile = nl.ndarray((128, 2048), nl.float32)
        source = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        for _ in range(loads_of_rank_0):
            nisa.dma_copy(dst=tile, src=x)
        nisa.dma_copy(dst=source, src=tile)
    ncc.all_reduce([source], [y], ncc.ReplicaGroup([list(range(trnsim.rank_count()))]), nl.add)
    return y


def latencies(on_ranks, count, **more):
    def job(rank):
        reduced(np.ones((128, 2048), np.float32), **more)
        return trnsim.last_profile()

    trnsim.install()
    return [profile.latency_us for profile in on_ranks(count, lambda rank: job(rank))]


def test_a_collective_takes_what_the_command_says(on_ranks):
    [first, second] = latencies(on_ranks, 2)
    assert first == second
    import subprocess
    import sys

    said = json.loads(subprocess.run(
        [sys.executable, "-m", "trnsim", "collective", "all_reduce", "--ranks", "2", "--size", "1MiB", "--dtype",
         "float32", "--json"], capture_output=True, text=True, check=True).stdout)["rows"][0]["time_us"]
    assert first == pytest.approx(said, rel=1e-6)


def test_everyone_waits_for_the_rank_that_comes_late(on_ranks):
    together = latencies(on_ranks, 4)
    late = latencies(on_ranks, 4, loads_of_rank_0=20)
    assert min(late) > max(together) + 20


def test_values_do_not_change_time(on_ranks):
    with_values = latencies(on_ranks, 4)
    trnsim.install(timing_only=True)

    def job():
        reduced(np.ones((128, 2048), np.float32))
        return trnsim.last_profile()

    try:
        assert [p.latency_us for p in trnsim.run_ranks(job, 4)] == with_values
    finally:
        trnsim.install()


def test_compute_is_slowed_by_a_collective_beside_it(on_ranks):
    @nki.jit
    def kernel(x, big, beside):
        y = nl.ndarray(big.shape, big.dtype, buffer=nl.shared_hbm)
        if beside:
            ncc.all_reduce([big], [y], ncc.ReplicaGroup([[0, 1]]), nl.add)
        for i in range(40):
            nisa.dma_copy(dst=nl.ndarray((128, 2048), nl.float32), src=x)
        return y if beside else x

    def loads_end(beside):
        def job(rank):
            kernel(np.ones((128, 2048), np.float32), np.ones((512, 2048), np.float32), beside)
            return trnsim.last_profile()

        profile = on_ranks(2, job)[0]
        return max(i["end_ns"] for i in profile.instructions if i["opcode"] == "dma_copy")

    assert loads_end(True) > loads_end(False) * 1.01
