"""nki.jit and its relatives of Beta 1: how a function becomes a kernel, and what running it returns."""

import collections
import functools
import inspect
import os

import numpy as np

from trnsim import arrays, dtypes, environment, session
from trnsim.beta1 import ended_loops
from trnsim.beta1 import grid as grids
from trnsim.beta1 import run as runs
from trnsim.beta1.storage import Storage
from trnsim.beta1.tensors import Blocks
from trnsim.beta1.tile import Tile
from trnsim.lowering.tiles import refuse
from trnsim.refusal import refused_class

_MODES = ("auto", "jax", "torchxla", "baremetal", "benchmark", "simulation", "trace")


FrameworkKernel = refused_class(
    "nki.FrameworkKernel", "it makes HLO for a framework's compiler: call the kernel with arrays"
)


class Kernel:
    """A function that runs as a kernel when called; `kernel[grid]` sets its SPMD grid.

    writes_arguments: old-style kernels, whose outputs are parameters: arrays are updated in place.
    keeps_tiles: tiles that the kernel returns from SBUF or PSUM come back as arrays, as from the vendor's
    simulator. target: the chip that the decorator names, for users who name none.
    """

    def __init__(self, function, grid=(), writes_arguments=False, keeps_tiles=False, target=None):
        self.function = function
        self.grid = grid
        self.writes_arguments = writes_arguments
        self.keeps_tiles = keeps_tiles
        self.target = target
        functools.update_wrapper(self, function)

    def with_options(self, **changes) -> "Kernel":
        """This kernel with other options of the constructor."""
        options = {
            "grid": self.grid,
            "writes_arguments": self.writes_arguments,
            "keeps_tiles": self.keeps_tiles,
            "target": self.target,
            **changes,
        }
        return type(self)(self.function, **options)

    def __getitem__(self, grid):
        grid = grid if isinstance(grid, tuple) else (grid,)
        grids.sizes(grid)
        return self.with_options(grid=grid)

    def __call__(self, *args, **kwargs):
        if session.inside_kernel():
            if self.grid:
                refuse(
                    "grid.nested",
                    f"kernel '{self.__name__}' is called with a grid inside another kernel; only the"
                    " outermost kernel has one",
                )
            return self.function(*args, **kwargs)  # a kernel called by a kernel is a plain function of it
        return self._launch(args, kwargs)

    def _launch(self, args, kwargs):
        ended_loops.warn(self.function)
        return session.launch_kernel(
            _program(self.function, self.keeps_tiles),
            args,
            kwargs,
            grids.sizes(self.grid),
            **grids.placement(self.__name__, self.grid, session.load_chip(session.settings.chip_for(self.target))),
            wrap=functools.partial(_wrap, read_only=not self.writes_arguments),
            unwrap=_native_tensor,
            write_back=self.writes_arguments,
            chip=session.settings.chip_for(self.target),
        )


def _wrap(tensor, read_only):
    return Tile.of(Storage(tensor, read_only=read_only))


def _native_tensor(value):
    return value.tensor if isinstance(value, Tile) else None


def _program(function, keeps_tiles):
    """`function` as session.launch_kernel calls it, once per program of the grid."""
    mutable = _mutable_parameters(function)
    on_core = collections.defaultdict(runs.Run)

    @functools.wraps(function)
    def program(*args, **kwargs):
        run = on_core[session.current().launch.rank]
        run.begin_program(session.current())
        try:
            if mutable:
                bound = inspect.signature(function).bind(*args, **kwargs)
                for name in mutable & bound.arguments.keys():
                    arrays.map_nested(_allow_writing, bound.arguments[name])
            returned = function(*args, **kwargs)
            run.flush()
            return arrays.map_nested(lambda value: _returned(value, keeps_tiles), returned)
        finally:
            run.pending = None

    return program


def _mutable_parameters(function):
    annotations = getattr(function, "__annotations__", {})
    return {
        name
        for name, annotation in annotations.items()
        if "mutable_tensor" in (annotation if isinstance(annotation, str) else repr(annotation))
    }


def _allow_writing(value):
    if isinstance(value, Tile):
        value.storage.read_only = False


def _returned(value, keeps_tiles):
    if isinstance(value, Blocks):
        refuse(
            "launch.result",
            f"'{value.name}' is a list of tiles on the chip; store them into an HBM tensor and return that",
        )
    if not isinstance(value, Tile) or value.space == "HBM":
        return value
    if not keeps_tiles:
        refuse(
            "launch.result",
            f"a kernel returns HBM tensors; '{value.name}' is in {value.space}. Store it into an"
            " nl.ndarray(..., buffer=nl.shared_hbm) and return that.",
        )
    if session.settings.timing_only:
        return np.zeros(value.shape, dtypes.host_dtype(value.dtype))
    tensor = value.tensor
    tensor.require_written()
    return arrays.from_tensor(tensor)


def _kernel(function, **options) -> Kernel:
    """`function`, a plain function or a kernel of either kind, as a kernel with these options."""
    if isinstance(function, Kernel):
        return function.with_options(**options)
    if not callable(function):
        refuse("launch.kernel", f"a kernel is a function, got {type(function).__name__} {function!r}")
    return Kernel(function, **options)


def jit(func=None, mode="auto", **options):
    """Decorate a kernel: inputs are immutable, results are returned.

    mode: "simulation" also returns on-chip tiles; the others differ only on the vendor's machines.
    platform_target ("trn1", "trn2", ...) is the chip unless the user names one; compiler options change nothing.
    """
    if mode not in _MODES:
        refuse("launch.mode", f"nki.jit: mode '{mode}' is not one of {', '.join(_MODES)}")
    if func is None:
        return lambda function: jit(function, mode, **options)
    if mode == "benchmark":
        from trnsim.beta1.benchmark import benchmark

        return benchmark(**options)(func)
    target = options.get("platform_target")
    target = target and environment.chip_of_target(target, "nki.jit(platform_target=)")
    return _kernel(func, keeps_tiles=mode == "simulation", target=target)


def trace(func=None, **options):
    """Decorate a kernel of the old style, whose outputs are parameters that it stores into."""
    if func is None:
        return lambda function: trace(function, **options)
    return _kernel(func, writes_arguments=True)


def baremetal(kernel=None, **options):
    """Run a kernel on numpy arrays: nki.baremetal(kernel)(a, b), or as a decorator with compiler options.

    save_neff_name, save_trace_name: an artifact is written under each name: a line of text for the former,
    which has no counterpart here, and a Perfetto trace for the latter.
    """
    if kernel is None:
        return lambda function: baremetal(function, **options)
    plain = _kernel(kernel, writes_arguments=True)
    wanted = {name: options[name] for name in ("save_neff_name", "save_trace_name") if options.get(name)}
    if not wanted:
        return plain
    from trnsim.beta1.benchmark import WithArtifacts

    return WithArtifacts(plain, options.get("artifacts_dir") or os.curdir, **wanted)


def simulate_kernel(kernel, *args, **kwargs):
    """Run `kernel` on numpy arrays and return its results; arrays that it stores into are updated in
    place."""
    return _kernel(kernel, writes_arguments=True, keeps_tiles=True)(*args, **kwargs)
