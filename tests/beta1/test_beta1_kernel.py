"""Kernels: ways to run them, grids, addresses chosen by the kernel, benchmark and profile."""

import os

import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt
import numpy as np
import pytest
import trnsim
from neuronxcc.nki.isa.constants import dge_mode

A = np.arange(128 * 64, dtype=np.float32).reshape(128, 64)


@nki.jit
def doubled(a):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.multiply(nl.load(a), 2))
    return out


@nki.trace
def doubled_into(a, out):
    nl.store(out, nl.multiply(nl.load(a), 2))


def test_simulate_kernel_writes_into_arguments():
    out = np.zeros_like(A)
    assert nki.simulate_kernel(doubled_into, A, out) is None
    np.testing.assert_array_equal(out, A * 2)
    np.testing.assert_array_equal(nki.simulate_kernel(doubled, A), A * 2)
    np.testing.assert_array_equal(A, np.arange(128 * 64).reshape(128, 64))


@pytest.mark.parametrize(
    "run", [doubled, nki.baremetal(doubled), nki.baremetal()(doubled), nki.jit(mode="baremetal")(doubled)]
)
def test_ways_to_run(run):
    np.testing.assert_array_equal(run(A), A * 2)


def test_simulation_returns_tiles_too(refused):
    def squared(a):
        return nl.square(nl.load(a))

    np.testing.assert_array_equal(nki.jit(squared, mode="simulation")(A), A * A)
    with refused("launch.result", "SBUF"):
        nki.jit(squared)(A)


def test_mutable_parameters_may_be_written(refused):
    @nki.jit
    def increment(a: nt.mutable_tensor):
        nl.store(a, nl.add(nl.load(a), 1))
        return a

    np.testing.assert_array_equal(increment(A), A + 1)


def test_an_output_that_was_never_written_is_refused(refused):
    with refused("memory.never_written", "out"):
        nki.jit(_forgets)(A)


def _forgets(a):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    return out


IN_TURN = [0, 1, 2, 3]


@pytest.mark.parametrize(
    "grid, cores, order",
    [
        ((4, 2), 1, IN_TURN),
        ((nl.nc(2) * 2, 2), 2, IN_TURN),
        ((nl.spmd_dim(nl.nc(2), 2), 2), 2, IN_TURN),
        ((nl.spmd_dim(2, nl.nc(2)), 2), 2, [0, 2, 1, 3]),
        ((2 * nl.nc(2), 2), 2, [0, 2, 1, 3]),
        ((nl.nc(4), 2), 1, IN_TURN),
        ((nl.nc(1) * 4, 2), 1, IN_TURN),
    ],
)
def test_programs_of_a_grid_share_outputs(grid, cores, order):
    seen = []

    @nki.jit
    def kernel(a):
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        i, j = nl.program_id(0), nl.program_id(1)
        seen.append((i, j, nl.num_programs(0), nl.num_programs((0, 1)), nl.program_ndim()))
        rows, columns = nl.ds(i * 32, 32), nl.ds(j * 32, 32)
        nl.store(out[rows, columns], nl.load(a[rows, columns]))
        return out

    np.testing.assert_array_equal(kernel[grid](A), A)
    assert seen == [(i, j, 4, (4, 2), 2) for i in order for j in range(2)]
    assert trnsim.last_profile().cores == cores


def test_the_logical_cores_of_a_chip_limit_the_grid():
    @nki.jit
    def kernel(a):
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        nl.store(out[nl.program_id(0)], nl.load(a[nl.program_id(0)]))
        return out

    a = A.reshape(2, 64, 64)
    latencies = {}
    for chip in ("trn1", "trn2"):
        trnsim.install(chip=chip)
        np.testing.assert_array_equal(kernel[nl.nc(2)](a), a)
        latencies[chip] = trnsim.last_profile().cores
    trnsim.install()
    assert latencies == {"trn1": 1, "trn2": 2}


def test_one_dimension_is_laid_over_the_cores(refused):
    with refused("grid.cores", "2 dimensions with nl.nc"):
        doubled[nl.nc(2), nl.nc(2)](A)


def test_cores_that_write_the_same_tile_are_a_race(refused):
    @nki.jit
    def kernel(a):
        out = nl.ndarray((64, 64), dtype=a.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.load(a[nl.ds(nl.program_id(0) * 64, 64)]))
        return out

    with refused("race.shared_hbm", "core 0 writes it"):
        kernel[nl.nc(2)](A)


def test_shared_zeros_are_written_once():
    @nki.jit
    def kernel(a):
        out = nl.zeros((4, 32, 64), dtype=a.dtype, buffer=nl.shared_hbm)
        if nl.program_id(0) != 2:
            nl.store(out[nl.program_id(0)], nl.load(a[nl.ds(nl.program_id(0) * 32, 32)]))
        return out

    expected = A.reshape(4, 32, 64).copy()
    expected[2] = 0
    np.testing.assert_array_equal(kernel[4](A), expected)


def test_programs_that_create_different_outputs_are_refused(refused):
    @nki.jit
    def kernel(a):
        out = nl.ndarray((32, 64 + nl.program_id(0)), dtype=a.dtype, buffer=nl.shared_hbm)
        nl.store(out[:, 0:64], nl.load(a[0:32]))
        return out

    with refused("grid.outputs", "same order"):
        kernel[2](A)


def test_a_kernel_calls_kernels():
    @nki.jit
    def kernel(a):
        return doubled(a)

    np.testing.assert_array_equal(kernel(A), A * 2)


def add_in_place_of(base_b):
    @nki.jit
    def kernel(a, b):
        out = nl.ndarray((4, 128, 64), dtype=a.dtype, buffer=nl.shared_hbm)
        left = nl.ndarray(
            (4, nl.par_dim(128), 64),
            dtype=a.dtype,
            buffer=ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(2,)),
        )
        right = nl.ndarray(
            (4, nl.par_dim(128), 64),
            dtype=a.dtype,
            buffer=ncc.sbuf.alloc(lambda index, partitions, size: (0, base_b + index[0] % 2 * size)),
        )
        for i in nl.affine_range(4):
            left[i] = nl.load(a[i])
            right[i] = nl.load(b[i])
            left[i] = nisa.tensor_tensor(left[i], right[i], op=nl.add)
            nl.store(out[i], left[i])
        return out

    return kernel


def test_tiles_at_chosen_addresses(rng):
    a, b = (rng.standard_normal((4, 128, 64)).astype(np.float32) for _ in range(2))
    np.testing.assert_array_equal(add_in_place_of(512)(a, b), a + b)


def test_overwritten_tiles_are_found_when_they_are_read(refused):
    a = np.ones((4, 128, 64), np.float32)
    with refused("memory.clobbered", "left[0]", "right[0]"):
        add_in_place_of(0)(a, a)


def test_psum_is_placed_by_bank(refused):
    def kernel(a, bank):
        out = nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        x = nl.load(a)
        product = nl.ndarray(
            (2, nl.par_dim(64), 64),
            dtype=nl.float32,
            buffer=ncc.psum.mod_alloc(base_bank=bank, num_bank_tiles=(1,)),
        )
        for i in range(2):
            for _ in range(3):
                product[i] += nisa.nc_matmul(x, x)
        nl.store(out, product[1])
        return out

    a = np.eye(128, 64, dtype=np.float32)
    np.testing.assert_array_equal(nki.jit(kernel)(a, 7), 3 * np.eye(64))
    with refused("compiler.psum", "bank 8"):
        nki.jit(kernel)(a, 8)


def test_benchmark_reports_the_simulated_clock(capsys):
    timed = nki.benchmark(warmup=2, iters=3)(doubled)
    np.testing.assert_array_equal(timed(A), A * 2)
    latency = timed.benchmark_result.nc_latency
    assert (
        latency.get_latency_percentile(1)
        == latency.get_latency_percentile(99)
        == trnsim.last_profile().latency_us
        > 0
    )
    assert "us" in capsys.readouterr().out


def test_profile_writes_a_trace(tmp_path):
    folder = str(tmp_path / "run")
    profiled = nki.profile(working_directory=folder, save_neff_name="k.neff", save_trace_name="k.pftrace")(
        doubled
    )
    np.testing.assert_array_equal(profiled(A), A * 2)
    assert sorted(os.listdir(folder)) == ["k.neff", "k.pftrace"]
    with pytest.raises(trnsim.ConfigError, match="absolute"):
        nki.profile(working_directory="relative")(doubled)


def test_timing_only_runs_without_values():
    doubled(A)
    latency = trnsim.last_profile().latency_us
    trnsim.install(chip="trn2", timing_only=True)
    assert doubled(A).shape == A.shape
    assert trnsim.last_profile().latency_us == latency


def test_instructions_outside_a_kernel_are_refused(refused):
    with refused("launch.outside", "kernel"):
        nl.ndarray((8, 8), dtype=nl.float32)


def test_constants_and_aliases():
    assert dge_mode.hwdge is nisa.dge_mode.hwdge
    assert nki.isa is nisa and nki.language is nl and nki.compiler is ncc
    assert nl.tile_size.pmax == 128 and nl.fp32.min == np.finfo(np.float32).min
