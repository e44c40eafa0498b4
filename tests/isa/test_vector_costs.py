"""How long the Vector and Scalar Engines' instructions hold their engine, against the published formulas.

Cycles per instruction of N elements per partition are those that AWS printed for NeuronCore-v2 (NKI documentation
2.26); for NeuronCore-v3 they are joined by the performance modes and by what was measured on Trainium2.
"""

import pytest
import trnsim
from vector_oracle import new, nisa, nl

VECTOR_GHZ = {"trn1": 1.12, "trn2": 0.96}
SCALAR_GHZ = {"trn1": 1.4, "trn2": 1.2}
MINIMUM = 64  # cycles
READ = 64  # cycles to read an accumulator out
RESET = nisa.reduce_cmd.reset_reduce


class Tiles:
    """Written tiles of one kernel: a and b [128, n], the rest [128, 1] or what its name says."""

    def __init__(self, n, dtype, buffer=None):
        self.a, self.b = new((128, n), dtype), new((128, n), dtype, buffer)
        self.mask, self.column, self.result = new((128, n), "uint8"), new((128, 1)), new((128, 1))
        self.six, self.two = new((128, 6)), new((128, 2))
        for tile in (self.a, self.b, self.column, self.six):
            nisa.memset(tile, 1.0)
        nisa.memset(self.mask, 1)


def busy_ns(run, call, n, dtype="float32", chip="trn2", buffer=None):
    """Engine time of the last instruction that call(tiles) issues."""

    def kernel():
        call(Tiles(n, dtype, buffer))

    run(kernel, chip=chip)
    last = trnsim.last_profile().instructions[-1]
    return last["busy_end_ns"] - last["start_ns"]


def result_ns(run, call, n, buffer=None):
    """Time from the start of the last instruction that call(tiles) issues, on trn2, until others see its result."""
    run(lambda: call(Tiles(n, "float32", buffer)), chip="trn2")
    last = trnsim.last_profile().instructions[-1]
    return last["end_ns"] - last["start_ns"]


VECTOR = {  # call, cycles on trn1, on trn2
    "tensor_scalar": (lambda t: nisa.tensor_scalar(t.a, t.b, nl.add, 1.0), lambda n: n, lambda n: n / 2),
    "tensor_scalar_reduce": (
        lambda t: nisa.tensor_scalar_reduce(t.a, t.b, nl.add, 1.0, nl.add, t.result),
        lambda n: max(MINIMUM, n) + READ,
        lambda n: max(MINIMUM, n) + READ,
    ),
    "tensor_scalar_reduce, kept": (
        lambda t: nisa.tensor_scalar_reduce(t.a, t.b, nl.add, 1.0, nl.add),
        lambda n: n,
        lambda n: n,
    ),
    "scalar_tensor_tensor": (
        lambda t: nisa.scalar_tensor_tensor(t.a, t.a, nl.add, 1.0, nl.add, t.b),
        lambda n: 2 * n,
        lambda n: n,
    ),
    "tensor_reduce": (lambda t: nisa.tensor_reduce(t.result, nl.add, t.a, 1), lambda n: n, lambda n: n),
    "reciprocal": (lambda t: nisa.reciprocal(t.a, t.b), lambda n: 8 * n, lambda n: 6 * n),
    "tensor_tensor_scan": (
        lambda t: nisa.tensor_tensor_scan(t.a, t.a, t.b, 0.0, nl.multiply, nl.add),
        lambda n: 2 * n,
        lambda n: 2 * n,
    ),
    "bn_stats": (lambda t: nisa.bn_stats(t.six, t.a), lambda n: n, lambda n: n),
    "bn_aggr": (lambda t: nisa.bn_aggr(t.two, t.six), lambda n: 13 * 6 / 3, lambda n: 13 * 6 / 3),
    "tensor_copy_predicated": (
        lambda t: nisa.tensor_copy_predicated(t.a, t.b, t.mask),
        lambda n: 2 * n,
        lambda n: 2 * n,
    ),
    "dropout": (lambda t: nisa.dropout(t.a, t.b, 0.5), lambda n: n, lambda n: n),
}


@pytest.mark.parametrize("n", (4, 512))
@pytest.mark.parametrize("chip", ("trn1", "trn2"))
@pytest.mark.parametrize("name", VECTOR)
def test_vector_engine(run, name, chip, n):
    call, *cycles = VECTOR[name]
    expected = max(MINIMUM, cycles[chip == "trn2"](n)) / VECTOR_GHZ[chip]
    assert busy_ns(run, call, n, chip=chip) == pytest.approx(expected, abs=0.01)


def test_range_select_and_its_read_out(run):
    def call(tiles, **arguments):
        nisa.range_select(tiles.a, tiles.b, nl.less, nl.less, tiles.column, tiles.column, **arguments)

    assert busy_ns(run, call, 512) == pytest.approx(512 / 0.96, abs=0.01)
    read_out = busy_ns(run, lambda t: call(t, reduce_res=t.result), 512)
    assert read_out == pytest.approx((512 + READ) / 0.96, abs=0.01)


@pytest.mark.parametrize("chip", ("trn1", "trn2"))
def test_scalar_engine(run, chip):
    exp = lambda t: nisa.activation(t.a, nl.exp, t.b)  # noqa: E731
    assert busy_ns(run, lambda t: (exp(t), exp(t)), 512, chip=chip) == pytest.approx(
        512 / SCALAR_GHZ[chip], abs=0.01
    )
    assert busy_ns(run, lambda t: (exp(t), exp(t)), 4, chip=chip) == pytest.approx(
        MINIMUM / SCALAR_GHZ[chip], abs=0.01
    )

    def twice(tiles):
        for _ in range(2):
            nisa.activation_reduce(tiles.a, nl.exp, tiles.b, nl.add, tiles.result)

    assert busy_ns(run, twice, 512, chip=chip) == pytest.approx((512 + READ) / SCALAR_GHZ[chip], abs=0.01)


def switches(run, *functions):
    """How many table loads the functions need, one activation each."""

    def kernel():
        tiles = Tiles(64, "float32")
        for function in functions:
            nisa.activation(tiles.a, function, tiles.a)

    run(kernel)
    times = [i for i in trnsim.last_profile().instructions if i["opcode"] == "activation"]
    return sum(i["busy_end_ns"] - i["start_ns"] > 1283 for i in times)


def test_tables_are_loaded_when_the_set_changes(run):
    assert switches(run, nl.exp, nl.exp) == 1
    assert switches(run, nl.exp, nl.sigmoid, nl.exp) == 3
    assert switches(run, nl.copy, nl.square, nl.rsqrt) == 1  # one set, as seen on a Trainium2
    assert switches(run, nl.tanh, nl.erf) == 2  # in no list: a set each


@pytest.mark.parametrize(
    "dtype, buffer, cycles",
    (
        ("float32", None, 256),
        ("float32", "psum", 512),
        ("bfloat16", None, 128),
        ("bfloat16", "psum", 256),
    ),
)
def test_tensor_scalar_modes_of_trn2(run, dtype, buffer, cycles):
    call = lambda t: nisa.tensor_scalar(t.a, t.b, nl.add, 1.0)  # noqa: E731
    actual = busy_ns(run, call, 512, dtype, buffer=buffer and nl.psum)
    assert actual == pytest.approx(cycles / 0.96, abs=0.01)


def test_bf16_reductions_go_twice_as_fast(run):
    call = lambda op: lambda t: nisa.tensor_reduce(t.b[:, 0:1], op, t.a, 1)  # noqa: E731
    assert busy_ns(run, call(nl.maximum), 512, "bfloat16") == pytest.approx(256 / 0.96, abs=0.01)
    assert busy_ns(run, call(nl.minimum), 512, "bfloat16") == pytest.approx(512 / 0.96, abs=0.01)


def test_long_strides_halve_the_rate(run):
    def call(step):
        return lambda t: nisa.tensor_scalar(t.a[:, 0:512:step], t.b[:, 0:512:step], nl.add, 1.0)

    assert busy_ns(run, call(4), 512) == pytest.approx(128 / 2 / 0.96, abs=0.01)  # 16 bytes apart
    assert busy_ns(run, call(2), 512) == pytest.approx(256 / 2 / 0.96, abs=0.01)
    assert busy_ns(
        run, lambda t: nisa.tensor_scalar(t.a[:, 0:2048:8], t.b[:, 0:2048:8], nl.add, 1.0), 2048
    ) == (pytest.approx(2 * 256 / 2 / 0.96, abs=0.01))


def twice_exp(tiles):
    for _ in range(2):
        nisa.activation(tiles.a, nl.exp, tiles.b)


def copied_by(engine):
    return lambda t: nisa.tensor_copy(t.a, t.b, engine=engine)


def summed(tiles):
    nisa.tensor_reduce(tiles.result, nl.add, tiles.a, 1)


def scaled_by_a_tile(tiles):
    nisa.tensor_scalar(tiles.a, tiles.b, nl.multiply, tiles.column)


MEASURED = {  # on a Trainium2 (profiles of allenkchau/trainium-kernel-fusion), ns from start to result
    "tensor_reduce, 4 elements": (summed, 4, None, 157),
    "tensor_reduce, 512 elements": (summed, 512, None, 685),
    "tensor_copy from PSUM": (copied_by(nisa.vector_engine), 512, nl.psum, 690),
    "tensor_copy from PSUM, Scalar": (copied_by(nisa.scalar_engine), 128, nl.psum, 265),
    "tensor_scalar by a tile": (scaled_by_a_tile, 512, None, 481),
    "tensor_scalar by a tile, PSUM": (scaled_by_a_tile, 128, nl.psum, 349.5),
    "exp": (twice_exp, 512, None, 707),
    "exp from PSUM": (twice_exp, 512, nl.psum, 685),
}


@pytest.mark.parametrize("name", MEASURED)
def test_results_come_when_they_were_measured_to_come(run, name):
    call, n, buffer, measured = MEASURED[name]
    assert result_ns(run, call, n, buffer) == pytest.approx(measured, rel=0.03)


def test_tiles_read_as_scalars_delay_the_result_alone(run):
    def number(tiles):
        nisa.tensor_scalar(tiles.a, tiles.b, nl.multiply, 2.0)

    def two(tiles):
        nisa.tensor_scalar(tiles.a, tiles.b, nl.multiply, tiles.column, False, nl.add, tiles.column)

    waits = [result_ns(run, call, 512) for call in (number, scaled_by_a_tile, two)]
    assert waits[1] - waits[0] == pytest.approx(64) and waits[2] - waits[1] == pytest.approx(64)
    assert busy_ns(run, scaled_by_a_tile, 512) == busy_ns(run, number, 512)
