"""Figures other than the time of a kernel that a profiler prints, read from trnsim's profile of it."""

import functools
import json
import tomllib
from pathlib import Path

from trnsim import session

from calibration.rows import Row, Unpredicted

_DMA_ENGINES = 16  # of a core, on every generation: what a profile sums packets over


def value(row: Row, profile) -> float:
    """What the row's metric is in the profile: ns for times, percent for shares. Raises Unpredicted for others."""
    if row.metric not in _METRICS:
        raise Unpredicted(f"{row.metric} is no figure of a kernel that trnsim's profile gives")
    return _METRICS[row.metric](_run(profile))


@functools.lru_cache(maxsize=1)
def _run(profile):
    return _Run(profile)


class _Run:
    """The slowest core of a launch: its parts of the report, and its instructions."""

    def __init__(self, profile):
        self.summary = max(json.loads(profile.to_json())["runs"], key=lambda run: run["latency_ns"])
        self.total_ns = self.summary["latency_ns"]
        chip = Path(session.HARDWARE, "chips", f"{profile.chip}.toml")
        self.stacks = tomllib.loads(chip.read_text(encoding="utf-8"))["hbm"]["stacks"]["value"]

    def of(self, queue: str) -> list[dict]:
        return [i for i in self.summary["instructions"] if i["queue"] == queue]

    def busy_ns(self, queue: str) -> float:
        """Time in which the queue's engine works, overlaps counted once."""
        return union((i["start_ns"], i["busy_end_ns"]) for i in self.of(queue))

    def spans_ns(self, queue: str) -> float:
        """The sum of the instructions' durations, start to result, overlaps counted again."""
        return sum(i["end_ns"] - i["start_ns"] for i in self.of(queue))

    def passes(self) -> int:
        """How often the Tensor Engine streams a moving tile: twice for an nc_matmul of fp32 operands."""
        return sum(2 if i["opcode"] == "nc_matmul" and " float32 " in i["operands"].split("moving=")[-1] else 1
                   for i in self.of("Tensor"))

    def packets_ns(self) -> float:
        """The time of all packets, summed over the engines that move them side by side."""
        one_engine = self.summary["dma"]["sustained_gb_per_s"] / _DMA_ENGINES
        classes = self.summary["transfer_sizes"]["classes"]
        return sum(size["bytes"] / size["efficiency"] for size in classes) / one_engine


def union(spans) -> float:
    """The length that spans (from, to) cover together."""
    covered, reached = 0.0, float("-inf")
    for start, end in sorted(spans):
        covered += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return covered


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole


_METRICS = {
    "te_active_ms": lambda run: run.busy_ns("Tensor"),
    "te_active_pct": lambda run: _percent(run.busy_ns("Tensor"), run.total_ns),
    "te_instr": lambda run: 2 * run.passes(),  # each loads its stationary tile by an instruction of its own
    "ve_active_ms": lambda run: run.busy_ns("Vector"),
    "ve_instr": lambda run: len(run.of("Vector")),
    "ve_instr_ms": lambda run: run.spans_ns("Vector"),
    "mfu_pct": lambda run: 100 * run.summary["tensor_engine"]["mfu"],
    "hfu": lambda run: 100 * run.summary["tensor_engine"]["mfu"],
    "dma_active_ms": lambda run: run.summary["dma"]["active_ns"],
    "dma_packet_ms": lambda run: run.packets_ns(),
    "mbu_pct": lambda run: 100 * run.summary["dma"]["share_of_chip_hbm"] * run.stacks,
    "matmul_instruction_interval": lambda run: run.busy_ns("Tensor") / run.passes(),
}
