"""Tasks of benchmarks for kernel writers: NKIBench of AccelOpt, KDA for Trainium, and Autocomp's searches."""

import ast
import contextlib
import csv
import json
import re
from pathlib import Path
from unittest import mock

import numpy as np

from calibration import checkouts, samples
from calibration.rows import Row, Unpredicted

_NKIBENCH, _KDA, _AUTOCOMP = "zhang677/AccelOpt", "Jerry2423/kda-for-trainium", "ucb-bar/autocomp"
_OPEN_TASKS = ("adamw", "silu", "bmm", "matmul", "lora", "rmsnorm_matmul", "swiglu")
_OPEN_SEARCHES = ("gemm", "mamba", "attention", "sd_attention")
# What the harness of a search has imported before the kernel's own lines.
_PRELUDE = """import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt
from neuronxcc.nki.language import par_dim
"""


def nkibench(row: Row, folder, task, which):
    if task not in _OPEN_TASKS:
        raise Unpredicted("not one of NKIBench's open tasks")
    if which == "best found":
        raise Unpredicted("the kernels that AccelOpt's search found are not in its repository")
    sizes = {f"{name}{row.params[name]}" for name in "BMNKR" if name in row.params}
    kernel = _named(folder, "NKIBench/kernels", task, sizes)
    _run(checkouts.module(kernel).kernel, folder, task, sizes)


def _run(kernel, folder, task, sizes):
    """Runs a kernel of a task on zeros in the places of the task's own inputs."""
    reference = checkouts.module(_named(folder, "NKIBench/reference", task, sizes))
    with _nothing_random():
        inputs = reference.transform_to_nki_inputs(reference.get_inputs())
    kernel(*inputs)


@contextlib.contextmanager
def _nothing_random():
    """numpy's random arrays are zeros: hundreds of millions of draws would take longer than the kernel's clocking."""
    def zeros(*_, size=None, **__):
        return np.zeros(size if size is not None else (), np.float32)

    with contextlib.ExitStack() as stack:
        for name in ("normal", "uniform", "standard_normal", "random", "random_sample"):
            stack.enter_context(mock.patch.object(np.random, name, zeros))
        for name in ("rand", "randn"):
            stack.enter_context(mock.patch.object(np.random, name, lambda *shape: np.zeros(shape, np.float32)))
        yield


def _named(folder, part, task, sizes) -> Path:
    """The file of a task whose name holds the sizes, in whatever order."""
    inside = checkouts.find(folder, _NKIBENCH, part)
    for file in sorted(inside.glob(f"{task}_[A-Z]*.py")):
        if sizes <= set(file.stem.split("_")):
            return file
    raise checkouts.Missing(f"{part}: no {task} of {' '.join(sorted(sizes))}")


def kda(row: Row, folder):
    """A version of a task's kernel, or its baseline, which is NKIBench's own."""
    task, version = kda_task(row)
    if version == "baseline":
        _run(checkouts.module(_named(folder, "NKIBench/kernels", task, set())).kernel, folder, task, set())
        return
    if version == "best":
        version = min(_kda_figures(folder, task).items(), key=lambda figure: figure[1])[0]
    file = checkouts.find(folder, _KDA, f"workspaces/{task}/runs/{task}_{version}.py")
    _run(checkouts.jitted(file, "kernel"), folder, task, set())


def kda_task(row: Row) -> tuple[str, str]:
    """The task and the version that a row's name, or its parameters, speak of."""
    told = f"{row.name} {' '.join(str(value) for value in row.params.values())}"
    words = re.findall(r"\w+", told)
    task = next((task for task in sorted(_OPEN_TASKS, key=len, reverse=True)
                 if any(word == task or word.startswith(f"{task}_v") for word in words)), None)
    if task is None:
        raise Unpredicted("not one of KDA's open tasks")
    version = next((word.removeprefix(f"{task}_") for word in words
                    if re.fullmatch(r"v\d+(_\w+)?|baseline|best", word.removeprefix(f"{task}_"))), None)
    if version is None:
        raise Unpredicted("the row does not give the version")
    return task, version


def _kda_figures(folder: Path, task: str) -> dict[str, float]:
    """The milliseconds of each version that passed its test: the latest figure that KDA's table gives."""
    file = checkouts.find(folder, _KDA, f"workspaces/{task}/benchmark.csv")
    figures = {}
    with open(file, newline="", encoding="utf-8") as lines:
        for record in csv.DictReader(lines):
            version = re.fullmatch(rf"runs/{task}_(v\w+)\.py", record["candidate"])
            if version and record["passed"] == "true" and record["latency_ms"]:
                figures[version[1]] = float(record["latency_ms"])
    return figures


def kda_rows(folder: Path) -> list[Row]:
    """A row for the baseline of each open task and for each version that KDA has a figure of."""
    try:
        baselines = json.loads(checkouts.find(folder, _KDA, "baselines.json").read_text(encoding="utf-8"))
    except checkouts.Missing:
        return []
    measured = {entry["op"]: entry["baseline_latency_ms"] for entry in baselines.values()}
    return [_kda_row(task, version, value) for task in _OPEN_TASKS
            for version, value in ({"baseline": measured[task]} | _kda_figures(folder, task)).items()]


def _kda_row(task: str, version: str, milliseconds: float) -> Row:
    return Row(f"KDA-{task}-{version}", f"{_KDA}@: workspaces/{task}/benchmark.csv", f"{task} (KDA {version})", {},
               "fp32", "trn2", "1", "nc_latency_p50", milliseconds * 1e6, "ns", "high", "1")


def autocomp(row: Row, folder, search, step):
    """The kernel of one step of a published search; step 0 is what the search began with."""
    if search not in _OPEN_SEARCHES:
        raise Unpredicted("not one of Autocomp's open tasks")
    inside = checkouts.find(folder, _AUTOCOMP, "examples/trn-tutorial")
    codes = next(filter(None, map(_steps, sorted(inside.glob(f"[0-9]_{search}_trace.py"), reverse=True))), None)
    if codes is None or int(step) >= len(codes):
        raise checkouts.Missing(f"{_AUTOCOMP}: no step {step} of the search for {search}")
    names = checkouts.executed(_PRELUDE + codes[int(step)], f"{search} search, step {step}")
    entry = next(value for name, value in names.items() if name.startswith("test") and callable(value))
    entry(*_search_inputs(row, search))


def _search_inputs(row: Row, search: str) -> list[np.ndarray]:
    if search == "gemm":
        return row.named_arrays("KM", "KN")
    if search == "mamba":
        return samples.mamba_inputs(row)
    shape = ("d", "seq") if search == "attention" else ("seq", "d")
    return row.named_arrays(shape, shape, shape)


def _steps(trace: Path) -> list[str]:
    """The kernels of a trace, first to last: nested calls, each with its parent and its code."""
    try:
        call = ast.parse(trace.read_text(encoding="utf-8"), mode="eval").body
    except SyntaxError:
        return []
    codes = []
    while isinstance(call, ast.Call):
        fields = {keyword.arg: keyword.value for keyword in call.keywords}
        codes.insert(0, ast.literal_eval(fields["code"]))
        call = fields["parent"]
    return codes
