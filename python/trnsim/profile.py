"""The profile of one kernel launch: how long it takes on the chosen chip, and why."""

import functools
import html
import json
import linecache

from trnsim import _native, ranks


def source_text(file: str) -> str | None:
    """The text of a source file, a notebook's cell included; None where it cannot be had."""
    return "".join(linecache.getlines(file)) or None


class Profile:
    """Times are of the simulated chip. Computed when first asked for."""

    def __init__(self, launch, grid=()):
        self._recorded = launch
        self._world = ranks.world()
        self.grid = grid

    @property
    def _launch(self):
        """The launch; among several ranks, as they have been clocked together so far."""
        if self._world:
            self._world.clock()
        return self._recorded

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
        return self._summaries[0]["launch_terms_ns"]

    @functools.cached_property
    def _summaries(self) -> list[dict]:
        """One for each core, without the instructions."""
        return json.loads(_native.to_json([self._launch], False))["runs"]

    @functools.cached_property
    def _slowest(self) -> dict:
        return max(self._summaries, key=lambda run: run["latency_ns"])

    @property
    def verdict(self) -> str:
        """One sentence: what binds the launch, by how much, and what to do first."""
        return self._slowest["verdict"]

    @property
    def advice(self) -> list[dict]:
        """What to change, best first: advice, obstacle, expected_latency_ns, expected_speedup.

        Found by clocking the launch again without the obstacle. Empty for launches of more than 20,000 instructions:
        what_if() asks there too.
        """
        return self._slowest["advice"]

    @property
    def interval_us(self) -> tuple[float, float]:
        """Nine of ten measured latencies should lie between these, microseconds; `interval_basis` says why so wide."""
        interval = self._slowest["interval_90"]
        return interval["low_ns"] * 1e-3, interval["high_ns"] * 1e-3

    @property
    def interval_basis(self) -> str:
        """"interpolated: ..." within what was measured, "extrapolated: ..." and in what way beyond it."""
        return self._slowest["interval_90"]["basis"]

    @property
    def time_lost_ns(self) -> dict[str, float]:
        """Where the time went, ns by cause, largest first; adds up to the latency and, under "launch", the launch."""
        slowest = self._slowest
        return {loss["cause"]: loss["ns"] for loss in slowest["time_lost"]} | {"launch": slowest["launch_ns"]}

    def what_if(self, *asked: str) -> dict:
        """What the launch would gain without each obstacle, and on other chips: its programs clocked again.

        asked: names of obstacles (`trnsim whatif --help` lists them) and chips; without any, all of them. The result
        has `gains` (largest first: obstacle, without, advice, latency_ns, speedup) and `other_chips` (chip, and
        latency_ns and speedup, or why it was refused). Gains overlap and do not add up. Raises ConfigError for a name
        that is neither.
        """
        from trnsim import session

        return json.loads(_native.what_if([self._launch], session.HARDWARE, list(asked), json=True))[0]

    @property
    def instructions(self) -> list[dict]:
        """Every instruction with its core, engine, times in ns, wait reason, operands and source line; core after
        core."""
        return [{"core": run["core"], **entry} for run in self._json["runs"] for entry in run["instructions"]]

    @property
    def critical_path(self) -> list[dict]:
        """What decided when the launch ended, in the order of time.

        Steps with cause (as in `time_lost_ns`), from_ns, to_ns, and the instruction (and core) whose time it is.
        """
        return max(self._json["runs"], key=lambda run: run["latency_ns"])["critical_path"]

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

    def write_report(self, path) -> None:
        """Write the report as a page: one HTML file that any browser shows, also offline.

        It holds the kernel's source lines. Raises ConfigError when `path` cannot be written.
        """
        _native.write_page([self._launch], str(path), source_text)

    def show(self, height: int = 900):
        """The report as a page inside a Jupyter notebook, `height` pixels high: let a cell end in it."""
        return _Shown(_native.page([self._launch], source_text), height)

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


class _Shown:
    """A page for the display of a notebook; in a frame, so that neither touches the other's names and styles."""

    def __init__(self, page, height):
        self._page, self._height = page, height

    def _repr_html_(self):
        return (f'<iframe title="trnsim report" style="width: 100%; height: {int(self._height)}px; border: 0" '
                f'srcdoc="{html.escape(self._page)}"></iframe>')
