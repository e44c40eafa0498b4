"""Registers of the engines' sequencers: integers known only at run time, here read at once. They cost no
time."""

from trnsim import _native, arrays, session
from trnsim.lowering.tiles import is_tensor, refuse


class VirtualRegister:
    """A 32-bit register. An integer wherever an index or a bound is taken; true while it is not zero."""

    def __init__(self, value: int = 0):
        self.value = value

    def __index__(self) -> int:
        return int(self.value)

    __int__ = __index__

    def __bool__(self) -> bool:
        return bool(self.value)

    def __repr__(self):
        return f"VirtualRegister({self.value})"


def register_alloc(x=None) -> VirtualRegister:
    """A new register, holding `x` if that is given (an integer or a tile with one element)."""
    register = VirtualRegister()
    if is_tensor(x):
        register_load(register, x)
    elif x is not None:
        register.value = int(x)
    return register


def register_move(dst, src=None, imm=None):
    """dst = src, an integer or a register."""
    _register(dst, "register_move").value = int(imm if src is None else src)


def register_load(dst, src):
    """dst = the only element of the tensor `src`. Raises Unsupported in a timing-only run."""
    register = _register(dst, "register_load")
    if not is_tensor(src) or src.size != 1:
        refuse("register_load.argument", f"register_load: src must be a tensor with one element, got {src!r}")
    if session.settings.timing_only:
        raise _native.Unsupported(f"register_load from '{src.name}', because a timing-only run has no values")
    src.require_written()
    register.value = arrays.from_tensor(src).reshape(-1)[0].item()


def register_store(dst, src):
    """The only element of the tensor `dst` = src, an integer or a register."""
    if not is_tensor(dst) or dst.size != 1:
        refuse(
            "register_store.argument", f"register_store: dst must be a tensor with one element, got {dst!r}"
        )
    if dst.space == "HBM":
        staged = session.current().launch.tensor("SBUF", (1, 1), dst.dtype, "register_store")
        _native.isa.memset(staged, int(src))
        _native.isa.dma_copy(dst.reshape((1, 1)), staged)
    else:
        _native.isa.memset(dst, int(src))


def _register(value, instruction: str) -> VirtualRegister:
    if not isinstance(value, VirtualRegister):
        refuse(
            f"{instruction}.argument", f"{instruction}: dst must come from register_alloc(), got {value!r}"
        )
    return value
