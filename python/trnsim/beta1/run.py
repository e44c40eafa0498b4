"""The kernel being run: its launch, the instruction result that waits for a place, and room for tiles.

Python keeps a tile for as long as a name refers to it; the compiler keeps it until its last use. To bridge
the two, tiles in PSUM that do not fit any more push out the ones that were used longest ago. A tile pushed out
costs nothing if it is never used again; if it is, it comes back through a spill to HBM, whose DMA traffic is then
counted. What gives way in SBUF is settled when the program is over (core/spills.h).
"""

import weakref

from trnsim import _native, session
from trnsim.lowering.tiles import refuse


class RoomyLaunch:
    """A launch whose tensors make room for each other; everything else is the native launch's."""

    def __init__(self, launch, run):
        self._launch = launch
        self._run = run

    def __getattr__(self, name):
        return getattr(self._launch, name)

    def is_of(self, launch) -> bool:
        return self._launch is launch

    def tensor(self, space, shape, dtype, name="", address=None, clobber=False, shared=False):
        """As the native launch's; tiles that were used longest ago are parked when PSUM is full."""
        tensor = self._launch.tensor(space, shape, dtype, name, address, clobber, shared)
        if space != "PSUM":
            return tensor
        try:
            tensor.place()
            return tensor
        except _native.ProgramError as error:
            if getattr(error, "rule", "") != "memory.capacity":
                raise
            for storage in self._run.candidates():
                storage.park()
                try:
                    tensor.place()
                    return tensor
                except _native.ProgramError:
                    continue
            raise error from None


class Run:
    """One core's part in a launch of a kernel of this dialect, over all programs that it runs."""

    def __init__(self, launch=None):
        self.launch = launch
        self.pending = None  # the Deferred whose instruction has not been issued yet
        self.program_id = ()
        self.bodies = []  # of the loops that are running, outermost first
        self.wrote = False  # whether an instruction has been given a tile to write
        self.epoch = 0  # calls of the dialect so far: what the current one uses must stay
        self._used = {}  # id: weak reference to a storage, least recently used first

    def begin_program(self, frame):
        """Make this the run of `frame`, the kernel's place in the grid."""
        if self.launch is None or not self.launch.is_of(frame.launch):
            self.__init__(RoomyLaunch(frame.launch, self))
        frame.launch = self.launch
        frame.run = self
        frame.launch.compiled_as_beta1()
        self.program_id = frame.program_id
        self.bodies.clear()

    def flush(self):
        """Begin a call of the dialect: issue the instruction that waits, into a tile of its own."""
        self.epoch += 1
        if self.pending is not None:
            self.pending.settle()
            self.epoch += 1  # what it took need not stay for the call that begins

    def used(self, storage):
        """Note the use of a tile that may be pushed out."""
        storage.epoch = self.epoch
        handle = self._used.pop(id(storage), None)
        if handle is None:
            handle = weakref.ref(storage, lambda _, key=id(storage): self._used.pop(key, None))
        self._used[id(storage)] = handle

    def forget(self, storage):
        """Leave out a tile that has been pushed out already."""
        self._used.pop(id(storage), None)

    def candidates(self):
        """Tiles that could make room in PSUM, the best first: completely written ones, used longest ago."""
        alive = [handle() for handle in self._used.values()]
        here = [s for s in alive if s is not None and s.epoch != self.epoch]
        return [s for s in here if s.complete] + [s for s in here if not s.complete]


def current() -> Run:
    """The run that instructions belong to. Raises ProgramError outside a kernel."""
    frame = session.current()
    try:
        return frame.run
    except AttributeError:
        return refuse(
            "launch.dialect",
            "a function of neuronxcc.nki is called inside a kernel that `import nki` decorated; use "
            "one of the two dialects in a kernel",
        )
