"""nki.isa.core_barrier: what it keeps in order, what it costs, and what it refuses."""

import numpy as np
import pytest
import trnsim

trnsim.install()

import nki
import nki.isa as nisa
import nki.language as nl

X = np.arange(2 * 64 * 128, dtype=np.float32).reshape(2, 64, 128)


def exchanged(engine=None, meet=True):
    """A kernel in which each core writes one half of a shared tensor and reads the other."""

    def kernel(x):
        me = nl.program_id(0)
        scratch = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape[1:], x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[me])
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=float(me + 1))
        nisa.dma_copy(dst=scratch[me], src=tile)
        if meet:
            nisa.core_barrier(data=scratch, cores=(0, 1), **({} if engine is None else {"engine": engine}))
        nisa.dma_copy(dst=tile, src=scratch[1 - me])
        nisa.dma_copy(dst=out[me], src=tile)
        return out

    return kernel


@pytest.mark.parametrize("name", [None, "gpsimd", "vector", "scalar", "tensor", "sync", "unknown"])
def test_each_core_reads_what_the_other_wrote(name):
    engine = None if name is None else getattr(nisa.engine, name)
    got = nki.jit(exchanged(engine))[2](X)
    np.testing.assert_array_equal(got, np.stack([X[1] + 2, X[0] + 1]))
    queues = {i["queue"] for i in trnsim.last_profile().instructions if i["opcode"] == "core_barrier"}
    assert queues == {{None: "GpSimd", "gpsimd": "GpSimd", "unknown": "GpSimd"}.get(name, (name or "").capitalize())}


def test_both_leave_together_after_the_later_one():
    nki.jit(exchanged())[2](X)
    entries = trnsim.last_profile().instructions
    first, second = [i for i in entries if i["opcode"] == "core_barrier"]
    assert (first["core"], second["core"]) == (0, 1)
    assert first["end_ns"] == second["end_ns"] == first["start_ns"] + 1000
    for mine in (first, second):  # the write comes before it, the read of the same tensor after it
        stores = [i for i in entries if i["core"] == mine["core"] and i["queue"] == "DMA stores"]
        loads = [i for i in entries if i["core"] == mine["core"] and i["queue"] == "DMA loads"]
        assert stores[0]["end_ns"] <= mine["start_ns"] and loads[1]["start_ns"] >= mine["end_ns"]


def test_the_one_that_comes_first_waits_for_the_other():
    def kernel(x):
        me = nl.program_id(0)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape[1:], x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[me])
        for _ in range(20 * me):
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
        nisa.dma_copy(dst=out[me], src=tile)
        nisa.core_barrier(data=out, cores=(0, 1))
        return out

    np.testing.assert_array_equal(nki.jit(kernel)[2](X), X + np.array([0, 20], np.float32)[:, None, None])
    early, late = [i for i in trnsim.last_profile().instructions if i["opcode"] == "core_barrier"]
    assert early["wait"] == "barrier" and late["wait"] == "buffer reuse"
    assert early["start_ns"] == late["start_ns"] and early["waited_for_core"] == 1


def test_one_core_may_name_itself():
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=x)
        nisa.core_barrier(out, (0,))
        nisa.core_barrier(out, 0)
        return out

    np.testing.assert_array_equal(nki.jit(kernel)(X), X)


def refused(rule, call, chip="trn2", cores=2):
    trnsim.install(chip=chip)

    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        call(out)
        return out

    with pytest.raises(trnsim.ProgramError) as caught:
        nki.jit(kernel)[cores](X)
    trnsim.install()
    assert caught.value.rule == rule


@pytest.mark.parametrize("cores", [(0,), (1, 0), (0, 1, 2), (1,), (0, 0), ()])
def test_cores_must_be_all_of_the_launch(cores):
    refused("core_barrier.cores", lambda out: nisa.core_barrier(out, cores))


def test_two_cores_named_in_a_launch_on_one():
    refused("core_barrier.cores", lambda out: nisa.core_barrier(out, (0, 1)), cores=1)


@pytest.mark.parametrize("buffer", [nl.hbm, nl.private_hbm])
def test_data_must_be_shared(buffer):
    refused("core_barrier.data", lambda out: nisa.core_barrier(nl.ndarray((4, 4), nl.float32, buffer), (0, 1)))


@pytest.mark.parametrize("cores", [(0, 1), [0, 1]])
def test_a_tile_of_its_own_may_stand_for_the_data(cores):
    """As published kernels write it, to keep a loop's counter in order with the barrier."""

    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape[1:], x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.program_id(0)])
        nisa.core_barrier(tile, cores)
        nisa.dma_copy(dst=out[nl.program_id(0)], src=tile)
        return out

    np.testing.assert_array_equal(kernel[2](X), X)


def test_a_dma_queue_is_no_engine():
    refused("core_barrier.engine", lambda out: nisa.core_barrier(out, (0, 1), engine=nisa.engine.dma))


@pytest.mark.parametrize("chip", ["trn1", "inf2"])
def test_it_came_with_neuroncore_v3(chip):
    refused("core_barrier.generation", lambda out: nisa.core_barrier(out, (0,)), chip=chip, cores=1)


def test_barriers_of_different_tensors():
    def call(out):
        other = nl.ndarray((4, 4), nl.float32, nl.shared_hbm)
        nisa.core_barrier(out if nl.program_id(0) else other, (0, 1))

    refused("core_barrier.match", call)
