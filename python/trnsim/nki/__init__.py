"""`nki`, releases 0.2 to 0.7: kernels whose instructions take `dst=`."""

from trnsim.nki import collectives, compiler, dtype, isa, language, typing
from trnsim.nki.kernel import Kernel, baremetal, benchmark, jit, profile, simulate

__version__ = "0.7.0"
__all__ = [
    "Kernel",
    "baremetal",
    "benchmark",
    "collectives",
    "compiler",
    "dtype",
    "isa",
    "jit",
    "language",
    "profile",
    "simulate",
    "typing",
]
