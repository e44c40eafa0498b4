"""Where a tensor lives."""


class Buffer(str):
    """nl.sbuf, nl.psum, nl.hbm, ...: a name, and the memory that it means."""

    space: str

    def __new__(cls, name: str, space: str):
        buffer = super().__new__(cls, name)
        buffer.space = space
        return buffer


sbuf = Buffer("sbuf", "SBUF")
psum = Buffer("psum", "PSUM")
hbm = Buffer("hbm", "HBM")
private_hbm = Buffer("private_hbm", "HBM")
shared_hbm = Buffer("shared_hbm", "HBM")


def is_hbm(buffer) -> bool:
    return buffer.space == "HBM"


def is_sbuf(buffer) -> bool:
    return buffer.space == "SBUF"


def is_psum(buffer) -> bool:
    return buffer.space == "PSUM"


def is_on_chip(buffer) -> bool:
    return not is_hbm(buffer)
