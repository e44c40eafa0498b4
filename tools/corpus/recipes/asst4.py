"""Stanford CS149's assignment on Trainium, of 2024 and 2025, and solutions of students."""

import importlib

import numpy as np
from corpus.case import INTENDED, Case, Finding
from corpus.runners import compare

REPOSITORIES = ("asst4-trainium",)

SIZES = {"naive": 128, "tiled": 1280, "stream": 25_600, "alloc": 512_000, "alloc_bad": 512_000}
KERNELS = {
    "vector_add_naive": 128,
    "vector_add_tiled": 256,
    "vector_add_stream": 1024,
    "vector_add_direct_allocation": 512_000,
    "vector_add_direct_allocation_bad": 512_000,
}


def cases(checkout):
    for kernel, size in KERNELS.items():
        yield Case("part1/kernels.py", "vector_add", (kernel, size), name=kernel)
    for kernel, size in SIZES.items():
        yield Case("part1/vec_add.py", "script", ("--kernel", kernel, "--size", size), name=kernel)


def vector_add(path, kernel, size):
    a, b = (np.random.uniform(-1, 1, size).astype(np.float32) for _ in range(2))
    if kernel == "vector_add_naive":
        a, b = a[:, None], b[:, None]
    result = getattr(importlib.import_module(path.stem), kernel)(a, b)
    return compare(np.asarray(result).reshape(a.shape), a + b)


FINDINGS = {
    "An allocation that overlaps": Finding(
        r"(direct_allocation_bad|alloc_bad).*ProgramError: data1 reads .*'a_tile.* overwritten",
        INTENDED,
        "The kernel places its three buffers at the same address, to show how that goes wrong: the load of `b_tile` "
        "writes over `a_tile` before the sum reads it. The simulator stops at the sum and names both tensors and the "
        "byte.",
    ),
}
