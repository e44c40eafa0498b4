"""`torch_neuronx.experimental.profiler`: the kernels launched inside `profile` as a Perfetto trace."""

from pathlib import Path

from trnsim import _native, session
from trnsim.drivers import NO_COUNTERPART, refuse_others


class profile:  # noqa: N801
    """Write the launches of the block to <output_dir>/trnsim.pftrace. Ports, targets and durations are unused."""

    def __init__(self, *args, output_dir="output", **options):
        self._folder = Path(output_dir)

    def __enter__(self):
        self._before = len(session.profiles())
        return self

    def __exit__(self, *error):
        launches = [launch.native for launch in session.profiles()[self._before :]]
        if launches:
            self._folder.mkdir(parents=True, exist_ok=True)
            _native.write_trace(launches, str(self._folder / "trnsim.pftrace"))
        return False


__getattr__ = refuse_others("torch_neuronx.experimental.profiler", NO_COUNTERPART)
