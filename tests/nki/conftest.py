"""What the tests of the nki dialect share: run a function as a kernel, or evaluate it on tiles."""

import pytest
import trnsim

trnsim.install()


@pytest.fixture
def evaluate(run):
    """evaluate(fn, *arrays): load the arrays into tiles, apply `fn` to them and return the tile it makes as
    an array."""
    import nki.isa as nisa
    import nki.language as nl

    def call(fn, *arrays, chip="trn2"):
        def kernel(*tensors):
            result = fn(*(nl.load(tensor) for tensor in tensors))
            if result.buffer == nl.psum:
                copy = nl.ndarray(result.shape, result.dtype, nl.sbuf)
                nisa.tensor_copy(dst=copy, src=result)
                result = copy
            out = nl.ndarray(result.shape, result.dtype, nl.shared_hbm)
            nisa.dma_copy(dst=out, src=result)
            return out

        return run(kernel, *arrays, chip=chip)

    return call
