"""ucb-bar/autocomp: the tasks for nki 0.2 that are open to developers, harness against published solution.

A harness is a module with a place for the solution's text, a reference kernel, and a test of one against the other on
an XLA device; here that device is the host. Both kernels run in the simulator, so what the harness compares is
compared with numpy as well.
"""

import re

import numpy as np
from corpus.case import Case
from corpus.runners import compare

REPOSITORIES = ("autocomp",)
NKI = "0.2"

TASKS = {
    "trn-tutorial-nki2": ("0_rmsnorm", "1_layernorm", "2_gemm", "3_mamba", "4_attention", "5_sdattention"),
    "trn-advanced-nki2": ("0_cumsum", "1_transpose", "3_rope"),
    "trn-internal": ("6_mamba_scan", "15_gemm"),
}


def cases(checkout):
    for folder, tasks in TASKS.items():
        for task in tasks:
            solution = f"sols/{folder}/{task}_ref.py"
            if (checkout / solution).exists():
                yield Case(f"harnesses/{folder}/{task}_test.py", "harness", (solution,), name=task, seconds=600)


def harness(path, solution):
    checkout = path.parents[2]
    text = path.read_text().replace("# SUBSTITUTE HERE", (checkout / solution).read_text(), 1)
    names = {"__name__": "harness", "__file__": str(path)}
    exec(compile(text, str(path), "exec"), names)
    reference = re.search(r"test_nki\((\w+), solution\)", text)[1]
    calls = []

    def watched(*arguments, **keywords):
        result = names["solution"](*arguments, **keywords)
        calls.append((arguments, keywords, result))
        return result

    assert names["test_nki"](names[reference], watched), "the harness says that the solution differs from its reference"
    check = EXPECTED.get(path.stem.removesuffix("_test"))
    if not check or not calls:
        return "within the harness's tolerance of its reference"
    arguments, keywords, result = calls[-1]
    return compare(_numpy(result), check(*map(_numpy, arguments), **keywords), of_largest=1e-4)


def _numpy(value):
    return np.asarray(value).astype(np.float64) if hasattr(value, "shape") else value


def _softmax(x):
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


EXPECTED = {  # by task: the last result from the arguments
    "0_rmsnorm": lambda a, g: a / np.sqrt((a * a).mean(axis=1, keepdims=True)) * g,
    "1_layernorm": lambda x, epsilon, gamma, beta: (x - x.mean(axis=1, keepdims=True))
    / np.sqrt(x.var(axis=1, keepdims=True) + epsilon) * gamma + beta,
    "0_cumsum": lambda x: x.cumsum(axis=-1),
}
