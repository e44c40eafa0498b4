"""Deep-Learning-Profiling-Tools/triton-viz: its examples for Beta 1, with the simulator in its interpreter's place.

The unit tests of its interpreter run against that interpreter and hold no kernels.
"""

import importlib
import sys
import types

import numpy as np
from corpus.case import ILLEGAL, Case, Finding
from corpus.runners import compare

REPOSITORIES = ("triton-viz",)


def cases(checkout):
    yield Case("examples/nki/matmul.py", "matmul", ("matmul_kernel", False), name="matmul_kernel")
    yield Case("examples/nki/matmul.py", "matmul", ("matmul_kernel_lhsT", True), name="matmul_kernel_lhsT")
    for example in ("rmsnorm", "rope", "softmax"):
        yield Case(f"examples/nki/{example}.py", "demo")


def stand_in():
    """Modules named triton_viz whose trace() runs the kernel as the examples do without the visualizer."""
    import neuronxcc.nki as nki

    class Traced:
        def __init__(self, kernel):
            self.kernel = nki.jit(kernel, kernel_return=False)

        def __getitem__(self, grid):
            return lambda *arguments: nki.simulate_kernel(self.kernel[grid], *arguments)

    package, clients, core, trace = (types.ModuleType(f"triton_viz{name}") for name in ("", ".clients", ".core",
                                                                                        ".core.trace"))
    package.trace = lambda *_, **__: Traced
    package.launch = lambda **_: None
    clients.Tracer = object
    trace.launches = []
    package.clients, package.core, core.trace = clients, core, trace
    sys.modules.update({module.__name__: module for module in (package, clients, core, trace)})


def demo(path):
    stand_in()
    importlib.import_module(path.stem)._run_demo()
    return "by its own check"


def matmul(path, kernel, transposed):
    """As the example's demonstration, which makes no check, on the same sizes."""
    import neuronxcc.nki as nki

    stand_in()
    function = getattr(importlib.import_module(path.stem), kernel)
    left = np.arange(32).astype(np.float32).reshape(4, 8)
    right = np.arange(128).astype(np.float32).reshape(8, 16)
    result = np.empty((4, 16), np.float32)
    first = np.ascontiguousarray(left.T) if transposed else left
    nki.simulate_kernel(nki.jit(function, kernel_return=False)[1, 1, 1], first, right, result)
    return compare(result, left @ right)


FINDINGS = {
    "Two tiles of 128 partitions as one of two": Finding(
        r"examples/nki/rope.py",
        ILLEGAL,
        "The first axis of a tile is its partition, and the kernel makes a tile of [2, 128, 8] whose two partitions it "
        "uses as two tiles of 128 (its own remark says that nl.par_dim is missing). No instruction writes 128 "
        "partitions into one.",
    ),
    "Masks joined by an or": Finding(
        r"examples/nki/softmax.py",
        ILLEGAL,
        "By the documentation of Beta 1 (NKI API Masking) a mask is made of comparisons joined by `&`; this kernel "
        "joins two by `|`.",
    ),
}
