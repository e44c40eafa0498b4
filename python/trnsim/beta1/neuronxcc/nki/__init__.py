"""`neuronxcc.nki` (Beta 1): kernels whose instructions return tiles."""

from trnsim.beta1.benchmark import benchmark, profile
from trnsim.beta1.kernel import baremetal, jit, simulate_kernel, trace
from trnsim.beta1.neuronxcc.nki import compiler, isa, language, typing

__version__ = "0.1.0"
__all__ = [
    "baremetal",
    "benchmark",
    "compiler",
    "isa",
    "jit",
    "language",
    "profile",
    "simulate_kernel",
    "trace",
    "typing",
]
