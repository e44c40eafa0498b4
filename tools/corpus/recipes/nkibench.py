"""NKIBench's open tasks: the baselines of AccelOpt, and the kernels of kda-for-trainium for the same tasks."""

import importlib
import importlib.util

import numpy as np
from corpus.case import Case

REPOSITORIES = ("AccelOpt", "kda")

TASKS = ("adamw", "silu", "bmm", "matmul", "lora", "rmsnorm_matmul", "swiglu")
ALLOWED = 2e-5  # relative L2 error, the benchmark's own


def cases(checkout):
    """Sizes stand in the kernels' text, so every one runs as large as it is."""
    for task in TASKS:
        baselines = sorted((checkout / "NKIBench/kernels").glob(f"{task}_M*.py"))
        baselines += sorted((checkout / "NKIBench/kernels").glob(f"{task}_B*.py"))
        versions = sorted((checkout / f"workspaces/{task}/runs").glob("*.py"))
        for path in baselines + versions:
            if "@nki.jit" in path.read_text():
                file = path.relative_to(checkout).as_posix()
                yield Case(file, "run_task", (task,), name=path.stem, seconds=1500)


def reference_of(path, task):
    """The module with inputs and numpy's result; kda takes AccelOpt's, in the checkout beside its own."""
    root = next(folder for folder in path.parents if (folder / ".git").exists()).parent
    (file,) = [p for size in "MB" for p in (root / "AccelOpt/NKIBench/reference").glob(f"{task}_{size}[0-9]*.py")]
    spec = importlib.util.spec_from_file_location("reference", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_task(path, task):
    reference = reference_of(path, task)
    inputs = reference.get_inputs()
    expected = reference.forward(*inputs)
    kernel = importlib.import_module(path.stem).kernel
    results = reference.transform_nki_outputs(kernel(*reference.transform_to_nki_inputs(inputs)), expected)
    expected = expected if isinstance(expected, tuple) else (expected,)
    worst = 0.0
    for result, wanted in zip(results, expected, strict=True):
        wanted = np.asarray(wanted, np.float32)
        worst = max(worst, float(np.linalg.norm(np.asarray(result, np.float32) - wanted) / np.linalg.norm(wanted)))
    assert worst <= ALLOWED, f"relative L2 error {worst:.1e} (allowed {ALLOWED:.0e})"
    return f"relative L2 error {worst:.1e} (allowed {ALLOWED:.0e})"
