"""aws-neuron/nkipy: the unit file with kernels under three front ends, and the hand-written kernels of examples."""

import importlib
import sys

import numpy as np
from corpus.case import SURROUNDINGS, Case, Finding
from corpus.runners import compare

REPOSITORIES = ("nkipy",)
NKI = "0.4"

UNIT = "tests/unit/test_nki.py"


def cases(checkout):
    yield Case(UNIT, "tests", ("-p", "corpus.nkipy_runtime", "-k",
                               "not mutable"), dialect="all three")
    for rows in (128, 200, 512):
        yield Case("examples/models/gpt_oss/kernels/nki/rmsnorm.py", "rmsnorm", (rows, 1024), name=f"{rows}x1024")
    yield Case("examples/playground/simple_nki_kernel.py", "tensor_add", name="nki_tensor_add")


def rmsnorm(path, rows, columns):
    x = np.random.uniform(-1, 1, (rows, columns)).astype(np.float32)
    weight = np.random.uniform(0.5, 1.5, columns).astype(np.float32)
    expected = x / np.sqrt((x.astype(np.float64) ** 2).mean(axis=1, keepdims=True) + 1e-6) * weight
    return compare(importlib.import_module(path.stem).nki_rmsnorm_kernel(x, weight, 1e-6), expected, of_largest=1e-5)


def tensor_add(path):
    importlib.import_module("corpus.nkipy_runtime")
    sys.path.insert(0, str(path.parent))
    a, b = (np.random.uniform(-1, 1, (128, 512)).astype(np.float32) for _ in range(2))
    return compare(importlib.import_module(path.stem).nki_tensor_add(a, b), a + b)


FINDINGS = {
    "Mutable tensors through the runtime": Finding(
        r"mutable", SURROUNDINGS, "The test binds buffers of the device through nkipy's runtime."
    ),
}
