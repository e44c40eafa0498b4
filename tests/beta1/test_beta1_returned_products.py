"""Beta 1: a product that a function of the kernel returns accumulates in PSUM where the caller adds it."""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np
import pytest
import trnsim


@nki.jit
def _jitted_product(left, right):
    return nl.matmul(left, right, transpose_x=True)


def _returned_product(left, right):
    return nisa.nc_matmul(left, right)


def _named_product(left, right):
    product = nisa.nc_matmul(left, right)
    return product


def _passed_on_product(left, right):
    return _named_product(left, right)


@pytest.mark.parametrize("multiply", [_returned_product, _named_product, _passed_on_product, _jitted_product])
@pytest.mark.parametrize("in_variable", [False, True])
def test_products_that_functions_return_add_up_in_psum(rng, multiply, in_variable):
    """The Tensor engine accumulates them: the Vector engine only copies the sum out."""

    @nki.jit
    def kernel(x, y):
        out = nl.ndarray((32, 48), dtype=nl.float32, buffer=nl.shared_hbm)
        total = nl.zeros((32, 48), nl.float32, buffer=nl.psum)
        left, right = nl.load(x), nl.load(y)
        for _ in nl.static_range(3):
            if in_variable:
                product = multiply(left, right)
                total += product
            else:
                total += multiply(left, right)
        nl.store(out, nl.copy(total))
        return out

    x, y = (rng.integers(-9, 9, (64, n)).astype(np.float32) for n in (32, 48))
    assert np.array_equal(kernel(x, y), 3 * (x.T @ y))
    names = [instruction["opcode"] for instruction in trnsim.last_profile().instructions]
    assert names.count("nc_matmul") == 3 and "tensor_tensor" not in names


def test_a_product_that_a_function_returns_is_whole_before_it_is_used_otherwise(rng):
    @nki.jit
    def kernel(x, y):
        out = nl.ndarray((32, 96), dtype=nl.float32, buffer=nl.shared_hbm)
        total = nl.zeros((32, 48), nl.float32, buffer=nl.psum)
        left, right = nl.load(x), nl.load(y)
        for _ in nl.static_range(2):
            product = _returned_product(left, right)
            total += product
        nl.store(out[:, 0:48], nl.copy(total))
        nl.store(out[:, 48:96], nl.copy(product))
        return out

    x, y = (rng.integers(-9, 9, (64, n)).astype(np.float32) for n in (32, 48))
    product = x.T @ y
    assert np.array_equal(kernel(x, y), np.concatenate([2 * product, product], axis=1))
