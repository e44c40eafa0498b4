"""What a process simulates: the chip, the options, and the launches so far.

A launch is one call of a kernel. It owns the simulated cores from the first instruction to the profile that is left.
"""

import contextlib
import dataclasses
import functools
import inspect
import os
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trnsim import _native, arrays, dtypes, environment, ranks
from trnsim.baton import Baton
from trnsim.profile import Profile
from trnsim.shared import SharedTensors

_native.set_package_folder(str(Path(__file__).parent) + os.sep)
# A checkout's own catalogue, so that an edit counts at once; otherwise the one that was installed.
_CHECKOUT = Path(__file__).parents[2] / "hardware"
HARDWARE = str(_CHECKOUT if (_CHECKOUT / "cores").is_dir() else Path(_native.__file__).parent / "hardware")


_DEFAULT_CHIP = "trn2"


@dataclass
class Settings:
    """Options of the simulation; `trnsim.install` and `trnsim run` set them. What is None is left to the vendor's
    environment variables, as they are when a kernel starts."""

    named_chip: str | None = None
    nki: str = "auto"
    timing_only: bool = False
    named_seed: int | None = None
    named_stochastic_rounding: bool | None = None
    stop_on_nan: bool = False
    exact_integers: bool = False
    spill: bool = False
    schedule: str = ""  # "program" or "list"; empty: as usual for the dialect

    @property
    def chip(self) -> str:
        """A name of the catalogue, or the path of a file."""
        return self.named_chip or environment.chip() or _DEFAULT_CHIP

    def chip_for(self, target: str | None) -> str:
        """The chip of a kernel that names a platform target; the user and the environment go before it."""
        return self.named_chip or environment.chip() or target or _DEFAULT_CHIP

    @property
    def seed(self) -> int:
        """Of the random numbers and of stochastic rounding."""
        return environment.stochastic_rounding_seed() if self.named_seed is None else self.named_seed

    @property
    def stochastic_rounding(self) -> bool:
        """Whether results narrower than fp32 are rounded at random."""
        named = self.named_stochastic_rounding
        return environment.stochastic_rounding() if named is None else named


settings = Settings()


@contextlib.contextmanager
def clocking_only():
    """Launches inside compute no values, whatever the settings say."""
    global settings
    before = settings
    settings = dataclasses.replace(before, timing_only=True)
    try:
        yield
    finally:
        settings = before


break_at = None  # a debugging.BreakAt that is told of each launch that begins
_profiles: list[Profile] = []


class _Running(threading.local):
    """The kernels that this thread is running, outermost first."""

    def __init__(self):
        self.frames: list["Frame"] = []


_running = _Running()
_latest = None  # the launch that began last, in whatever thread


def latest_launch():
    """The launch that began last; None before the first. For progress only: it may have ended."""
    return _latest


@functools.lru_cache(maxsize=None)
def load_chip(name: str):
    return _native.load_chip(HARDWARE, name)


@dataclass
class Frame:
    """A program being run: its core of the launch and its place in the SPMD grid."""

    launch: object
    grid: tuple[int, ...] = ()
    program_id: tuple[int, ...] = ()
    shared: object = None  # the launch's SharedTensors
    no_reorder_depth: int = 0  # how many nl.no_reorder() are open
    cores: int = 1  # of the launch
    number: int = 0  # of the launch, among those of its rank


def current() -> Frame:
    """The kernel being run. Raises ProgramError outside one."""
    if not _running.frames:
        error = _native.ProgramError("this call works only inside a kernel; decorate the function with @nki.jit and "
                                     "call it")
        error.rule = "launch.outside"
        raise error
    return _running.frames[-1]


def inside_kernel() -> bool:
    return bool(_running.frames)


def profiles() -> list[Profile]:
    """Profiles of all launches in this process, oldest first."""
    return list(_profiles)


def last_profile() -> Profile:
    """Profile of the latest launch. Raises ProgramError when no kernel has run yet."""
    if not _profiles:
        raise _native.ProgramError("no kernel has run yet; call one first, then ask for its profile")
    return _profiles[-1]


def keep(profile: Profile) -> None:
    """Add the profile of a launch that has ended or is about to."""
    _profiles.append(profile)


def forget_profiles(after: int = 0) -> None:
    """Forget the launches but for the first `after`."""
    del _profiles[after:]


def launch_kernel(function, args, kwargs, grid=(), *, wrap, unwrap, cores=1, core_of=lambda program_id: 0,
                  write_back=False, chip=None, schedule=()):
    """Run `function` on fresh simulated cores and return its results as host arrays.

    Each program of the grid runs on the core core_of(program_id), those of one core one after the other.
    wrap(tensor) and unwrap(result) turn native tensors into the dialect's and back; with `write_back`, arrays whose
    tensors the kernel stored into are updated in place.
    `schedule` holds pairs of names: an instruction and one before it. The profile is kept even when the kernel raises.
    """
    if arrays.any_traced((args, kwargs)):
        from trnsim.drivers import jax_call

        return jax_call.traced(lambda a, k: launch_kernel(function, a, k, grid, wrap=wrap, unwrap=unwrap,
                                                          cores=cores, core_of=core_of, write_back=write_back,
                                                          chip=chip, schedule=schedule), args, kwargs)
    environment.require_precise_floats()
    launch = _native.Launch(load_chip(chip or settings.chip), getattr(function, "__name__", "kernel"),
                            cores=cores, values=not settings.timing_only, seed=settings.seed,
                            stochastic_rounding=settings.stochastic_rounding, stop_on_nan=settings.stop_on_nan,
                            exact_integers=settings.exact_integers, spill=settings.spill,
                            schedule=settings.schedule)
    number = ranks.world().add_launch(launch) if ranks.world() else 0
    global _latest
    _latest = launch
    if break_at:
        break_at.begin(launch)
    inputs = []  # (host array, tensor)

    def to_device(value, name):
        if not arrays.is_array(value):
            return value
        tensor = arrays.to_hbm(launch.core(0), value, name, shared=True)
        inputs.append((value, tensor))
        return wrap(tensor)

    bound = inspect.signature(function).bind(*args, **kwargs)
    for name, value in bound.arguments.items():
        bound.arguments[name] = arrays.map_nested(lambda leaf, name=name: to_device(leaf, name), value)

    shared = SharedTensors()

    def run_core(rank):
        """The programs of one core; returns the result of the first."""
        core, results = launch.core(rank), []
        for program_id in _grid_points(grid):
            if core_of(program_id) != rank:
                continue
            _running.frames.append(Frame(core, grid, program_id, shared, cores=cores, number=number))
            core.enter()
            try:
                results.append(function(*bound.args, **bound.kwargs))
            finally:
                _running.frames.pop()
                _resume_outer()
        for consumer, producer in schedule:
            core.depend_by_name(consumer, producer)
        core.end()
        return next((result for result in results if result is not None), None)

    profile = Profile(launch, grid)
    try:
        if cores == 1:
            results = run_core(0)
        else:
            baton = Baton(cores)
            launch.set_wait(baton.wait)
            results = baton.run([functools.partial(run_core, rank) for rank in range(cores)])[0]
        return _to_host(results, inputs, unwrap, write_back)
    finally:
        for file, line, text in launch.remarks:
            warnings.warn_explicit(text, UserWarning, file or "?", line)
        keep(profile)
        launch.set_wait(None)
        launch.close()


def _grid_points(grid):
    points = [()]
    for size in grid:
        points = [point + (i,) for point in points for i in range(int(size))]
    return points


def _resume_outer():
    if _running.frames:
        _running.frames[-1].launch.enter()
    else:
        _native.Launch.leave()


def _to_host(results, inputs, unwrap, write_back):
    example = inputs[0][0] if inputs else None

    def fetch(value):
        tensor = unwrap(value)
        if tensor is None:
            return value
        if tensor.space != "HBM":
            error = _native.ProgramError(f"a kernel returns HBM tensors; '{tensor.name}' is in {tensor.space}. "
                                         "Store it into an nl.ndarray(..., buffer=nl.shared_hbm) and return that.")
            error.rule = "launch.result"
            raise error
        if settings.timing_only:
            return arrays.like(np.zeros(tensor.shape, dtypes.host_dtype(tensor.dtype)), example)
        arrays.whole(tensor).require_written()
        return arrays.like(arrays.from_tensor(tensor), example)

    if write_back and not settings.timing_only:
        for array, tensor in inputs:
            if tensor.modified:
                arrays.update(array, arrays.from_tensor(tensor), tensor.name)
    return arrays.map_nested(fetch, results)


def run_ranks(job, ranks_: int, on: str = ranks.DEFAULT) -> list:
    """Run job() once for each of `ranks_` ranks on a topology, such as "trn2.48xlarge"; their results in order.

    Inside, trnsim.rank() tells them apart and nki.collectives exchange data. Raises the first error of any rank.
    """
    world = ranks.World(HARDWARE, on, ranks_)
    before, settings.named_chip = settings.named_chip, world.topology.accelerator
    try:
        return world.run(job)
    finally:
        settings.named_chip = before
