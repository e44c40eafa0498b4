"""nki.isa.dma_transpose against numpy."""

import numpy as np
import pytest
import trnsim
from vector_oracle import DTYPES, load, new, nisa, nl, same, sample, store

AXES = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}
WIDE = [name for name in DTYPES if not name.startswith("float8") and name not in ("int8", "uint8")]


def transposed(run, x, on_chip=False, shape=None, chip="trn2", **arguments):
    shape = shape or tuple(x.shape[axis] for axis in AXES[x.ndim])

    def kernel(tensor):
        result = nl.ndarray(shape, dtype=tensor.dtype, buffer=nl.sbuf)
        nisa.dma_transpose(dst=result, src=load(tensor) if on_chip else tensor, **arguments)
        return store(result)

    return run(kernel, x, chip=chip)


def refused(run, rule, x, **arguments):
    with pytest.raises(trnsim.ProgramError) as error:
        transposed(run, x, **arguments)
    assert error.value.rule == "dma_transpose." + rule, str(error.value)


@pytest.mark.parametrize("on_chip", (False, True))
@pytest.mark.parametrize("shape", [(1, 1), (128, 128), (5, 7), (100, 1), (3, 5, 7), (64, 9, 128), (4, 3, 5, 2)])
def test_shapes(run, shape, on_chip):
    x = sample(shape, "bfloat16")
    same(transposed(run, x, on_chip), x.transpose(AXES[x.ndim]))


@pytest.mark.parametrize("name", WIDE)
def test_dtypes(run, name):
    x = sample((24, 40), name)
    same(transposed(run, x, axes=(1, 0)), x.T)


@pytest.mark.parametrize("shape", [(16, 100), (4, 4, 128), (1, 16, 32), (16, 2, 3, 64)])
def test_hardware_descriptors(run, shape):
    x = sample(shape, "float16")
    same(transposed(run, x, dge_mode=nisa.dge_mode.hwdge), x.transpose(AXES[x.ndim]))


@pytest.mark.parametrize("rows, partitions", [(32, 32), (16, 64), (128, 128), (256, 128)])
def test_gathered_rows(run, rows, partitions):
    x = sample((300, 40), "bfloat16")
    index = np.random.default_rng(1).integers(0, 300, (partitions, 2 if rows > 128 else 1)).astype(np.uint32)

    def kernel(tensor, indices):
        result = new((40, rows), "bfloat16")
        nisa.dma_transpose(dst=result, src=tensor, src_index=load(indices))
        return store(result)

    same(run(kernel, x, index), x[index.T.flatten()[:rows]].T)


def test_rows_out_of_range_are_skipped(run):
    x = sample((10, 8), "float16")
    index = np.arange(16, dtype=np.uint32)[:, None]

    def kernel(tensor, indices):
        result = new((8, 16), "float16")
        nisa.memset(dst=result, value=3.0)
        nisa.dma_transpose(dst=result, src=tensor, src_index=load(indices), oob_mode=nisa.oob_mode.skip)
        return store(result)

    expected = np.full((8, 16), 3, np.float16)
    expected[:, :10] = x.T
    same(run(kernel, x, index), expected)


@pytest.mark.parametrize("rule, x, arguments", [
    ("dtype", sample((8, 8), "uint8"), {}),
    ("axes", sample((8, 8)), {"axes": (0, 1)}),
    ("axes", sample((8, 8)), {"axes": (2, 1, 0)}),
    ("axes", sample((2, 3, 4, 5)), {"axes": (3, 2, 1, 0)}),
    ("dst_shape", sample((8, 4)), {"shape": (4, 9)}),
    ("dst_shape", sample((8, 4)), {"shape": (4, 1, 8)}),
    ("rank", sample((8,)), {"shape": (8, 1)}),
    ("oob_mode", sample((8, 4)), {"oob_mode": nisa.oob_mode.skip}),
    ("hwdge_dtype", sample((16, 4)), {"dge_mode": nisa.dge_mode.hwdge}),
    ("hwdge_shape", sample((32, 4), "float16"), {"dge_mode": nisa.dge_mode.hwdge}),
    ("hwdge_shape", sample((3, 16, 4), "float16"), {"dge_mode": nisa.dge_mode.hwdge}),
    ("hwdge_shape", sample((4, 3, 4), "float16"), {"dge_mode": nisa.dge_mode.hwdge}),
    ("generation", sample((16, 4), "float16"), {"dge_mode": nisa.dge_mode.hwdge, "chip": "trn1"}),
    ("generation", sample((16, 4), "float16"), {"priority": 1}),
    ("priority", sample((16, 4), "float16"), {"priority": 4, "chip": "trn3"}),
    ("swdge", sample((8, 4), "float16"), {"dge_mode": nisa.dge_mode.swdge}),
])
def test_rules(run, rule, x, arguments):
    refused(run, rule, x, **arguments)


def test_dtypes_must_be_equal(run):
    def kernel(tensor):
        result = new((4, 8), "float16")
        nisa.dma_transpose(dst=result, src=tensor)
        return store(result)

    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, sample((8, 4), "bfloat16"))
    assert error.value.rule == "dma_transpose.same_dtype"


@pytest.mark.parametrize("rule, name, index, columns, arguments", [
    ("index_src", "float32", (16, 1), 16, {}),
    ("index_src", "float16", (16, 1), 15, {}),
    ("index_shape", "float16", (16, 1), 32, {}),
    ("index_shape", "float16", (16, 2), 32, {}),
    ("index_shape", "float16", (24, 1), 16, {}),
    ("index_dtype", "float16", (16, 1), 16, {"dtype": np.int32}),
    ("index_dge", "float16", (16, 1), 16, {"dge_mode": nisa.dge_mode.hwdge}),
    ("out_of_bounds", "float16", (16, 1), 16, {"value": 9}),
    ("generation", "float16", (16, 1), 16, {"chip": "trn1"}),
    ("index_side", "float16", (16, 1), 16, {"on_chip": True}),
])
def test_index_rules(run, rule, name, index, columns, arguments):
    arguments = dict(arguments)
    indices = np.full(index, arguments.pop("value", 0), arguments.pop("dtype", np.uint32))
    chip, on_chip = arguments.pop("chip", "trn2"), arguments.pop("on_chip", False)

    def kernel(tensor, rows):
        nisa.dma_transpose(dst=new((4, columns), name), src=load(tensor) if on_chip else tensor, src_index=load(rows),
                           **arguments)

    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, sample((8, 4), name), indices, chip=chip)
    assert error.value.rule == "dma_transpose." + rule, str(error.value)


def test_psum_is_out_of_reach(run):
    def kernel(tensor):
        nisa.dma_transpose(dst=new((4, 8), buffer=nl.psum), src=tensor)

    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, sample((8, 4)))
    assert error.value.rule == "dma_transpose.buffer"
