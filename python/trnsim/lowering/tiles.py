"""What every lowering needs: new tiles, operands put into the form that an instruction takes, errors."""

import numbers

import numpy as np

from trnsim import _native, dtypes, session

isa = _native.isa
Tensor = _native.Tensor


def refuse(rule: str, text: str):
    """Raise a ProgramError with its rule id."""
    error = _native.ProgramError(text)
    error.rule = rule
    raise error


def unimplemented(text: str):
    """Raise Unimplemented: legal on the hardware, not in the simulator."""
    raise _native.Unimplemented(text)


def is_tensor(value) -> bool:
    return isinstance(value, Tensor)


def tile(value, function: str, argument: str) -> Tensor:
    """`value` if it is a tensor; otherwise a ProgramError that names the argument."""
    if not is_tensor(value):
        refuse("language.argument", f"{function}: {argument} must be a tensor, got {_shown(value)}")
    return value


def on_chip(value, function: str, argument: str) -> Tensor:
    """`value` if it is a tile in SBUF or PSUM."""
    if tile(value, function, argument).space == "HBM":
        refuse(
            "language.buffer",
            f"{function}: {argument} '{value.name}' is in HBM; engines compute on SBUF and PSUM. "
            "Load it first (nl.load or nisa.dma_copy).",
        )
    return value


def number(value, function: str, argument: str):
    """A Python number, from numpy's scalars too; otherwise a ProgramError that names the argument."""
    if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, numbers.Real):
        return value
    return refuse(
        "language.argument", f"{function}: {argument} must be a tile or a number, got {_shown(value)}"
    )


def _shown(value) -> str:
    text = repr(value)
    return type(value).__name__ + (f" {text}" if len(text) < 60 else "")


def launch():
    return session.current().launch


def new(shape, dtype, name: str, space: str = "SBUF") -> Tensor:
    """A new on-chip tile."""
    return launch().tensor(space, tuple(shape), dtype, name)


def out(dst, shape, dtype, name: str, space: str = "SBUF") -> Tensor:
    """The tile to write: `dst` where the caller has one."""
    return new(shape, dtype, name, space) if dst is None else dst


def in_sbuf(x: Tensor, name: str = "copy") -> Tensor:
    """`x`, or a copy of it in SBUF where it is in PSUM."""
    if x.space != "PSUM":
        return x
    copy = new(x.shape, x.dtype, name)
    isa.tensor_copy(copy, x)
    return copy


def cast(x: Tensor, dtype, name: str = "cast") -> Tensor:
    """`x`, or a copy of it in SBUF with another dtype."""
    if same_dtype(x.dtype, dtype):
        return x
    copy = new(x.shape, dtype, name)
    isa.tensor_copy(copy, x)
    return copy


def same_dtype(a, b) -> bool:
    return a is b or name_of_dtype(a) == name_of_dtype(b)


def name_of_dtype(dtype) -> str:
    """The name that _native.Tensor.dtype_name has for it."""
    if isinstance(dtype, (str, dtypes.NamedDtype)):
        return str(dtype)
    for name in dtypes.NAMES:
        known = getattr(dtypes, name)
        if known is dtype:
            return name.rstrip("_")
    return np.dtype(dtype).name


def is_float(x: Tensor) -> bool:
    return "float" in x.dtype_name


def is_int32(x: Tensor) -> bool:
    return x.dtype_name in ("int32", "uint32")


def is_column(x: Tensor) -> bool:
    """One element per partition."""
    return x.size == x.shape[0]


def axes_of(axis, ndim: int, function: str) -> tuple[int, ...]:
    """`axis` as ascending non-negative numbers. Raises ProgramError for one that is not there or given
    twice."""
    given = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    axes = []
    for entry in given:
        if not isinstance(entry, numbers.Integral) or not -ndim <= entry < ndim:
            refuse("language.axis", f"{function}: axis {entry!r} of a tile with {ndim} dimensions")
        axes.append(int(entry) % ndim)
    if len(set(axes)) != len(axes):
        refuse("language.axis", f"{function}: axis {given} names a dimension twice")
    return tuple(sorted(axes))
