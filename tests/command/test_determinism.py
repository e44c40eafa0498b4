"""The same input gives the same bytes: twice, in one thread or two, with the arithmetic clocked or not."""

import hashlib
import threading

import ml_dtypes
import numpy as np
import pytest

import trnsim


@pytest.fixture
def kernel():
    trnsim.install(chip="trn2")
    import nki
    import nki.isa as nisa
    import nki.language as nl

    @nki.jit
    def scaled_product(a, b):
        """(a.T @ b) * 0.5 over 128 x 512 tiles, in bf16."""
        K, M = a.shape
        N = b.shape[1]
        out = nl.ndarray((M, N), dtype=a.dtype, buffer=nl.shared_hbm)
        for m in range(M // 128):
            for n in range(N // 512):
                acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
                for k in range(K // 128):
                    at = nl.ndarray((128, 128), dtype=a.dtype)
                    bt = nl.ndarray((128, 512), dtype=b.dtype)
                    nisa.dma_copy(dst=at, src=a[k * 128:(k + 1) * 128, m * 128:(m + 1) * 128])
                    nisa.dma_copy(dst=bt, src=b[k * 128:(k + 1) * 128, n * 512:(n + 1) * 512])
                    nisa.nc_matmul(dst=acc, stationary=at, moving=bt)
                half = nl.ndarray((128, 512), dtype=a.dtype)
                nisa.tensor_scalar(dst=half, data=acc, op0=nl.multiply, operand0=0.5)
                nisa.dma_copy(dst=out[m * 128:(m + 1) * 128, n * 512:(n + 1) * 512], src=half)
        return out

    return scaled_product


def operands():
    rng = np.random.default_rng(7)
    draw = lambda *shape: rng.standard_normal(shape).astype(ml_dtypes.bfloat16)  # noqa: E731
    return draw(256, 256), draw(256, 1024)


def digest(kernel):
    result = kernel(*operands())
    report = trnsim.last_profile().to_json()
    return hashlib.sha256(result.tobytes()).hexdigest(), hashlib.sha256(report.encode()).hexdigest()


def test_two_runs_give_the_same_bytes_and_the_same_report(kernel):
    assert digest(kernel) == digest(kernel)


def test_two_threads_give_the_bytes_of_one(kernel):
    expected = kernel(*operands()).tobytes()
    results = {}

    def work(name):
        results[name] = kernel(*operands()).tobytes()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {0: expected, 1: expected}


def test_clocking_in_the_middle_does_not_change_the_values(kernel):
    expected = kernel(*operands()).tobytes()
    trnsim.last_profile().latency_us
    assert kernel(*operands()).tobytes() == expected


def test_timing_only_gives_the_same_times(kernel):
    kernel(*operands())
    with_values = trnsim.last_profile()
    trnsim.install(chip="trn2", timing_only=True)
    kernel(*operands())
    without = trnsim.last_profile()
    trnsim.install(chip="trn2")
    assert without.instructions == with_values.instructions
    assert without.latency_us == with_values.latency_us > 0


def test_stochastic_rounding_is_repeatable_and_seeded(kernel):
    results = {}
    for seed in (0, 0, 1):
        trnsim.install(chip="trn2", seed=seed, stochastic_rounding=True)
        results.setdefault(seed, []).append(kernel(*operands()).tobytes())
    trnsim.install(chip="trn2")
    nearest = kernel(*operands()).tobytes()
    assert results[0][0] == results[0][1]
    assert results[0][0] != results[1][0] and results[0][0] != nearest
