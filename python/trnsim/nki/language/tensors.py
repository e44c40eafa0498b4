"""Tensors of `nki`: creation."""

import threading

from trnsim import _native, lowering, session
from trnsim.lowering.tiles import refuse, same_dtype
from trnsim.nki.language import buffers, views  # noqa: F401  (views adds the methods)

NkiTensor = _native.Tensor


def ndarray(shape, dtype, buffer=buffers.sbuf, name="", address=None, **_) -> NkiTensor:
    """A new tensor of `buffer`; its contents are not initialised.

    On chip, dimension 0 is the partition. `address=(partition, byte offset)` places it by hand; tensors at
    overlapping addresses share their bytes. Raises ProgramError when it does not fit.
    """
    frame = session.current()
    if frame.grid and buffer == buffers.shared_hbm:
        return _shared_by_programs(frame, shape, dtype, name or "")[0]
    tensor = frame.launch.tensor(buffers.space_of(buffer), shape, dtype, name or "", address)
    tensor.is_private = buffer == buffers.private_hbm
    return tensor


def filled(shape, value, dtype, buffer, name) -> NkiTensor:
    """A new tensor with one number everywhere. What programs of a grid share, the first of them fills."""
    frame = session.current()
    if not (frame.grid and buffer == buffers.shared_hbm):
        return lowering.full(shape, value, dtype, buffers.space_of(buffer), name)
    tensor, is_new = _shared_by_programs(frame, shape, dtype, name)
    return lowering.fill(tensor, value) if is_new else tensor


def zeros(shape, dtype, buffer=buffers.sbuf, name="") -> NkiTensor:
    """A new tensor of zeros."""
    return filled(shape, 0, dtype, buffer, name)


def ones(shape, dtype, buffer=buffers.sbuf, name="") -> NkiTensor:
    """A new tensor of ones."""
    return filled(shape, 1, dtype, buffer, name)


def full(shape, fill_value, dtype, buffer=buffers.sbuf, name="") -> NkiTensor:
    """A new tensor with the same number everywhere."""
    return filled(shape, fill_value, dtype, buffer, name)


# The shared_hbm tensors of the launch with a grid that ran last, in the order of their creation.
_shared = threading.local()


def _shared_by_programs(frame, shape, dtype, name):
    """The next shared_hbm tensor of the program (the n-th is one in all programs) and whether it is new."""
    if getattr(_shared, "launch", None) is not frame.launch:
        _shared.launch, _shared.tensors = frame.launch, []
    place = frame.__dict__.setdefault("shared_tensors", 0)
    frame.shared_tensors = place + 1
    if place == len(_shared.tensors):
        _shared.tensors.append(frame.launch.tensor("HBM", shape, dtype, name))
        return _shared.tensors[place], True
    tensor = _shared.tensors[place]
    if tensor.shape != tuple(shape) or not same_dtype(tensor.dtype, dtype):
        refuse(
            "grid.shared_hbm",
            f"shared_hbm tensor number {place} is {tensor.dtype_name} {tensor.shape} in the first program "
            f"of the grid and {dtype} {tuple(shape)} in program {frame.program_id}; the programs must create "
            "the same ones in the same order",
        )
    return tensor, False


class NKIObject:
    """Base of the data classes that kernels define: keyword arguments become attributes."""

    def __init__(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)
