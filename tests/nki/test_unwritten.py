"""Reading what was never written: refused where nothing of it was, a warning and NaN where a part was not."""

import numpy as np
import pytest
import trnsim
from oracle import sample

trnsim.install()

import nki
import nki.isa as nisa
import nki.language as nl

X = sample((5, 8))


def padded():
    """A tile with more rows than there is data for."""
    return nl.ndarray((32, 8), nl.float32, nl.sbuf)


@pytest.mark.filterwarnings("default")
def test_rows_that_do_not_matter_may_stay_unwritten(run):
    def kernel(x):
        a, square = padded(), padded()
        nisa.dma_copy(dst=a[0:5], src=x)
        for _ in range(2):
            nisa.tensor_tensor(dst=square, data1=a, data2=a, op=nl.multiply)
        out = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
        nisa.dma_copy(dst=out, src=square[0:5])
        return out

    with pytest.warns(UserWarning, match="tensor_tensor: data. reads SBUF tensor .*partition 5, byte 0") as seen:
        result = run(kernel, X)
    np.testing.assert_array_equal(result, X * X)
    assert len(seen) == 2  # one for each operand, not for each time
    assert {w.filename for w in seen} == {__file__}


@pytest.mark.filterwarnings("ignore:.*never written")
def test_what_matters_becomes_nan(run):
    def kernel(x):
        a = nl.ndarray((5, 9), nl.float32, nl.sbuf)
        nisa.dma_copy(dst=a[:, 0:8], src=x)
        total = nl.ndarray((5, 1), nl.float32, nl.sbuf)
        nisa.tensor_scalar(dst=a, data=a, op0=nl.multiply, operand0=1.0)
        nisa.tensor_copy(dst=total, src=a[:, 8:9])
        out = nl.ndarray((5, 1), nl.float32, nl.shared_hbm)
        nisa.dma_copy(dst=out, src=total)
        return out

    assert np.isnan(run(kernel, X)).all()


def test_a_transpose_moves_only_what_was_written(run):
    """Kernels scatter columns into a tile, transpose it and take the rows they filled."""

    def kernel(x):
        wide = nl.ndarray((5, 32), nl.float32, nl.sbuf)
        nisa.dma_copy(dst=wide[:, 0:32:4], src=x)
        turned = nl.ndarray((32, 5), nl.float32, nl.psum)
        nisa.nc_transpose(dst=turned, data=wide, engine=nisa.tensor_engine)
        out = nl.ndarray((8, 5), nl.float32, nl.shared_hbm)
        rows = nl.copy(turned)
        for row in range(8):
            nisa.dma_copy(dst=out[row : row + 1], src=rows[4 * row : 4 * row + 1])
        return out

    with pytest.warns(UserWarning, match="never written"):
        np.testing.assert_array_equal(run(kernel, X), X.T)


@pytest.mark.parametrize("read", ["nothing written", "by DMA"])
def test_is_refused(run, read):
    def kernel(x):
        a, b = padded(), padded()
        if read == "by DMA":
            nisa.dma_copy(dst=a[0:5], src=x)
            nisa.dma_copy(dst=b, src=a)
        else:
            nisa.tensor_copy(dst=b, src=a)

    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, X)
    assert error.value.rule == "memory.never_written"


PAIR = np.arange(2 * 64 * 32, dtype=np.float32).reshape(2, 64, 32)


@pytest.mark.filterwarnings("ignore:.*never written")
@pytest.mark.parametrize("engine", [nisa.dma_engine.dma, nisa.dma_engine.gpsimd_dma])
def test_cores_exchange_tiles_with_padding(engine):
    """The padding arrives as NaN; a tile of which nothing was written is refused."""

    def kernel(x, rows):
        me = nl.program_id(0)
        tile, theirs = (nl.ndarray((64, 32), nl.float32, buffer=nl.sbuf) for _ in range(2))
        if rows:
            nisa.dma_copy(dst=tile[0:rows], src=x[me][0:rows])
        nisa.sendrecv(tile, theirs, 1 - me, 1 - me, 0, dma_engine=engine)
        out = nl.ndarray((2, 64, 32), nl.float32, nl.shared_hbm)
        nisa.dma_copy(dst=out[me], src=theirs)
        return out

    result = nki.jit(kernel)[2](PAIR, 40)
    np.testing.assert_array_equal(result[:, :40], PAIR[[1, 0], :40])
    assert np.isnan(result[:, 40:]).all()
    with pytest.raises(trnsim.ProgramError, match="never written"):
        nki.jit(kernel)[2](PAIR, 0)
