"""Several ranks in one process: `trnsim run --ranks N --on TOPOLOGY script.py` runs the script once for each of them.

Each rank is a thread with launches, cores and HBM of its own. One runs at a time: the baton goes on where a rank waits
in a collective, to the lowest rank that can go on, so that runs repeat exactly. Modules that the script imports are
loaded once for all ranks.
"""

import contextvars
import functools
from dataclasses import dataclass, field

from trnsim import _native
from trnsim.baton import Baton

DEFAULT = "trn2.48xlarge"

_own = contextvars.ContextVar("rank", default=0)
_world = None


def rank() -> int:
    """The rank that this code runs for; 0 where there is only one."""
    return _own.get()


def count() -> int:
    """How many ranks there are."""
    return _world.size if _world else 1


def world():
    """The World that runs, or None where a process simulates a single rank."""
    return _world


@dataclass
class Arrival:
    """A rank that has come to a collective."""

    function: str
    group: tuple[int, ...]
    form: dict  # what all ranks of the group must agree on, by name
    asked: object  # _native.Collective
    place: str  # the user's line
    spot: tuple[int, int, int] | None  # launch of the rank, core, instruction; None where nothing moves
    pairs: list = field(default_factory=list)  # (source, destination) tensors, either may be None
    values: list = field(default_factory=list)  # of the sources, as they were when the rank came
    extra: dict = field(default_factory=dict)  # what else the collective needs to know of the rank
    results: list = field(default_factory=list)  # (tensor, values) for the rank to write
    done: bool = False


class World:
    """The ranks of a run, the topology that joins them, and where each of them waits.

    on: a name of the catalogue ("trn2.48xlarge", "trn2.48xlarge:4", "trn2-ultraserver") or a .toml file.
    """

    def __init__(self, hardware: str, on: str, size: int | None = None):
        self.topology = _native.find_topology(hardware, on)
        self.size = self.topology.ranks if size is None else size
        if not 1 <= self.size <= self.topology.ranks:
            raise _native.ConfigError(f"{on} has 1 to {self.topology.ranks} ranks, not {size}")
        self._baton = Baton(size)
        self._waiting: dict[int, Arrival] = {}
        self._completed = 0
        self._launches = [[] for _ in range(size)]
        self._steps = []
        self._clocked = None

    def run(self, job) -> list:
        """The results of job() for each rank. Raises the first error of any."""
        global _world
        _world = self
        try:
            return self._baton.run([functools.partial(self._run_as, rank, job) for rank in range(self.size)])
        finally:
            _world = None

    @staticmethod
    def _run_as(own, job):
        token = _own.set(own)
        try:
            return job()
        finally:
            _own.reset(token)

    def add_launch(self, launch) -> int:
        """Note a launch of the running rank; returns its number within the rank."""
        mine = self._launches[rank()]
        launch.first_core = rank() * launch.cores
        mine.append(launch)
        return len(mine) - 1

    def meet(self, arrival: Arrival, move) -> None:
        """Wait until all ranks of the group have come. The last one fills in everyone's results: move(arrivals in the
        order of the group). Raises ProgramError where they come to different collectives or will never all come."""
        own = rank()
        self._waiting[own] = arrival
        for other in arrival.group:
            if other in self._waiting and own in self._waiting[other].group:
                self._require_match(own, other)
        if all(other in self._waiting and self._waiting[other].group == arrival.group for other in arrival.group):
            arrivals = [self._waiting.pop(other) for other in arrival.group]
            move(arrivals)
            if arrival.spot:
                self._steps.append((arrival.asked, arrival.group, [a.spot for a in arrivals]))
            for one in arrivals:
                one.done = True
            self._completed += 1
            self._baton.wait(own, True)
            return
        while not arrival.done:
            before = self._completed
            self._baton.wait(own, False)
            if not arrival.done and self._completed == before:
                self._deadlock()

    def _require_match(self, own, other):
        first, second = sorted((own, other))
        a, b = self._waiting[first], self._waiting[second]
        differences = [
            f"{name} is {a.form.get(name)} and {b.form.get(name)}"
            for name in dict.fromkeys([*a.form, *b.form])
            if a.form.get(name) != b.form.get(name)
        ]
        if a.function != b.function:
            differences = ["they call different ones"]
        elif a.group != b.group:
            differences = [f"replica groups are {list(a.group)} and {list(b.group)}"]
        if differences:
            _fail("collectives.mismatch",
                  f"ranks {first} and {second} come to collectives that do not fit: {differences[0]}. "
                  f"{self._place_of(first)}; {self._place_of(second)}")

    def _place_of(self, one):
        arrival = self._waiting.get(one)
        if arrival is None:
            return f"rank {one} has ended"
        return f"rank {one} waits in {arrival.function} of ranks {list(arrival.group)} at {arrival.place}"

    def _deadlock(self):
        places = "; ".join(self._place_of(one) for one in range(self.size))
        _fail("collectives.deadlock",
              f"no rank can go on, after {self._completed} collectives: {places}. All ranks of a group must come to "
              "the same collectives in the same order")

    def clock(self) -> list:
        """All launches, each rank's first, then each rank's second, ..., clocked together."""
        recorded = (len(self._steps), sum(launch.instruction_count for mine in self._launches for launch in mine))
        longest = max(map(len, self._launches))
        order = [(n, own) for n in range(longest) for own in range(self.size) if n < len(self._launches[own])]
        number = {(own, n): i for i, (n, own) in enumerate(order)}
        launches = [self._launches[own][n] for n, own in order]
        if recorded != self._clocked:
            steps = [
                (asked, [(number[own, launch], core, i) for own, (launch, core, i) in zip(group, spots)])
                for asked, group, spots in self._steps
            ]
            self.topology.clock(launches, steps)
            self._clocked = recorded
        return launches


def _fail(rule, text):
    error = _native.ProgramError(text)
    error.rule = rule
    raise error
