"""The profile of one kernel launch: how long it takes on the chosen chip, and why."""

import functools
import html
import json

from trnsim import _native


class Profile:
    """Times are of the simulated chip. Computed when first asked for."""

    def __init__(self, launch, grid=()):
        self._launch = launch
        self.grid = grid

    @property
    def kernel(self) -> str:
        return self._launch.kernel

    @property
    def chip(self) -> str:
        return self._launch.chip

    @property
    def cores(self) -> int:
        """Physical cores that ran the launch side by side."""
        return self._launch.cores

    @property
    def native(self):
        """The launch, for the functions of trnsim._native that take one."""
        return self._launch

    @functools.cached_property
    def _json(self) -> dict:
        return json.loads(self.to_json())

    @property
    def latency_us(self) -> float:
        """Device time from the first instruction to the last result, microseconds; launch overhead not included."""
        return _native.latency_us(self._launch)

    @property
    def busy_us(self) -> dict[str, float]:
        """Busy time of each engine and DMA queue, microseconds; summed over the cores of the launch."""
        return _native.busy_us(self._launch)

    @property
    def launch_terms_ns(self) -> dict[str, float]:
        """Fixed time of a launch, ns, by the way of timing that counts it: benchmark, profiler, show_session, ..."""
        return json.loads(_native.to_json([self._launch], False))["runs"][0]["launch_terms_ns"]

    @property
    def instructions(self) -> list[dict]:
        """Every instruction with its core, engine, times in ns, wait reason, operands and source line; core after
        core."""
        return [{"core": run["core"], **entry} for run in self._json["runs"] for entry in run["instructions"]]

    def to_json(self) -> str:
        """Everything, as JSON text."""
        return _native.to_json([self._launch])

    def summary(self) -> str:
        """The text that `trnsim run` prints."""
        return _native.summary([self._launch])

    def program_text(self, as_json: bool = False) -> str:
        """Every instruction in program order: operands, places, arguments and source line, as text or JSON text."""
        return _native.program_text([self._launch], as_json)

    def write_trace(self, path) -> None:
        """Write a Perfetto trace (open it at ui.perfetto.dev). Raises ConfigError when `path` cannot be written."""
        _native.write_trace([self._launch], str(path))

    def save(self, path) -> None:
        """Write the recorded program: `trnsim replay PATH --chip trn3` clocks it again, on any chip where it is legal.

        Raises ConfigError when `path` cannot be written.
        """
        _native.save_programs([self._launch], str(path))

    def __repr__(self):
        return f"<Profile of {self.kernel} on {self.chip}: {self.latency_us:.2f} us>"

    def _repr_html_(self):
        """What a notebook shows: the summary."""
        return f"<pre>{html.escape(self.summary())}</pre>"
