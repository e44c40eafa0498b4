"""The SPMD grid: kernel[gx, gy](...), and which physical core each of its programs runs on.

Without nl.nc the programs run one after the other on one core.
"""

from trnsim import logical_core, session
from trnsim.lowering.tiles import refuse


class nc:  # noqa: N801
    """nl.nc(k): a grid dimension laid over the k physical cores of a logical one."""

    def __init__(self, cores: int):
        self.cores = cores

    def __mul__(self, other):
        return spmd_dim(self, other)

    def __rmul__(self, other):
        return spmd_dim(other, self)

    def __index__(self):
        return self.cores

    def core_of(self, index: int) -> int:
        """The core that the programs with this index along the dimension run on."""
        return index


class spmd_dim:  # noqa: N801
    """nl.spmd_dim(nl.nc(2), n), nl.spmd_dim(n, nl.nc(2)): a grid dimension of 2 n programs, split over two
    cores."""

    def __init__(self, outer, inner):
        if isinstance(outer, nc) == isinstance(inner, nc):
            refuse("grid.spmd_dim", "nl.spmd_dim takes one nl.nc(...) and one integer")
        self.outer = outer
        self.inner = inner
        self.cores = (outer if isinstance(outer, nc) else inner).cores

    def __index__(self):
        return self.outer.__index__() * self.inner.__index__()

    def core_of(self, index: int) -> int:
        """The core that the programs with this index along the dimension run on: neighbours share one where the
        cores are outside, and lie on different ones where they are inside."""
        inner = self.inner.__index__()
        return index // inner if isinstance(self.outer, nc) else index % inner


def sizes(grid) -> tuple[int, ...]:
    """A grid as given in kernel[...], in integers."""
    grid = grid if isinstance(grid, tuple) else (grid,)
    try:
        result = tuple(entry.__index__() for entry in grid)
    except AttributeError:
        refuse("grid.size", f"the grid {grid} must be made of integers, nl.nc and nl.spmd_dim")
    if any(size < 1 for size in result):
        refuse("grid.size", f"the grid {result} has a dimension below 1")
    return result


def placement(kernel: str, grid, chip) -> dict:
    """Number of cores and the core of each program, as session.launch_kernel takes them."""
    dimensions = [(axis, entry) for axis, entry in enumerate(grid) if isinstance(entry, nc | spmd_dim)]
    if len(dimensions) > 1:
        refuse("grid.cores", f"the grid has {len(dimensions)} dimensions with nl.nc; one can be laid over the cores")
    if not dimensions:
        return {}
    axis, dimension = dimensions[0]
    cores = logical_core.cores_of_launch(kernel, dimension.cores, chip)
    if cores == 1:
        return {}
    return {"cores": cores, "core_of": lambda program_id: dimension.core_of(program_id[axis])}


def program_id(axis: int = 0) -> int:
    """This program's index along an axis of the grid; 0 without a grid."""
    frame = session.current()
    return frame.program_id[axis] if axis < len(frame.program_id) else 0


def num_programs(axes=None):
    """Size of the grid: along one axis, along several as a tuple, or of all axes."""
    grid = session.current().grid
    if axes is None:
        axes = tuple(range(len(grid)))

    def size(axis):
        return int(grid[axis]) if axis < len(grid) else 1

    return tuple(size(axis) for axis in axes) if isinstance(axes, (tuple, list)) else size(axes)


def program_ndim() -> int:
    """Number of axes of the grid."""
    return len(session.current().grid)
