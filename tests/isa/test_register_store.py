"""nki.isa.register_store: the register's value as the tensor's dtype, in SBUF or HBM."""

import numpy as np
import pytest
import trnsim
from vector_oracle import DTYPES, convert, host, new, nisa, nl, on_tiles, refused, same, sample, store


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("value", (0, 7, 100))
def test_every_dtype(run, name, value):
    y = on_tiles(run, lambda dst: nisa.register_store(dst=dst, src=nisa.register_alloc(value)), out=[((1, 1), name)])
    same(y, convert([[value]], name))


@pytest.mark.parametrize("name, value", [
    ("int32", -(2**31)), ("int32", 2**31 - 1), ("uint32", 2**32 - 1), ("int8", -1), ("uint16", 65535),
])
def test_every_bit_of_an_integer(run, name, value):
    y = on_tiles(run, lambda dst: nisa.register_store(dst, value), out=[((1, 1), name)])
    same(y, np.array([[value]], host(name)))


def test_a_narrow_integer_keeps_the_low_bits(run):
    y = on_tiles(run, lambda dst: nisa.register_store(dst, 0x1234), out=[((1, 1), "uint8")])
    assert y[0, 0] == 0x34


@pytest.mark.parametrize("value", (2.5, -1.5, float("nan")))
def test_a_float_rounds_into_an_integer(run, value):
    y = on_tiles(run, lambda dst: nisa.register_store(dst, value), out=[((1, 1), "int16")])
    same(y, convert([[value]], "int16"))


def test_straight_into_hbm(run):
    def kernel(x):
        out = nl.ndarray((3,), dtype=nl.int32, buffer=nl.shared_hbm)
        for i in range(3):
            nisa.register_store(out[i : i + 1], nisa.register_alloc(i * 5))
        return out

    assert run(kernel, sample((1, 1))).tolist() == [0, 5, 10]
    opcodes = [i["opcode"] for i in trnsim.last_profile().instructions]
    assert opcodes == ["register_move", "register_store"] * 3


def test_it_takes_its_time_and_readers_wait_for_it(run):
    def kernel(x):
        tile = new((1, 1), "int32")
        nisa.register_store(tile, 3)
        return store(tile)

    run(kernel, sample((1, 1)))
    stored, copied = trnsim.last_profile().instructions
    assert stored["end_ns"] - stored["start_ns"] == pytest.approx(116.7)
    assert copied["start_ns"] >= stored["end_ns"]


def test_rules(run):
    refused(run, "register_store.elements", lambda dst: nisa.register_store(dst, 1), out=[((1, 2), "int32")])
    refused(run, "register_store.range", lambda dst: nisa.register_store(dst, 2**40), out=[((1, 1), "int32")])
    refused(run, "register_store.argument", lambda dst: nisa.register_store(5, 1), out=[((1, 1), "int32")])
    refused(run, "register_store.argument", lambda dst: nisa.register_store(dst, "a"), out=[((1, 1), "int32")])
    refused(run, "register_store.buffer", lambda dst: nisa.register_store(dst, 1), out=[((1, 1), "int32", nl.psum)])
    packed = lambda dst: nisa.register_store(dst, 1)
    refused(run, "register_store.packed", packed, out=[((1, 1), "float8_e4m3fn_x4")])
