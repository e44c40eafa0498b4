"""nki.isa.sendrecv: two cores exchange tiles from SBUF to SBUF."""

import numpy as np
import pytest
import trnsim

trnsim.install()

import ml_dtypes
import nki
import nki.isa as nisa
import nki.language as nl

DTYPES = ["float32", "int32", "uint32", "bfloat16", "float16", "int16", "uint16", "int8", "uint8", "float8_e5m2",
          "float8_e4m3"]


def numpy_dtype(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def bits(shape, name, seed=0):
    rng = np.random.default_rng(seed)
    dtype = numpy_dtype(name)
    return rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8).view(dtype).reshape(shape)


def exchange(x, view=lambda tile: tile, **options):
    """out[i]: what core i has received."""

    @nki.jit
    def kernel(x):
        me = nl.program_id(0)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        mine, theirs = (nl.ndarray(x.shape[1:], x.dtype, buffer=nl.sbuf) for _ in range(2))
        nisa.dma_copy(dst=mine, src=x[me])
        nisa.dma_copy(dst=theirs, src=x[me])
        nisa.sendrecv(src=view(mine), dst=view(theirs), send_to_rank=1 - me, recv_from_rank=1 - me, pipe_id=0,
                      **options)
        nisa.dma_copy(dst=out[me], src=theirs)
        return out

    return kernel[2](x)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("options", [{}, {"dma_engine": nisa.dma_engine.gpsimd_dma}, {"use_gpsimd_dma": True}],
                         ids=["dma", "gpsimd", "older"])
def test_every_bit_arrives(name, options):
    x = bits((2, 128, 64), name)
    got = exchange(x, **options)
    assert got.tobytes() == x[::-1].tobytes()


@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (1, 5000), (128, 512), (100, 33), (16, 2, 3, 5)])
def test_shapes(shape):
    x = bits((2, *shape), "float32")
    assert exchange(x).tobytes() == x[::-1].tobytes()


def test_strided_views():
    x = bits((2, 64, 96), "bfloat16")
    expected = x.copy()
    expected[:, :32, 1::3] = x[::-1, :32, 1::3]
    assert exchange(x, view=lambda tile: tile[0:32, 1:96:3]).tobytes() == expected.tobytes()


def test_a_tile_may_be_exchanged_in_place():
    @nki.jit
    def kernel(x):
        me = nl.program_id(0)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape[1:], x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[me])
        for pipe in range(3):
            nisa.sendrecv(tile, tile, 1 - me, 1 - me, pipe)
        nisa.dma_copy(dst=out[me], src=tile)
        return out

    x = bits((2, 128, 64), "float32")
    assert kernel[2](x).tobytes() == x[::-1].tobytes()


def test_exchange_then_barrier_then_compare():
    """Each core sends 128 x 64 to the other; what it receives is also what lies in HBM."""

    @nki.jit
    def kernel(x):
        me = nl.program_id(0)
        out = nl.ndarray((2, 128, 64), x.dtype, buffer=nl.shared_hbm)
        equal = nl.ndarray((2, 128, 64), x.dtype, buffer=nl.shared_hbm)
        mine, theirs, read = (nl.ndarray((128, 64), x.dtype, buffer=nl.sbuf) for _ in range(3))
        nisa.dma_copy(dst=mine, src=x[me])
        nisa.sendrecv(src=mine, dst=theirs, send_to_rank=1 - me, recv_from_rank=1 - me, pipe_id=0)
        nisa.dma_copy(dst=out[me], src=mine)
        nisa.core_barrier(data=out, cores=(0, 1))
        nisa.dma_copy(dst=read, src=out[1 - me])
        nisa.tensor_tensor(dst=read, data1=read, data2=theirs, op=nl.equal)
        nisa.dma_copy(dst=equal[me], src=read)
        return equal

    x = np.random.default_rng(1).standard_normal((2, 128, 64)).astype(np.float32)
    assert kernel[2](x).min() == 1


def test_time():
    """By DMA it lasts longer than a copy of the same bytes within SBUF, by the exchange alone; GpSimd is quicker."""

    @nki.jit
    def copied(x):
        mine, theirs = (nl.zeros(x.shape, x.dtype, buffer=nl.sbuf) for _ in range(2))
        nisa.dma_copy(dst=theirs, src=mine, dge_mode=nisa.dge_mode.none)

    def durations(opcode):
        entries = [i for i in trnsim.last_profile().instructions if i["opcode"] == opcode]
        assert len({i["start_ns"] for i in entries}) == 1
        return [i["end_ns"] - i["start_ns"] for i in entries], entries[0]["queue"]

    copied(np.zeros((2, 512), np.float32))
    (copy,), _ = durations("dma_copy")
    exchange(bits((2, 2, 512), "float32"))
    by_dma, queue = durations("sendrecv")
    assert queue == "DMA local" and by_dma == pytest.approx([copy + 191] * 2, abs=0.002)
    exchange(bits((2, 2, 128), "float32"), use_gpsimd_dma=True)
    by_gpsimd, queue = durations("sendrecv")
    assert queue == "GpSimd" and by_gpsimd[0] == by_gpsimd[1] < 0.5 * by_dma[0]


def refused(rule, call, chip="trn2", cores=2):
    trnsim.install(chip=chip)

    @nki.jit
    def kernel(x):
        out = nl.ndarray((4, 4), nl.float32, buffer=nl.shared_hbm)
        call(nl.program_id(0))
        return out

    try:
        with pytest.raises(trnsim.ProgramError) as caught:
            kernel[cores](np.zeros((4, 4), np.float32))
    finally:
        trnsim.install()
    assert caught.value.rule == rule


def tile(shape=(4, 8), dtype=nl.float32, buffer=nl.sbuf):
    return nl.zeros(shape, dtype, buffer)


def send(me, src=None, dst=None, to=None, source=None, pipe=0, **options):
    src = tile() if src is None else src
    dst = tile(src.shape, src.dtype) if dst is None else dst
    nisa.sendrecv(src, dst, 1 - me if to is None else to, 1 - me if source is None else source, pipe, **options)


BROKEN = {
    "rank": lambda me: send(me, to=2),
    "self": lambda me: send(me, source=me),
    "pipe_id": lambda me: send(me, pipe=-1),
    "buffer": lambda me: send(me, src=tile(buffer=nl.psum)),
    "same_dtype": lambda me: send(me, dst=tile(dtype=nl.int32)),
    "same_partitions": lambda me: send(me, dst=tile((5, 8))),
    "same_free_size": lambda me: send(me, dst=tile((4, 9))),
    "match_pipe": lambda me: send(me, pipe=me),
    "match_shape": lambda me: send(me, src=tile((4 + me, 8))),
    "match_engine": lambda me: send(me, use_gpsimd_dma=me == 1),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_rules(rule):
    refused("sendrecv." + rule, BROKEN[rule])


@pytest.mark.parametrize("name, bytes_each", [("float32", 1024), ("bfloat16", 512), ("int8", 256)])
def test_gpsimd_sends_only_so_many_bytes(name, bytes_each):
    dtype = numpy_dtype(name)
    columns = bytes_each // dtype.itemsize
    x = bits((2, 4, columns), name)
    assert exchange(x, use_gpsimd_dma=True).tobytes() == x[::-1].tobytes()
    with pytest.raises(trnsim.ProgramError, match=f"at most {bytes_each}") as caught:
        exchange(bits((2, 4, columns + 1), name), use_gpsimd_dma=True)
    assert caught.value.rule == "sendrecv.gpsimd_bytes"


def test_it_needs_two_cores_of_neuroncore_v3():
    refused("sendrecv.cores", lambda me: send(me), cores=1)
    refused("sendrecv.generation", lambda me: send(me), chip="trn1", cores=1)
