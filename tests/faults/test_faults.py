"""One mistake in a clean kernel: the clean one runs and is right, the mistaken one is refused by its rule.

A kernel takes its array and `wrong`, which plants the mistake.
"""

import warnings

import ml_dtypes
import numpy as np
import pytest
import trnsim

trnsim.install()

import neuronxcc.nki as nki1
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa1
import neuronxcc.nki.language as nl1
import nki
import nki.isa as nisa
import nki.language as nl

X = np.random.default_rng(0).integers(-8, 8, (64, 32)).astype(np.float32)
FAULTS = []


def fault(rule, expected=lambda x: x, x=X, cores=1, **install):
    """Adds a kernel, what it returns when it is clean, and the rule that its mistake breaks."""

    def add(kernel):
        FAULTS.append(pytest.param(kernel, rule, expected, x, cores, install, id=kernel.__name__))
        return kernel

    return add


@pytest.fixture(autouse=True)
def default_chip():
    yield
    trnsim.install()


@pytest.mark.parametrize("kernel, rule, expected, x, cores, install", FAULTS)
def test_the_mistake_is_caught_and_the_clean_kernel_is_not(kernel, rule, expected, x, cores, install):
    trnsim.install(**install)
    launched = kernel[cores] if cores > 1 else kernel
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(launched(np.array(x), False), expected(x))
    with pytest.raises(trnsim.ProgramError) as error:
        launched(np.array(x), True)
    assert error.value.rule == rule, str(error.value)


def test_there_are_at_least_twenty():
    assert len(FAULTS) >= 20


def load(x, dtype=None):
    tile = nl.ndarray(x.shape, dtype=dtype or x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    return tile


def store(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out


def new(shape, dtype=nl.float32, buffer=None):
    return nl.ndarray(shape, dtype=dtype, buffer=buffer or nl.sbuf)


def drained(psum):
    tile = new(psum.shape, psum.dtype)
    nisa.tensor_copy(dst=tile, src=psum)
    return store(tile)


@fault("race.shared_hbm", lambda x: x + 1, cores=2)
@nki.jit
def missing_barrier(x, wrong):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    if nl.program_id(0) == 0:
        nisa.dma_copy(dst=out, src=load(x))
    if not wrong:
        nisa.core_barrier(out, (0, 1))
    if nl.program_id(0) == 1:
        tile = load(out)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
        nisa.dma_copy(dst=out, src=tile)
    return out


@fault("launch.deadlock", cores=2)
@nki.jit
def one_barrier_too_many_on_one_core(x, wrong):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    if nl.program_id(0) == 0:
        nisa.dma_copy(dst=out, src=load(x))
    nisa.core_barrier(out, (0, 1))
    if wrong and nl.program_id(0) == 1:
        nisa.core_barrier(out, (0, 1))
    return out


@fault("memory.clobbered", lambda x: 2 * x)
@nki1.jit
def overlapping_addresses(x, wrong):
    out = nl1.ndarray(x.shape, dtype=x.dtype, buffer=nl1.shared_hbm)
    row = 32 * 4
    first = nl1.ndarray(x.shape, dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=0))
    second = nl1.ndarray(x.shape, dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=row // 2 if wrong else row))
    first[...] = nl1.load(x)
    second[...] = nl1.load(x)
    first[...] = nisa1.tensor_tensor(first, second, op=nl1.add)
    nl1.store(out, first)
    return out


@fault("memory.address")
@nki.jit
def address_of_a_tile_that_was_placed_already(x, wrong):
    tile = load(x)
    other = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.sbuf, address=(0, 0 if wrong else 32 * 1024))
    nisa.memset(other, 0.0)
    return store(tile)


@fault("tensor.out_of_bounds", lambda x: x[:, 1:])
@nki.jit
def one_element_past_the_end(x, wrong):
    tile = load(x)
    result = new((64, 31))
    nisa.tensor_copy(dst=result, src=tile.ap([[32, 64], [1, 31]], 2 if wrong else 1))
    return store(result)


@fault("tensor_copy.start_partition", lambda x: x[32:64])
@nki.jit
def wrong_partition_start(x, wrong):
    tile = load(x)
    result = new((32, 32))
    start = 31 if wrong else 32
    nisa.tensor_copy(dst=result, src=tile[start : start + 32])
    return store(result)


@fault("nc_matmul.accumulate", lambda x: 2 * x.T @ x)
@nki.jit
def accumulation_onto_stale_psum(x, wrong):
    tile, psum = load(x), new((32, 32), buffer=nl.psum)
    for i in range(2):
        nisa.nc_matmul(dst=psum, stationary=tile, moving=tile, accumulate=wrong or i > 0)
    return drained(psum)


@fault("memory.never_written", lambda x: x + 1)
@nki.jit
def tile_that_was_never_filled(x, wrong):
    ones = new((64, 32))
    if not wrong:
        nisa.memset(ones, 1.0)
    tile = load(x)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=ones, op=nl.add)
    return store(tile)


@fault("memory.never_written")
@nki.jit
def result_of_which_a_row_is_missing(x, wrong):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows = 63 if wrong else 64
    nisa.dma_copy(dst=out[0:rows], src=load(x)[0:rows])
    return out


@fault("memory.inexact_integer", lambda x: x + 1, np.full((64, 32), 2**25, np.int32), exact_integers=True)
@nki.jit
def large_integers_through_fp32(x, wrong):
    tile = load(x)
    ones = new((64, 32), nl.int32)
    nisa.memset(ones, 1)
    engine = {"engine": nisa.vector_engine} if wrong else {}
    nisa.tensor_tensor(dst=tile, data1=tile, data2=ones, op=nl.add, **engine)
    return store(tile)


@fault("memory.inexact_integer", lambda x: x * x, np.full((64, 32), 3000, np.int32), exact_integers=True)
@nki.jit
def integers_that_grow_too_large_in_fp32(x, wrong):
    tile = load(x)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.multiply, engine=nisa.vector_engine)
    if wrong:
        nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.add, engine=nisa.vector_engine)
    return store(tile)


@fault("nc_matmul.bank", lambda x: x.T @ x)
@nki.jit
def psum_tile_across_two_banks(x, wrong):
    tile = load(x)
    psum = nl.ndarray((32, 32), dtype=nl.float32, buffer=nl.psum, address=(0, 2048 - 64 if wrong else 2048))
    nisa.nc_matmul(dst=psum, stationary=tile, moving=tile, accumulate=False)
    return drained(psum)


@fault("nc_matmul.moving_free", lambda x: x.T @ np.tile(x, 16))
@nki.jit
def moving_tile_of_more_than_a_bank(x, wrong):
    columns = 513 if wrong else 512
    wide, tile = new((64, columns)), load(x)
    for at in range(0, columns, 32):
        width = min(32, columns - at)
        nisa.tensor_copy(dst=wide[:, at : at + width], src=tile[:, 0:width])
    psum = new((32, columns), buffer=nl.psum)
    nisa.nc_matmul(dst=psum, stationary=tile, moving=wide, accumulate=False)
    return drained(psum)


@fault("nc_matmul.buffer", lambda x: x.T @ x)
@nki.jit
def product_into_sbuf(x, wrong):
    tile = load(x)
    result = new((32, 32), buffer=nl.sbuf if wrong else nl.psum)
    nisa.nc_matmul(dst=result, stationary=tile, moving=tile, accumulate=False)
    return drained(result)


@fault("nc_matmul.dtype", lambda x: x.T @ x, x=np.sign(X))
@nki.jit
def dtype_that_the_generation_lacks(x, wrong):
    dtype = nl.float8_e4m3fn if wrong else nl.float8_e4m3
    tile, psum = load(x, dtype), new((32, 32), buffer=nl.psum)
    nisa.nc_matmul(dst=psum, stationary=tile, moving=tile, accumulate=False)
    return drained(psum)


@fault("activation.bias_immediate", lambda x: np.maximum(x + 1, 0), chip="trn1")
@nki.jit
def bias_that_the_generation_takes_only_as_a_tile(x, wrong):
    tile, bias = load(x), new((64, 1))
    nisa.memset(bias, 1.0)
    nisa.activation(dst=tile, op=nl.relu, data=tile, bias=1.0 if wrong else bias)
    return store(tile)


@fault("tensor.immutable")
@nki1.jit
def store_into_an_input(x, wrong):
    out = nl1.ndarray(x.shape, dtype=x.dtype, buffer=nl1.shared_hbm)
    nl1.store(x if wrong else out, nl1.load(x))
    return out


@fault("index.out_of_bounds")
@nki1.jit
def mask_that_is_off_by_one(x, wrong):
    out = nl1.ndarray(x.shape, dtype=x.dtype, buffer=nl1.shared_hbm)
    i_p, i_f = nl1.mgrid[0:128, 0:32]
    mask = i_p < x.shape[0] + wrong
    nl1.store(out[i_p, i_f], nl1.load(x[i_p, i_f], mask=mask), mask=mask)
    return out


@fault("dma_copy.hwdge_dtype", lambda x: x.astype(ml_dtypes.bfloat16))
@nki.jit
def descriptors_in_hardware_for_a_cast(x, wrong):
    tile = new((64, 32), nl.bfloat16)
    nisa.dma_copy(dst=tile, src=x, dge_mode=nisa.dge_mode.hwdge if wrong else nisa.dge_mode.swdge)
    return store(tile)


@fault("nc_n_gather.index", lambda x: x[:, 31:])
@nki.jit
def gather_beyond_the_end(x, wrong):
    tile, index, result = load(x), new((64, 1), nl.uint32), new((64, 1))
    nisa.memset(index, 32 if wrong else 31)
    nisa.nc_n_gather(dst=result, data=tile, indices=index)
    return store(result)


@fault("memory.capacity")
@nki.jit
def more_than_sbuf_holds(x, wrong):
    tiles = [new((128, 40 * 1024), nl.uint8) for _ in range(6 if wrong else 4)]
    for tile in tiles:
        nisa.memset(tile, 0)
    for tile in tiles[1:]:
        nisa.tensor_copy(dst=tiles[0], src=tile)
    return store(load(x))


@fault("dma_copy.elements", lambda x: x[0:63])
@nki.jit
def copy_between_other_shapes(x, wrong):
    tile = new((63, 32))
    nisa.dma_copy(dst=tile, src=x if wrong else x[0:63])
    return store(tile)


@fault("nc_matmul.same_partitions", lambda x: x @ x.T)
@nki.jit
def operand_that_was_not_transposed(x, wrong):
    tile, psum, turned = load(x), new((32, 64), buffer=nl.psum), new((32, 64))
    nisa.nc_transpose(dst=psum, data=tile, engine=nisa.tensor_engine)
    nisa.tensor_copy(dst=turned, src=psum)
    product = new((64, 64) if not wrong else (32, 64), buffer=nl.psum)
    nisa.nc_matmul(dst=product, stationary=tile if wrong else turned, moving=turned, accumulate=False)
    return drained(product)


@fault("tensor_copy.buffer")
@nki.jit
def psum_read_by_gpsimd(x, wrong):
    psum, tile = new((64, 32), buffer=nl.psum), new((64, 32))
    nisa.tensor_copy(dst=psum, src=load(x))
    nisa.tensor_copy(dst=tile, src=psum, engine=nisa.gpsimd_engine if wrong else nisa.vector_engine)
    return store(tile)


@fault("dma_copy.buffer")
@nki.jit
def psum_stored_by_dma(x, wrong):
    psum = new((64, 32), buffer=nl.psum)
    nisa.tensor_copy(dst=psum, src=load(x))
    return store(psum) if wrong else drained(psum)


@fault("tensor.partitions")
@nki.jit
def tile_of_129_partitions(x, wrong):
    nisa.memset(new((129 if wrong else 128, 4)), 0.0)
    return store(load(x))


@fault("nc_stream_shuffle.mask_value", lambda x: x[[31 - i + 32 * q for q in (0, 1) for i in range(32)]])
@nki.jit
def shuffle_of_33_lanes(x, wrong):
    tile, result = load(x), new((64, 32))
    nisa.nc_stream_shuffle(dst=result, src=tile, shuffle_mask=[32 - i if wrong else 31 - i for i in range(32)])
    return store(result)


_kept = []


@fault("tensor.freed")
@nki.jit
def tile_kept_from_another_launch(x, wrong):
    _kept.append(load(x))
    return store(_kept[0] if wrong else _kept[-1])


# -- what is carried out, with a warning at the kernel's line


@nki.jit
def tile_filled_but_for_its_last_column(x, wrong):
    ones = new((64, 32))
    nisa.memset(ones[:, 0:31] if wrong else ones, 0.0)
    tile = load(x)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=ones, op=nl.add)
    return store(tile)


@nki.jit
def accumulation_onto_what_a_memset_left(x, wrong):
    tile, psum = load(x), new((64, 32), buffer=nl.psum)
    unit = load(nl.shared_identity_matrix(64, dtype=nl.float32))
    nisa.memset(psum, 1.0)
    nisa.nc_matmul(dst=psum, stationary=unit, moving=tile, accumulate=wrong)
    return drained(psum)


def with_a_nan_column(x):
    return np.concatenate([x[:, :31], np.full((64, 1), np.nan, np.float32)], axis=1)


@pytest.mark.parametrize("kernel, words, mistaken", [
    (tile_filled_but_for_its_last_column, "never written", with_a_nan_column),
    (accumulation_onto_what_a_memset_left, "accumulate=True", lambda x: x + 1),
])
def test_the_mistake_is_carried_out_with_a_warning(kernel, words, mistaken):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(kernel(X, False), X)
    with pytest.warns(UserWarning, match=words) as seen:
        np.testing.assert_array_equal(kernel(X, True), mistaken(X))
    assert [warning.filename for warning in seen] == [__file__]
