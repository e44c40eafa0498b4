"""Loops and the SPMD grid. Ranges unroll: the body runs once per iteration, as Python."""

from trnsim import session


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
