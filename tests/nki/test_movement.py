"""Loads, stores, transposes, products, selections and constants of nki.language."""

import numpy as np
import pytest
import trnsim
from oracle import FLOATS, INTEGERS, close, host, rounded, same, sample, wide

trnsim.install()

import nki
import nki.isa as nisa
import nki.language as nl


def to_hbm(tile):
    out = nl.ndarray(tile.shape, tile.dtype, nl.shared_hbm)
    nl.store(out, tile)
    return out


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_load_and_store_convert(run, dtype):
    x = sample((64, 10), low=-300, high=300)
    same(run(lambda t: to_hbm(nl.load(t, dtype=host(dtype))), x), rounded(x, dtype))


def test_store_refuses_psum(run):
    def kernel(x):
        tile = nl.load(x)
        product = nl.matmul(tile, tile, transpose_x=True)
        return to_hbm(product)

    with pytest.raises(trnsim.ProgramError, match="PSUM"):
        run(kernel, sample((8, 8)))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "float8_e5m2", "int32"])
@pytest.mark.parametrize("shape", [(96, 33), (16, 128), (1, 5)])
def test_load_transpose2d(run, shape, dtype):
    x = sample(shape, dtype)
    same(run(lambda t: to_hbm(nl.load_transpose2d(t)), x), x.T)


def test_load_transpose2d_converts(run):
    x = sample((96, 33))
    same(run(lambda t: to_hbm(nl.load_transpose2d(t, dtype=nl.bfloat16)), x), x.T.astype(nl.bfloat16))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float8_e5m2"])
@pytest.mark.parametrize("chip", ["trn1", "trn2", "trn3"])
def test_transpose(evaluate, dtype, chip):
    if chip == "trn1" and dtype.startswith("float8"):
        pytest.skip("NeuronCore-v2 multiplies in earnest, into float32")
    x = sample((96, 33), dtype)
    same(evaluate(nl.transpose, x, chip=chip), x.T)


def test_transpose_converts_first(evaluate):
    x = sample((96, 33))
    same(evaluate(lambda a: nl.transpose(a, dtype=nl.bfloat16), x), x.T.astype(nl.bfloat16))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("transpose_x", [False, True])
@pytest.mark.parametrize("chip", ["trn1", "trn2", "trn3"])
def test_matmul(evaluate, dtype, transpose_x, chip):
    x, y = sample((96, 64), dtype), sample((64, 200), dtype, seed=1)
    stationary = np.ascontiguousarray(x.T) if transpose_x else x
    result = evaluate(lambda a, b: nl.matmul(a, b, transpose_x), stationary, y, chip=chip)
    np.testing.assert_allclose(result, wide(x) @ wide(y), rtol=1e-5, atol=1e-4)


def test_matmul_says_what_does_not_fit(evaluate):
    with pytest.raises(trnsim.ProgramError, match="the last dimension of x is 64 and the first of y is 32"):
        evaluate(lambda a, b: nl.matmul(a, b), sample((96, 64)), sample((32, 8)))
    with pytest.raises(trnsim.ProgramError, match="taken as transposed"):
        evaluate(lambda a, b: nl.matmul(a, b, transpose_x=True), sample((96, 64)), sample((32, 8)))


CHOICES = {
    "tiles": (lambda c, x, y: nl.where(c, x, y), lambda c, x, y: np.where(c, x, y)),
    "number where true": (
        lambda c, x, y: nl.where(c, 2.5, y),
        lambda c, x, y: np.where(c, np.float32(2.5), y),
    ),
    "number where false": (
        lambda c, x, y: nl.where(c, x, -1),
        lambda c, x, y: np.where(c, x, np.float32(-1)),
    ),
    "column": (lambda c, x, y: nl.where(c, x[:, 0:1], y), lambda c, x, y: np.where(c, x[:, :1], y)),
    "row": (lambda c, x, y: nl.where(c, x[0:1], y), lambda c, x, y: np.where(c, x[:1], y)),
}


@pytest.mark.parametrize("dtype", ["float32", "uint8", "bfloat16"])
@pytest.mark.parametrize("choice", CHOICES)
def test_where(evaluate, choice, dtype):
    x, y = sample((64, 10)), sample((64, 10), seed=1)
    condition = (sample((64, 10), seed=2) > 0).astype(host(dtype))
    tiles, arrays = CHOICES[choice]
    same(evaluate(tiles, condition, x, y), arrays(condition.astype(bool), x, y))


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
@pytest.mark.parametrize(
    "shape, to",
    [
        ((1, 10), (128, 10)),
        ((1, 600), (70, 600)),
        ((1, 1), (64, 8)),
        ((64, 1), (64, 8)),
        ((1, 2, 1), (33, 2, 5)),
        ((4, 4), (4, 4)),
    ],
)
def test_broadcast_to(evaluate, shape, to, dtype):
    x = sample(shape, dtype, 0, 100)
    same(evaluate(lambda a: nl.broadcast_to(a, to), x), np.ascontiguousarray(np.broadcast_to(x, to)))


def test_broadcast_to_converts_and_refuses(evaluate):
    x = sample((1, 6))
    same(evaluate(lambda a: nl.broadcast_to(a, (8, 6), nl.float16), x), np.repeat(x, 8, 0).astype(np.float16))
    with pytest.raises(trnsim.ProgramError, match=r"\(1, 6\) cannot become \(8, 5\)"):
        evaluate(lambda a: nl.broadcast_to(a, (8, 5)), x)


@pytest.mark.parametrize("index", ["int32", "uint32", "uint16"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_gather_flattened(evaluate, index, dtype):
    x, at = sample((64, 5, 8), dtype), sample((64, 20), index, 0, 39, seed=1)
    same(
        evaluate(lambda a, b: nl.gather_flattened(a, b), x, at),
        np.take_along_axis(x.reshape(64, 40), at.astype(int), 1),
    )


def test_dropout(evaluate):
    x = sample((128, 64), low=1, high=2)
    same(evaluate(lambda a: nl.dropout(a, 0.0), x), x)
    kept = evaluate(lambda a: nl.dropout(a, 0.25), x) != 0
    assert 0.2 < 1 - kept.mean() < 0.3


@pytest.mark.parametrize("buffer", ["sbuf", "shared_hbm"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_constants(run, buffer, dtype):
    def kernel(x):
        where = {"buffer": getattr(nl, buffer)}
        made = (
            nl.zeros((70, 33), host(dtype), **where),
            nl.ones((70, 33), host(dtype), **where),
            nl.full((70, 33), 7, host(dtype), **where),
            nl.zeros_like(x, host(dtype), **where),
        )
        return tuple(made if buffer == "shared_hbm" else (to_hbm(tile) for tile in made))

    zeros, ones, sevens, like = run(kernel, sample((5, 6)))
    for got, value, shape in (
        (zeros, 0, (70, 33)),
        (ones, 1, (70, 33)),
        (sevens, 7, (70, 33)),
        (like, 0, (5, 6)),
    ):
        same(got, np.full(shape, value, host(dtype)))


def test_constants_longer_than_one_transfer(run):
    same(
        run(lambda x: nl.full((600, 1001), 2.5, nl.float32, nl.shared_hbm), sample((1, 1))),
        np.full((600, 1001), 2.5, np.float32),
    )


def test_empty_like(run):
    def kernel(x):
        tile = nl.load(x)
        empty = nl.empty_like(tile, dtype=nl.bfloat16)
        assert (empty.shape, empty.dtype, empty.buffer) == ((5, 6), nl.bfloat16, nl.sbuf)
        nisa.tensor_copy(dst=empty, src=tile)
        return to_hbm(empty)

    x = sample((5, 6))
    same(run(kernel, x), x.astype(nl.bfloat16))


@pytest.mark.parametrize("dtype", ["uint8", "bfloat16", "float32"])
def test_identity(run, dtype):
    def kernel(x):
        before = len_of_program()
        nl.shared_identity_matrix(128, host(dtype))
        loads = len_of_program() - before
        small = nl.shared_identity_matrix(12, host(dtype))
        assert len_of_program() - before == loads  # loaded once
        return to_hbm(small)

    same(run(kernel, sample((1, 1))), np.eye(12, dtype=host(dtype)))


def len_of_program():
    from trnsim import session

    return session.current().launch.instruction_count


def test_shared_constant(run, tmp_path):
    x = sample((20, 6), "bfloat16")
    same(run(lambda _: to_hbm(nl.load(nl.shared_constant(x))), x), x)
    y = sample((20, 6))
    np.save(tmp_path / "y.npy", y)
    same(run(lambda _: to_hbm(nl.load(nl.shared_constant(str(tmp_path / "y.npy")))), x), y)
    with pytest.raises(trnsim.ProgramError, match="not a readable .npy file"):
        run(lambda _: nl.shared_constant(str(tmp_path / "none.npy")), x)
    with pytest.raises(trnsim.ProgramError, match="must be an array or the path"):
        run(lambda _: nl.shared_constant(3), x)


def seeded_rand(run, seed, name, chip="trn2"):
    def kernel(seeds):
        nl.random_seed(nl.load(seeds))
        return to_hbm(nl.rand((128, 64), getattr(nl, name)))

    return run(kernel, np.array([[seed]], np.int32), chip=chip)


@pytest.mark.parametrize("chip", ("trn1", "trn2", "trn3"))
@pytest.mark.parametrize("name", [name for name in FLOATS if name != "float8_e4m3fn"])
def test_random_numbers(run, name, chip):
    x = seeded_rand(run, 4, name, chip)
    same(x, seeded_rand(run, 4, name, chip))
    assert (wide(x) != wide(seeded_rand(run, 5, name, chip))).any()
    assert 0 <= wide(x).min() and wide(x).mean() == pytest.approx(0.5, abs=0.04)
    assert wide(x).max() < 1 or chip == "trn3"  # there the engine converts a number just below 1


@pytest.mark.parametrize("chip, opcodes", [
    ("trn2", ["rng", "tensor_scalar", "tensor_scalar", "dma_copy"]), ("trn3", ["rand2", "dma_copy"]),
])
def test_random_numbers_come_from_the_instruction_of_the_chip(run, chip, opcodes):
    run(lambda x: to_hbm(nl.rand((4, 4), nl.float32)), sample((1, 1)), chip=chip)
    assert [i["opcode"] for i in trnsim.last_profile().instructions] == opcodes


def test_a_seed_is_a_tile(run):
    with pytest.raises(trnsim.ProgramError, match="seed"):
        run(lambda x: nl.random_seed(42), sample((1, 1)))


def test_expand_dims(evaluate):
    x = sample((8, 6))
    same(evaluate(lambda a: nl.expand_dims(a, 1), x), x[:, None, :])
    same(evaluate(lambda a: nl.expand_dims(a, (1, 3)), x), x[:, None, :, None])


def test_product_in_bfloat16_psum_of_v3_is_refused(run):
    def kernel(x):
        tile = nl.load(x)
        nisa.nc_matmul(dst=nl.ndarray((8, 8), nl.bfloat16, nl.psum), stationary=tile, moving=tile)

    with pytest.raises(trnsim.ProgramError, match="dst is bfloat16"):
        run(kernel, sample((8, 8), "bfloat16"))
    close(np.float32([1]), np.float32([1]))


@pytest.mark.parametrize("constant, words", [("missing.npy", "not a readable .npy file"), (3.0, "got float")])
def test_a_constant_that_is_no_array_is_refused(constant, words):
    with pytest.raises(trnsim.ProgramError, match=words) as caught:
        nki.jit(lambda: nl.shared_constant(constant))()
    assert caught.value.rule == "language.constant"
