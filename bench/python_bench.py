"""What an instruction costs when a kernel issues it from Python, and how fast the clock reads a program.

Each speed stands beside what it has to match, measured in turn with it in one process: medians of rounds, in
processor time. Targets are printed with whether they are met; nothing fails when one is not.
"""

import contextlib
import os
import statistics
import time

for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # numpy's best kernel, not one that someone asked for
    os.environ.pop(name, None)
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import ml_dtypes
import numpy as np

import trnsim
from trnsim import session

trnsim.install(chip="trn2")

import nki
import nki.isa as nisa
import nki.language as nl

ROUNDS = 9
TURN_SECONDS = 0.1  # about how long each side runs in each round
CLOCK_ROUNDS = 3
CLOCKED = 200_000  # instructions
IN_FLIGHT = 4  # tiles in turn, so that loads run ahead

# Targets: how many times the speed of what stands beside it, and instructions a second for the clock.
TENSOR_TENSOR_TARGETS = {512: 5, 16: 20}  # by free size
MATMUL_TARGET = 0.8
CLOCK_TARGET = 1e6
END_TO_END_TARGET = 100_000  # small vector instructions a second, from Python to the summary
TRACE_TARGET = 1.0  # seconds for a kernel of TRACED instructions, with its summary
TRACED = 1_000


class Turn:
    """How often a kernel issues its instruction, and the processor time that this took."""

    def __init__(self, count):
        self.count = count
        self.seconds = None


@nki.jit
def add(a, b, turn):
    out = nl.ndarray(a.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    x, y, z = (nl.ndarray(a.shape, dtype=nl.float32, buffer=nl.sbuf) for _ in range(3))
    nisa.dma_copy(dst=x, src=a)
    nisa.dma_copy(dst=y, src=b)
    start = time.process_time()
    for _ in range(turn.count):
        nisa.tensor_tensor(dst=z, data1=x, data2=y, op=nl.add)
    turn.seconds = time.process_time() - start
    nisa.dma_copy(dst=out, src=z)
    return out


@nki.jit
def multiply(a, b, turn):
    out = nl.ndarray((a.shape[1], b.shape[1]), dtype=nl.float32, buffer=nl.shared_hbm)
    x = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.sbuf)
    y = nl.ndarray(b.shape, dtype=b.dtype, buffer=nl.sbuf)
    product = nl.ndarray(out.shape, dtype=nl.float32, buffer=nl.psum)
    copy = nl.ndarray(out.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=x, src=a)
    nisa.dma_copy(dst=y, src=b)
    start = time.process_time()
    for _ in range(turn.count):
        nisa.nc_matmul(dst=product, stationary=x, moving=y, accumulate=False)
    turn.seconds = time.process_time() - start
    nisa.tensor_copy(dst=copy, src=product)
    nisa.dma_copy(dst=out, src=copy)
    return out


@nki.jit
def many_tiles(a, b, turn):
    """Tiles loaded, multiplied, added and stored: turn.count instructions."""
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    weights = nl.ndarray((128, 128), dtype=a.dtype, buffer=nl.sbuf)
    moving = [nl.ndarray((128, 512), dtype=b.dtype, buffer=nl.sbuf) for _ in range(IN_FLIGHT)]
    product = [nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum) for _ in range(IN_FLIGHT)]
    total = [nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf) for _ in range(IN_FLIGHT)]
    nisa.dma_copy(dst=weights, src=a)
    start = time.process_time()
    for i in range(turn.count // 4):
        tile = i % IN_FLIGHT
        nisa.dma_copy(dst=moving[tile], src=b)
        nisa.nc_matmul(dst=product[tile], stationary=weights, moving=moving[tile], accumulate=False)
        nisa.tensor_tensor(dst=total[tile], data1=product[tile], data2=moving[tile], op=nl.add)
        nisa.dma_copy(dst=out, src=total[tile])
    turn.seconds = time.process_time() - start
    return out


def seconds_in_kernel(kernel, a, b, count):
    turn = Turn(count)
    kernel(a, b, turn)
    session.forget_profiles()  # the program that was recorded need not stay
    return turn.seconds


def one_thread():
    """Numpy's products in one thread; the variable above does it too, where OpenBLAS reads it."""
    try:
        import threadpoolctl
    except ImportError:
        return contextlib.nullcontext()
    return threadpoolctl.threadpool_limits(1)


def count_for(seconds):
    """How many fit into a turn; seconds(count) is how long `count` of them take."""
    count = 8
    while (taken := seconds(count)) < TURN_SECONDS / 4:
        count *= 2
    return max(1, round(count * TURN_SECONDS / taken))


def rates(*sides):
    """Instructions a second of each side: medians of rounds in which they take turns."""
    counts = [count_for(side) for side in sides]
    rounds = [[n / side(n) for side, n in zip(sides, counts, strict=True)] for _ in range(ROUNDS)]
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def bench_tensor_tensor(free):
    """Rates of tensor_tensor, of a numpy loop with the same conversions, and of numpy's add alone."""
    a, b = (np.random.rand(128, free).astype(np.float32) for _ in range(2))
    tile = np.empty_like(a)

    def simulator(count):
        return seconds_in_kernel(add, a, b, count)

    def numpy_loop(count):
        start = time.process_time()
        for _ in range(count):
            tile[...] = (a.astype(np.float32) + b.astype(np.float32)).astype(np.float32)
        return time.process_time() - start

    def numpy_add(count):
        start = time.process_time()
        for _ in range(count):
            np.add(a, b, out=tile)
        return time.process_time() - start

    return rates(simulator, numpy_loop, numpy_add)


def bench_nc_matmul():
    """Rates of nc_matmul and of numpy's fp32 product, which is OpenBLAS's sgemm."""
    a, b = (np.random.rand(128, free).astype(ml_dtypes.bfloat16) for free in (128, 512))
    left, right = np.ascontiguousarray(a.T, np.float32), b.astype(np.float32)
    product = np.empty((128, 512), np.float32)

    def simulator(count):
        return seconds_in_kernel(multiply, a, b, count)

    def sgemm(count):
        start = time.process_time()
        for _ in range(count):
            np.matmul(left, right, out=product)
        return time.process_time() - start

    with one_thread():
        return rates(simulator, sgemm)


def bench_clock():
    """Instructions a second: recorded from Python, and clocked."""
    trnsim.install(chip="trn2", timing_only=True)
    a, b = (np.zeros((128, free), ml_dtypes.bfloat16) for free in (128, 512))
    rounds = []
    for _ in range(CLOCK_ROUNDS):
        turn = Turn(CLOCKED)
        many_tiles(a, b, turn)
        start = time.process_time()
        latency = trnsim.last_profile().latency_us
        rounds.append((CLOCKED / turn.seconds, CLOCKED / (time.process_time() - start)))
        session.forget_profiles()
    trnsim.install(chip="trn2")
    return latency, *(statistics.median(column) for column in zip(*rounds, strict=True))


def bench_end_to_end():
    """Small vector instructions a second, launch and summary included; seconds of a kernel of TRACED ones."""
    a, b = (np.random.rand(128, 16).astype(np.float32) for _ in range(2))

    def seconds(count):
        start = time.process_time()
        add(a, b, Turn(count))
        trnsim.last_profile().summary()
        taken = time.process_time() - start
        session.forget_profiles()
        return taken

    seconds(TRACED)  # the first launch loads the chip
    (rate,) = rates(seconds)
    return rate, statistics.median(seconds(TRACED) for _ in range(ROUNDS))


def line(what, rate, beside="", target="", met=False):
    verdict = f"target {target}: {'met' if met else 'NOT met'}" if target else ""
    print(f"{what:38}{rate:12,.0f}   {beside:36}{verdict}".rstrip())


def main():
    print(f"instructions a second; medians of {ROUNDS} rounds of {TURN_SECONDS} s of processor time")
    for free, target in TENSOR_TENSOR_TARGETS.items():
        ours, loop, alone = bench_tensor_tensor(free)
        line(
            f"tensor_tensor fp32 128x{free}",
            ours,
            f"{ours / loop:.2f} x the numpy loop",
            f"{target} x",
            ours >= target * loop,
        )
        line("  numpy: convert, add, convert", loop)
        line("  numpy: add alone, no conversion", alone)
    ours, theirs = bench_nc_matmul()
    line(
        "nc_matmul bf16 128x128x512",
        ours,
        f"{ours / theirs:.2f} x sgemm",
        f"{MATMUL_TARGET} x",
        ours >= MATMUL_TARGET * theirs,
    )
    line("  numpy: OpenBLAS sgemm", theirs)
    rate, traced = bench_end_to_end()
    line(
        "tensor_tensor fp32 128x16, to summary",
        rate,
        "launch, values, clock and report",
        f"{END_TO_END_TARGET:,}",
        rate >= END_TO_END_TARGET,
    )
    line(
        f"kernels of {TRACED:,} of them",
        1 / traced,
        f"{traced * 1e3:.1f} ms each",
        f"{TRACE_TARGET:.0f} s each",
        traced <= TRACE_TARGET,
    )
    latency, recorded, clocked = bench_clock()
    line(f"record {CLOCKED:,} (no values)", recorded)
    line(
        f"clock {CLOCKED:,}",
        clocked,
        f"{latency:,.0f} us on trn2",
        f"{CLOCK_TARGET:,.0f}",
        clocked >= CLOCK_TARGET,
    )


if __name__ == "__main__":
    main()
