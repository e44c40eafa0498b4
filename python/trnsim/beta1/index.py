"""Subscripts of tiles: nl.arange and nl.mgrid as affine expressions, basic slices, and what they select.

An affine expression has a shape, like a numpy array, and the value `const + sum(coefs[d] * k[d])` at position
k. That is all the hardware can address, and it is closed under what kernels write: `i * 128 + i_p`, `2 * i_f
+ 1`, `i_p + i_f`.
"""

import numbers
import operator

from trnsim.beta1 import mask
from trnsim.lowering.tiles import refuse


def broadcast_shapes(shapes):
    """numpy's rule. Raises ProgramError where the shapes do not fit."""
    rank = max((len(shape) for shape in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for d, size in enumerate(shape, rank - len(shape)):
            if size != 1 and result[d] not in (1, size):
                refuse(
                    "index.shape",
                    f"index expressions of shapes {', '.join(map(str, shapes))} do not broadcast",
                )
            result[d] = max(result[d], size) if size else 0
    return tuple(result)


class Affine:
    """An index expression of nl.arange, nl.mgrid, loop variables and integers."""

    __slots__ = ("shape", "const", "coefs")
    __array_ufunc__ = None  # numpy integers on the left leave the operation to us
    __hash__ = None

    def __init__(self, shape, const, coefs):
        self.shape = tuple(shape)
        self.const = const
        self.coefs = tuple(coefs)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __getitem__(self, key):
        """None adds an axis, ':' keeps one: `nl.arange(128)[:, None]`."""
        entries = key if isinstance(key, tuple) else (key,)
        shape, coefs, axis = [], [], 0
        for entry in entries:
            if entry is None:
                shape.append(1)
                coefs.append(0)
            elif isinstance(entry, slice) and entry == slice(None) and axis < self.ndim:
                shape.append(self.shape[axis])
                coefs.append(self.coefs[axis])
                axis += 1
            else:
                refuse(
                    "index.arange",
                    f"an index expression of shape {self.shape} takes only ':' and None as subscript, "
                    f"such as nl.arange(128)[:, None]; got {key!r}",
                )
        return Affine(tuple(shape) + self.shape[axis:], self.const, tuple(coefs) + self.coefs[axis:])

    def to_rank(self, rank: int) -> "Affine":
        added = rank - self.ndim
        return (
            self if added == 0 else Affine((1,) * added + self.shape, self.const, (0,) * added + self.coefs)
        )

    def _plus(self, other, sign):
        if isinstance(other, Affine):
            shape = broadcast_shapes([self.shape, other.shape])
            a, b = self.to_rank(len(shape)), other.to_rank(len(shape))
            return Affine(shape, a.const + sign * b.const, [x + sign * y for x, y in zip(a.coefs, b.coefs)])
        if isinstance(other, numbers.Integral):
            return Affine(self.shape, self.const + sign * int(other), self.coefs)
        if sign == 1 and getattr(other, "size", None) == 1 and hasattr(other, "storage"):
            return DynamicIndex(self, other)
        return _no_arithmetic(other, "add")

    def __add__(self, other):
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other):
        return self._plus(other, -1)

    def __neg__(self):
        return self * -1

    def __rsub__(self, other):
        return (-self)._plus(other, 1)

    def __mul__(self, other):
        if isinstance(other, numbers.Integral):
            factor = int(other)
            return Affine(self.shape, self.const * factor, [c * factor for c in self.coefs])
        return _no_arithmetic(other, "multiply")

    __rmul__ = __mul__

    def _divided(self, other, remainder):
        divisor = operator.index(other) if isinstance(other, numbers.Integral) else 0
        if divisor and all(c % divisor == 0 for c in self.coefs):
            if remainder:
                return Affine(self.shape, self.const % divisor, (0,) * self.ndim)
            return Affine(self.shape, self.const // divisor, [c // divisor for c in self.coefs])
        sign = "%" if remainder else "//"
        return refuse(
            "index.not_affine",
            f"index expression {sign} {other!r} is not affine: the hardware addresses only sums "
            "of an integer times each index. Use more index axes, one for the quotient and "
            "one for the remainder.",
        )

    def __floordiv__(self, other):
        return self._divided(other, False)

    def __mod__(self, other):
        return self._divided(other, True)

    def __lt__(self, other):
        return mask.compare(self, "less", other)

    def __le__(self, other):
        return mask.compare(self, "less_equal", other)

    def __gt__(self, other):
        return mask.compare(self, "greater", other)

    def __ge__(self, other):
        return mask.compare(self, "greater_equal", other)

    def __eq__(self, other):
        return mask.compare(self, "equal", other)

    def __ne__(self, other):
        return mask.compare(self, "not_equal", other)

    def __bool__(self):
        refuse(
            "index.control_flow",
            "an index expression of nl.arange or nl.mgrid stands for all its values at once and "
            "cannot decide an `if` or a `while`; give the condition as mask=",
        )

    def __repr__(self):
        terms = " + ".join(f"{c}*k{d}" for d, c in enumerate(self.coefs) if c)
        return f"index(shape={self.shape}, {self.const}{' + ' if terms else ''}{terms})"


class DynamicIndex:
    """An index expression plus the integer that a tile holds, as in `i_f + offsets[0, k]`."""

    __array_ufunc__ = None

    def __init__(self, expression: Affine, tile):
        self.expression = expression
        self.tile = tile

    def __add__(self, other):
        if isinstance(other, (Affine, numbers.Integral)):
            return DynamicIndex(self.expression + other, self.tile)
        return _no_arithmetic(other, "add")

    __radd__ = __add__


def _no_arithmetic(other, verb):
    return refuse(
        "index.not_affine",
        f"cannot {verb} an index expression and {type(other).__name__} {other!r}; it takes "
        "integers, and other index expressions only to add or subtract",
    )


def arange(start, stop=None, step=1) -> Affine:
    """nl.arange([start,] stop[, step]): consecutive indices; give them axes, as in `nl.arange(128)[:,
    None]`."""
    start, stop = (0, start) if stop is None else (start, stop)
    return Affine((max(0, len(range(start, stop, step))),), start, (step,))


class _Grid(tuple):
    """The index expressions of nl.mgrid; also by name: p the partition, x, y, z, w the free axes in order."""

    p = property(lambda self: self[0])
    x = property(lambda self: self[1])
    y = property(lambda self: self[2])
    z = property(lambda self: self[3])
    w = property(lambda self: self[4])


class _MGrid:
    """nl.mgrid[0:128, 0:512]: one index expression per slice, each of the full shape."""

    def __getitem__(self, key):
        slices = key if isinstance(key, tuple) else (key,)
        if not all(isinstance(s, slice) and s.stop is not None for s in slices):
            refuse(
                "index.mgrid",
                f"nl.mgrid takes slices with an end, such as nl.mgrid[0:128, 0:512]; got {key!r}",
            )
        ranges = [range(s.start or 0, s.stop, s.step or 1) for s in slices]
        shape = tuple(len(r) for r in ranges)
        return _Grid(
            Affine(shape, r.start, [r.step if d == axis else 0 for d in range(len(shape))])
            for axis, r in enumerate(ranges)
        )


mgrid = _MGrid()


def ds(start, size: int) -> slice:
    """nl.ds: the slice of `size` elements from `start`."""
    return slice(start, start + size)


dslice = ds
