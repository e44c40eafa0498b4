"""The index of a loop that has ended, in kernels of Beta 1: a warning at the line that uses it."""

import ast
import textwrap
import warnings

import numpy as np
import pytest
import trnsim
from trnsim.beta1.ended_loops import uses_after_loops

trnsim.install()

from neuronxcc import nki
import neuronxcc.nki.language as nl

X = np.arange(4 * 128 * 32, dtype=np.float32).reshape(4, 128, 32)


@nki.jit
def last_block_only(x):
    out = nl.ndarray((4, 128, 32), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(4):
        tile = nl.load(x[i])
        nl.store(out[i], tile)
    nl.store(out[i], nl.add(tile, 1.0))
    return out


@nki.jit
def all_blocks(x):
    out = nl.ndarray((4, 128, 32), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(4):
        nl.store(out[i], nl.load(x[i]))
    for i in nl.affine_range(4):
        nl.store(out[i], nl.load(x[i]))
    return out


def test_the_warning_names_the_index_and_both_lines():
    first = last_block_only.function.__code__.co_firstlineno
    with pytest.warns(UserWarning, match=f"'i' is the index of the loop in line {first + 3}") as caught:
        got = last_block_only(X)
    warning = next(w for w in caught if "'i' is the index" in str(w.message))
    assert warning.lineno == first + 6 and warning.filename == __file__
    np.testing.assert_array_equal(got, np.concatenate([X[:3], X[3:] + 1]))


def test_kernels_that_keep_to_their_loops_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(all_blocks(X), X)


@pytest.mark.parametrize(
    "body, found",
    [
        ("for i in nl.affine_range(4):\n    f(i)\nf(i)", [("i", 1, 3)]),
        ("for i in nl.static_range(4):\n    pass\nif c:\n    f(x[i])", [("i", 1, 4)]),
        ("for j in range(2):\n    for i in nl.sequential_range(4):\n        pass\n    f(i)", [("i", 2, 4)]),
        ("for j in range(2):\n    for i in affine_range(4):\n        pass\nwhile i:\n    pass", [("i", 2, 4)]),
        ("with c:\n    for i in nl.affine_range(4):\n        pass\ni = i + 1", [("i", 2, 4)]),
        ("for i in nl.affine_range(4):\n    pass\nfor i in nl.affine_range(i):\n    pass", [("i", 1, 3)]),
        ("for i in range(4):\n    pass\nf(i)", []),
        ("for i in nl.affine_range(4):\n    pass\ni = 3\nf(i)", []),
        ("for i in nl.affine_range(4):\n    pass\nfor i in range(3):\n    f(i)", []),
        ("for i in nl.affine_range(4):\n    pass\nf([i for i in c])\nf(lambda i: i)", []),
        ("for i in nl.affine_range(4):\n    pass\ndef f(i):\n    return i", []),
        ("for i, j in nl.mgrid:\n    pass\nf(i)", []),
    ],
)
def test_where_an_index_is_used(body, found):
    assert uses_after_loops(ast.parse(textwrap.dedent(body)).body) == found


def test_a_kernel_without_source_says_nothing():
    scope = {}
    exec("def kernel(x):\n    for i in range(2):\n        pass\n    return x", scope)  # noqa: S102
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = nki.jit(scope["kernel"], mode="simulation")(X)
    np.testing.assert_array_equal(got, X)
