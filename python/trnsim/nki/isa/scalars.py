"""Scalars of release 0.7: integers computed on the device, which take the place of registers.

Sources: nki.isa.NkiScalar, scalar_load and scalar_store of NKI 0.7."""

import numbers

from trnsim import _native, environment
from trnsim.lowering.tiles import is_tensor, refuse
from trnsim.nki.isa.registers import LoopRegister, VirtualRegister, register_load

_BITS = 32


class NkiScalar(LoopRegister):
    """An integer of 32 bits known at run time: sums, differences and products with integers and other scalars wrap.
    It can be an address or the bound of a loop; what compares it is refused."""

    what = "an NkiScalar"
    dtype = "int32"

    def __init__(self, value: int = 0):
        low = int(value) & ((1 << _BITS) - 1)
        super().__init__(low - (1 << _BITS) if low >> (_BITS - 1) else low)

    def _other(self, other) -> int:
        if isinstance(other, NkiScalar) or isinstance(other, numbers.Integral):
            return int(other)
        return refuse(
            "scalar.operand", f"an NkiScalar computes with integers and other NkiScalars, got {other!r}"
        )

    def __add__(self, other):
        return NkiScalar(int(self) + self._other(other))

    def __sub__(self, other):
        return NkiScalar(int(self) - self._other(other))

    def __rsub__(self, other):
        return NkiScalar(self._other(other) - int(self))

    def __mul__(self, other):
        return NkiScalar(int(self) * self._other(other))

    def __neg__(self):
        return NkiScalar(-int(self))

    def __pos__(self):
        return NkiScalar(int(self))

    __radd__, __rmul__ = __add__, __mul__


def scalar_load(src) -> NkiScalar:
    """The only element of `src`, an int32 tensor in SBUF or HBM. Raises Unsupported in a timing-only run."""
    if environment.older_frontend():
        refuse("scalar.frontend", "scalar_load: NKI_COMPILER_FRONTEND=custom has no scalars; leave the variable out")
    _check_tensor("scalar_load", "src", src)
    register = VirtualRegister()
    register_load(register, src)
    return NkiScalar(register.value)


def scalar_store(dst, value) -> None:
    """The only element of `dst`, an int32 tensor in SBUF or HBM, becomes an NkiScalar."""
    _check_tensor("scalar_store", "dst", dst)
    if not isinstance(value, NkiScalar):
        refuse(
            "scalar.operand",
            f"scalar_store: value must be an NkiScalar, got {value!r}; nisa.memset writes constants",
        )
    _native.isa.register_store(dst, value.value)


def _check_tensor(function: str, argument: str, tensor) -> None:
    if not is_tensor(tensor) or tensor.size != 1 or tensor.dtype_name != "int32":
        given = f"{tensor.dtype_name} {tensor.shape}" if is_tensor(tensor) else repr(tensor)
        refuse("scalar.tensor", f"{function}: {argument} must be a 1x1 tensor of int32, got {given}")
