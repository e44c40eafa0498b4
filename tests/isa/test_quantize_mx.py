"""nki.isa.quantize_mx against numpy: both rules of the scale, layouts of the scales, refusals, time."""

import numpy as np
import pytest
import trnsim
from mx_oracle import quantized
from vector_oracle import convert, fp32, host, load, new, nisa, nl, sample, store

X4 = ("float8_e4m3fn_x4", "float8_e5m2_x4")


def spanning(shape, name, seed=0):
    """Values of the 16-bit dtype from its subnormals to its largest, a few zeros, one group all zero."""
    random = np.random.default_rng(seed)
    low, high = (-133, 127) if name == "bfloat16" else (-24, 15)
    groups = random.uniform(low + 6, high, (shape[0] // 8, 1, shape[1] // 4, 1))
    powers = np.minimum(groups + random.uniform(-6, 1, (shape[0] // 8, 8, shape[1] // 4, 4)), high + 0.9)
    values = (np.exp2(powers) * random.choice([-1, 1], powers.shape)).reshape(shape)
    values[random.random(shape) < 0.05] = 0
    values[:8, :4] = 0
    return values.astype(np.float32).astype(host(name))


def rows_of(scale, partitions):
    """In a kernel: the four used rows of each quadrant as one array in HBM."""
    columns = scale.shape[1]
    result = nl.ndarray((partitions // 8, columns), dtype=scale.dtype, buffer=nl.shared_hbm)
    for q in range(partitions // 32):
        nisa.dma_copy(dst=result[4 * q : 4 * q + 4], src=scale[32 * q : 32 * q + 4])
    return result


def quantize(run, x, name, scale_dtype="uint8", **arguments):
    partitions, columns = x.shape[0], x.shape[1] // 4

    def kernel(tensor):
        data = new((partitions, columns), name)
        scale = new((partitions if partitions > 32 else 4, columns), scale_dtype)
        nisa.quantize_mx(dst=data, src=load(tensor), dst_scale=scale, **arguments)
        return store(data), rows_of(scale, partitions)

    return run(kernel, x, chip="trn3")


def check(result, expected):
    units, scales = result
    np.testing.assert_array_equal(scales.view(np.uint8), expected[1])
    np.testing.assert_array_equal(units, expected[0])


@pytest.mark.parametrize("ocp", (False, True))
@pytest.mark.parametrize("source", ("bfloat16", "float16"))
@pytest.mark.parametrize("name", X4)
def test_dtypes_and_rules(run, name, source, ocp):
    x = spanning((64, 512), source)
    check(quantize(run, x, name, ocp_scale=ocp), quantized(fp32(x), name, ocp))


@pytest.mark.parametrize("shape", [(32, 4), (32, 20), (64, 4), (96, 36), (128, 2048)])
def test_shapes(run, shape):
    x = sample(shape, "bfloat16")
    check(quantize(run, x, X4[0]), quantized(fp32(x), X4[0]))


@pytest.mark.parametrize("name, today, before", [
    # Largest 1.75: 2**0 <= 1.75. Today 2**(0 - 7) and 2**(0 - 14), before 0.5 half of that.
    ("float8_e4m3fn_x4", 120, 119), ("float8_e5m2_x4", 113, 112),
])
def test_scale_bytes_by_hand(run, name, today, before):
    x = np.full((32, 4), 0.25, np.float32)
    x[5, 2] = -1.75
    x = convert(x, "bfloat16")
    assert (quantize(run, x, name)[1][0] == today).all()
    units, scales = quantize(run, x, name, ocp_scale=True)
    assert (scales[0] == before).all()
    # -1.75 * 2**8 = -448 and -1.75 * 2**15 = -57344 are the largest magnitudes: 0xfe and 0xfb.
    assert units[5, 0] >> 16 & 255 == {"float8_e4m3fn_x4": 0xFE, "float8_e5m2_x4": 0xFB}[name]


def test_only_the_older_rule_saturates(run):
    x = convert(np.full((32, 4), 1.9921875), "bfloat16")
    units, _ = quantize(run, x, X4[0], ocp_scale=True)  # 510 becomes 448
    assert (units == 0x7E7E7E7E).all()
    units, scales = quantize(run, x, X4[0])  # 255 rounds to 256
    assert (units == 0x78787878).all() and (scales == 120).all()


@pytest.mark.parametrize("release, ocp", [
    ("0.2", True), ("0.4", True), ("0.5", False), ("0.7", False), ("auto", False),
])
def test_the_release_chooses_the_rule(release, ocp):
    import nki

    x = sample((32, 8), "bfloat16")
    trnsim.install(chip="trn3", nki=release)

    @nki.jit
    def kernel(tensor):
        data, scale = new((32, 2), X4[0]), new((4, 2), "uint8")
        nisa.quantize_mx(data, load(tensor), scale)
        return store(data), store(scale)

    try:
        check(kernel(x), quantized(fp32(x), X4[0], ocp))
    finally:
        trnsim.install()


@pytest.mark.parametrize("name, infinite, nan", [
    ("float8_e4m3fn_x4", 0x7F, 0x7F), ("float8_e5m2_x4", 0x7C, 0x7E),
])
def test_infinity_and_nan_count_as_exponent_128(run, name, infinite, nan):
    x = np.ones((32, 12), np.float32)
    x[0, 0], x[9, 4] = np.inf, np.nan
    units, scales = quantize(run, convert(x, "bfloat16"), name)
    exponent = 7 if name == X4[0] else 14
    expected = np.full((4, 3), 127 - exponent, np.uint8)
    expected[0, 0] = expected[1, 1] = 255 - exponent
    np.testing.assert_array_equal(scales, expected)
    assert units[0, 0] & 255 == infinite and units[9, 1] & 255 == nan
    assert units[1, 0] == 0 and units[8, 1] == 0  # 1 / 2**121 is nothing beside them


def test_scales_as_e8m0(run):
    x = spanning((64, 32), "bfloat16")
    _, scales = quantize(run, x, X4[0], "float8_e8m0fnu")
    assert scales.dtype == host("float8_e8m0fnu")
    np.testing.assert_array_equal(scales.view(np.uint8), quantized(fp32(x), X4[0])[1])


@pytest.mark.parametrize("partitions", (32, 128))
def test_four_tensors_share_one_tile_of_scales(run, partitions):
    x = spanning((4 * partitions, 64), "bfloat16").reshape(4, partitions, 64)

    def kernel(tensor):
        scales, results = new((partitions, 16), "uint8"), []
        for i in range(4):
            data = new((partitions, 16), X4[1])
            nisa.quantize_mx(dst=data, src=load(tensor[i]), dst_scale=scales[4 * i :])
            results.append(store(data))
        return results, [rows_of(scales[4 * i :], partitions) for i in range(4)]

    data, scales = run(kernel, x, chip="trn3")
    for i in range(4):
        check((data[i], scales[i]), quantized(fp32(x[i]), X4[1]))


def test_other_rows_of_the_scales_stay_unwritten(run):
    def kernel(tensor):
        scale = new((64, 2), "uint8")
        nisa.quantize_mx(dst=new((64, 2), X4[0]), src=load(tensor), dst_scale=scale)
        return store(scale)

    with pytest.raises(trnsim.ProgramError, match="never written"):
        run(kernel, sample((64, 8), "bfloat16"), chip="trn3")


def test_several_free_dimensions_and_strides(run):
    x = sample((32, 3, 8, 4), "bfloat16")

    def kernel(tensor):
        data, scale = new((32, 3, 8), X4[0]), new((4, 3, 4), "uint8")
        nisa.quantize_mx(dst=data[:, :, 0:8:2], src=load(tensor)[:, :, 1:8:2, :], dst_scale=scale)
        result = new((32, 3, 4), X4[0])
        nisa.tensor_copy(dst=result, src=data[:, :, 0:8:2])
        return store(result), store(scale)

    units, scales = run(kernel, x, chip="trn3")
    expected = quantized(fp32(x[:, :, 1::2]).reshape(32, 48), X4[0])
    check((units.reshape(32, 12), scales.reshape(4, 12)), expected)


def test_second_half_of_the_partitions(run):
    x = sample((128, 16), "float16")

    def kernel(tensor):
        data, scale = new((128, 4), X4[0]), new((128, 4), "uint8")
        nisa.quantize_mx(dst=data[64:128], src=load(tensor)[64:128], dst_scale=scale[64:128])
        return store(data[64:128]), rows_of(scale[64:128], 64)

    check(run(kernel, x, chip="trn3"), quantized(fp32(x[64:]), X4[0]))


def test_in_place_reads_before_it_writes(run):
    x = sample((64, 32), "bfloat16")

    def kernel(tensor):
        tile, scale = load(tensor), new((64, 8), "uint8")
        data = tile.view(nl.float8_e4m3fn_x4)[:, 8:16]
        nisa.quantize_mx(dst=data, src=tile, dst_scale=scale)
        return store(data), rows_of(scale, 64)

    check(run(kernel, x, chip="trn3"), quantized(fp32(x), X4[0]))


@pytest.mark.parametrize("rule, src, source, dst, name, scale, scale_dtype", [
    ("src_dtype", (32, 8), "float32", (32, 2), X4[0], (4, 2), "uint8"),
    ("dst_dtype", (32, 8), "bfloat16", (32, 2), "float4_e2m1fn_x4", (4, 2), "uint8"),
    ("dst_dtype", (32, 8), "bfloat16", (32, 2), "float8_e4m3fn", (4, 2), "uint8"),
    ("scale_dtype", (32, 8), "bfloat16", (32, 2), X4[0], (4, 2), "int8"),
    ("quadrants", (40, 8), "bfloat16", (40, 2), X4[0], (40, 2), "uint8"),
    ("same_partitions", (64, 8), "bfloat16", (32, 2), X4[0], (64, 2), "uint8"),
    ("free_size", (32, 8), "bfloat16", (32, 8), X4[0], (4, 2), "uint8"),
    ("free_size", (32, 10), "bfloat16", (32, 2), X4[0], (4, 2), "uint8"),
    ("scale_free", (32, 8), "bfloat16", (32, 2), X4[0], (4, 8), "uint8"),
    ("scale_partitions", (64, 8), "bfloat16", (64, 2), X4[0], (8, 2), "uint8"),
    ("scale_partitions", (32, 8), "bfloat16", (32, 2), X4[0], (3, 2), "uint8"),
])
def test_rules(run, rule, src, source, dst, name, scale, scale_dtype):
    def kernel(tensor):
        nisa.quantize_mx(dst=new(dst, name), src=load(tensor), dst_scale=new(scale, scale_dtype))

    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, sample(src, source), chip="trn3")
    assert error.value.rule == "quantize_mx." + rule, str(error.value)


@pytest.mark.parametrize("rule, partitions, first", [
    ("scale_offset", 64, 2), ("scale_offset", 64, 16), ("scale_offset", 64, 13), ("scale_quadrant", 32, 32),
])
def test_where_scales_may_start(run, rule, partitions, first):
    def kernel(tensor):
        scale = new((128, 2), "uint8")[first : first + 36]
        nisa.quantize_mx(dst=new((partitions, 2), X4[0]), src=load(tensor), dst_scale=scale)

    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, sample((partitions, 8), "bfloat16"), chip="trn3")
    assert error.value.rule == "quantize_mx." + rule, str(error.value)


@pytest.mark.parametrize("which", (0, 1, 2))
def test_everything_is_in_sbuf(run, which):
    def kernel(tensor):
        buffers = [nl.psum if i == which else nl.sbuf for i in range(3)]
        src = new((32, 8), "bfloat16", buffers[0])
        nisa.memset(src, 1.0)
        nisa.quantize_mx(dst=new((32, 2), X4[0], buffers[1]), src=src,
                         dst_scale=new((4, 2), "uint8", buffers[2]))

    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, sample((1, 1)), chip="trn3")
    assert error.value.rule == "quantize_mx.buffer"


def test_not_before_v4(run):
    def kernel(tensor):
        nisa.quantize_mx(dst=new((32, 2), X4[0]), src=load(tensor), dst_scale=new((4, 2), "uint8"))

    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, sample((32, 8), "bfloat16"), chip="trn2")
    assert error.value.rule == "quantize_mx.generation"


@pytest.mark.parametrize("elements", (64, 2048))
def test_four_elements_per_cycle(run, elements):
    quantize(run, sample((128, elements), "bfloat16"), X4[0])
    (timed,) = [i for i in trnsim.last_profile().instructions if i["opcode"] == "quantize_mx"]
    cycles = max(64, elements / 4)
    assert timed["busy_end_ns"] - timed["start_ns"] == pytest.approx(cycles / 1.2, abs=0.01)
