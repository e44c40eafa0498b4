"""Loops and the SPMD grid. The body of every loop runs once per iteration, as Python; those of the hardware
have rules of their own."""

import contextlib
import numbers
import typing

from trnsim import environment, releases, session
from trnsim.lowering.tiles import refuse
from trnsim.nki.isa.registers import LoopRegister, VirtualRegister
from trnsim.nki.isa.scalars import NkiScalar


def affine_range(start, stop=None, step=1, **_):
    """range(): iterations that do not depend on each other."""
    return range(start) if stop is None else range(start, stop, step)


def sequential_range(start, stop=None, step=1, **_):
    """range(): iterations that run in order."""
    return range(start) if stop is None else range(start, stop, step)


def static_range(start, stop=None, step=1, **_):
    """range(): unrolled by the compiler."""
    return range(start) if stop is None else range(start, stop, step)


class DynamicSlice(typing.NamedTuple):
    """Of a subscript: `size` elements from `start`, which may be a register. Never clipped."""

    start: typing.Any
    size: int


def ds(start, size) -> DynamicSlice:
    """The slice of `size` elements from `start`, an integer or a register. Unlike start:stop it must lie
    within the tensor."""
    if not isinstance(size, numbers.Integral) or size < 1:
        refuse("tensor.index", f"nl.ds: size must be a positive integer, got {size!r}")
    return DynamicSlice(start, int(size))


def program_id(axis: int = 0) -> int:
    """Index of this instance of the kernel in its SPMD grid."""
    frame = session.current()
    return frame.program_id[axis] if axis < len(frame.program_id) else 0


def num_programs(axes=0):
    """Size of the SPMD grid along an axis, or a tuple of sizes along several."""
    grid = session.current().grid
    size = lambda axis: int(grid[axis]) if axis < len(grid) else 1  # noqa: E731
    return tuple(size(axis) for axis in axes) if isinstance(axes, (tuple, list)) else size(axes)


def program_ndim() -> int:
    """Dimensions of the SPMD grid."""
    return len(session.current().grid)


def dynamic_range(start, stop=None, step=1):
    """range() whose bounds may be registers: a loop of the hardware, which counts in a register that only it
    writes. Its own overhead is not timed. Raises ProgramError inside nl.no_reorder() and for a step that is
    no positive integer."""
    if not releases.applies("dynamic_range loops") and not environment.older_frontend():
        releases.refuse("loop.dynamic_range", "dynamic_range", "dynamic_range loops")
    first, last = (0, start) if stop is None else (start, stop)
    return _counted(LoopRegister, _hardware_loop("dynamic_range", first, last, step))


def fori_loop(lower, upper, body_fun, step=1) -> None:
    """body_fun(i) for each i from `lower` to before `upper`; as dynamic_range, with a function as body."""
    rounds = _hardware_loop("fori_loop", lower, upper, step)
    _callable("fori_loop", body_fun)
    kind = NkiScalar if isinstance(lower, NkiScalar) or isinstance(upper, NkiScalar) else LoopRegister
    for i in _counted(kind, rounds):
        body_fun(i)


def while_loop(init, body_fun) -> None:
    """register = body_fun(register) while it is not zero, from `init`. The body gets a copy; what it returns
    decides. Raises ProgramError inside nl.no_reorder() and where a condition is no register."""
    _not_in_no_reorder("while_loop")
    _callable("while_loop", body_fun)
    condition = _condition("init", init)
    with _loop():
        while condition.value != 0:
            condition = _condition("what the body returns", body_fun(VirtualRegister(condition.value)))


@contextlib.contextmanager
def _loop():
    """Around the rounds of a loop of the hardware: nobody outside it can wait for an instruction in it."""
    core = session.current().launch
    core.enter_loop()
    try:
        yield
    finally:
        core.leave_loop()


def _counted(kind, rounds):
    with _loop():
        yield from map(kind, rounds)


def _hardware_loop(loop: str, first, last, step) -> range:
    _not_in_no_reorder(loop)
    if not isinstance(step, numbers.Integral) or step < 1:
        refuse(
            "loop.step", f"{loop}: step must be a positive integer known when the kernel is built, got {step!r}"
        )
    for name, bound in (("start", first), ("stop", last)):
        if not isinstance(bound, (numbers.Integral, VirtualRegister)):
            refuse("loop.bound", f"{loop}: {name} must be an integer or a register, got {bound!r}")
    return range(int(first), int(last), int(step))


def _not_in_no_reorder(loop: str):
    if session.current().no_reorder_depth:
        refuse(
            "loop.no_reorder",
            f"{loop}: a dynamic loop cannot stand inside nl.no_reorder(); put nl.no_reorder() into its body",
        )


def _callable(loop: str, body_fun):
    if not callable(body_fun):
        refuse("loop.body", f"{loop}: body_fun must be a function, got {body_fun!r}")


def _condition(name: str, register) -> VirtualRegister:
    if not isinstance(register, VirtualRegister):
        refuse("loop.condition", f"while_loop: {name} must be a register, got {register!r}")
    return register


@contextlib.contextmanager
def no_reorder():
    """Keep the order of the instructions inside, also where a list scheduler is asked for."""
    frame = session.current()
    first = frame.launch.instruction_count
    frame.no_reorder_depth += 1
    try:
        yield
    finally:
        frame.no_reorder_depth -= 1
        if frame.no_reorder_depth == 0:
            frame.launch.keep_in_order(first)
