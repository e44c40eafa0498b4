"""The instruction behind nki.collectives: what it refuses; its values and times are in tests/ranks."""

import numpy as np
import pytest

import trnsim

trnsim.install()

import nki
import nki.language as nl
from trnsim import _native


@nki.jit
def kernel(x, dst, src, ranks):
    y = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    _native.isa.collective(dst=y if dst else None, src=x if src else None, ranks=ranks)


@pytest.mark.parametrize("dst, src, ranks, rule", [(True, True, 1, "ranks"), (True, True, -2, "ranks"),
                                                   (False, False, 2, "tensors")])
def test_rules(dst, src, ranks, rule):
    with pytest.raises(trnsim.ProgramError) as caught:
        kernel(np.ones((4, 4), np.float32), dst, src, ranks)
    assert caught.value.rule == f"collective.{rule}"


@pytest.mark.parametrize("dst, src", [(True, True), (True, False), (False, True)])
def test_a_rank_may_give_get_or_both(dst, src):
    kernel(np.ones((4, 4), np.float32), dst, src, 2)
    assert [i["opcode"] for i in trnsim.last_profile().instructions] == ["collective"]


def test_it_is_no_function_of_nki_isa():
    import nki.isa

    assert not hasattr(nki.isa, "collective")
