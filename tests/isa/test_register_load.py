"""nki.isa.register_load: waits for the tensor, takes its time, brings the value."""

import numpy as np
import pytest
import trnsim
from vector_oracle import DTYPES, host, new, nisa, nl, refused, sample, store


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("space", ("sbuf", "hbm"))
def test_every_dtype(run, name, space):
    x = np.array([[3], [-2 if name[0] != "u" else 250]]).astype(host(name))
    seen = []

    def kernel(t):
        tile = new((1, 1), name)
        for p in (0, 1):
            nisa.dma_copy(dst=tile, src=t[p : p + 1])
            register = nisa.register_alloc()
            nisa.register_load(dst=register, src=tile if space == "sbuf" else t[p : p + 1])
            seen.append(register.value)
        return store(tile)

    run(kernel, x)
    assert seen == x.astype(np.float64).reshape(-1).tolist()


@pytest.mark.parametrize("chip, ns", (("trn1", 100), ("trn2", 116.7), ("trn3", 116.7)))
def test_it_waits_for_the_tensor_and_takes_140_cycles(run, chip, ns):
    def kernel(t):
        tile = new((1, 1), "int32")
        nisa.dma_copy(dst=tile, src=t)
        nisa.register_alloc(tile)
        return store(tile)

    run(kernel, np.ones((1, 1), np.int32), chip=chip)
    copied, loaded, _ = trnsim.last_profile().instructions
    assert loaded["opcode"] == "register_load"
    assert loaded["start_ns"] >= copied["end_ns"]
    assert loaded["end_ns"] - loaded["start_ns"] == pytest.approx(ns)


def test_one_dimension_in_hbm(run):
    def kernel(t):
        tile = new((1, 1), "int32")
        nisa.memset(tile, int(nisa.register_alloc(t[1:2])))
        return store(tile)

    assert run(kernel, np.array([4, 7], np.int32)).tolist() == [[7]]


def load(dst, src):
    nisa.register_load(nisa.register_alloc(), src)


OUT = [((1, 1), "int32")]


def test_rules(run):
    refused(run, "register_load.elements", load, sample((1, 2), "int32"), out=OUT)
    refused(run, "register_load.argument", lambda dst: nisa.register_load(nisa.register_alloc(), 3), out=OUT)
    refused(run, "register_load.argument", lambda dst, x: nisa.register_load(3, x), sample((1, 1)), out=OUT)
    refused(run, "memory.never_written", lambda dst: load(dst, dst), out=OUT)
    packed = lambda dst: (nisa.memset(dst, 0), load(dst, dst))
    refused(run, "register_load.packed", packed, out=[((1, 1), "float8_e4m3fn_x4")])

    def psum(dst):
        tile = new((1, 1), "int32", nl.psum)
        nisa.memset(tile, 0)
        load(dst, tile)

    refused(run, "register_load.buffer", psum, out=OUT)


def test_a_timing_only_run_has_no_value_to_load():
    trnsim.install(chip="trn2", timing_only=True)
    import nki

    with pytest.raises(trnsim.Unsupported, match="register_load"):
        nki.jit(lambda t: nisa.register_load(nisa.register_alloc(), t))(np.ones((1, 1), np.int32))
    trnsim.install()
