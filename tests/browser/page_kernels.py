"""Kernels that the tests of the report page show, each with one thing to see."""

import numpy as np
import trnsim

trnsim.install()

import nki
import nki.isa as nisa
import nki.language as nl

NASTY = "</script><script>window.injected = 1</script><!-- \"quoted\" 'name' & \u2028 \u00fc \u6f22 \U0001f600"


def loaded(source, name=""):
    tile = nl.ndarray(source.shape, source.dtype, buffer=nl.sbuf, name=name)
    nisa.dma_copy(dst=tile, src=source)
    return tile


def stored(tile):
    out = nl.ndarray(tile.shape, tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki.jit
def matmul(a, b):
    """A sum of products, then out through the Scalar Engine."""
    total = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
    for k in range(a.shape[0]):
        nisa.nc_matmul(dst=total, stationary=loaded(a[k]), moving=loaded(b[k]))
    result = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=result, op=nl.exp, data=total)
    return stored(result)


@nki.jit
def twice(x):
    """Two programs, each on a core of its own."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    at = nl.program_id(0)
    tile = loaded(x[at])
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    nisa.dma_copy(dst=out[at], src=tile)
    return out


@nki.jit
def ill_named(x):
    tile = loaded(x, NASTY)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0, name=NASTY)
    long = loaded(x, "n" * 10_000)
    nisa.tensor_scalar(dst=long, data=long, op0=nl.add, operand0=1.0, name="m" * 10_000)
    return stored(tile)


@nki.jit
def turns(x):
    """Vector and Scalar take turns on one tile."""
    tile = loaded(x)
    for _ in range(40):
        half = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=half, data=tile, op0=nl.multiply, operand0=0.5)
        tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        nisa.activation(dst=tile, op=nl.exp, data=half)
    return stored(tile)


ones = np.ones


def matmul_profile(blocks=4):
    matmul(ones((blocks, 128, 128), np.float32), ones((blocks, 128, 512), np.float32))
    return trnsim.last_profile()


def matmul_page_text(blocks):
    return trnsim._native.page([matmul_profile(blocks).native], lambda file: None)


def twice_profile():
    twice[2](ones((2, 128, 256), np.float32))
    return trnsim.last_profile()


def turns_profile():
    turns(ones((128, 512), np.float32))
    return trnsim.last_profile()


def ill_named_profile():
    ill_named(ones((128, 64), np.float32))
    return trnsim.last_profile()
