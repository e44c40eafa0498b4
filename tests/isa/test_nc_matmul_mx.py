"""nki.isa.nc_matmul_mx against numpy: exact products of scaled values, fp32 additions over the partitions in
ascending order and over the four packed elements within each."""

import numpy as np
import pytest
import trnsim
from mx_oracle import ELEMENTS, dequantized, load_x4, packed, spread
from vector_oracle import convert, fp32, new, nisa, nl, same, sample, store

X4 = tuple(ELEMENTS)


def operand(shape, name, seed=0):
    """Random units [P, F] and scales [P / 8, F] that keep the values near 1."""
    random = np.random.default_rng(seed)
    units = packed(random.uniform(-6, 6, (shape[0], 4 * shape[1])), name)
    return units, random.integers(121, 131, (shape[0] // 8, shape[1]), np.uint8)


def chained(a, b, start=None):
    """fma chains from +0, or from `start` by one more addition."""
    with np.errstate(all="ignore"):
        result = np.zeros((a.shape[1], b.shape[1]), np.float32)
        for k in range(len(a)):
            result = (result + np.outer(a[k].astype(np.float64), b[k])).astype(np.float32)
        return result if start is None else start + result


def load_scales(tensor, name="uint8"):
    tile = new(tensor.shape, name)
    nisa.dma_copy(dst=tile, src=tensor.view(getattr(nl, name)))
    return tile


def multiply(run, a, b, names, out="float32", scale_dtype="uint8", **arguments):
    """a and b are (units, scales)."""

    def kernel(x, x_scale, y, y_scale):
        psum = new((x.shape[1], y.shape[1]), out, nl.psum)
        nisa.nc_matmul_mx(dst=psum, stationary=load_x4(x, names[0]), moving=load_x4(y, names[1]),
                          stationary_scale=load_scales(x_scale, scale_dtype),
                          moving_scale=load_scales(y_scale, scale_dtype), **arguments)
        return copy_of(psum)

    return run(kernel, a[0], spread(a[1]), b[0], spread(b[1]), chip="trn3")


def copy_of(psum):
    result = new(psum.shape, psum.dtype_name)
    nisa.tensor_copy(dst=result, src=psum)
    return store(result)


def product(a, b, names):
    return chained(dequantized(*a, names[0]), dequantized(*b, names[1]))


@pytest.mark.parametrize("moving", X4)
@pytest.mark.parametrize("stationary", X4)
def test_dtypes(run, stationary, moving):
    names = (stationary, moving)
    a, b = operand((64, 20), stationary), operand((64, 70), moving, 1)
    same(multiply(run, a, b, names), product(a, b, names))


@pytest.mark.parametrize("k, m, n", [(32, 2, 1), (128, 128, 512), (32, 128, 3), (96, 6, 257), (64, 34, 511)])
def test_shapes(run, k, m, n):
    a, b = operand((k, m), X4[0]), operand((k, n), X4[1], 1)
    same(multiply(run, a, b, X4[:2]), product(a, b, X4[:2]))


@pytest.mark.parametrize("name", X4)
def test_the_definition_by_einsum(run, name):
    # Whole numbers and equal powers of two: every order of additions gives the same sums.
    random = np.random.default_rng(3)
    x, y = random.integers(-2, 3, (128, 32)), random.integers(-2, 3, (128, 64))
    ones = [np.full((16, n), 127, np.uint8) for n in (8, 16)]
    expected = np.einsum("kiq,kjq->ij", x.reshape(128, 8, 4), y.reshape(128, 16, 4)).astype(np.float32)
    same(multiply(run, (packed(x, name), ones[0]), (packed(y, name), ones[1] + 3), (name, name)), expected * 8)


def test_order_of_the_additions(run):
    # 2**24 first, then 127 ones that vanish one by one beside it; two of them added before would not.
    x = np.full((32, 8), 2.0**-4)
    x[0, [0, 4]] = 256
    a = packed(x, X4[0]), np.full((4, 2), 131, np.uint8)
    b = a[0][:, :1], a[1][:, :1]
    assert (multiply(run, a, b, (X4[0],) * 2) == 2.0**24).all()
    # In the last partition's last element it comes after 127 ones.
    x = x[::-1, ::-1]
    a = packed(x, X4[0]), a[1]
    assert (multiply(run, a, (a[0][:, :1], b[1]), (X4[0],) * 2) == 2.0**24 + 128).all()


@pytest.mark.parametrize("scale_dtype", ("uint8", "float8_e8m0fnu"))
def test_scales_of_either_dtype(run, scale_dtype):
    a, b = operand((64, 20), X4[0]), operand((64, 70), X4[1], 1)
    same(multiply(run, a, b, X4[:2], scale_dtype=scale_dtype), product(a, b, X4[:2]))


@pytest.mark.parametrize("byte, expected", [(0, 2.0**-125), (254, np.inf), (255, np.nan)])
def test_extreme_scales(run, byte, expected):
    a = (packed(np.full((32, 8), 0.0), X4[0]), np.full((4, 2), byte, np.uint8))
    a[0][0] = packed([[4, 0, 0, 0, 4, 0, 0, 0]], X4[0])
    b = (packed(np.ones((32, 4)), X4[0]), np.full((4, 1), 127, np.uint8))
    result = multiply(run, a, b, (X4[0],) * 2)
    same(result, np.full((2, 1), expected, np.float32))


def test_infinity_and_nan(run):
    x = np.ones((32, 8), np.float32)
    x[3, 1], x[4, 6] = np.inf, np.nan
    a = (packed(x, X4[1]), np.full((4, 2), 127, np.uint8))
    b = (packed(np.ones((32, 4)), X4[0]), np.full((4, 1), 127, np.uint8))
    same(multiply(run, a, b, (X4[1], X4[0])), np.array([[np.inf], [np.nan]], np.float32))


@pytest.mark.parametrize("partitions", (32, 64, 128))
@pytest.mark.parametrize("offsets", [(0, 4), (8, 12), (12, 0)])
def test_scales_at_every_offset(run, partitions, offsets):
    a, b = operand((partitions, 16), X4[0]), operand((partitions, 16), X4[1], 1)

    def kernel(x, x_scale, y, y_scale):
        scales = new((partitions, 16), "uint8")  # the unused rows stay unwritten
        for source, offset in ((x_scale, offsets[0]), (y_scale, offsets[1])):
            for q in range(partitions // 32):
                row = 32 * q + offset
                nisa.dma_copy(dst=scales[row : row + 4], src=source[4 * q : 4 * q + 4])
        psum = new((16, 16), buffer=nl.psum)
        nisa.nc_matmul_mx(dst=psum, stationary=load_x4(x, X4[0]), moving=load_x4(y, X4[1]),
                          stationary_scale=scales[offsets[0] :], moving_scale=scales[offsets[1] :])
        return copy_of(psum)

    same(run(kernel, *a, *b, chip="trn3"), product(a, b, X4[:2]))


def test_scales_that_were_never_written(run):
    a = operand((64, 16), X4[0])

    def kernel(x, scale):
        x, scales = load_x4(x, X4[0]), new((64, 16), "uint8")
        nisa.dma_copy(dst=scales[0:4], src=scale[0:4])
        nisa.nc_matmul_mx(dst=new((16, 16), buffer=nl.psum), stationary=x, moving=x, stationary_scale=scales,
                          moving_scale=scales)

    with pytest.raises(trnsim.ProgramError, match="stationary_scale"):
        run(kernel, *a, chip="trn3")


@pytest.mark.parametrize("out", ("float32", "bfloat16"))
@pytest.mark.parametrize("accumulate", [(False, True, True), (None, None, None), (None, True, False)])
def test_accumulation(run, accumulate, out):
    a, b = operand((96, 20), X4[0]), operand((96, 50), X4[1], 1)

    def kernel(x, x_scale, y, y_scale):
        psum = new((20, 50), out, nl.psum)
        tiles = load_x4(x, X4[0]), load_x4(y, X4[1]), load_scales(x_scale), load_scales(y_scale)
        for flag in accumulate:
            nisa.nc_matmul_mx(psum, *tiles, accumulate=flag)
        return copy_of(psum)

    one = product(a, b, X4[:2])
    expected = convert(one, out)
    for flag in accumulate[1:]:
        expected = convert(one if flag is False else fp32(expected) + one, out)
    same(run(kernel, a[0], spread(a[1]), b[0], spread(b[1]), chip="trn3"), expected)


@pytest.mark.parametrize("columns, out", [(4096, "float32"), (8192, "bfloat16")])
def test_all_banks_of_psum(run, columns, out):
    a, b = operand((32, 4), X4[0]), operand((32, columns), X4[2], 1)
    names = (X4[0], X4[2])
    same(multiply(run, a, b, names, out), convert(product(a, b, names), out))


@pytest.mark.parametrize("position, size, rows", [
    ((0, 0), (128, 128), 128), ((64, 0), (64, 128), 64), ((96, 0), (32, 128), 32), ((0, 0), (64, 128), 32),
])
def test_row_tiles(run, position, size, rows):
    a, b = operand((rows, 16), X4[0]), operand((rows, 30), X4[1], 1)
    result = multiply(run, a, b, X4[:2], tile_position=position, tile_size=size)
    same(result, product(a, b, X4[:2]))


def test_several_free_dimensions_and_strides(run):
    a, b = operand((32, 4 * 6), X4[0]), operand((32, 3 * 10), X4[2], 1)

    def kernel(x, x_scale, y, y_scale):
        x, y = load_x4(x, X4[0]).reshape((32, 4, 6)), load_x4(y, X4[2]).reshape((32, 3, 10))
        x_scale, y_scale = load_scales(x_scale).reshape((4, 4, 6)), load_scales(y_scale).reshape((4, 3, 10))
        psum = new((8, 3, 5), buffer=nl.psum)
        nisa.nc_matmul_mx(psum, x[:, :, 0:6:3], y[:, :, 0:10:2], x_scale[:, :, 0:6:3], y_scale[:, :, 0:10:2])
        return copy_of(psum)

    result = run(kernel, a[0], spread(a[1])[:4], b[0], spread(b[1])[:4], chip="trn3")
    left, right = dequantized(*a, X4[0]), dequantized(*b, X4[2])
    left, right = left.reshape(128, 4, 6)[:, :, ::3], right.reshape(128, 3, 10)[:, :, ::2]
    same(result.reshape(8, 15), chained(left.reshape(128, 8), right.reshape(128, 15)))


def test_what_quantize_mx_makes(run):
    x, y = sample((64, 32), "bfloat16"), sample((64, 80), "bfloat16", seed=1)

    def kernel(*tensors):
        data, scales = [], []
        for tensor in tensors:
            tile = new(tensor.shape, "bfloat16")
            nisa.dma_copy(dst=tile, src=tensor)
            data.append(new((64, tensor.shape[1] // 4), X4[0]))
            scales.append(new((64, tensor.shape[1] // 4), "float8_e8m0fnu"))
            nisa.quantize_mx(dst=data[-1], src=tile, dst_scale=scales[-1])
        psum = new((8, 20), buffer=nl.psum)
        nisa.nc_matmul_mx(psum, *data, *scales)
        return copy_of(psum)

    result = run(kernel, x, y, chip="trn3")
    exact = np.einsum("kiq,kjq->ij", fp32(x).reshape(64, 8, 4), fp32(y).reshape(64, 20, 4))
    bound = np.einsum("kiq,kjq->ij", np.abs(fp32(x)).reshape(64, 8, 4), np.abs(fp32(y)).reshape(64, 20, 4))
    assert (np.abs(result - exact) <= bound * (2 * 2.0**-4 + 2.0**-8) + 0.1).all()
    assert np.abs(result - exact).max() > 0


def refused(run, rule, stationary=(32, 8), moving=(32, 10), dst=(8, 10), names=X4[:2], out="float32",
            scales=((4, 8), (4, 10)), scale_dtype="uint8", first=(0, 0), buffers=("sbuf",) * 5, **arguments):
    def kernel():
        tiles = []
        for shape, name, buffer in zip((stationary, moving), names, buffers[1:3]):
            tiles.append(new(shape, name, getattr(nl, buffer)))
            nisa.memset(tiles[-1], 0)
        for shape, start, buffer in zip(scales, first, buffers[3:]):
            whole = new((128, shape[1]), scale_dtype, getattr(nl, buffer))
            nisa.memset(whole, 1)
            tiles.append(whole[start : start + shape[0]])
        nisa.nc_matmul_mx(new(dst, out, getattr(nl, buffers[0])), *tiles, **arguments)

    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, chip=arguments.pop("chip", "trn3"))
    assert error.value.rule == "nc_matmul_mx." + rule, str(error.value)


@pytest.mark.parametrize("rule, arguments", [
    ("dtype", {"names": ("float8_e4m3fn", X4[0])}),
    ("dtype", {"names": (X4[0], "bfloat16")}),
    ("scale_dtype", {"scale_dtype": "int8"}),
    ("scale_dtype", {"scale_dtype": "float32"}),
    ("dst_dtype", {"out": "float16"}),
    ("quadrants", {"stationary": (40, 8)}),
    ("quadrants", {"moving": (16, 10)}),
    ("same_partitions", {"moving": (64, 10), "scales": ((4, 8), (36, 10))}),
    ("stationary_even", {"stationary": (32, 7), "dst": (7, 10), "scales": ((4, 7), (4, 10))}),
    ("stationary_free", {"stationary": (32, 130), "dst": (128, 10), "scales": ((4, 130), (4, 10))}),
    ("moving_free", {"moving": (32, 4097), "dst": (8, 4096), "scales": ((4, 8), (4, 4097))}),
    ("moving_free", {"moving": (32, 8193), "dst": (8, 8192), "scales": ((4, 8), (4, 8193)), "out": "bfloat16"}),
    ("dst_shape", {"dst": (8, 11)}),
    ("dst_shape", {"dst": (10, 10)}),
    ("scale_free", {"scales": ((4, 8), (4, 9))}),
    ("scale_partitions", {"scales": ((3, 8), (4, 10))}),
    ("scale_offset", {"first": (0, 16)}),
    ("scale_offset", {"first": (6, 0)}),
    ("scale_quadrant", {"first": (64, 0)}),
    ("array_tile", {"tile_position": (0, 0)}),
    ("array_tile", {"tile_position": (16, 0), "tile_size": (32, 128)}),
    ("row_tile", {"tile_position": (0, 0), "tile_size": (32, 64)}),
    ("row_tile", {"tile_position": (0, 32), "tile_size": (32, 32)}),
    ("buffer", {"buffers": ("sbuf",) * 5}),
    ("buffer", {"buffers": ("psum", "psum", "sbuf", "sbuf", "sbuf")}),
    ("buffer", {"buffers": ("psum", "sbuf", "psum", "sbuf", "sbuf")}),
    ("buffer", {"buffers": ("psum", "sbuf", "sbuf", "psum", "sbuf")}),
    ("buffer", {"buffers": ("psum", "sbuf", "sbuf", "sbuf", "psum")}),
])
def test_rules(run, rule, arguments):
    refused(run, rule, **{"buffers": ("psum", "sbuf", "sbuf", "sbuf", "sbuf"), **arguments})


def index_of(offsets):
    index = np.full((32, -(-len(offsets) // 32)), 30000, np.uint32)
    for i, offset in enumerate(offsets):
        index[i % 32, i // 32] = offset
    return index


@pytest.mark.parametrize("offset", (0, 4))
def test_columns_gathered_and_scattered_by_indices(run, offset):
    a, b = operand((32, 24), X4[0]), operand((32, 40), X4[1], 1)
    random = np.random.default_rng(0)
    rows, columns, places = random.integers(0, 24, 32), random.integers(0, 40, 50), random.permutation(60)[:50]

    def kernel(x, x_scale, y, y_scale, *indices):
        indices = [load_scales(index, "uint32") for index in indices]
        tiles = []
        for tensor, scale, name, index, count in (
            (x, x_scale, X4[0], indices[0], 32), (y, y_scale, X4[1], indices[1], 50),
        ):
            scales = new((64, tensor.shape[1]), "uint8")[offset : offset + 32]
            nisa.dma_copy(dst=scales[0:4], src=scale)
            tiles.append(load_x4(tensor, name).indirect(index, count))
            tiles.append(scales.indirect(index, count))
        psum, result = new((32, 60), buffer=nl.psum), new((32, 60))
        nisa.memset(psum, 0.0)
        nisa.nc_matmul_mx(psum.indirect(indices[2], 50), tiles[0], tiles[2], tiles[1], tiles[3])
        nisa.tensor_copy(dst=result, src=psum)
        return store(result)

    indices = [index_of(offsets) for offsets in (rows, columns, places)]
    result = run(kernel, *a, *b, *indices, chip="trn3")
    expected = np.zeros((32, 60), np.float32)
    expected[:, places] = product((a[0][:, rows], a[1][:, rows]), (b[0][:, columns], b[1][:, columns]), X4[:2])
    same(result, expected)


@pytest.mark.parametrize("rule", ("indirect_pair", "indirect_pair other", "indirect_position"))
def test_rules_of_indirect_operands(run, rule):
    def kernel(index):
        index, other = load_scales(index, "uint32"), load_scales(index, "uint32")
        x, scale = new((32, 8), X4[0]), new((32, 8), "uint8")
        nisa.memset(x, 0)
        nisa.memset(scale, 127)
        arguments = {"tile_position": (32, 0), "tile_size": (32, 128)} if rule == "indirect_position" else {}
        picked = index if rule == "indirect_position" else other
        x_scale = scale if rule == "indirect_pair" else scale.indirect(picked, 8)
        nisa.nc_matmul_mx(new((8, 8), buffer=nl.psum), x.indirect(index, 8), x, x_scale, scale, **arguments)

    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, index_of(range(8)), chip="trn3")
    assert error.value.rule == "nc_matmul_mx." + rule.split()[0], str(error.value)


def test_not_before_v4(run):
    with pytest.raises(trnsim.ProgramError) as error:
        multiply(lambda kernel, *arrays, chip: run(kernel, *arrays), operand((32, 8), X4[0]),
                 operand((32, 8), X4[0]), (X4[0],) * 2)
    assert error.value.rule == "nc_matmul_mx.generation"


@pytest.mark.parametrize("name", X4)
@pytest.mark.parametrize("columns", (16, 512))
def test_time_is_that_of_bf16_with_a_quarter_of_the_contraction(run, columns, name):
    def kernel(x, y):
        tiles = {}
        for kind, tensor in (("x", x), ("y", y)):
            tiles[kind] = new(tensor.shape, "bfloat16"), new(tensor.shape, name), new(tensor.shape, "uint8")
            for tile in tiles[kind]:
                nisa.memset(tile, 0)
        psum = new((128, columns), buffer=nl.psum)
        nisa.nc_matmul(psum, tiles["x"][0], tiles["y"][0])
        nisa.nc_matmul_mx(psum, tiles["x"][1], tiles["y"][1], tiles["x"][2], tiles["y"][2])

    run(kernel, sample((128, 128)), sample((128, columns)), chip="trn3")
    plain, mx = [i for i in trnsim.last_profile().instructions if i["opcode"].startswith("nc_matmul")]
    assert mx["busy_end_ns"] - mx["start_ns"] == pytest.approx(plain["busy_end_ns"] - plain["start_ns"], abs=1e-6)
