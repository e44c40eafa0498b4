"""nki.isa.tensor_copy_dynamic_dst: a copy whose destination address a tile holds."""

import numpy as np
import pytest
import trnsim
from vector_oracle import DTYPES, load, new, nisa, nl, refused, same, sample, store


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("buffer", (None, nl.psum))
def test_every_dtype(run, name, buffer):
    x = sample((33, 6), name)

    def kernel(t, offsets):
        wide, index, out = new((33, 20), name, buffer), load(offsets), new((33, 20), name)
        nisa.memset(wide, 0)
        dst = wide.ap(pattern=[[20, 33], [1, 6]], scalar_offset=index, indirect_dim=1)
        nisa.tensor_copy_dynamic_dst(dst=dst, src=load(t))
        nisa.tensor_copy(out, wide)
        return store(out)

    expected = np.zeros((33, 20), x.dtype)
    expected[:, 9:15] = x
    same(run(kernel, x, np.array([[9]], np.int32)), expected)
    copy = next(i for i in trnsim.last_profile().instructions if i["opcode"] == "tensor_copy_dynamic_dst")
    assert copy["busy_end_ns"] - copy["start_ns"] == pytest.approx(600 / 0.96, rel=1e-3)


native = trnsim._native.isa.tensor_copy_dynamic_dst


@pytest.mark.parametrize("rule, call", [
    ("engine", lambda dst, x: native(dst, x, engine=nisa.engine.sync)),
    ("same_free_size", lambda dst, x: native(dst, x[:, 0:4])),
    ("offset", lambda dst, x: native(dst, x, offset=x[0:1, 0:1])),
])
def test_rules(run, rule, call):
    refused(run, "tensor_copy_dynamic_dst." + rule, call, sample((4, 8)), out=[((4, 8), "float32")])


def test_it_went_with_release_0_4():
    trnsim.install(nki="0.5")
    import nki

    with pytest.raises(trnsim.Unsupported, match="removed in release 0.4"):
        nki.jit(lambda x: nisa.tensor_copy_dynamic_dst(x, x))(sample((4, 8)))
    trnsim.install()
