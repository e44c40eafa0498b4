"""`nki`, releases 0.2 to 0.7: kernels whose instructions take `dst=`."""

from trnsim.nki import isa, language
from trnsim.nki.kernel import Kernel, jit, simulate

__version__ = "0.7.0"
__all__ = ["Kernel", "isa", "jit", "language", "simulate"]
