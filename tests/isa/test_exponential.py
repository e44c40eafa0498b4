"""nki.isa.exponential against numpy: the exponential in fp64 rounded once, sums in fp32 in ascending order."""

import numpy as np
import pytest
import trnsim
from vector_oracle import convert, fp32, new, nisa, nl, on_tiles, refused, same, sample, sums

CMD = nisa.reduce_cmd
SOURCES = ("float8_e4m3", "float8_e5m2", "float16", "bfloat16", "float32", "int8", "int16", "int32", "uint8", "uint16",
           "uint32")
RESULTS = ("float8_e4m3", "float8_e5m2", "float16", "bfloat16", "float32", "int8", "int16", "int32", "uint8", "uint16")


def exponentials(x, subtrahend=0.0):
    with np.errstate(all="ignore"):
        return np.exp((fp32(x) - np.float32(subtrahend)).astype(np.float64)).astype(np.float32)


def near(actual, expected):
    """Within one unit in the last place of fp32, or equal where both are nothing or infinite."""
    assert actual.dtype == expected.dtype == np.float32
    np.testing.assert_allclose(actual, expected, rtol=2.0**-23, atol=2.0**-149)


def exponential(run, x, name="float32", chip="trn3", **arguments):
    return on_tiles(run, lambda dst, src: nisa.exponential(dst, src, **arguments), x, out=[(x.shape, name)],
                    chip=chip)


@pytest.mark.parametrize("name", SOURCES)
def test_sources(run, name):
    x = sample((33, 20), name)
    near(exponential(run, x), exponentials(x))


@pytest.mark.parametrize("name", RESULTS)
def test_results(run, name):
    # Whole thirds of ln 2 keep the values away from halves, where one unit in the last place would show.
    x = (np.arange(-24, 24, dtype=np.float32) / 3 * np.log(2)).astype(np.float32).reshape(4, 12)
    same(exponential(run, x, name), convert(exponentials(x), name))


@pytest.mark.parametrize("shape", [(1, 1), (128, 16), (127, 33), (2, 2, 3, 5), (3, 9001)])
def test_shapes(run, shape):
    x = sample(shape)
    near(exponential(run, x, max_value=1.5), exponentials(x, 1.5))


def test_special_values(run):
    x = np.array([[0.0, -0.0, np.inf, -np.inf, np.nan, 89.0, -104.0, 88.0]], np.float32)
    near(exponential(run, x), exponentials(x))


def test_one_maximum_per_partition(run):
    x, top = sample((40, 12)), sample((40, 1), seed=1)
    result = on_tiles(run, lambda dst, src, m: nisa.exponential(dst, src, max_value=m), x, top,
                      out=[(x.shape, "float32")], chip="trn3")
    near(result, exponentials(x, top))


def test_sums_take_the_values_before_they_are_converted(run):
    x, start = sample((128, 37)), sample((128, 1), seed=1)

    def body(dst, wide, first, second, third, fourth, src, begin):
        nisa.exponential(wide, src)
        nisa.exponential(dst, src, reduce_res=first, reduce_cmd=CMD.reset_reduce)
        nisa.exponential(dst, src, reduce_res=second, reduce_cmd=CMD.reduce)
        nisa.exponential(dst, src, reduce_res=third, reduce_cmd=CMD.load_reduce, reduce_init=2.0)
        nisa.exponential(dst, src, reduce_res=fourth, reduce_cmd=CMD.load_reduce, reduce_init=begin)

    out = [(x.shape, "bfloat16"), (x.shape, "float32")] + [((128, 1), "float32")] * 4
    _, wide, first, second, third, fourth = on_tiles(run, body, x, start, out=out, chip="trn3")
    same(first, sums(wide))
    same(second, sums(np.concatenate([wide, wide], 1)))
    same(third, sums(np.concatenate([np.full((128, 1), 2, np.float32), wide], 1)))
    same(fourth, sums(np.concatenate([start, wide], 1)))


def test_registers_are_those_of_the_vector_engine(run):
    x = sample((32, 10))

    def body(dst, wide, total, src):
        nisa.exponential(wide, src)
        nisa.exponential(dst, src, reduce_cmd=CMD.reset_reduce)
        nisa.tensor_scalar_reduce(dst, src, nl.multiply, 0.0, nl.add, total, reduce_cmd=CMD.reduce)

    out = [(x.shape, "float32"), (x.shape, "float32"), ((32, 1), "float32")]
    _, wide, total = on_tiles(run, body, x, out=out, chip="trn3")
    same(total, sums(wide))


def test_idle_leaves_nothing_to_rely_on(run):
    x = sample((32, 10))

    def body(dst, total, src):
        nisa.exponential(dst, src, reduce_cmd=CMD.reset_reduce)
        nisa.exponential(dst, src)
        nisa.exponential(dst, src, reduce_res=total, reduce_cmd=CMD.reduce)

    _, total = on_tiles(run, body, x, out=[(x.shape, "float32"), ((32, 1), "float32")], chip="trn3")
    assert np.isnan(total).all()


def test_psum_and_in_place(run):
    x = sample((64, 48))

    def body(dst, src):
        psum = new(x.shape, buffer=nl.psum)
        nisa.tensor_copy(dst=psum, src=src)
        nisa.exponential(psum, psum)
        nisa.tensor_copy(dst=dst, src=psum)

    near(on_tiles(run, body, x, out=[(x.shape, "float32")], chip="trn3"), exponentials(x))


@pytest.mark.parametrize("rule, out, source, arguments", [
    ("dtype", "uint32", "float32", {}),
    ("dtype", "float8_e4m3fn", "float32", {}),
    ("dtype", "float32", "float8_e4m3fn", {}),
    ("dtype", "float32", "tfloat32", {}),
    ("packed", "float8_e4m3fn_x4", "float32", {}),
    ("reduce_cmd", "float32", "float32", {"reduce_cmd": CMD.reset}),
    ("reduce_init", "float32", "float32", {"reduce_cmd": CMD.reset_reduce, "reduce_init": 1.0}),
    ("reduce_init", "float32", "float32", {"reduce_init": 1.0}),
])
def test_rules(run, rule, out, source, arguments):
    def body(dst):
        src = new((32, 6), source)
        nisa.memset(src, 1.0)
        nisa.exponential(dst, src, **arguments)

    refused(run, f"exponential.{rule}", body, out=[((32, 6), out)], chip="trn3")


@pytest.mark.parametrize("rule, shape, name, command", [
    ("reduce_idle", (32, 1), "float32", CMD.idle), ("reduce_res_dtype", (32, 1), "int32", CMD.reduce),
    ("reduce_res", (32, 2), "float32", CMD.reduce),
])
def test_rules_of_the_sum(run, rule, shape, name, command):
    def body(dst, total, src):
        nisa.exponential(dst, src, reduce_res=total, reduce_cmd=command)

    refused(run, f"exponential.{rule}", body, sample((32, 6)), out=[((32, 6), "float32"), (shape, name)], chip="trn3")


@pytest.mark.parametrize("rule, shape, name, argument", [
    ("operand_dtype", (32, 1), "bfloat16", "max_value"), ("per_partition", (32, 2), "float32", "max_value"),
    ("per_partition", (16, 1), "float32", "max_value"), ("operand_dtype", (32, 1), "bfloat16", "reduce_init"),
])
def test_rules_of_the_operands(run, rule, shape, name, argument):
    def body(dst, src, operand):
        nisa.exponential(dst, src, reduce_cmd=CMD.load_reduce, **{argument: operand})

    refused(run, f"exponential.{rule}", body, sample((32, 6)), sample(shape, name), out=[((32, 6), "float32")],
            chip="trn3")


def test_at_most_four_dimensions(run):
    def body(dst, src):
        nisa.exponential(dst, src)

    refused(run, "exponential.dims", body, sample((2, 2, 2, 2, 2)), out=[((2, 2, 2, 2, 2), "float32")], chip="trn3")


def test_columns_gathered_and_scattered_by_an_index(run):
    x, offsets = sample((32, 24)), np.random.default_rng(0).permutation(24)[:20]
    index = np.full((32, 2), 30000, np.uint32)
    index[:16] = np.append(offsets, [30000] * 12).reshape(2, 16).T

    def body(dst, src, index):
        nisa.memset(dst, 0.0)
        nisa.exponential(dst.indirect(index, 20), src.indirect(index, 20))

    result = on_tiles(run, body, x, index, out=[(x.shape, "float32")], chip="trn3")
    near(result[:, offsets], exponentials(x[:, offsets]))
    assert (np.delete(result, offsets, 1) == 0).all()


def test_not_before_v4(run):
    refused(run, "exponential.generation", lambda dst, src: nisa.exponential(dst, src), sample((32, 6)),
            out=[((32, 6), "float32")], chip="trn2")


@pytest.mark.parametrize("elements, summed", [(16, False), (1024, False), (1024, True)])
def test_four_elements_per_cycle(run, elements, summed):
    def body(dst, total, src):
        arguments = {"reduce_res": total, "reduce_cmd": CMD.reset_reduce} if summed else {}
        nisa.memset(total, 0.0)
        nisa.exponential(dst, src, **arguments)

    on_tiles(run, body, sample((128, elements)), out=[((128, elements), "float32"), ((128, 1), "float32")], chip="trn3")
    (timed,) = [i for i in trnsim.last_profile().instructions if i["opcode"] == "exponential"]
    cycles = max(64, elements / 4) + (64 if summed else 0)
    assert timed["busy_end_ns"] - timed["start_ns"] == pytest.approx(cycles / 1.2, abs=0.01)
