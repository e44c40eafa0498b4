"""Rules of instructions that no test of a single instruction breaks."""

import pytest
import trnsim
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


def _quantize():
    src = new((32, 8), "bfloat16")
    nisa.memset(src, 1.0)
    nisa.quantize_mx(new((32, 2), "float8_e4m3fn_x4"), src, new((4, 2), "uint8"))


def _multiply():
    tile, scale = new((32, 8), "float8_e4m3fn_x4"), new((4, 8), "uint8")
    nisa.memset(tile, 0)
    nisa.memset(scale, 127)
    nisa.nc_matmul_mx(new((8, 8), buffer=nl.psum), tile, tile, scale, scale)


def _exponential():
    tile = new((32, 8))
    nisa.memset(tile, 1.0)
    nisa.exponential(tile, tile)


@pytest.mark.parametrize("kernel, number", [
    (_quantize, "vector.quantize_mx_speedup"), (_multiply, "tensor.mx_speedup"),
    (_exponential, "vector.exponential_speedup"),
])
def test_a_core_whose_file_lacks_the_cost_of_what_v4_adds(run, tmp_path, kernel, number):
    chip = tmp_path / "mine.toml"
    chip.write_text('name = "mine"\nbase = "trn2"\n[core]\ngeneration = "v4"\n')
    with pytest.raises(trnsim.MissingSpec, match=number):
        run(kernel, chip=str(chip))
    run(kernel, chip="trn3")
