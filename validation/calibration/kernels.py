"""Whole kernels of public repositories, called as their measured rows say."""

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import trnsim

from calibration import checkouts, nki_library
from calibration.rows import Row

# What a metric counts beside the kernel, by the name that the report gives that way of timing.
_LAUNCH = {"total_time": "profiler", "device_time": "profiler", "expected_device_time": "show_session",
           "latency_mean": "benchmark", "nc_latency_p50": "benchmark", "nc_latency_p99": "benchmark"}


class Unpredicted(Exception):
    """The row is set aside, and why."""


def predict(row: Row, folder: Path) -> float:
    """Nanoseconds for a kernel row. Raises Unpredicted, or checkouts.Missing, when there is no way to run it."""
    if row.metric not in _LAUNCH:
        raise Unpredicted(f"{row.metric} is not a device time of one kernel")
    for pattern, build in _CASES:
        match = re.fullmatch(pattern, row.name)
        if match:
            build(row, folder, *match.groups())
            profile = trnsim.last_profile()
            return profile.latency_us * 1e3 + _launch_ns(row, profile)
    raise Unpredicted("no case for this kernel")


def _launch_ns(row: Row, profile) -> float:
    return profile.launch_terms_ns[_LAUNCH[row.metric]]


def _zeros(dtype: str, *shape) -> np.ndarray:
    named = {"fp32": np.float32, "bf16": ml_dtypes.bfloat16, "fp16": np.float16}
    return np.zeros(shape, named[dtype])


def _tutorial_matmul(row, folder, version):
    page = checkouts.find(folder, "aws-neuron/aws-neuron-sdk", "nki/guides/tutorials/kernel-optimization.rst")
    blocks = checkouts.code_blocks(page, "def matrix_multiply_kernel")
    source = blocks[int(version) - 1]
    names = checkouts.executed(source, f"kernel-optimization.rst, version {version}")
    p = row.params
    names["matrix_multiply_kernel"](_zeros(row.dtype, p["K"], p["M"]), _zeros(row.dtype, p["K"], p["N"]))


def _mamba(row, folder, version):
    file = checkouts.find(folder, "aws-neuron/nki-samples",
                          "src/nki_samples/tutorials/fused_mamba/mamba_nki_kernels.py")
    p = row.params
    tokens = (p["batch"], p["channels"], p["seq"])
    states = (p["batch"], p["state"], p["seq"])
    kernel = getattr(checkouts.module(file), f"mamba_{version}")
    kernel(_zeros(row.dtype, *tokens), _zeros(row.dtype, *tokens), _zeros(row.dtype, p["channels"], p["state"]),
           _zeros(row.dtype, *states), _zeros(row.dtype, *states))


def _vector_add(row, folder, kind, size):
    file = checkouts.find(folder, "stanford-cs149/asst4-trainium2", "part1/kernels.py")
    constant = {"ROW_CHUNK": "ROW_CHUNK", "stream FREE_DIM": "FREE_DIM"}[kind]
    source = re.sub(rf"\b{constant} = \d+", f"{constant} = {size}", file.read_text(encoding="utf-8"))
    kernel = "vector_add_tiled" if kind == "ROW_CHUNK" else "vector_add_stream"
    n = row.params["n"]
    checkouts.executed(source, f"{file.name}, {constant} {size}")[kernel](_zeros(row.dtype, n), _zeros(row.dtype, n))


_OPEN_TASKS = ("adamw", "silu", "bmm", "matmul", "lora", "rmsnorm_matmul", "swiglu")


def _nkibench(row, folder, task):
    if task not in _OPEN_TASKS:
        raise Unpredicted("not one of NKIBench's open tasks")
    sizes = "".join(f"_{name}{row.params[name]}" for name in "BMNKR" if name in row.params)
    named = _named(folder, "NKIBench/kernels", task, sizes), _named(folder, "NKIBench/reference", task, sizes)
    kernel, reference = (checkouts.module(file) for file in named)
    kernel.kernel(*reference.transform_to_nki_inputs(reference.get_inputs()))


def _named(folder, part, task, sizes) -> Path:
    """The file of a task whose name holds the sizes, in whatever order."""
    wanted = set(sizes.split("_")[1:])
    inside = checkouts.find(folder, "zhang677/AccelOpt", part)
    for file in sorted(inside.glob(f"{task}_[A-Z]*.py")):
        if wanted <= set(file.stem.split("_")):
            return file
    raise checkouts.Missing(f"{part}: no {task} of {sizes}")


def _nki_library(row, folder, kernel):
    tests = checkouts.find(folder, "aws-neuron/nki-library", "test/pytest.ini").parent
    getattr(nki_library, kernel)(row, tests.parent)


_CASES = (
    (r"(mlp_tkg|mlp_cte|rmsnorm_quant)", _nki_library),
    (r"(\w+) \(baseline\)", _nkibench),
    (r"matmul tutorial v(\d)\b.*", _tutorial_matmul),
    (r"mamba selective scan (v\d)(?: sweep)?", _mamba),
    (r"vector_add (ROW_CHUNK|stream FREE_DIM)=(\d+)", _vector_add),
)
