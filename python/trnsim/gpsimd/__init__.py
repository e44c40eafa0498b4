"""Custom operators in C++ on the GpSimd Engine, as AWS's Neuron custom C++ operators are written.

load() compiles them for this machine; each call runs the kernel function in a process for each processor that takes
part, and is a launch with its time like any kernel. Arrays are numpy's or PyTorch's; PyTorch is not needed.
"""

from trnsim.gpsimd.build import CompileError  # noqa: F401
from trnsim.gpsimd.library import Library, Operator, load, load_library  # noqa: F401
