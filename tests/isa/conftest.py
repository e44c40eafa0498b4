"""What the tests of instructions share: put the arrays of a kernel on the chip."""

import pytest


def on_chip(x, buffer="sbuf"):
    """Inside a kernel: a tile of SBUF or PSUM with the values of the HBM tensor `x`."""
    import nki.isa as nisa
    import nki.language as nl

    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, name=x.name)
    nisa.dma_copy(dst=tile, src=x)
    if buffer == "sbuf":
        return tile
    copy = nl.ndarray(x.shape, dtype=x.dtype, buffer=buffer, name=x.name)
    nisa.tensor_copy(dst=copy, src=tile)
    return copy


@pytest.fixture(name="on_chip")
def on_chip_fixture():
    """The function on_chip, as a fixture."""
    return on_chip
