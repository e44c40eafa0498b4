"""Matmuls on a 128 x 128 weight-stationary array, clocked by trnsim and by SCALE-Sim v3 in one run.

    bench/systolic_array.py --scalesim VENV/bin/python [--sizes 512 1024]

VENV is any environment with the package `scalesim`; nothing of it is needed here. Prints compute cycles, their
difference and the times of both; exit code 1 where the cycles differ by more than 2 % or trnsim is less than 1,000
times as fast. SCALE-Sim keeps a matrix of addresses for every cycle: 4,096 cubed takes it hours and tens of GB.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ml_dtypes
import numpy as np
import trnsim

CHIP = Path(__file__).with_name("scale_sim_array.toml")
trnsim.install(chip=str(CHIP), timing_only=True)

import nki  # noqa: E402
import nki.isa as nisa  # noqa: E402
import nki.language as nl  # noqa: E402

ARRAY = 128
CYCLES_APART, TIMES_AS_FAST = 0.02, 1000
ROUNDS = 5

CONFIG = """[general]
run_name = run
[architecture_presets]
ArrayHeight = 128
ArrayWidth = 128
IfmapSramSzkB = 65536
FilterSramSzkB = 65536
OfmapSramSzkB = 65536
IfmapOffset = 0
FilterOffset = 100000000
OfmapOffset = 200000000
Dataflow = ws
Bandwidth = 100000
ReadRequestBuffer = 64
WriteRequestBuffer = 64
[layout]
IfmapCustomLayout = False
IfmapSRAMBankBandwidth = 10
IfmapSRAMBankNum = 10
IfmapSRAMBankPort = 2
FilterCustomLayout = False
FilterSRAMBankBandwidth = 10
FilterSRAMBankNum = 10
FilterSRAMBankPort = 2
[sparsity]
SparsitySupport = false
[run_presets]
InterfaceBandwidth = CALC
UseRamulatorTrace = False
"""


@nki.jit
def folds(x, count):
    """One matmul for each pair of weight tiles, all rows moving, each after the one before has left the array."""
    rows = x.shape[1]
    weights = nl.ndarray((ARRAY, ARRAY), dtype=x.dtype, buffer=nl.sbuf)
    moving = nl.ndarray((ARRAY, rows), dtype=x.dtype, buffer=nl.sbuf)
    sums = nl.ndarray((ARRAY, rows), dtype=nl.float32, buffer=nl.psum)
    nisa.memset(dst=weights, value=0.0)
    before = nisa.memset(dst=moving, value=0.0)
    for _ in range(count):
        fold = nisa.nc_matmul(dst=sums, stationary=weights, moving=moving, accumulate=False)
        fold.depends_on(before)
        before = fold
    return x


def ours(size):
    """Cycles, and the seconds from the call of the kernel to its latency."""
    x, count = np.zeros((ARRAY, size), ml_dtypes.bfloat16), (size // ARRAY) ** 2
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        folds(x, count)
        total = trnsim.last_profile().latency_us
        seconds.append(time.perf_counter() - start)
    matmuls = [i for i in trnsim.last_profile().instructions if i["opcode"] == "nc_matmul"]
    cycles = matmuls[-1]["end_ns"] - matmuls[0]["start_ns"]
    assert cycles < total * 1e3
    return round(cycles), sorted(seconds)[ROUNDS // 2]


def theirs(python, size):
    with tempfile.TemporaryDirectory() as folder:
        config, sizes, layout = (Path(folder, name) for name in ("array.cfg", "gemm.csv", "layout.csv"))
        layout.write_text("Layer," + "1," * 30 + "\ngemm," + "1," * 30 + "\n")
        config.write_text(CONFIG)
        sizes.write_text(f"Layer,M,N,K,\ngemm,{size},{size},{size},\n")
        command = ("import sys, time; from scalesim.scale_sim import scalesim; "
                   "s = scalesim(save_disk_space=True, verbose=True, config=sys.argv[1], topology=sys.argv[2], "
                   "layout=sys.argv[3], input_type_gemm=True); start = time.perf_counter(); "
                   "s.run_scale(top_path=sys.argv[4]); print('seconds', time.perf_counter() - start)")
        done = subprocess.run([python, "-c", command, config, sizes, layout, folder], capture_output=True, text=True)
    found = re.search(r"Compute cycles: (\d+)\nStall cycles: (\d+)(?s:.*)^seconds ([\d.]+)", done.stdout, re.M)
    if not found:
        sys.exit(f"SCALE-Sim said nothing of {size} cubed:\n{done.stdout[-500:]}{done.stderr[-1500:]}")
    return int(found[1]), int(found[2]), float(found[3])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--scalesim", required=True, help="a Python interpreter that can import scalesim")
    parser.add_argument("--sizes", nargs="+", type=int, default=[512, 1024])
    options = parser.parse_args()
    good = True
    print(" cubed    SCALE-Sim   stalls       trnsim    apart   seconds   seconds    faster")
    for size in options.sizes:
        cycles, seconds = ours(size)
        expected, stalls, their_seconds = theirs(options.scalesim, size)
        apart, faster = cycles / expected - 1, their_seconds / seconds
        good = good and abs(apart) <= CYCLES_APART and faster >= TIMES_AS_FAST
        print(f"{size:>6} {expected:>12} {stalls:>8} {cycles:>12} {apart:>8.2%} {their_seconds:>9.3f} {seconds:>9.6f} "
              f"{faster:>8.0f}x")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
