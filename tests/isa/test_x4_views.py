"""Views of bytes as packed x4 types, and back: a unit is four bytes (fp8) or two (fp4) of the last dimension."""

import numpy as np
import pytest
import trnsim
from vector_oracle import load, nisa, nl, same, sample

PACKED = {"float8_e4m3fn_x4": 4, "float8_e5m2_x4": 4, "float4_e2m1fn_x4": 2}


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("source", ("uint8", "float8_e5m2", "bfloat16", "uint16", "uint32", "float32"))
def test_packed_views_regroup_the_bytes_of_the_last_dimension(run, name, source):
    unit = PACKED[name]
    data = np.random.default_rng(0).integers(0, 256, (8, 3, 16), np.uint8)

    def kernel(tensor):
        wide = tensor.view(getattr(nl, name))
        assert wide.shape == (8, 3, 16 // unit) and wide.dtype == getattr(nl, name)
        assert wide.view(getattr(nl, source)).shape == tensor.shape
        tile = nl.ndarray(tensor.shape, tensor.dtype, nl.sbuf)
        nisa.dma_copy(dst=tile, src=tensor)
        part = tile.view(getattr(nl, name))[:, 1:3, 1:3].view(nl.uint8)
        result = nl.ndarray((8, 2, 2 * unit), nl.uint8, nl.shared_hbm)
        nisa.dma_copy(dst=result, src=part)
        return result

    same(run(kernel, data.view(getattr(nl, source)), chip="trn3"), data[:, 1:3, unit : 3 * unit])


@pytest.mark.parametrize("shape, name, view", [
    ((8, 6), "uint8", "float8_e4m3fn_x4"), ((8, 3), "bfloat16", "float8_e5m2_x4"),
    ((8, 3), "uint8", "float4_e2m1fn_x4"),
])
def test_packed_views_need_whole_units(run, shape, name, view):
    def kernel(x):
        load(x).view(getattr(nl, view))

    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, sample(shape, name), chip="trn3")
    assert error.value.rule == "tensor.view"


def test_packed_views_need_contiguous_bytes(run):
    def kernel(x):
        load(x)[:, 0:16:2].view(nl.float8_e4m3fn_x4)

    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, sample((8, 16), "uint8"), chip="trn3")
    assert error.value.rule == "tensor.view"
