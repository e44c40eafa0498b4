"""Tensors of `nki`: creation."""

from trnsim import _native, lowering, session
from trnsim.lowering.tiles import refuse
from trnsim.nki.language import buffers, views  # noqa: F401  (views adds the methods)

NkiTensor = _native.Tensor


class par_dim(int):  # noqa: N801
    """nl.par_dim(n) of release 0.2: says that a size is that of the partition, dimension 0 of an on-chip tensor."""


def ndarray(shape, dtype, buffer=buffers.sbuf, name="", address=None) -> NkiTensor:
    """A new tensor of `buffer`; its contents are not initialised.

    On chip, dimension 0 is the partition. `address=(partition, byte offset)` places it by hand; tensors at
    overlapping addresses share their bytes. Raises ProgramError when it does not fit.
    """
    frame = session.current()
    if isinstance(shape, (tuple, list)) and any(isinstance(size, par_dim) for size in shape[1:]):
        refuse(
            "tensor.par_dim",
            f"nl.ndarray: shape {shape} marks another dimension than the first with nl.par_dim; block dimensions are "
            "of neuronxcc.nki only, so create a tensor for each block",
        )
    if buffer == buffers.shared_hbm:
        return _shared(frame, shape, dtype, name or "")[0]
    tensor = frame.launch.tensor(buffers.space_of(buffer), shape, dtype, name or "", address)
    tensor.is_private = buffer == buffers.private_hbm
    return tensor


def filled(shape, value, dtype, buffer, name) -> NkiTensor:
    """A new tensor with one number everywhere. What programs of a grid share, the first of them fills, before any
    other touches it."""
    frame = session.current()
    if buffer != buffers.shared_hbm:
        return lowering.full(shape, value, dtype, buffers.space_of(buffer), name)
    tensor, is_new = _shared(frame, shape, dtype, name)
    if is_new:
        frame.launch.watch_races(False)
        lowering.fill(tensor, value)
        frame.launch.watch_races(True)
    return tensor


def zeros(shape, dtype, buffer=buffers.sbuf, name="") -> NkiTensor:
    """A new tensor of zeros."""
    return filled(shape, 0, dtype, buffer, name)


def ones(shape, dtype, buffer=buffers.sbuf, name="") -> NkiTensor:
    """A new tensor of ones."""
    return filled(shape, 1, dtype, buffer, name)


def full(shape, fill_value, dtype, buffer=buffers.sbuf, name="") -> NkiTensor:
    """A new tensor with the same number everywhere."""
    return filled(shape, fill_value, dtype, buffer, name)


def _shared(frame, shape, dtype, name):
    """The shared_hbm tensor that all programs create here, and whether it is new."""

    def create():
        return frame.launch.tensor("HBM", shape, dtype, name, shared=True)

    if not frame.grid:
        return create(), True
    return frame.shared.get(frame, name, shape, dtype, create, "grid.shared_hbm")
