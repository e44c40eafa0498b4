"""Tensor indirection: columns that an index names, gathered and scattered by the engines of NeuronCore-v4."""

import ml_dtypes
import numpy as np
import pytest
import trnsim
from oracle import same, sample

trnsim.install()

import nki.isa as nisa
import nki.language as nl

P, F = 64, 24


def index_of(offsets, partitions, group=16, dtype=np.uint32):
    """The index tile that holds a list of offsets; what nobody reads is out of range."""
    columns = -(-len(offsets) // group)
    index = np.full((partitions, columns), 30000, dtype)
    for i, offset in enumerate(offsets):
        index[i % group, i // group] = offset
    return index


def stored(tile):
    out = nl.ndarray(tile.shape, tile.dtype, nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out


def offsets_of(count, seed=0, limit=F, unique=False):
    rng = np.random.default_rng(seed)
    return rng.permutation(limit)[:count] if unique else rng.integers(0, limit, count)


def gathered_copy(count, engine=None):
    def kernel(x, index):
        tile, offsets = nl.load(x), nl.load(index)
        result = nl.ndarray((x.shape[0], count), x.dtype, nl.sbuf)
        nisa.tensor_copy(dst=result, src=tile.indirect(offsets, count), **({"engine": engine} if engine else {}))
        return stored(result)

    return kernel


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int8", "uint16", "int32"])
@pytest.mark.parametrize("count", [1, 15, 16, 17, 40])
def test_gather(run, dtype, count):
    x, offsets = sample((P, F), dtype), offsets_of(count)
    same(run(gathered_copy(count), x, index_of(offsets, P), chip="trn3"), x[:, offsets])


@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.int32, np.uint32, np.uint8])
def test_any_integer_is_an_index(run, dtype):
    x, offsets = sample((P, F)), offsets_of(20)
    index = index_of(offsets, P, dtype=np.uint32)
    index[index == 30000] = 0
    same(run(gathered_copy(20), x, index.astype(dtype), chip="trn3"), x[:, offsets])


def test_gather_on_the_scalar_engine(run):
    x, offsets = sample((P, F)), offsets_of(20)
    same(run(gathered_copy(20, nisa.engine.scalar), x, index_of(offsets, P), chip="trn3"), x[:, offsets])


def test_without_num_elem_the_whole_index_is_meant(run):
    def kernel(x, index):
        view = nl.load(x).indirect(nl.load(index))
        assert view.shape == (16, 32) and view.is_indirect() and view.dtype == nl.float32 and view.size == 512
        result = nl.ndarray((16, 32), x.dtype, nl.sbuf)
        nisa.tensor_copy(dst=result, src=view)
        return stored(result)

    x, offsets = sample((16, F)), offsets_of(32)
    same(run(kernel, x, index_of(offsets, 16), chip="trn3"), x[:, offsets])


def test_gather_from_a_strided_view_of_psum(run):
    def kernel(x, index):
        psum = nl.ndarray((P, 4, 6), nl.float32, nl.psum)
        nisa.tensor_copy(dst=psum, src=nl.load(x))
        result = nl.ndarray((P, 10), x.dtype, nl.sbuf)
        nisa.tensor_copy(dst=result, src=psum[:, 1:3, ::2].indirect(nl.load(index), 10))
        return stored(result)

    x, offsets = sample((P, 4, 6)), offsets_of(10, limit=6)
    same(run(kernel, x, index_of(offsets, P), chip="trn3"), x[:, 1:3, ::2].reshape(P, 6)[:, offsets])


def test_scatter_leaves_the_other_columns(run):
    def kernel(x, y, index):
        tile = nl.load(x)
        nisa.tensor_copy(dst=tile.indirect(nl.load(index), 10), src=nl.load(y))
        return stored(tile)

    x, y, offsets = sample((P, F)), sample((P, 10)) + 1, offsets_of(10, unique=True)
    expected = x.copy()
    expected[:, offsets] = y
    same(run(kernel, x, y, index_of(offsets, P), chip="trn3"), expected)


def test_the_last_of_equal_columns_stays(run):
    def kernel(x, y, index):
        tile = nl.load(x)
        nisa.tensor_copy(dst=tile.indirect(nl.load(index), 4), src=nl.load(y))
        return stored(tile)

    x, y = sample((P, F)), sample((P, 4)) + 1
    expected = x.copy()
    expected[:, 5], expected[:, 7] = y[:, 2], y[:, 3]
    same(run(kernel, x, y, index_of([5, 7, 5, 7], P), chip="trn3"), expected)


def test_a_scatter_in_place_reads_before_it_writes(run):
    def kernel(x, index):
        tile, offsets = nl.load(x), nl.load(index)
        nisa.tensor_copy(dst=tile.indirect(offsets, F), src=tile)
        return stored(tile)

    x = sample((P, F))
    same(run(kernel, x, index_of(np.arange(F)[::-1], P), chip="trn3"), x[:, ::-1])


N = 20
OFFSETS = offsets_of(N, unique=True)


def both(instruction):
    """The instruction from gathered columns of x to scattered columns of a tile of zeros."""

    def kernel(x, index):
        tile, offsets = nl.load(x), nl.load(index)
        result = nl.zeros((P, F), nl.float32)
        instruction(result.indirect(offsets, N), tile.indirect(offsets, N), tile)
        return stored(result)

    return kernel


INSTRUCTIONS = {
    "tensor_tensor": (
        lambda dst, src, tile: nisa.tensor_tensor(dst, src, tile[:, 0:N], op=nl.add),
        lambda x, c: c + x[:, :N],
    ),
    "tensor_scalar": (
        lambda dst, src, tile: nisa.tensor_scalar(dst, src, op0=nl.multiply, operand0=2.0, op1=nl.add, operand1=1.0),
        lambda x, c: c * 2 + 1,
    ),
    "tensor_scalar on Scalar": (
        lambda dst, src, tile: nisa.tensor_scalar(
            dst, src, op0=nl.multiply, operand0=2.0, engine=nisa.engine.scalar
        ),
        lambda x, c: c * 2,
    ),
    "tensor_scalar_cumulative": (
        lambda dst, src, tile: nisa.tensor_scalar_cumulative(dst, src, op0=nl.multiply, op1=nl.maximum, imm0=1.0),
        lambda x, c: np.maximum.accumulate(c, 1),
    ),
    "tensor_scalar_reduce": (
        lambda dst, src, tile: nisa.tensor_scalar_reduce(
            dst, src, op0=nl.multiply, operand0=3.0, reduce_op=nl.maximum,
            reduce_res=nl.ndarray((P, 1), nl.float32, nl.sbuf),
        ),
        lambda x, c: c * 3,
    ),
    "activation": (
        lambda dst, src, tile: nisa.activation(dst, op=nl.square, data=src),
        lambda x, c: c * c,
    ),
    "activation_reduce": (
        lambda dst, src, tile: nisa.activation_reduce(
            dst, op=nl.square, data=src, reduce_op=nl.add, reduce_res=nl.ndarray((P, 1), nl.float32, nl.sbuf)
        ),
        lambda x, c: c * c,
    ),
    "tensor_copy_predicated": (
        lambda dst, src, tile: predicated(dst, src, tile),
        lambda x, c: np.where(c.view(np.uint32) != 0, x[:, :N], 0),
    ),
}


def predicated(dst, src, tile):
    words = tile.view(nl.uint32).indirect(src.index, N)
    nisa.tensor_copy_predicated(dst=dst, src=tile[:, 0:N], predicate=words)


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_instructions(run, name):
    instruction, function = INSTRUCTIONS[name]
    x = sample((P, F))
    x[:, ::3] = 0
    expected = np.zeros((P, F), np.float32)
    expected[:, OFFSETS] = function(x, x[:, OFFSETS])
    same(run(both(instruction), x, index_of(OFFSETS, P), chip="trn3"), expected)


def test_tensor_reduce(run):
    def kernel(x, index):
        result = nl.ndarray((P, 1), nl.float32, nl.sbuf)
        nisa.tensor_reduce(dst=result, op=nl.maximum, data=nl.load(x).indirect(nl.load(index), N), axis=1)
        return stored(result)

    x = sample((P, F))
    same(run(kernel, x, index_of(OFFSETS, P), chip="trn3"), x[:, OFFSETS].max(1, keepdims=True))


@pytest.mark.parametrize("indirect", ["stationary", "moving", "dst", "all"])
def test_nc_matmul(run, indirect):
    k, m, n = 64, 40, 50
    rng = np.random.default_rng(1)
    a = rng.integers(-3, 4, (k, 60)).astype(ml_dtypes.bfloat16)
    b = rng.integers(-3, 4, (k, 70)).astype(ml_dtypes.bfloat16)
    of_a, of_b, of_dst = offsets_of(m, 1, 60), offsets_of(n, 2, 70), offsets_of(n, 3, 90, unique=True)
    chosen = {"stationary", "moving", "dst"} if indirect == "all" else {indirect}

    def kernel(a, b, ia, ib, idst):
        stationary, moving = nl.load(a), nl.load(b)
        psum = nl.ndarray((m, 90), nl.float32, nl.psum)
        nisa.memset(dst=psum, value=0)
        stationary = stationary.indirect(nl.load(ia), m) if "stationary" in chosen else stationary[:, 0:m]
        moving = moving.indirect(nl.load(ib), n) if "moving" in chosen else moving[:, 0:n]
        dst = psum.indirect(nl.load(idst), n) if "dst" in chosen else psum[:, 0:n]
        for _ in range(2):  # the second adds
            nisa.nc_matmul(dst=dst, stationary=stationary, moving=moving)
        result = nl.ndarray((m, 90), nl.float32, nl.sbuf)
        nisa.tensor_copy(dst=result, src=psum)
        return stored(result)

    left = a[:, of_a] if "stationary" in chosen else a[:, :m]
    right = b[:, of_b] if "moving" in chosen else b[:, :n]
    expected = np.zeros((m, 90), np.float32)
    expected[:, of_dst if "dst" in chosen else slice(0, n)] = 2 * (left.astype(np.float32).T @ right.astype(np.float32))
    index = [index_of(o, p, 32) for o, p in ((of_a, k), (of_b, k), (of_dst, m))]
    same(run(kernel, a, b, *index, chip="trn3"), expected)


def try_copy(change=lambda t: t, index=None, count=8, dst_index=None, engine=None, partitions=P):
    """A kernel that copies with an indirection; `change` makes the view that is gathered from."""

    def kernel(x, offsets):
        tile, offsets = nl.load(x), nl.load(offsets)
        source = change(tile).indirect(offsets if index is None else index(offsets), count)
        result = nl.ndarray((source.shape[0], count), x.dtype, nl.sbuf)
        nisa.tensor_copy(dst=result, src=source, **({"engine": engine} if engine else {}))

    return kernel


def load_part(start, stop):
    return lambda tile: tile[start:stop]


def scatter(dst_start, index_start, source_start):
    """A copy of 32 partitions whose destination's index lies where it is told to."""

    def kernel(x, offsets):
        tile, index = nl.load(x), nl.load(offsets)
        rows = lambda start: slice(start, start + 32)  # noqa: E731
        result = nl.zeros((P, F), nl.float32)
        nisa.tensor_copy(
            dst=result[rows(dst_start)].indirect(index[rows(index_start)], 8), src=tile[rows(source_start), 0:8]
        )

    return kernel


def unwritten(x, offsets):
    tile = nl.ndarray((P, F), nl.float32, nl.sbuf)
    nisa.memset(dst=tile[:, 0:4], value=1)
    result = nl.ndarray((P, 8), nl.float32, nl.sbuf)
    nisa.tensor_copy(dst=result, src=tile.indirect(nl.load(offsets), 8))


def on(instruction):
    def kernel(x, offsets):
        tile, index = nl.load(x), nl.load(offsets)
        instruction(tile, tile.indirect(index, 8), nl.ndarray((P, 8), nl.float32, nl.sbuf), index)

    return kernel


def psum_of(shape):
    return nl.ndarray(shape, nl.float32, nl.psum)


REFUSED = {
    "another generation": (try_copy(), "tensor_copy.generation", "trn2"),
    "GpSimd": (try_copy(engine=nisa.engine.gpsimd), "tensor_copy.indirect_engine", "trn3"),
    "start elsewhere": (
        try_copy(load_part(32, 64), index=load_part(0, 32)),
        "tensor_copy.indirect_start",
        "trn3",
    ),
    "index off the quadrant": (
        try_copy(load_part(16, 32), index=load_part(16, 32)),
        "tensor_copy.indirect_index",
        "trn3",
    ),
    "too few partitions": (
        try_copy(load_part(0, 8), index=load_part(0, 8), count=12),
        "tensor_copy.indirect_index",
        "trn3",
    ),
    "more than a group holds": (try_copy(count=33), "tensor_copy.indirect_index", "trn3"),
    "index of the destination": (scatter(0, 32, 0), "tensor_copy.indirect_start", "trn3"),
    "offset beyond": (try_copy(lambda t: t[:, 0:4]), "tensor_copy.indirect_bounds", "trn3"),
    "never written": (unwritten, "memory.never_written", "trn3"),
    "memory": (lambda x, i: x.indirect(nl.load(i), 8), "tensor.indirect", "trn3"),
    "index in HBM": (lambda x, i: nl.load(x).indirect(i, 8), "tensor.indirect", "trn3"),
    "index of floats": (lambda x, i: nl.load(x).indirect(nl.load(x), 8), "tensor.indirect", "trn3"),
    "partitions of the index": (
        lambda x, i: nl.load(x)[0:32].indirect(nl.load(i), 8),
        "tensor.indirect",
        "trn3",
    ),
    "no element": (lambda x, i: nl.load(x).indirect(nl.load(i), 0), "tensor.indirect", "trn3"),
    "more than the index": (lambda x, i: nl.load(x).indirect(nl.load(i), 129), "tensor.indirect", "trn3"),
    "sliced": (lambda x, i: nl.load(x).indirect(nl.load(i), 8)[:, 0:2], "tensor.indirect", "trn3"),
    "twice": (lambda x, i: nl.load(x).indirect(nl.load(i), 8).indirect(nl.load(i), 2), "tensor.indirect", "trn3"),
    "data2": (
        on(lambda tile, cols, out, i: nisa.tensor_tensor(out, tile[:, 0:8], cols, op=nl.add)),
        "tensor_tensor.indirect",
        "trn3",
    ),
    "operand0": (
        on(lambda tile, cols, out, i: nisa.tensor_scalar(out[:, 0:1], tile[:, 0:1], nl.add, tile.indirect(i, 1))),
        "tensor_scalar.indirect",
        "trn3",
    ),
    "address arithmetic": (
        on(lambda tile, cols, out, i: nisa.tensor_scalar(
            out.view(nl.int32), tile.view(nl.int32).indirect(i, 8), nl.add, 1.0)),
        "tensor_scalar.indirect_address",
        "trn3",
    ),
    "memset": (on(lambda tile, cols, out, i: nisa.memset(cols, 0)), "memset.indirect", "trn3"),
    "reciprocal": (on(lambda tile, cols, out, i: nisa.reciprocal(out, cols)), "reciprocal.indirect", "trn3"),
    "dma_copy": (on(lambda tile, cols, out, i: nisa.dma_copy(dst=out, src=cols)), "dma_copy.indirect", "trn3"),
    "language": (on(lambda tile, cols, out, i: nl.exp(cols)), "language.argument", "trn3"),
    "Scalar into PSUM": (
        on(lambda tile, cols, out, i: nisa.activation(psum_of((P, F)).indirect(i, 8), op=nl.exp, data=cols)),
        "activation.indirect_psum",
        "trn3",
    ),
    "matmul of floats": (
        on(lambda tile, cols, out, i: nisa.nc_matmul(psum_of((8, 8)), cols, tile[:, 0:8])),
        "nc_matmul.indirect_dtype",
        "trn3",
    ),
    "matmul elsewhere in the array": (
        on(lambda tile, cols, out, i: nisa.nc_matmul(
            psum_of((8, 8)), tile.view(nl.bfloat16)[0:32].indirect(i[0:32], 8), tile.view(nl.bfloat16)[0:32, 0:8],
            tile_position=(32, 0), tile_size=(32, 32))),
        "nc_matmul.indirect_position",
        "trn3",
    ),
    "transposed moving": (
        on(lambda tile, cols, out, i: nisa.nc_matmul(
            nl.ndarray((8, 8), nl.bfloat16, nl.psum), tile.view(nl.bfloat16)[:, 0:8],
            tile.view(nl.bfloat16).indirect(i, 8), is_transpose=True)),
        "nc_matmul.indirect",
        "trn3",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(run, name):
    kernel, rule, chip = REFUSED[name]
    index = np.tile((np.arange(P, dtype=np.uint32) % 8)[:, None], (1, 2))
    with pytest.raises(trnsim.ProgramError) as caught:
        run(kernel, sample((P, F)), index, chip=chip)
    assert caught.value.rule == rule, str(caught.value)


def test_time_does_not_depend_on_the_values():
    import nki

    def kernel(x, index):
        tile, offsets = nl.load(x), nl.load(index)
        result = nl.zeros((P, F), nl.float32)
        nisa.tensor_copy(dst=result.indirect(offsets, 10), src=tile.indirect(offsets, 10))
        nisa.tensor_copy(dst=result, src=result)  # waits for the scatter
        return stored(result)

    times = []
    for timing_only in (False, True):
        trnsim.install(chip="trn3", timing_only=timing_only)
        try:
            nki.jit(kernel)(sample((P, F)), index_of(offsets_of(10, unique=True), P))
            times.append(trnsim.last_profile().latency_us)
        finally:
            trnsim.install()
    assert times[0] == times[1] > 0
