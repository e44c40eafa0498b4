"""Debuggers inside kernels: pdb that shows the user's frames only, and its stop at an instruction."""

import pdb
import runpy
import sys
from pathlib import Path

from trnsim import _native

_PACKAGE = str(Path(__file__).parent) + "/"
_RUNNERS = (runpy.__file__, "<frozen runpy>")


def is_users(filename: str) -> bool:
    """Whether code of this file is the user's: neither the simulator's own nor the interpreter's runner."""
    return not filename.startswith(_PACKAGE) and filename not in _RUNNERS


class KernelDebugger(pdb.Pdb):
    """pdb whose `up`, `down` and `where` pass over the simulator's frames, and that does not step into them."""

    def __init__(self):
        super().__init__(skip=["trnsim", "trnsim.*", "nki", "nki.*", "neuronxcc", "neuronxcc.*"])
        self.prompt = "(trnsim pdb) "

    def get_stack(self, f, t):
        """The user's frames, oldest first, and the index of the current one."""
        stack, index = super().get_stack(f, t)
        kept = [(entry, at) for at, entry in enumerate(stack) if is_users(entry[0].f_code.co_filename)]
        if not kept:
            return stack, index
        return [entry for entry, _ in kept], max(0, sum(at <= index for _, at in kept) - 1)

    def stop_in(self, frame) -> None:
        """Prompt at the line of `frame` that is being executed, not only at the next one."""
        self.reset()
        self.interaction(frame, None)
        if self.quitting:
            raise SystemExit(0)
        if self.stoplineno == -1 and not self.breaks:
            return  # `continue`: run on at full speed
        bottom = frame
        while bottom:
            bottom.f_trace = self.trace_dispatch
            self.botframe = bottom
            bottom = bottom.f_back
        sys.settrace(self.trace_dispatch)


def users_frame():
    """The innermost frame of the user's code."""
    frame = sys._getframe(1)
    while frame.f_back and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def stop_here() -> None:
    """Open the debugger at the user's line."""
    KernelDebugger().stop_in(users_frame())


def breakpoint_hook(*_, **__) -> None:
    """What `breakpoint()` does under `trnsim run`."""
    stop_here()


def parse_break(text: str) -> tuple[str | None, int]:
    """(kernel or None, instruction) of "120" or "softmax:120". Raises ConfigError for anything else."""
    kernel, _, index = text.rpartition(":")
    if not index.isdecimal():
        raise _native.ConfigError(f"--break-at takes an instruction's number, or KERNEL:number, not '{text}'")
    return kernel or None, int(index)


class BreakAt:
    """Opens the debugger just before one instruction of core 0 of the first launch (of a kernel, if that is named)."""

    def __init__(self, text: str):
        self.kernel, self.index = parse_break(text)
        self.set = self.reached = False

    def begin(self, launch) -> None:
        """Tell a launch that begins where to stop, if it is the one."""
        if not self.set and self.kernel in (None, launch.kernel):
            self.set = True
            launch.core(0).break_at(self.index, self._stop)

    def _stop(self):
        self.reached = True
        print(f"trnsim: before instruction {self.index}", file=sys.stderr)
        stop_here()
