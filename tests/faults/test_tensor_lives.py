"""A tensor lives as long as its launch: one that a kernel kept is refused in every later launch, by name."""

import contextlib

import numpy as np
import pytest
import trnsim

trnsim.install()

import nki
import nki.isa as nisa
import nki.language as nl

X = np.arange(64 * 32, dtype=np.float32).reshape(64, 32)


@pytest.fixture(autouse=True)
def default_chip():
    trnsim.install()


def load(x):
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    return tile


def store(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out


def new(shape):
    return nl.ndarray(shape, dtype=nl.float32, buffer=nl.sbuf)


@contextlib.contextmanager
def freed(*words):
    with pytest.raises(trnsim.ProgramError) as error:
        yield
    assert error.value.rule == "tensor.freed", str(error.value)
    for word in words:
        assert word in str(error.value)


def kept_from_a_launch(buffer, shape=(16, 8), dtype=None):
    kept = []

    @nki.jit
    def first(x):
        tile = nl.ndarray(shape, dtype=dtype or nl.float32, buffer=buffer, name="old")
        if buffer == nl.psum:
            nisa.memset(tile, 0.0)
        elif buffer == nl.sbuf:
            nisa.memset(tile, 1)
        else:
            nisa.dma_copy(dst=tile, src=x[0 : shape[0], 0 : shape[1]])
        kept.append(tile)
        return store(load(x))

    first(X)
    return kept[0]


USES = {
    "source": lambda old, tile: nisa.tensor_copy(dst=tile, src=old),
    "destination": lambda old, tile: nisa.memset(old, 0.0),
    "view": lambda old, tile: nisa.tensor_copy(dst=tile[0:8], src=old[0:8]),
    "operand": lambda old, tile: nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=old[:, 0:1]),
    "transfer": lambda old, tile: nisa.dma_copy(dst=tile, src=old),
    "list": lambda old, tile: nisa.dma_compute(dst=tile, srcs=[tile, old], reduce_op=nl.add),
    "language": lambda old, tile: nl.add(tile, old) if old.buffer in (nl.sbuf, nl.psum) else nl.load(old),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("buffer", ("sbuf", "psum", "private_hbm", "shared_hbm"))
@pytest.mark.parametrize("keep", (True, False), ids=("profile kept", "profile forgotten"))
def test_a_tensor_of_another_launch_is_refused(use, buffer, keep):
    old = kept_from_a_launch(getattr(nl, buffer))
    if not keep:
        trnsim.session.forget_profiles()

    @nki.jit
    def second(x):
        tile = new((16, 8))
        nisa.memset(tile, 0.0)
        USES[use](old, tile)
        return store(tile)

    with freed("old"):
        second(X)
    np.testing.assert_array_equal(nki.jit(lambda x: store(load(x)))(X), X)  # nothing is left behind


def test_a_register_tile_and_an_index_of_another_launch_are_refused():
    index = kept_from_a_launch(nl.sbuf, (16, 1), nl.int32)

    @nki.jit
    def gathers(x):
        tile = new((16, 32))
        nisa.dma_copy(dst=tile, src=x.ap([[32, 16], [1, 32]], vector_offset=index))
        return store(tile)

    @nki.jit
    def scalar(x):
        return store(load(x.ap([[32, 1], [1, 32]], scalar_offset=index[0:1])))

    for kernel in (gathers, scalar):
        with freed("old"):
            kernel(X)
