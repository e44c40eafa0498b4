"""What the kernels have in common."""

import nki.isa as nisa
import nki.language as nl
import numpy as np

P = 128  # partitions


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def sbuf(free, dtype=nl.float32):
    return nl.ndarray((P, free), dtype=dtype, buffer=nl.sbuf)


def psum(free=512):
    return nl.ndarray((P, free), dtype=nl.float32, buffer=nl.psum)


def hbm(*shape, dtype=nl.float32):
    return nl.ndarray(shape, dtype=dtype, buffer=nl.shared_hbm)


def loaded(source):
    tile = sbuf(source.shape[1], source.dtype)
    nisa.dma_copy(dst=tile, src=source)
    return tile


def stored(tile):
    """A new tensor in HBM with the tile's values."""
    result = hbm(*tile.shape, dtype=tile.dtype)
    nisa.dma_copy(dst=result, src=tile)
    return result
