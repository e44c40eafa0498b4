"""nki.jit and what a decorated kernel is."""

import functools

from trnsim import _native, session


class Kernel:
    """A function that runs as a kernel when called; `kernel[grid]` sets its SPMD grid."""

    def __init__(self, function, grid=()):
        self.function = function
        self.grid = grid
        functools.update_wrapper(self, function)

    def __getitem__(self, grid):
        return Kernel(self.function, grid if isinstance(grid, tuple) else (grid,))

    def __call__(self, *args, **kwargs):
        if session.inside_kernel():
            return self.function(*args, **kwargs)  # a kernel called by a kernel is a plain function of it
        return session.launch_kernel(self.function, args, kwargs, self.grid, wrap=lambda tensor: tensor, unwrap=_tensor)


def _tensor(value):
    return value if isinstance(value, _native.Tensor) else None


def jit(function=None, **options):
    """Decorate a kernel. `mode`, `platform_target` and other options of the vendor's compiler are accepted and unused."""
    if function is None:
        return lambda f: jit(f, **options)
    return function if isinstance(function, Kernel) else Kernel(function)


def simulate(kernel, *args, **kwargs):
    """nki.simulate(kernel)(*args), and the older nki.simulate(kernel, *args)."""
    kernel = jit(kernel)
    return kernel(*args, **kwargs) if args or kwargs else kernel
