"""nki.isa.tensor_copy_dynamic_src: a copy whose source address a tile holds."""

import numpy as np
import pytest
import trnsim
from vector_oracle import DTYPES, convert, fp32, load, new, nisa, nl, refused, same, sample, store


def picked(run, x, at, name, chip="trn2", buffer=None, engine=None):
    def kernel(t, offsets):
        tile, index, dst = load(t, buffer), load(offsets), new((x.shape[0], 8), name)
        src = tile.ap(pattern=[[x.shape[1], x.shape[0]], [1, 8]], scalar_offset=index, indirect_dim=1)
        nisa.tensor_copy_dynamic_src(dst=dst, src=src, engine=engine)
        return store(dst)

    return run(kernel, x, np.array([[at]], np.int32), chip=chip)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("to", ("same", "float32", "int16"))
def test_every_dtype(run, name, to):
    x = sample((33, 20), name)
    window = np.ascontiguousarray(x[:, 5:13])
    same(picked(run, x, 5, name if to == "same" else to), window if to in ("same", name) else convert(fp32(window), to))


@pytest.mark.parametrize("chip, engine, buffer", [
    ("trn1", None, None), ("trn2", nisa.engine.scalar, nl.psum), ("trn2", nisa.engine.gpsimd, None),
    ("trn3", nisa.engine.vector, nl.psum),
])
def test_engines_and_memories(run, chip, engine, buffer):
    x = sample((128, 20))
    same(picked(run, x, 12, "float32", chip, buffer, engine), np.ascontiguousarray(x[:, 12:20]))


@pytest.mark.parametrize("chip, ghz", (("trn1", 1.12), ("trn2", 0.96)))
def test_it_takes_600_cycles_and_waits_for_the_offset(run, chip, ghz):
    picked(run, sample((16, 20)), 3, "float32", chip)
    copies = [i for i in trnsim.last_profile().instructions if i["opcode"].startswith("tensor_copy_dynamic")]
    loads = [i for i in trnsim.last_profile().instructions if i["opcode"] == "dma_copy"][:2]
    assert copies[0]["busy_end_ns"] - copies[0]["start_ns"] == pytest.approx(600 / ghz, rel=1e-3)
    assert copies[0]["start_ns"] >= max(i["end_ns"] for i in loads)


native = trnsim._native.isa.tensor_copy_dynamic_src
OUT = [((4, 8), "float32")]


@pytest.mark.parametrize("rule, call, chip", [
    ("engine", lambda dst, x: native(dst, x, engine=nisa.engine.tensor), "trn2"),
    ("generation", lambda dst, x: native(dst, x, engine=nisa.engine.scalar), "trn1"),
    ("same_free_size", lambda dst, x: native(dst, x[:, 0:4]), "trn2"),
    ("same_partitions", lambda dst, x: native(dst, x[0:2]), "trn2"),
    ("packed", lambda dst, x: native(dst, x.view(nl.float8_e4m3fn_x4)), "trn2"),
    ("offset", lambda dst, x: native(dst, x, offset=x[0:1, 0:1]), "trn2"),
    ("offset", lambda dst, x: native(dst, x, offset=x[0:1, 0:2].view(nl.int32)), "trn2"),
])
def test_rules(run, rule, call, chip):
    refused(run, "tensor_copy_dynamic_src." + rule, call, sample((4, 8)), out=OUT, chip=chip)


def test_it_went_with_release_0_4():
    trnsim.install(nki="0.4")
    import nki

    with pytest.raises(trnsim.Unsupported, match="removed in release 0.4"):
        nki.jit(lambda x: nisa.tensor_copy_dynamic_src(x, x))(sample((4, 8)))
    trnsim.install()
