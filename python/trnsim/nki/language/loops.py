"""Loops and the SPMD grid. Ranges unroll: the body runs once per iteration, as Python."""

import contextlib

from trnsim import session
from trnsim.nki.isa.registers import VirtualRegister


def affine_range(start, stop=None, step=1, **_):
    """range(): iterations that do not depend on each other."""
    return range(start) if stop is None else range(start, stop, step)


def sequential_range(start, stop=None, step=1, **_):
    """range(): iterations that run in order."""
    return range(start) if stop is None else range(start, stop, step)


def static_range(start, stop=None, step=1, **_):
    """range(): unrolled by the compiler."""
    return range(start) if stop is None else range(start, stop, step)


def ds(start, size) -> slice:
    """The slice of `size` elements from `start`."""
    return slice(start, start + size)


def program_id(axis: int = 0) -> int:
    """Index of this instance of the kernel in its SPMD grid."""
    frame = session.current()
    return frame.program_id[axis] if axis < len(frame.program_id) else 0


def num_programs(axes=0):
    """Size of the SPMD grid along an axis, or a tuple of sizes along several."""
    grid = session.current().grid
    size = lambda axis: int(grid[axis]) if axis < len(grid) else 1  # noqa: E731
    return tuple(size(axis) for axis in axes) if isinstance(axes, (tuple, list)) else size(axes)


def program_ndim() -> int:
    """Dimensions of the SPMD grid."""
    return len(session.current().grid)


def dynamic_range(start, stop=None, step=1):
    """range() with bounds that may be registers. The loop of the hardware, unrolled; its own overhead is
    not timed."""
    first, last = (0, start) if stop is None else (start, stop)
    return range(int(first), int(last), step)


def fori_loop(lower, upper, body_fun, step=1) -> None:
    """body_fun(i) for each i from `lower` to before `upper`, bounds that may be registers."""
    for i in range(int(lower), int(upper), step):
        body_fun(VirtualRegister(i))


def while_loop(init, body_fun) -> None:
    """register = body_fun(register) while it is not zero, from `init`."""
    register = init
    while register:
        register = body_fun(register)


@contextlib.contextmanager
def no_reorder():
    """Keep the order of the instructions inside. The simulator keeps program order everywhere, so this
    changes nothing."""
    yield
