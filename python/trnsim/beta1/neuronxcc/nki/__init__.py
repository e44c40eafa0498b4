"""`neuronxcc.nki` (Beta 1): kernels whose instructions return tiles."""

from trnsim.beta1.benchmark import benchmark, profile
from trnsim.beta1.kernel import FrameworkKernel, baremetal, jit, simulate_kernel, trace
from trnsim.beta1.neuronxcc.nki import compiler, isa, language, typing
from trnsim.beta1.neuronxcc.nki.typing import mutable_tensor, tensor

__version__ = "0.1.0"
__all__ = [
    "FrameworkKernel",
    "baremetal",
    "benchmark",
    "compiler",
    "isa",
    "jit",
    "language",
    "mutable_tensor",
    "profile",
    "simulate_kernel",
    "tensor",
    "trace",
    "typing",
]
