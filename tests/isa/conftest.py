"""What the tests of instructions share: run a function as a kernel on a chip, and put its arrays on the
chip."""

import pytest
import trnsim


@pytest.fixture
def run():
    """run(fn, *arrays, chip="trn2", **kwargs): call `fn` as a kernel on a chip and return its results as
    arrays."""

    def call(fn, *arrays, chip="trn2", **kwargs):
        trnsim.install(chip=chip)
        import nki

        return nki.jit(fn)(*arrays, **kwargs)

    yield call
    trnsim.install()


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
