"""Reports about ways to run kernels: numpy alone, grids, two cores, generations, old and new spellings."""

import neuronxcc.nki as nki1
import neuronxcc.nki.language as nl1
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
import trnsim


def whole(shape, seed=0):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def load(x):
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    return tile


def store(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out


def added(a, b):
    out = nl1.ndarray(a.shape, dtype=a.dtype, buffer=nl1.shared_hbm)
    for i in nl1.affine_range(a.shape[0] // 128):
        rows = nl1.ds(i * 128, 128)
        nl1.store(out[rows, :], nl1.add(nl1.load(a[rows, :]), nl1.load(b[rows, :])))
    return out


@pytest.mark.parametrize("way", (nki1.jit, nki1.baremetal, nki1.jit(mode="simulation")))
def test_numpy_in_and_numpy_out(way):
    a, b = whole((256, 1024)), whole((256, 1024), 1)
    result = way(added)(a, b)
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, a + b)


@pytest.mark.parametrize("chip", ("trn1", "inf2", "trn2", "trn3"))
@pytest.mark.parametrize("grid", ((4, 2), (1, 1), (8, 8)))
def test_a_grid_on_any_core_gives_the_same_and_takes_its_time_in_turn(chip, grid):
    @nki1.jit
    def kernel(a, b):
        out = nl1.ndarray(a.shape, dtype=a.dtype, buffer=nl1.shared_hbm)
        rows, columns = (n // programs for n, programs in zip(a.shape, grid, strict=True))
        at = nl1.ds(nl1.program_id(0) * rows, rows), nl1.ds(nl1.program_id(1) * columns, columns)
        nl1.store(out[at], nl1.add(nl1.load(a[at]), nl1.load(b[at])))
        return out

    trnsim.install(chip=chip)
    a, b = whole((128, 512)), whole((128, 512), 1)
    np.testing.assert_array_equal(kernel[grid](a, b), a + b)
    profile = trnsim.last_profile()
    assert len(profile.instructions) == 4 * grid[0] * grid[1]
    assert profile.latency_us > 0


def test_a_kernel_is_traced_once_for_each_program(capsys):
    @nki.jit
    def kernel(x):
        print("program", nl.program_id(0))
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        rows = x.shape[0] // nl.num_programs()
        part = slice(nl.program_id(0) * rows, nl.program_id(0) * rows + rows)
        nisa.dma_copy(dst=out[part], src=load(x[part]))
        return out

    x = whole((64, 8))
    np.testing.assert_array_equal(kernel[2](x), x)
    assert capsys.readouterr().out == "program 0\nprogram 1\n"


def exchange(x):
    """Each core sends its half to the other."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    me, other = nl.program_id(0), 1 - nl.program_id(0)
    own, received = load(x[me]), nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.sendrecv(src=own, dst=received, send_to_rank=other, recv_from_rank=other, pipe_id=0)
    nisa.dma_copy(dst=out[me], src=received)
    nisa.core_barrier(out, (0, 1))
    return out


@pytest.mark.parametrize("chip", ("trn2", "trn3"))
def test_two_cores_exchange_halves_and_meet(chip):
    trnsim.install(chip=chip)
    x = whole((2, 128, 64))
    np.testing.assert_array_equal(nki.jit(exchange)[2](x), x[::-1])


def test_one_core_cannot_exchange(refused):
    for chip in ("trn1", "inf2"):
        trnsim.install(chip=chip)
        with pytest.raises(trnsim.ProgramError) as error:
            nki.jit(exchange)(whole((2, 128, 64)))
        assert error.value.rule in ("sendrecv.generation", "sendrecv.cores"), error.value


def test_all_reduce_of_the_language_is_refused_by_name():
    @nki1.jit
    def kernel(x):
        return nl1.all_reduce(nl1.load(x), np.add, program_axes=[0])

    with pytest.raises(trnsim.Unsupported, match="nl.all_reduce"):
        kernel[2](whole((128, 64)))


def test_the_sum_of_two_cores_by_shared_memory():
    """What that all_reduce would do, over HBM that both cores reach."""

    @nki.jit
    def kernel(x):
        halves = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm, name="halves")
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        me = nl.program_id(0)
        tile = load(x[me])
        nisa.dma_copy(dst=halves[me], src=tile)
        nisa.core_barrier(halves, (0, 1))
        other = load(halves[1 - me])
        nisa.tensor_tensor(dst=tile, data1=tile, data2=other, op=nl.add)
        nisa.dma_copy(dst=out[me], src=tile)
        return out

    x = whole((2, 128, 64))
    np.testing.assert_array_equal(kernel[2](x), np.stack([x.sum(0)] * 2))
    moved = [run["dma"]["bytes"] for run in trnsim.last_profile()._json["runs"]]
    assert moved == [4 * 128 * 64 * 4] * 2  # two loads and two stores of each core


# -- generations and spellings -----------------------------------------------------------------------------------------

CALLS = {
    "range_select": ("trn2", "trn3"),
    "nonzero_with_count": ("trn2", "trn3"),
    "exponential": ("trn3",),
    "max8": ("trn1", "trn2", "trn3"),
    "tensor_copy on Scalar": ("trn2", "trn3"),
}


def call(name, x):
    dst = nl.ndarray((16, 32), dtype=nl.float32, buffer=nl.sbuf)
    if name == "range_select":
        bounds = [nl.ndarray((16, 1), dtype=nl.float32, buffer=nl.sbuf) for _ in range(2)]
        for i, bound in enumerate(bounds):
            nisa.memset(bound, 8.0 * i)
        nisa.range_select(dst=dst, on_true_tile=x, comp_op0=nl.greater_equal, comp_op1=nl.less, bound0=bounds[0],
                          bound1=bounds[1])
    elif name == "nonzero_with_count":
        found = nl.ndarray((16, 33), dtype=nl.int32, buffer=nl.sbuf)
        nisa.nonzero_with_count(dst=found, src=x)
    elif name == "max8":
        nisa.max8(dst=dst[:, 0:8], src=x)
    elif name == "exponential":
        nisa.exponential(dst=dst, src=x)
    else:
        nisa.tensor_copy(dst=dst, src=x, engine=nisa.scalar_engine)


@pytest.mark.parametrize("chip", ("trn1", "trn2", "trn3"))
@pytest.mark.parametrize("name", CALLS)
def test_what_a_generation_lacks_is_refused_with_its_name(chip, name):
    @nki.jit
    def kernel(x):
        tile = load(x)
        call(name, tile)
        return store(tile)

    trnsim.install(chip=chip)
    x = whole((16, 32))
    if chip in CALLS[name]:
        np.testing.assert_array_equal(kernel(x), x)
    else:
        with pytest.raises(trnsim.ProgramError, match="NeuronCore-v[234] or later") as error:
            kernel(x)
        assert error.value.rule.endswith(".generation")


@pytest.mark.parametrize("buffer", (None, "sbuf", "psum"))
@pytest.mark.parametrize("dialect", ("nki", "neuronxcc.nki"))
def test_zeros_with_and_without_a_buffer(buffer, dialect):
    language = nl if dialect == "nki" else nl1

    def kernel(x):
        out = language.ndarray((16, 8), dtype=x.dtype, buffer=language.shared_hbm)
        chosen = {} if buffer is None else {"buffer": getattr(language, buffer)}
        tile = language.zeros((16, 8), dtype=x.dtype, **chosen)
        if dialect == "nki":
            copy = nl.ndarray((16, 8), dtype=x.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=copy, src=tile)
            nisa.dma_copy(dst=out, src=copy)
        else:
            nl1.store(out, nl1.copy(tile))
        return out

    jit = nki.jit if dialect == "nki" else nki1.jit
    np.testing.assert_array_equal(jit(kernel)(whole((16, 8))), np.zeros((16, 8), np.float32))


@pytest.mark.parametrize("chip", ("trn1", "trn2", "trn3"))
def test_a_normalisation_runs_on_the_cpu_by_every_entry_point(chip):
    def rms_norm(x, weight):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile, gain = load(x), nl.ndarray((128, 256), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=gain, src=weight)
        squares, mean = nl.ndarray((128, 256), nl.float32, nl.sbuf), nl.ndarray((128, 1), nl.float32, nl.sbuf)
        nisa.tensor_tensor(dst=squares, data1=tile, data2=tile, op=nl.multiply)
        nisa.tensor_reduce(dst=mean, op=nl.add, data=squares, axis=1)
        nisa.tensor_scalar(dst=mean, data=mean, op0=nl.multiply, operand0=1 / 256, op1=nl.add, operand1=1e-6)
        nisa.activation(dst=mean, op=nl.rsqrt, data=mean)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=mean)
        nisa.tensor_tensor(dst=tile, data1=tile, data2=gain, op=nl.multiply)
        nisa.dma_copy(dst=out, src=tile)
        return out

    trnsim.install(chip=chip)
    random = np.random.default_rng(0)
    x, weight = (random.standard_normal((128, 256)).astype(np.float32) for _ in range(2))
    expected = x / np.sqrt((x.astype(np.float64) ** 2).mean(1, keepdims=True) + 1e-6) * weight
    for run in (nki.jit(rms_norm), nki.simulate(nki.jit(rms_norm)), nki.simulate(rms_norm)):
        np.testing.assert_allclose(run(x, weight), expected, rtol=1e-5, atol=1e-6)
