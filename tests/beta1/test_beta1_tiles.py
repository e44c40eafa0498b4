"""Tiles: where results are written, block dimensions, accumulation in PSUM, what the kernel may not do."""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np
import pytest
import trnsim
from neuronxcc.nki.language import par_dim

A = np.arange(128 * 64, dtype=np.float32).reshape(128, 64) / 1000


def test_an_assigned_result_needs_no_copy(opcodes):
    @nki.jit
    def kernel(a):
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        x = nl.ndarray(a.shape, dtype=a.dtype)
        y = nl.ndarray((par_dim(128), 2, 64), dtype=a.dtype)
        x[...] = nl.load(a)
        y[:, 1, :] = nisa.activation(op=np.exp, data=x)
        y[:, 0, :] = nl.add(y[:, 1, :], x)
        nl.store(out, y[:, 0, :])
        return out

    np.testing.assert_allclose(kernel(A), np.exp(A) + A, rtol=1e-5)
    assert opcodes() == ["dma_copy", "activation", "tensor_tensor", "dma_copy"]


def test_a_result_in_a_variable_is_copied_when_it_is_assigned(opcodes):
    @nki.jit
    def kernel(a):
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        x = nl.load(a)
        y = nl.ndarray(a.shape, dtype=a.dtype)
        y[...] = x
        nl.store(out, y)
        return out

    np.testing.assert_array_equal(kernel(A), A)
    assert opcodes() == ["dma_copy", "tensor_copy", "dma_copy"]


def test_instructions_keep_their_order_and_their_lines():
    @nki.jit
    def kernel(a):
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        x = nl.load(a)
        before = nisa.tensor_copy(x)
        x[...] = nisa.tensor_scalar(x, np.multiply, 2.0)
        nl.store(out, nl.add(before, x))
        return out

    np.testing.assert_array_equal(kernel(A), A * 3)
    lines = [i["line"] for i in trnsim.last_profile().instructions]
    first = lines[0]
    assert lines == [first, first + 1, first + 2, first + 3, first + 3]


def test_an_illegal_instruction_is_found_on_its_own_line():
    @nki.jit
    def kernel(a):
        x = nl.load(a)
        y = nisa.tensor_tensor(x, x[0:64], op=nl.add)
        nl.store(a, y)

    with pytest.raises(trnsim.ProgramError) as caught:
        kernel(A)
    here = [entry for entry in caught.traceback if entry.path.name == "test_beta1_tiles.py"]
    assert "tensor_tensor(x, x[0:64]" in str(here[-1].statement)


def test_a_result_that_nobody_uses_is_still_computed(opcodes):
    @nki.jit
    def kernel(a):
        out = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
        total = nl.ndarray((128, 1), dtype=nl.float32)
        nisa.activation_reduce(op=np.square, data=nl.load(a), reduce_op=np.add, reduce_res=total)
        nl.store(out, total)
        return out

    np.testing.assert_allclose(kernel(A)[:, 0], (A * A).sum(1), rtol=1e-5)
    assert opcodes() == ["dma_copy", "activation_reduce", "dma_copy"]


def test_dtype_of_a_result_is_kept_on_its_way_to_another(opcodes):
    @nki.jit
    def kernel(a):
        out = nl.ndarray(a.shape, dtype=nl.float32, buffer=nl.shared_hbm)
        y = nl.ndarray(a.shape, dtype=nl.float32)
        y[...] = nisa.tensor_copy(nl.load(a), dtype=nl.bfloat16)
        nl.store(out, y)
        return out

    np.testing.assert_array_equal(kernel(A), A.astype(nl.bfloat16).astype(np.float32))
    assert opcodes() == ["dma_copy", "tensor_copy", "tensor_copy", "dma_copy"]


def test_block_dimensions_are_tiles(opcodes):
    @nki.jit
    def kernel(a):
        out = nl.ndarray((4, par_dim(32), 64), dtype=a.dtype, buffer=nl.shared_hbm)
        x = nl.ndarray((2, 2, par_dim(32), 64), dtype=a.dtype)
        for i in nl.affine_range(4):
            i_p, i_f = nl.mgrid[0:32, 0:64]
            x[i // 2, i % 2, i_p, i_f] = nl.load(a[i * 32 + i_p, i_f])
            x[i // 2, i % 2] = nl.negative(x[i // 2, i % 2])
            nl.store(out[i], x[i // 2, i % 2, :, :])
        return out

    np.testing.assert_array_equal(kernel(A), -A.reshape(4, 32, 64))
    assert opcodes() == ["dma_copy", "tensor_scalar", "dma_copy"] * 4


def test_tiles_that_are_not_used_any_more_make_room():
    @nki.jit
    def kernel(a):
        out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
        products = nl.ndarray((20, par_dim(128), 512), dtype=nl.float32, buffer=nl.psum)
        total = nl.zeros((128, 512), dtype=nl.float32)
        x = nl.load(a)
        for i in nl.affine_range(20):
            products[i] = nisa.nc_matmul(x[:, 0:128], x)
            total += products[i]
        nl.store(out, total)
        return out

    a = np.ones((128, 512), np.float32)
    np.testing.assert_array_equal(kernel(a), np.full((128, 512), 20 * 128.0))
    assert "spill" not in str(trnsim.last_profile().instructions)


def test_tiles_that_do_not_fit_come_back_through_hbm():
    @nki.jit
    def kernel(a):
        out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
        products = nl.ndarray((12, par_dim(128), 512), dtype=nl.float32, buffer=nl.psum)
        total = nl.zeros((128, 512), dtype=nl.float32)
        x = nl.load(a)
        for i in nl.affine_range(12):
            products[i] = nisa.nc_matmul(x[:, 0:128], x)
        for i in nl.affine_range(12):
            total += products[i]
        nl.store(out, total)
        return out

    a = np.ones((128, 512), np.float32)
    np.testing.assert_array_equal(kernel(a), np.full((128, 512), 12 * 128.0))
    assert "spill" in str(trnsim.last_profile().instructions)


def test_more_tiles_than_sbuf_holds_keep_their_values():
    @nki.jit
    def kernel(a):
        out = nl.ndarray((128, 4096), dtype=nl.float32, buffer=nl.shared_hbm)
        tiles = [nl.multiply(nl.load(a), float(i)) for i in range(20)]
        total = nl.zeros((128, 4096), dtype=nl.float32)
        for tile in tiles:
            total += tile
        tiles[3][0:64, 0:8] = 7.0
        nl.store(out, total + tiles[3])
        return out

    a = np.ones((128, 4096), np.float32)
    expected = np.full((128, 4096), 193.0)
    expected[:64, :8] = 197
    np.testing.assert_array_equal(kernel(a), expected)


def test_matmuls_accumulate_in_psum(opcodes, rng):
    a, b = (rng.standard_normal((256, size)).astype(np.float32) for size in (64, 96))

    @nki.jit
    def kernel(a, b):
        out = nl.ndarray((64, 96), dtype=nl.float32, buffer=nl.shared_hbm)
        product = nl.zeros((64, 96), dtype=nl.float32, buffer=nl.psum)
        for k in nl.affine_range(2):
            product += nisa.nc_matmul(nl.load(a[nl.ds(k * 128, 128)]), nl.load(b[nl.ds(k * 128, 128)]))
        nl.store(out, product)
        return out

    np.testing.assert_allclose(kernel(a, b), a.T @ b, rtol=1e-4, atol=1e-4)
    loads = ["dma_copy", "dma_copy", "nc_matmul"]
    assert opcodes() == loads * 2 + ["tensor_copy", "dma_copy"]  # no memset, no addition


def test_each_part_of_a_psum_tile_accumulates_for_itself(rng):
    a = rng.integers(-4, 4, (128, 128)).astype(np.float32)

    @nki.jit
    def kernel(a):
        out = nl.ndarray((128, 256), dtype=nl.float32, buffer=nl.shared_hbm)
        sums = nl.zeros((128, 2, 128), dtype=nl.float32, buffer=nl.psum)
        x = nl.load(a)
        for half in range(2):
            for _ in range(half + 1):
                sums[:, half, :] += nl.matmul(x, x, transpose_x=True)
        nl.store(out, sums)
        return out

    product = a.T @ a
    np.testing.assert_array_equal(kernel(a), np.concatenate([product, 2 * product], axis=1))


def test_a_part_adds_to_what_the_whole_accumulated(rng):
    a = rng.integers(-4, 4, (128, 128)).astype(np.float32)

    @nki.jit
    def kernel(a):
        out = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.shared_hbm)
        x = nl.load(a)
        total = nl.zeros((128, 128), dtype=nl.float32, buffer=nl.psum)
        total += nisa.nc_matmul(x, x)
        total[:, 32:64] += nisa.nc_matmul(x, x[:, 32:64])
        total += nisa.nc_matmul(x, x)
        nl.store(out, total)
        return out

    product = a.T @ a
    expected = 2 * product
    expected[:, 32:64] += product[:, 32:64]
    np.testing.assert_array_equal(kernel(a), expected)


def test_an_assigned_matmul_starts_anew(rng):
    a = rng.integers(-4, 4, (128, 128)).astype(np.float32)

    @nki.jit
    def kernel(a):
        out = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.shared_hbm)
        x = nl.load(a)
        total = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
        total += nisa.nc_matmul(x, x)
        total[...] = nisa.nc_matmul(x, x)
        total += nisa.nc_matmul(x, x)
        nl.store(out, total)
        return out

    np.testing.assert_array_equal(kernel(a), 2 * (a.T @ a))


def test_zeros_in_psum_without_a_matmul_are_zeros():
    @nki.jit
    def kernel():
        out = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
        nl.store(out, nl.zeros((128, 8), dtype=nl.float32, buffer=nl.psum))
        return out

    np.testing.assert_array_equal(kernel(), np.zeros((128, 8)))


def test_numbers_fill_tiles_and_single_elements():
    @nki.jit
    def kernel():
        out = nl.ndarray((40, 4), dtype=nl.int32, buffer=nl.shared_hbm)
        x = nl.full((40, 4), 7, dtype=nl.int32)
        for i in range(4):
            x[i + 10, i] = i
        nl.store(out, x)
        return out

    expected = np.full((40, 4), 7)
    expected[np.arange(4) + 10, np.arange(4)] = np.arange(4)
    np.testing.assert_array_equal(kernel(), expected)


@pytest.mark.parametrize(
    "rule, body, word",
    [
        ("tensor.truth", lambda a, x: 1 if x > 0 else 2, "nl.where"),
        ("tensor.value", lambda a, x: range(x), "loop bound"),
        ("tensor.value", lambda a, x: np.asarray(x), "numpy array"),
        ("tensor.immutable", lambda a, x: nl.store(a, x), "mutable_tensor"),
        ("assign.hbm", lambda a, x: a.__setitem__(0, x), "nl.store"),
        ("assign.shape", lambda a, x: x.__setitem__(slice(0, 64), nl.load(a)), "(128, 64)"),
        ("isa.buffer", lambda a, x: nisa.tensor_tensor(a, x, op=nl.add), "nl.load"),
        ("isa.argument", lambda a, x: nisa.reciprocal(3.0), "must be a tile"),
        ("isa.axis", lambda a, x: nl.sum(x, axis=0), "partition"),
        ("index.tile", lambda a, x: x[x, 0], "one index per partition"),
        (
            "index.blocks",
            lambda a, x: nisa.tensor_copy(nl.ndarray((2, par_dim(8), 8), dtype=a.dtype)),
            "2 tiles",
        ),
        ("tile.partitions", lambda a, x: nl.load(a.reshape((256, 32))), "128"),
        ("dtype.unknown", lambda a, x: nl.ndarray((8, 8), dtype="float128"), "float128"),
        ("language.operator", lambda a, x: nisa.tensor_tensor(x, x, op=np.linalg.norm), "not an operator"),
        ("memory.never_written", lambda a, x: nl.exp(nl.ndarray((8, 8), dtype=a.dtype)), "never written"),
    ],
)
def test_what_kernels_may_not_do(refused, rule, body, word):
    @nki.jit
    def kernel(a):
        body(a, nl.load(a))

    with refused(rule, word):
        kernel(A)


def test_a_product_in_a_variable_accumulates_too(opcodes, rng):
    a = rng.integers(-4, 4, (128, 64)).astype(np.float32)

    @nki.jit
    def kernel(a):
        out = nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        total = nl.zeros((64, 64), dtype=nl.float32, buffer=nl.psum)
        x = nl.load(a)
        for _ in nl.affine_range(3):
            product = nisa.nc_matmul(x, x)
            total += product
        nl.store(out, total)
        return out

    np.testing.assert_array_equal(kernel(a), 3 * (a.T @ a))
    assert opcodes() == ["dma_copy"] + 3 * ["nc_matmul"] + ["tensor_copy", "dma_copy"]


def test_a_product_that_is_used_again_keeps_its_value(rng):
    a = rng.integers(-4, 4, (128, 64)).astype(np.float32)

    @nki.jit
    def kernel(a):
        out = nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        total = nl.zeros((64, 64), dtype=nl.float32, buffer=nl.psum)
        x = nl.load(a)
        total += nisa.nc_matmul(x, x)
        product = nisa.nc_matmul(x, x)
        total += product
        nl.store(out, nl.subtract(total, product))
        return out

    np.testing.assert_array_equal(kernel(a), a.T @ a)


def test_instructions_repeat_free_axes(rng):
    a = rng.integers(-4, 4, (128, 4, 8)).astype(np.float32)
    column = rng.integers(-4, 4, (128, 1)).astype(np.float32)

    @nki.jit
    def kernel(a, column):
        out = nl.ndarray(a.shape, dtype=nl.float32, buffer=nl.shared_hbm)
        nl.store(out, nisa.tensor_tensor(nl.load(a), nl.load(column), op=nl.add))
        return out

    np.testing.assert_array_equal(kernel(a, column), a + column[:, :, None])
