"""Where a tensor lives."""

from trnsim import _native, releases


class Buffer(str):
    """nl.sbuf, nl.psum, nl.hbm, ...: a name, and the memory that it means."""

    space: str

    def __new__(cls, name: str, space: str):
        buffer = super().__new__(cls, name)
        buffer.space = space
        return buffer

    def view(self, dtype, shape, name=""):
        """A new tensor there: nl.ndarray as releases 0.2 and 0.3 spell it too."""
        from trnsim.nki.language.tensors import ndarray

        if not releases.applies("sbuf and hbm as names"):
            releases.refuse("tensor.view", f"{self}.view", "sbuf and hbm as names")
        return ndarray(shape, dtype, self, name)


class SharedHbm(Buffer):
    """Where a tensor says that it lives that is not private: published kernels compare the buffer of their
    arguments with nl.hbm as well as with nl.shared_hbm, so it equals both."""

    def __eq__(self, other):
        return str(other) in ("shared_hbm", "private_hbm")

    def __ne__(self, other):
        return not self == other

    __hash__ = Buffer.__hash__


class MemoryRegion:
    """The memories by name: MemoryRegion.sbuf is nl.sbuf."""

    sbuf = Buffer("sbuf", "SBUF")
    psum = Buffer("psum", "PSUM")
    private_hbm = Buffer("private_hbm", "HBM")
    shared_hbm = Buffer("shared_hbm", "HBM")


sbuf, psum = MemoryRegion.sbuf, MemoryRegion.psum
private_hbm, shared_hbm = MemoryRegion.private_hbm, MemoryRegion.shared_hbm
hbm = private_hbm

_BY_NAME = {"sbuf": sbuf, "psum": psum, "hbm": hbm, "private_hbm": private_hbm, "shared_hbm": shared_hbm}


def space_of(buffer) -> str:
    """The memory that a buffer (or its name) means; None is SBUF, as release 0.2 has it by default. Raises
    ProgramError for an unknown one."""
    if buffer is None:
        return sbuf.space
    known = buffer if isinstance(buffer, Buffer) else _BY_NAME.get(str(buffer).lower())
    if known is not buffer and known is not None and not releases.applies("buffers as strings"):
        releases.refuse("tensor.buffer", "buffer", "buffers as strings", f", not {buffer!r}")
    if known is None:
        error = _native.ProgramError(
            f"buffer {buffer!r} is not one of nl.sbuf, nl.psum, nl.hbm, nl.private_hbm and nl.shared_hbm"
        )
        error.rule = "tensor.buffer"
        raise error
    return known.space


def is_hbm(buffer) -> bool:
    """Whether a buffer is in HBM, private or shared."""
    return space_of(buffer) == "HBM"


def is_sbuf(buffer) -> bool:
    """Whether a buffer is SBUF."""
    return space_of(buffer) == "SBUF"


def is_psum(buffer) -> bool:
    """Whether a buffer is PSUM."""
    return space_of(buffer) == "PSUM"


def is_on_chip(buffer) -> bool:
    """Whether a buffer is SBUF or PSUM."""
    return not is_hbm(buffer)
