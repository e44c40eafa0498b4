"""nki.isa.register_move: recorded, timed, and its value is there for the kernel's control flow."""

import numpy as np
import pytest
import trnsim
from vector_oracle import new, nisa, nl, refused, sample, store


def moves(run, kernel, *arrays, chip="trn2"):
    run(kernel, *(arrays or (np.zeros((1, 1), np.int32),)), chip=chip)
    return [i for i in trnsim.last_profile().instructions if i["opcode"].startswith("register_")]


@pytest.mark.parametrize("chip, ns", (("trn1", 68), ("trn2", 68), ("trn3", 68)))
def test_each_move_takes_its_time_on_sync(run, chip, ns):
    def kernel(x):
        a, b = nisa.register_alloc(3), nisa.register_alloc()
        nisa.register_move(b, a)
        nisa.register_move(dst=a, imm=4)
        nisa.register_move(b, src=-(2**31))
        assert (int(a), int(b)) == (4, -(2**31))
        tile = new((1, 1), "int32")
        nisa.memset(tile, int(a))
        return store(tile)

    recorded = moves(run, kernel, chip=chip)
    assert [i["opcode"] for i in recorded] == ["register_move"] * 4
    assert [i["engine"] for i in recorded] == ["Sync"] * 4
    starts = [i["start_ns"] for i in recorded]
    assert np.diff(starts).tolist() == pytest.approx([ns] * 3)


def test_a_loop_on_a_register_works_without_values(run):
    trnsim.install(chip="trn2", timing_only=True)
    import nki

    @nki.jit
    def kernel(x):
        tile = new((1, 1), "int32")
        for _ in nl.dynamic_range(nisa.register_alloc(3)):
            nisa.memset(tile, 1)
        return store(tile)

    kernel(np.zeros((1, 1), np.int32))
    assert [i["opcode"] for i in trnsim.last_profile().instructions][:4] == ["register_move"] + ["memset"] * 3


OUT = [((1, 1), "int32")]


@pytest.mark.parametrize("value", (2**32, -(2**31) - 1, float("inf")))
def test_a_value_of_more_than_32_bits(run, value):
    message = refused(run, "register_move.range", lambda dst: nisa.register_alloc(value), out=OUT)
    assert "32 bits" in message


def test_arguments(run):
    refused(run, "register_move.argument", lambda dst: nisa.register_move(3, 4), out=OUT)
    refused(run, "register_move.argument", lambda dst: nisa.register_alloc("x"), out=OUT)
    refused(run, "register_move.argument", lambda dst: nisa.register_move(nisa.register_alloc(), None), out=OUT)
