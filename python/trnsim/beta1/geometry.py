"""What part of a tensor a tile is: for each dimension of the tensor, an affine function of the tile's
axes."""

import functools
import operator

from trnsim.beta1.index import Affine, broadcast_shapes
from trnsim.lowering.tiles import refuse


class Geometry:
    """A view: element k of the tile is element dims[r](k) of the tensor along each dimension r.

    dims: pairs (const, coefs). beyond: the dimensions that reach outside, as (const, coefs, size, dim); not
    an error until something reads them, because a mask may leave those elements out.
    """

    __slots__ = ("shape", "dims", "beyond")

    def __init__(self, shape, dims, beyond=()):
        self.shape = tuple(shape)
        self.dims = dims
        self.beyond = tuple(check for check in beyond if _outside(check, self.shape)) if beyond else ()

    @staticmethod
    @functools.lru_cache(maxsize=4096)
    def whole(shape) -> "Geometry":
        """All of a tensor with this shape, a tuple."""
        rank = len(shape)
        return Geometry(shape, [(0, tuple(int(d == axis) for axis in range(rank))) for d in range(rank)])

    def at(self, expressions, shape) -> "Geometry":
        """This view's elements at index expressions, one per axis, all of rank len(shape)."""
        rank = len(shape)

        def compose(const, coefs):
            total = list((0,) * rank)
            for expression, coef in zip(expressions, coefs):
                if coef:
                    const += coef * expression.const
                    for d, step in enumerate(expression.coefs):
                        total[d] += coef * step
            return const, tuple(total)

        beyond = [(*compose(const, coefs), size, dim) for const, coefs, size, dim in self.beyond]
        for d, (expression, size) in enumerate(zip(expressions, self.shape)):
            beyond.append((expression.const, expression.coefs, size, d))
        return Geometry(shape, [compose(*dim) for dim in self.dims], beyond)

    def pick(self, picks, shape) -> "Geometry":
        """This view's elements at start + step * k along each axis; picks are (start, step, axis of the
        result or None)."""
        rank = len(shape)

        def compose(const, coefs):
            total = [0] * rank
            for coef, (start, step, axis) in zip(coefs, picks):
                if coef:
                    const += coef * start
                    if axis is not None:
                        total[axis] += coef * step
            return const, tuple(total)

        beyond = [(*compose(const, coefs), size, dim) for const, coefs, size, dim in self.beyond]
        for d, ((start, step, axis), size) in enumerate(zip(picks, self.shape)):
            count = 1 if axis is None else shape[axis]
            if start < 0 or start + (count - 1) * step >= size:
                beyond.append((start, tuple(step if k == axis else 0 for k in range(rank)), size, d))
        return Geometry(shape, [compose(*dim) for dim in self.dims], beyond)

    def part(self, ranges) -> "Geometry":
        """The elements in a range (start, stop) of each axis."""
        return self.pick(
            [(start, 1, d) for d, (start, _) in enumerate(ranges)], [stop - start for start, stop in ranges]
        )

    def permute(self, order) -> "Geometry":
        def turn(coefs):
            return tuple(coefs[d] for d in order)

        return Geometry(
            [self.shape[d] for d in order],
            [(const, turn(coefs)) for const, coefs in self.dims],
            [(const, turn(coefs), size, dim) for const, coefs, size, dim in self.beyond],
        )

    def with_shape(self, shape):
        """The same elements with axes of size 1 added or dropped; None where the shapes differ in more than
        that."""
        kept = [d for d, size in enumerate(self.shape) if size != 1]
        if [self.shape[d] for d in kept] != [size for size in shape if size != 1]:
            return None

        def place(coefs):
            source = iter(kept)
            return tuple(0 if size == 1 else coefs[next(source)] for size in shape)

        return Geometry(
            shape,
            [(const, place(coefs)) for const, coefs in self.dims],
            [(const, place(coefs), size, dim) for const, coefs, size, dim in self.beyond],
        )

    def pattern(self, strides, offset):
        """[step, count] pairs and the offset in a tensor with these strides, in elements."""
        start = offset + sum(const * stride for (const, _), stride in zip(self.dims, strides))
        steps = [
            sum(coefs[d] * stride for (_, coefs), stride in zip(self.dims, strides))
            for d in range(len(self.shape))
        ]
        return [[step, count] for step, count in zip(steps, self.shape)], start

    @property
    def key(self):
        return self.shape, tuple(self.dims)


def _outside(check, shape) -> bool:
    low, high = _reach(check, shape)
    return low < 0 or high >= check[2]


def _reach(check, shape):
    const, coefs = check[0], check[1]
    reach = [coef * (size - 1) for coef, size in zip(coefs, shape)]
    return const + sum(r for r in reach if r < 0), const + sum(r for r in reach if r > 0)


def require_inside(geometry: Geometry, name: str, shape) -> None:
    """Raise ProgramError for indices that reach outside their tensor."""
    for check in geometry.beyond:
        low, high = _reach(check, geometry.shape)
        refuse(
            "index.out_of_bounds",
            f"index {low if low < 0 else high} is out of bounds for dimension {check[3]} (size "
            f"{check[2]}) of '{name}', where the subscript reaches from {low} to {high}; the tensor "
            f"has shape {tuple(shape)}. Correct the index, or leave the rest out with mask=.",
        )


def subscript(view: Geometry, key, name: str, on_chip: bool) -> Geometry:
    """The part of `view` that a subscript selects.

    Basic subscripts (integers, slices, None, Ellipsis) follow numpy, except that on-chip tiles keep their
    partition axis and at least two axes. Raises ProgramError for subscripts that NKI refuses.
    """
    entries = list(key) if isinstance(key, tuple) else [key]
    for entry in entries:
        if isinstance(entry, Affine):
            return view.at(*_advanced(entries, view.shape, name))
    return view.pick(*_basic(entries, view.shape, name, on_chip))


def _advanced(entries, shape, name):
    if any(isinstance(entry, slice) for entry in entries):
        refuse(
            "index.mixed",
            f"subscript of '{name}' mixes slices with nl.arange or nl.mgrid; use index expressions for all "
            "dimensions, or slices and nl.ds for all",
        )
    if any(entry is None for entry in entries):
        refuse(
            "index.mixed",
            f"subscript of '{name}' mixes None with nl.arange or nl.mgrid; give the index expression the "
            "axis instead: nl.arange(n)[:, None]",
        )
    if Ellipsis in [entry for entry in entries if not isinstance(entry, Affine)]:
        refuse(
            "index.mixed",
            f"subscript of '{name}' mixes '...' with nl.arange or nl.mgrid; index every dimension",
        )
    if len(entries) != len(shape):
        refuse(
            "index.count",
            f"'{name}' with shape {tuple(shape)} has {len(shape)} dimensions; the subscript has"
            f" {len(entries)} index expressions",
        )
    for entry in entries:
        if isinstance(entry, Affine) and entry.ndim == 1:
            refuse(
                "index.1d_arange",
                f"subscript of '{name}' uses a 1-d nl.arange; say which axis of the tile it runs along: "
                "nl.arange(n)[:, None] for partitions, [None, :] for the free dimension",
            )
    result = broadcast_shapes([entry.shape for entry in entries if isinstance(entry, Affine)])
    rank = len(result)
    return [
        entry.to_rank(rank) if isinstance(entry, Affine) else _constant(entry, size, rank, name)
        for entry, size in zip(entries, shape)
    ], result


def _constant(entry, size, rank, name):
    at = _integer(entry, name)
    return Affine((1,) * rank, at + size if at < 0 else at, (0,) * rank)


def _integer(entry, name) -> int:
    if type(entry) is int:
        return entry
    try:
        return operator.index(entry)
    except TypeError:
        pass
    return refuse(
        "index.type",
        f"subscript of '{name}' must be made of integers, slices, nl.ds, '...' and None, or of index "
        f"expressions; got {type(entry).__name__} {entry!r}",
    )


def _basic(entries, shape, name, on_chip):
    given = sum(1 for entry in entries if entry is not None and entry is not Ellipsis)
    if given > len(shape):
        refuse(
            "index.count",
            f"'{name}' with shape {tuple(shape)} has {len(shape)} dimensions; the subscript has {given}",
        )
    if Ellipsis not in entries:
        entries = entries + [Ellipsis]
    at = entries.index(Ellipsis)
    entries = entries[:at] + [slice(None)] * (len(shape) - given) + entries[at + 1 :]
    axes, picks, dim = [], [], 0  # axes: sizes of the result; picks: as Geometry.pick takes them
    for entry in entries:
        if entry is None:
            axes.append(1)
            continue
        if isinstance(entry, slice):
            start, step, size = _slice(entry, shape[dim], name)
            picks.append((start, step, len(axes)))
            axes.append(size)
        else:
            start = _integer(entry, name)
            start = start + shape[dim] if start < 0 else start
            kept = on_chip and dim == 0
            picks.append((start, 1, len(axes) if kept else None))
            if kept:
                axes.append(1)
        dim += 1
    if on_chip and len(axes) == 1:
        axes.append(1)
    return picks, axes


def _slice(entry, size, name):
    step = 1 if entry.step is None else _integer(entry.step, name)
    if step <= 0:
        refuse("index.step", f"slice of '{name}' has step {step}; steps are positive")
    start = 0 if entry.start is None else _integer(entry.start, name)
    stop = size if entry.stop is None else _integer(entry.stop, name)
    start, stop = start + size if start < 0 else start, stop + size if stop < 0 else stop
    # Unlike numpy's, a slice past the end is not clipped: it is an error unless a mask leaves the rest out.
    return start, step, max(0, -(-(stop - start) // step))
