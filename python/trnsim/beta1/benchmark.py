"""nki.benchmark and nki.profile: latencies and traces from the simulated clock."""

import contextlib
import functools
import os
import pathlib

from trnsim import _native, arrays, session
from trnsim.beta1 import kernel as kernels
from trnsim.beta1.annotations import Annotation
from trnsim.lowering.tiles import refuse


class Latency:
    """Latency percentiles of a benchmark, in microseconds.

    The simulated clock gives the same time in every iteration, so all percentiles are equal.
    """

    def __init__(self, microseconds: float):
        self._microseconds = microseconds

    def get_latency_percentile(self, percentile) -> float:
        """The latency in microseconds; the same for each percentile from 0 to 100."""
        if not 0 <= percentile <= 100:
            refuse("benchmark.percentile", f"percentile {percentile} is not within 0 and 100")
        return self._microseconds


class BenchmarkResult:
    """What is known after a benchmark has run: `nc_latency`, the time on the NeuronCore."""

    def __init__(self, microseconds: float):
        self.nc_latency = Latency(microseconds)


class Benchmark:
    """A kernel that times itself when called; the time is in `benchmark_result`."""

    def __init__(self, kernel, artifacts):
        self._kernel = kernel
        self._artifacts = artifacts
        self.benchmark_result = None
        functools.update_wrapper(self, kernel)

    def __getitem__(self, grid):
        return Benchmark(self._kernel[grid], self._artifacts)

    def __call__(self, *args, **kwargs):
        described = []  # arguments that have a shape and a dtype but no values

        def array(value):
            if not isinstance(value, Annotation):
                return value
            described.append(value)
            return value.zeros()

        args, kwargs = arrays.map_nested(array, (args, kwargs))
        with session.clocking_only() if described else contextlib.nullcontext():
            result = self._kernel(*args, **kwargs)
        latency = session.last_profile().latency_us
        self.benchmark_result = BenchmarkResult(latency)
        print(f"{self.__name__}: {latency:.2f} us on the simulated clock (p0 to p100)")
        _write(os.curdir, **self._artifacts)
        return result


def benchmark(kernel=None, *, warmup=10, iters=100, save_neff_name=None, save_trace_name=None, **options):
    """Time a kernel: `nki.benchmark(warmup=..., iters=...)(kernel)(a, b)`.

    It runs once: iterations of the simulated clock do not differ, so warmup and iters change nothing and all
    percentiles of `benchmark_result.nc_latency` are equal. Unlike on the device, inputs are the arrays given
    and outputs are right. Where an argument is nt.tensor[[128, 512], nl.float32], a shape and a dtype without values,
    the kernel is clocked only, and its outputs are zeros.
    """
    artifacts = {"save_neff_name": save_neff_name, "save_trace_name": save_trace_name}
    if kernel is None:
        return lambda function: benchmark(function, warmup=warmup, iters=iters, **artifacts, **options)
    return Benchmark(kernels.baremetal(kernel), artifacts)


class WithArtifacts:
    """A kernel that leaves files about its latest launch in a folder."""

    def __init__(self, kernel, folder, **names):
        self._kernel = kernel
        self._folder = folder
        self._names = names
        functools.update_wrapper(self, kernel)

    def __getitem__(self, grid):
        return WithArtifacts(self._kernel[grid], self._folder, **self._names)

    def __call__(self, *args, **kwargs):
        result = self._kernel(*args, **kwargs)
        if not session.inside_kernel():
            _write(self._folder, **self._names)
        return result


def _write(folder, save_neff_name=None, save_trace_name=None):
    """The trace of the latest launch, and a stand-in for the compiled kernel."""
    folder = pathlib.Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if save_neff_name:
            (folder / save_neff_name).write_text("trnsim compiles no NEFF; the kernel was simulated.\n")
        if save_trace_name:
            session.last_profile().write_trace(str(folder / save_trace_name))
    except OSError as error:
        raise _native.ConfigError(f"cannot write to {folder}: {error.strerror or error}") from None


def profile(
    func=None,
    *,
    working_directory=None,
    save_neff_name="file.neff",
    save_trace_name="profile.ntff",
    overwrite=False,
    profile_nth=1,
    **options,
):
    """Run a kernel and write its timeline, a trace for https://ui.perfetto.dev, as
    working_directory/save_trace_name.

    Raises ConfigError when the folder cannot be written to. profile_nth and compiler options are accepted and
    unused.
    """
    if working_directory is None or not os.path.isabs(working_directory):
        raise _native.ConfigError(
            f"nki.profile: working_directory must be an absolute path, got {working_directory!r}"
        )
    if func is None:
        return lambda function: profile(
            function,
            working_directory=working_directory,
            save_neff_name=save_neff_name,
            save_trace_name=save_trace_name,
            overwrite=overwrite,
            profile_nth=profile_nth,
            **options,
        )
    return WithArtifacts(
        kernels.baremetal(func),
        working_directory,
        save_neff_name=save_neff_name,
        save_trace_name=save_trace_name,
    )
