"""Masks: comparisons of index expressions joined by `&`, and the rectangles of a tile that they leave.

A mask costs nothing at run time on the hardware: it makes instructions smaller. So does it here. What is not
one rectangle becomes several instructions, where their partitions may start as the mask wants.
"""

import itertools
import numbers

import numpy as np

from trnsim.beta1 import index
from trnsim.lowering.tiles import refuse

_COMPARE = {
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "equal": np.equal,
    "not_equal": np.not_equal,
}
_MOST_PARTS = 4096


def compare(left, op: str, right):
    """The mask `left <op> right`."""
    if not isinstance(right, (numbers.Integral, index.Affine)):
        refuse(
            "mask.operand",
            f"an index expression compares with integers and index expressions, not with {right!r}",
        )
    return Mask(((left - right, op),))


class Mask:
    """A condition on index expressions; holds where each term, an expression compared with 0, does."""

    __slots__ = ("terms",)

    def __init__(self, terms):
        self.terms = terms

    @property
    def shape(self):
        return index.broadcast_shapes([expression.shape for expression, _ in self.terms])

    def __and__(self, other):
        if isinstance(other, Mask):
            return Mask(self.terms + other.terms)
        if isinstance(other, (bool, np.bool_)):
            return self if other else Mask(self.terms + ((index.Affine((), 1, ()), "less"),))
        return refuse("mask.operand", f"a mask joins with masks, not with {other!r}")

    __rand__ = __and__

    def __or__(self, other):
        refuse("mask.operator", "masks join with & only; use two instructions for an `or`")

    __ror__ = __or__

    def __bool__(self):
        refuse(
            "mask.truth",
            "a mask has no single truth value, so `and`, `or`, `not` and `if` would lose part of it; "
            "join masks with &, as in (i_p < 64) & (i_f < 256), and pass them as mask=",
        )

    def evaluate(self, shape) -> np.ndarray:
        """The mask as an array of bools with `shape`."""
        held = np.ones((1,) * len(shape), bool)
        for expression, op in self._aligned(shape):
            value = np.full((1,) * len(shape), expression.const)
            for d, coef in enumerate(expression.coefs):
                if coef:
                    steps = np.arange(shape[d]) * coef
                    value = value + steps.reshape([-1 if k == d else 1 for k in range(len(shape))])
            held = held & _COMPARE[op](value, 0)
        return np.broadcast_to(held, shape)

    def _aligned(self, shape):
        for expression, op in self.terms:
            if expression.ndim > len(shape):
                refuse(
                    "mask.shape",
                    f"the mask has {expression.ndim} axes, the instruction's tile has shape {tuple(shape)}",
                )
            expression = expression.to_rank(len(shape))
            for d, size in enumerate(expression.shape):
                if size not in (1, shape[d]):
                    refuse(
                        "mask.shape",
                        f"the mask has shape {self.shape}, which does not fit the instruction's tile of shape"
                        f" {tuple(shape)}; build both from the same index expressions",
                    )
            yield expression, op

    def parts(self, shape, rows: bool, whole_axes=()):
        """Ranges (start, stop) per axis of the rectangles that the mask leaves, none overlapping.

        rows: parts may start at any row (DMA); otherwise at partitions 0, 32, 64, 96 as engines need.
        whole_axes: axes that may be shortened but not split, such as the ones an instruction reduces.
        """
        terms = list(self._aligned(shape))
        if all(sum(1 for c in expression.coefs if c) <= 1 for expression, _ in terms):
            ranges = _product_of_axes(terms, shape)
            if ranges is not None:
                return [ranges] if all(start < stop for start, stop in ranges) else []
        held = self.evaluate(shape)
        orders = [tuple(range(len(shape))), tuple(range(1, len(shape))) + (0,)]
        choices = [
            parts
            for parts in (_boxes(held, order) for order in orders)
            if rows or all(_may_start(*part[0]) for part in parts)
        ]
        choices = [parts for parts in choices if not _splits(parts, whole_axes)]
        if not choices or len(choices[0]) > _MOST_PARTS:
            refuse(
                "mask.parts",
                f"a mask that leaves no rectangle of the tile of shape {tuple(shape)} cannot be given to this"
                " instruction: it would need parts that start at partitions other than 0, 32, 64 and 96, or"
                " that split a reduced axis. Use nisa.affine_select or nl.where instead.",
            )
        return min(choices, key=len)


def _product_of_axes(terms, shape):
    """One range per axis where every term speaks of one axis only and leaves one stretch of it; otherwise
    None."""
    ranges = []
    axes = [np.ones(size, bool) for size in shape]
    for expression, op in terms:
        d = next((d for d, coef in enumerate(expression.coefs) if coef), 0)
        axes[d] &= _COMPARE[op](expression.const + np.arange(shape[d]) * expression.coefs[d], 0)
    for held in axes:
        runs = _runs(held)
        if len(runs) > 1:
            return None
        ranges.append(runs[0] if runs else (0, 0))
    return tuple(ranges)


def _runs(held):
    """The stretches of True in a vector."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], held, [False])).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2])]


def _boxes(held, order):
    """Rectangles of True, found by grouping equal neighbours along the axes in `order`."""
    found = []

    def visit(array, depth, ranges):
        if depth == len(order):
            found.append(tuple(ranges[d] for d in range(len(order))))
            return
        # axis order[depth] of the array is its first: visit() is given it transposed and peeled
        if depth == len(order) - 1:
            for run in _runs(array):
                visit(None, depth + 1, {**ranges, order[depth]: run})
            return
        start = 0
        for at in range(1, len(array) + 1):
            if at == len(array) or not np.array_equal(array[at], array[start]):
                if array[start].any():
                    visit(array[start], depth + 1, {**ranges, order[depth]: (start, at)})
                start = at

    visit(np.transpose(held, order), 0, {})
    return found


def _may_start(start, stop):
    count = stop - start
    return start == 0 or (start % 32 == 0 and count <= 32) or (start == 64 and count <= 64)


def _splits(parts, whole_axes):
    others = [d for d in range(len(parts[0]))] if parts else []
    for axis in whole_axes:
        key = [tuple(part[d] for d in others if d != axis) for part in parts]
        if any(a == b for a, b in itertools.combinations(key, 2)) if len(parts) <= 512 else True:
            return True
    return False
