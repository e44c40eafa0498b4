"""aws-neuron/nki-moe: the contest's two example kernels. Its models want weights and devices."""

import importlib

import numpy as np
from corpus.case import Case
from corpus.runners import compare

REPOSITORIES = ("nki-moe",)
NKI = "0.2"


def cases(checkout):
    yield Case("nki_tensor_add_example.py", "tensor_add", name="nki_tensor_add")
    for rows in (128, 256, 100, 640):
        yield Case("nki_custom_rmsnorm.py", "rmsnorm", (rows, 2048), name=f"nki_rmsnorm_kernel {rows}x2048")


def tensor_add(path):
    a, b = (np.random.uniform(-1, 1, (128, 512)).astype(np.float32) for _ in range(2))
    return compare(importlib.import_module(path.stem).nki_tensor_add_kernel(a, b), a + b)


def rmsnorm(path, rows, columns):
    x = np.random.uniform(-1, 1, (rows, columns)).astype(np.float32)
    weight = np.random.uniform(0.5, 1.5, columns).astype(np.float32)
    expected = x / np.sqrt((x.astype(np.float64) ** 2).mean(axis=1, keepdims=True) + 1e-6) * weight
    return compare(importlib.import_module(path.stem).nki_rmsnorm_kernel(x, weight, 1e-6), expected, of_largest=1e-5)
