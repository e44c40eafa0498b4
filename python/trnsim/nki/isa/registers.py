"""Registers of the engines' sequencers: integers known only at run time, here read at once. What sets, loads
and stores them is recorded and takes its time; reading one as an index or a bound is not."""

import numpy as np

from trnsim import _native, arrays, environment, releases, session
from trnsim.lowering.tiles import is_tensor, refuse


class VirtualRegister:
    """A 32-bit register. An integer wherever an index or a bound is taken; true while it is not zero."""

    is_register = True  # as the subscript of a tensor, it is known only at run time

    def __init__(self, value: int = 0):
        self.value = value
        self._number = None

    @property
    def number(self) -> int:
        """Which register of the launch this is, counted in the order of their first use."""
        if self._number is None:
            frame = session.current()
            self._number = frame.__dict__.get("registers", 0)
            frame.registers = self._number + 1
        return self._number

    def __index__(self) -> int:
        return int(self.value)

    __int__ = __index__

    def __bool__(self) -> bool:
        if not releases.applies("registers decide while") and not environment.older_frontend():
            releases.refuse("loop.register_in_python", "a register as a condition", "registers decide while")
        return self.value != 0

    def __repr__(self):
        return f"{type(self).__name__}({self.value})"


class LoopRegister(VirtualRegister):
    """What a dynamic loop counts in: read only. Sums, differences and products with integers are such
    registers too; comparing it in Python is refused, since the loop is compiled once for all its rounds."""

    def __add__(self, other):
        return type(self)(int(self) + int(other))

    def __sub__(self, other):
        return type(self)(int(self) - int(other))

    def __rsub__(self, other):
        return type(self)(int(other) - int(self))

    def __mul__(self, other):
        return type(self)(int(self) * int(other))

    __radd__, __rmul__ = __add__, __mul__

    what = "the index of a dynamic loop"

    def _compared(self, *_):
        refuse(
            "loop.index_in_python",
            f"{self.what} is a register: its value cannot decide what Python does (if, while, "
            "==). Compute on the device, or use nl.static_range, which unrolls.",
        )

    __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compared
    __hash__ = None


def register_alloc(x=None) -> VirtualRegister:
    """A new register, holding `x` if that is given (an integer or a tile with one element)."""
    register = VirtualRegister()
    if is_tensor(x):
        register_load(register, x)
    elif x is not None:
        register_move(register, x)
    return register


def register_move(dst, src=None, imm=None):
    """dst = src, an integer or a register; `imm` is what release 0.2 calls it."""
    _register(dst, "register_move")
    value = _value(imm if src is None else src, "register_move", "src")
    _native.isa.register_move(dst.number, value)
    dst.value = value


def register_load(dst, src):
    """dst = the only element of the tensor `src`. Raises Unsupported in a timing-only run."""
    _register(dst, "register_load")
    if not is_tensor(src):
        refuse("register_load.argument", f"register_load: src must be a tensor with one element, got {src!r}")
    _native.isa.register_load(dst.number, src)
    if session.settings.timing_only:
        raise _native.Unsupported(f"register_load from '{src.name}', because a timing-only run has no values")
    dst.value = arrays.from_tensor(src).reshape(-1)[0].item()


def register_store(dst, src):
    """The only element of the tensor `dst` = src, an integer or a register."""
    if not is_tensor(dst):
        refuse(
            "register_store.argument", f"register_store: dst must be a tensor with one element, got {dst!r}"
        )
    _native.isa.register_store(dst, _value(src, "register_store", "src"))


def _value(source, instruction: str, argument: str):
    if isinstance(source, VirtualRegister):
        return source.value
    if not isinstance(source, (int, float, np.number)):
        refuse(
            f"{instruction}.argument",
            f"{instruction}: {argument} must be an integer or a register, got {source!r}",
        )
    return source


def _register(value, instruction: str) -> None:
    if not isinstance(value, VirtualRegister):
        refuse(
            f"{instruction}.argument", f"{instruction}: dst must come from register_alloc(), got {value!r}"
        )
    if isinstance(value, LoopRegister):
        refuse(
            f"{instruction}.read_only",
            f"{instruction}: dst is {value.what}, which is read only",
        )
