"""Kernels called on JAX arrays, inside jax.jit and by nki_call."""

import numpy as np
import pytest

pytestmark = pytest.mark.needs_jax
jax = pytest.importorskip("jax", reason="JAX is not installed; pip install trnsim[jax] to run these tests")

import jax.numpy as jnp
import neuronxcc.nki as nki1
import neuronxcc.nki.language as nl1
import nki
import nki.language as nl
import trnsim
from jax_neuronx import nki_call


@nki1.jit
def beta1_add(a, b):
    out = nl1.ndarray(a.shape, dtype=a.dtype, buffer=nl1.shared_hbm)
    nl1.store(out, nl1.load(a) + nl1.load(b))
    return out


@nki.jit
def add(a, b):
    out = nl.ndarray(a.shape, a.dtype, nl.shared_hbm)
    nl.store(out, nl.add(nl.load(a), nl.load(b)))
    return out


@nki.jit
def sum_and_difference(pair, factor=1):
    outs = [nl.ndarray(pair[0].shape, pair[0].dtype, nl.shared_hbm) for _ in range(2)]
    a, b = nl.load(pair[0]), nl.load(pair[1])
    nl.store(outs[0], nl.multiply(nl.add(a, b), factor))
    nl.store(outs[1], nl.subtract(a, b))
    return tuple(outs)


def add_into(a, b, out):
    nl1.store(out, nl1.load(a) + nl1.load(b))


def add_rows_into(a, b, out):
    """One program of the grid for each row."""
    row = nl1.program_id(0)
    nl1.store(out[row], nl1.load(a[row]) + nl1.load(b[row]))


@pytest.mark.parametrize("kernel", [add, beta1_add])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int32", "float8_e5m2", "float8_e4m3fn"])
def test_arrays_come_back_as_arrays_of_their_dtype(kernel, dtype):
    a = jnp.arange(32).reshape(4, 8).astype(dtype)
    result = kernel(a, jnp.zeros_like(a))
    assert isinstance(result, jax.Array) and result.dtype == a.dtype
    assert np.asarray(result).tobytes() == np.asarray(a).tobytes()


@pytest.mark.parametrize("kernel", [add, beta1_add])
def test_a_kernel_inside_jit(kernel):
    a, b = jnp.arange(32.0).reshape(4, 8), jnp.ones((4, 8))
    before = len(trnsim.profiles())
    function = jax.jit(lambda a, b: kernel(a * 2, b) + 1)
    for scale in (1, 3):
        assert jnp.array_equal(function(a * scale, b), a * scale * 2 + b + 1)
    assert len(trnsim.profiles()) == before + 2  # finding the shapes is not a launch


def test_trees_and_options_inside_jit():
    a, b = jnp.arange(8.0).reshape(2, 4), jnp.ones((2, 4), jnp.float32)
    total, difference = jax.jit(lambda a, b: sum_and_difference((a, b), factor=3))(a, b)
    assert jnp.array_equal(total, 3 * (a + b)) and jnp.array_equal(difference, a - b)


def test_large_arrays_inside_jit():
    a = jnp.arange(128 * 4096, dtype=jnp.float32).reshape(128, 4096)
    assert jnp.array_equal(jax.jit(add)(a, a), 2 * a)


def test_a_kernel_is_mapped_over_a_batch():
    a = jnp.arange(24.0).reshape(3, 2, 4)
    assert jnp.array_equal(jax.jit(jax.vmap(add))(a, a), 2 * a)


def test_what_is_refused_inside_jit_is_refused_while_tracing():
    with pytest.raises(trnsim.ProgramError):
        jax.jit(add)(jnp.ones((129, 4)), jnp.ones((129, 4)))


@pytest.mark.parametrize("inside_jit", [False, True])
def test_nki_call_gives_the_outputs_of_an_old_style_kernel(inside_jit):
    def call(a, b):
        return nki_call(add_into, a, b, out_shape=jax.ShapeDtypeStruct(a.shape, a.dtype))

    a = jnp.arange(32, dtype=jnp.bfloat16).reshape(4, 8)
    result = (jax.jit(call) if inside_jit else call)(a, a)
    assert isinstance(result, jax.Array) and result.dtype == a.dtype and jnp.array_equal(result, a + a)


def test_nki_call_with_a_grid():
    a = jnp.arange(24.0).reshape(3, 2, 4)
    result = nki_call(add_rows_into, a, a, grid=(3,), out_shape=jax.ShapeDtypeStruct(a.shape, a.dtype))
    assert jnp.array_equal(result, 2 * a)


def test_nki_call_without_the_shape_of_its_output_is_refused():
    with pytest.raises(trnsim.Unsupported, match="nki_call without out_shape"):
        nki_call(add_into, jnp.ones((2, 2)), jnp.ones((2, 2)))


def test_an_output_that_cannot_change_is_refused():
    a = jnp.ones((2, 2))
    with pytest.raises(trnsim.ProgramError, match="cannot change.*nki_call"):
        nki1.trace(add_into)(a, a, a)
