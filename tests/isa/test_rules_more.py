"""Rules of instructions that no test of a single instruction breaks."""

import pytest
from vector_oracle import new, nisa, nl, on_tiles, refused


@pytest.mark.parametrize("dst, src", [
    ("float8_e4m3fn_x4", "float32"), ("float32", "float8_e4m3fn_x4"), ("float8_e5m2_x4", "float8_e4m3fn_x4"),
])
def test_packed_types_are_not_converted_by_a_copy(run, dst, src):
    def body(result):
        packed = new((4, 8), src)
        nisa.memset(packed, 0)
        nisa.tensor_copy(dst=new((4, 8), dst), src=packed)
        nisa.memset(result, 0)

    message = refused(run, "tensor_copy.packed", body, out=[((4, 8), "float32")], chip="trn3")
    assert dst in message and src in message


def test_packed_types_are_copied_as_they_are(run):
    def body(result):
        tiles = [new((4, 8), "float8_e4m3fn_x4") for _ in range(2)]
        nisa.memset(tiles[0], 0)
        nisa.tensor_copy(dst=tiles[1], src=tiles[0])
        nisa.tensor_copy(dst=result, src=tiles[1].view(nl.int32))

    assert not on_tiles(run, body, out=[((4, 8), "int32")], chip="trn3").any()
