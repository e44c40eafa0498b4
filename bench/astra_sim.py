"""All-reduces of 1 MiB, timed by trnsim and by ASTRA-sim's analytical network back end in one run.

    bench/astra_sim.py --binaries ASTRA/build/bin --examples ASTRA/examples/network_analytical [--rounds 3]

ASTRA is a checkout of astra-sim/astra-sim of July 2025 (0b0a1de), built with its analytical back end; its example's
workload, one all-reduce, goes to every rank. Same topology, same bytes, no congestion. Its rings send all one way,
trnsim's half each way: so that a ring carries as much, its links have twice the rate of one way. What one message
costs beside its bytes (ASTRA-sim's endpoint delay) is 1 ns for both. Prints both durations, their difference and both
wall times; exit code 1 where durations differ by more than 1 %, or the largest case is less than 100 times as fast.
"""

import argparse
import contextlib
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from trnsim import _native, session

APART, TIMES_AS_FAST = 0.01, 100
GIB_PER_S, HOP_NS, MESSAGE_NS = 50, 500, 1  # ASTRA-sim's bandwidths count in GiB
CASES = (("Ring", [4]), ("Ring", [8]), ("Ring", [64]), ("Ring", [4, 4]), ("Ring", [4, 4, 4]),
         ("Switch", [8]), ("Switch", [64]), ("Ring", [4, 4, 256]))


def main() -> int:
    arguments = _arguments()
    arguments.binaries, arguments.examples = arguments.binaries.resolve(), arguments.examples.resolve()
    wrong = 0
    heads = (("topology", "<16"), ("ranks", 6), ("ASTRA-sim", 13), ("trnsim", 13), ("apart", 8), ("its wall", 11),
             ("ours", 11), ("times", 8))
    print("".join(f"{head:{width}}" if isinstance(width, str) else f"{head:>{width}}" for head, width in heads))
    for kind, sizes in CASES:
        with tempfile.TemporaryDirectory() as folder:
            theirs_ns, theirs_s = _astra_sim(arguments, kind, sizes, Path(folder))
            ours_ns, ours_s = _trnsim(kind, sizes, Path(folder), arguments.rounds)
        apart, times = ours_ns / theirs_ns - 1, theirs_s / ours_s
        name = "x".join(map(str, sizes)) + f" {kind}"
        print(f"{name:<16}{math.prod(sizes):>6}{theirs_ns / 1e3:>10.2f} us{ours_ns / 1e3:>10.2f} us{apart:>+8.2%}"
              f"{theirs_s:>9.2f} s{ours_s * 1e3:>8.2f} ms{times:>8.0f}", flush=True)
        wrong += abs(apart) > APART
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"trnsim's peak memory, Python included: {peak:.0f} MB")
    return int(wrong > 0 or times < TIMES_AS_FAST)


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=Path, required=True, help="the folder of AstraSim_Analytical_*")
    parser.add_argument("--examples", type=Path, required=True, help="its examples/network_analytical")
    parser.add_argument("--rounds", type=int, default=3, help="runs of trnsim, of which the fastest counts")
    return parser.parse_args()


def _astra_sim(arguments, kind: str, sizes: list[int], folder: Path) -> tuple[float, float]:
    """Nanoseconds of the all-reduce and seconds of the whole process."""
    workload = (arguments.examples / "workload/AllReduce_1MB.0.et").read_bytes()
    for rank in range(math.prod(sizes)):
        (folder / f"all_reduce.{rank}.et").write_bytes(workload)
    system = json.loads((arguments.examples / "system.json").read_text())
    algorithm = "ring" if kind == "Ring" else "halvingDoubling"
    system |= {"endpoint-delay": MESSAGE_NS, "preferred-dataset-splits": 1, "local-mem-bw": 1e9,
               "all-reduce-implementation": [algorithm] * len(sizes)}
    (folder / "system.json").write_text(json.dumps(system))
    axes = ", ".join([kind] * len(sizes))
    (folder / "network.yml").write_text(
        f"topology: [ {axes} ]\nnpus_count: {sizes}\nbandwidth: {[float(GIB_PER_S)] * len(sizes)}\n"
        f"latency: {[float(HOP_NS)] * len(sizes)}\n")
    begin = time.perf_counter()
    run = subprocess.run([arguments.binaries / "AstraSim_Analytical_Congestion_Unaware",
                          f"--workload-configuration={folder / 'all_reduce'}",
                          f"--system-configuration={folder / 'system.json'}",
                          f"--remote-memory-configuration={arguments.examples / 'remote_memory.json'}",
                          f"--network-configuration={folder / 'network.yml'}"],
                         cwd=folder, capture_output=True, text=True)  # it leaves logs where it runs
    seconds = time.perf_counter() - begin
    cycles = [int(text) for text in re.findall(r"finished, (\d+) cycles", run.stdout)]
    if not cycles:
        sys.exit(f"ASTRA-sim printed no cycles: {run.stdout[-300:]}{run.stderr[-300:]}")
    return max(cycles), seconds


def _trnsim(kind: str, sizes: list[int], folder: Path, rounds: int) -> tuple[float, float]:
    """Nanoseconds of the all-reduce and seconds of the command, in an interpreter that runs already."""
    one_way = GIB_PER_S * 2**30 / 1e9
    rate, hops = (one_way / 2, 1) if kind == "Ring" else (one_way, 2)  # through a switch a message takes two
    topology = folder / "topology.toml"
    topology.write_text(
        f'name = "rings"\n[steps]\nstart = 0\ndirect = {MESSAGE_NS}\nreduction = 0\nring = {MESSAGE_NS}\n'
        + "".join(f'[axis{i}]\nkind = "{kind.lower()}"\nsize = {size}\neach_way = {rate}\nlatency = {hops * HOP_NS}\n'
                  for i, size in enumerate(sizes, 1)))
    table = folder / "table.json"
    command = ["collective", "all_reduce", "--on", str(topology), "--size", "1MiB", "--dtype", "float32"]
    command += [f"--json={table}", *(["--algorithm", "rdh"] if kind == "Switch" else [])]
    best = math.inf
    for _ in range(rounds):
        begin = time.perf_counter()
        with _printing_nothing():
            code = _native.command_line(command, session.HARDWARE, print)
        best = min(best, time.perf_counter() - begin)
        if code != 0:
            sys.exit(f"trnsim refused {command}")
    return json.loads(table.read_text())["rows"][0]["time_us"] * 1e3, best


@contextlib.contextmanager
def _printing_nothing():
    """The table goes to the descriptor, past sys.stdout."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
