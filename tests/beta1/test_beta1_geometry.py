"""Properties: chains of subscripts select what numpy selects; the parts of a mask are exactly the mask."""

import neuronxcc.nki.language as nl
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from trnsim.beta1.geometry import Geometry, subscript

SHAPE = (12, 8, 6)
ARRAY = np.arange(np.prod(SHAPE)).reshape(SHAPE)
STRIDES = (48, 6, 1)


def values(view):
    """The elements of ARRAY that a view selects, by its strides and offset as an instruction gets them."""
    pairs, offset = view.pattern(STRIDES, 0)
    at = np.full(view.shape, offset)
    for d, (step, count) in enumerate(pairs):
        at = at + step * np.arange(count).reshape([-1 if k == d else 1 for k in range(len(pairs))])
    return ARRAY.reshape(-1)[at]


@st.composite
def slices(draw, size):
    start = draw(st.integers(0, size - 1))
    return slice(start, draw(st.integers(start + 1, size)), draw(st.integers(1, 3)))


@st.composite
def basic(draw, shape):
    """A numpy subscript within bounds: slices, integers from both ends, a new axis, an Ellipsis."""
    key = [draw(st.one_of(slices(size), st.integers(-size, size - 1))) for size in shape]
    if draw(st.booleans()):
        at = draw(st.integers(0, len(key)))
        key[at:] = [Ellipsis]
    if draw(st.booleans()):
        key.insert(draw(st.integers(0, len(key))), None)
    return tuple(key)


@given(st.data())
def test_chains_of_basic_subscripts(data):
    view, array = Geometry.whole(SHAPE), ARRAY
    for _ in range(3):
        key = data.draw(basic(array.shape))
        view, array = subscript(view, key, "a", on_chip=False), array[key]
        assert view.shape == array.shape
        assert not view.beyond
        np.testing.assert_array_equal(values(view), array)
        if array.ndim == 0:
            break


@given(st.data())
def test_index_expressions_on_views(data):
    first = data.draw(st.tuples(*map(slices, SHAPE)))
    array = ARRAY[first]
    view = subscript(Geometry.whole(SHAPE), first, "a", on_chip=False)
    sizes = [data.draw(st.integers(1, size)) for size in array.shape]
    order = data.draw(st.permutations(range(3)))
    key = {}
    for module, arange in (("nl", nl.arange), ("np", np.arange)):
        axes = [
            arange(n)[tuple(slice(None) if k == axis else None for k in range(3))]
            for n, axis in zip(sizes, order)
        ]
        key[module] = tuple(
            size - 1 - axis if d == 1 else axis for d, (axis, size) in enumerate(zip(axes, array.shape))
        )
    selected = subscript(view, key["nl"], "a", on_chip=False)
    np.testing.assert_array_equal(values(selected), array[key["np"]])


def mask_and_array(data, shape):
    """The same conditions on nl.arange expressions and on numpy's."""
    terms = data.draw(
        st.lists(
            st.tuples(*[st.integers(-2, 2)] * len(shape), st.integers(-9, 9), st.sampled_from("<>=")),
            min_size=1,
            max_size=3,
        )
    )
    results = []
    for arange in (nl.arange, np.arange):
        axes = [
            arange(n)[tuple(slice(None) if k == d else None for k in range(len(shape)))]
            for d, n in enumerate(shape)
        ]
        held = None
        for *coefs, const, op in terms:
            value = sum((axis * coef for axis, coef in zip(axes, coefs)), start=axes[0] * 0) + const
            term = value < 0 if op == "<" else value > 0 if op == ">" else value >= 0
            held = term if held is None else held & term
        results.append(held)
    return results


@given(st.data())
def test_the_parts_of_a_mask_are_the_mask(data):
    shape = data.draw(st.sampled_from([(7, 9), (5, 4, 3), (1, 6)]))
    mask, expected = mask_and_array(data, shape)
    expected = np.broadcast_to(expected, shape)
    np.testing.assert_array_equal(mask.evaluate(shape), expected)
    covered = np.zeros(shape, int)
    for ranges in mask.parts(shape, rows=True):
        covered[tuple(slice(*r) for r in ranges)] += 1
    np.testing.assert_array_equal(covered, expected)


@given(st.data())
def test_a_masked_view_is_checked_where_the_mask_holds(data):
    rows = data.draw(st.integers(1, 12))
    view = subscript(
        Geometry.whole(SHAPE), (nl.arange(16)[:, None], 0, nl.arange(6)[None, :]), "a", on_chip=False
    )
    assert view.beyond
    part = view.part([(0, rows), (0, 6)])
    assert not part.beyond
    np.testing.assert_array_equal(values(part), ARRAY[:rows, 0])
