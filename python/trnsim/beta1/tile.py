"""Tiles: what kernels compute with. A tile is a tensor on the chip or in HBM, or a view of one."""

import math

from trnsim.beta1 import geometry as geometries
from trnsim.beta1 import run
from trnsim.beta1.geometry import Geometry
from trnsim.beta1.index import Affine, DynamicIndex
from trnsim.beta1.storage import Storage
from trnsim.lowering.tiles import name_of_dtype, refuse


class Tile:
    """A tensor or a part of it, with `shape`, `dtype` and `buffer`. Views cost no instruction.

    base(storage) gives the native tensor that the geometry is a view of; None stands for the whole storage.
    """

    __array_ufunc__ = None  # numpy numbers on the left leave arithmetic to the tile
    __hash__ = object.__hash__

    def __init__(self, storage, shape, dtype, view=None, base=None):
        self._storage = storage
        self.shape = tuple(shape)
        self.dtype = dtype
        self._view = view
        self._base = base

    @staticmethod
    def of(storage: Storage) -> "Tile":
        return Tile(storage, storage.shape, storage.dtype)

    @property
    def storage(self) -> Storage:
        return self._storage

    @property
    def space(self) -> str:
        return self.storage.space

    @property
    def buffer(self):
        from trnsim.nki.language import buffers

        return {"SBUF": buffers.sbuf, "PSUM": buffers.psum, "HBM": buffers.shared_hbm}[self.space]

    @property
    def name(self) -> str:
        return self.storage.name

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    # -- native tensors, for instructions

    @property
    def tensor(self):
        """The native tensor, to be read."""
        return self._materialise(self.storage.tensor())

    @property
    def where_it_lies(self):
        """The native tensor of a Broadcast, to be read, in SBUF or PSUM."""
        return self._materialise(self.storage.where_it_lies())

    def target(self):
        """The native tensor, to be written."""
        return self._materialise(self.storage.target(self.is_whole))

    @property
    def is_whole(self) -> bool:
        """Whether it has every element of its storage."""
        return self._view is None or (self.size == math.prod(self.storage.shape) and not self._view.beyond)

    def _materialise(self, tensor):
        if self._base is not None:
            tensor = self._base(tensor)
        if self._view is None:
            return tensor
        geometries.require_inside(self._view, self.name, tensor.shape)
        return tensor.pattern(*self._view.pattern(tensor.strides, tensor.offset))

    @property
    def view_key(self):
        """Equal for tiles of one storage that are the same elements in the same order."""
        return self._base, (self._view or Geometry.whole(self.shape)).key

    # -- views

    def _geometry(self) -> Geometry:
        return self._view or Geometry.whole(self.shape)

    def _with(self, view: Geometry) -> "Tile":
        return Tile(self.storage, view.shape, self.dtype, view, self._base)

    def __getitem__(self, key):
        if key is Ellipsis:
            return self
        for entry in key if isinstance(key, tuple) else (key,):
            if isinstance(entry, Tile) and (self.space == "HBM" or entry.size != 1):
                from trnsim.beta1.indirect import Indirect

                return Indirect.of(self, key)
            if isinstance(entry, (Tile, DynamicIndex)):
                from trnsim.beta1 import dynamic

                return dynamic.subscript(self, key)
        return self._with(geometries.subscript(self._geometry(), key, self.name, self.space != "HBM"))

    def part(self, ranges) -> "Tile":
        """The elements in a range (start, stop) of each axis; None keeps the axis."""
        if all(r is None or r == (0, size) for r, size in zip(ranges, self.shape)):
            return self
        return self._with(self._geometry().part([r or (0, size) for r, size in zip(ranges, self.shape)]))

    def permute(self, order) -> "Tile":
        return self._with(self._geometry().permute(order))

    def with_shape(self, shape) -> "Tile":
        """This tile with axes of size 1 added or dropped; None where `shape` differs in more than that."""
        if self.shape == tuple(shape):
            return self
        view = self._geometry().with_shape(tuple(shape))
        return None if view is None else self._with(view)

    def like(self, shape) -> "Tile":
        """with_shape where that is possible; otherwise this tile, for an instruction to judge."""
        shaped = self.with_shape(shape)
        return self if shaped is None else shaped

    def reshape(self, shape) -> "Tile":
        """The same elements in another shape; one size may be -1. Raises ProgramError where a copy would be
        needed."""
        shape = (shape,) if isinstance(shape, int) else tuple(int(size) for size in shape)
        if -1 in shape:
            shape = tuple(self.size // max(1, -math.prod(shape)) if size == -1 else size for size in shape)
        return self._rebased(lambda tensor: tensor.reshape(shape))

    def view(self, dtype) -> "Tile":
        """The same bytes as elements of another dtype."""
        return self._rebased(lambda tensor: tensor.reinterpret(dtype))

    def _rebased(self, change):
        def base(tensor):
            return change(self._materialise(tensor))

        sample = base(self.storage.peek())
        return Tile(self.storage, sample.shape, sample.dtype, None, base)

    def expand_dims(self, axis) -> "Tile":
        at = axis % (self.ndim + 1)
        return self.with_shape(self.shape[:at] + (1,) + self.shape[at:])

    def broadcast_free(self, shape) -> "Tile":
        """Free axes of size 1 repeated to `shape`."""
        expressions = [
            Affine(
                [size if d == axis else 1 for d, size in enumerate(shape)],
                0,
                [int(d == axis and old != 1) for d in range(len(shape))],
            )
            for axis, (old, size) in enumerate(zip(self.shape, shape))
        ]
        return self._with(self._geometry().at(expressions, tuple(shape)))

    def broadcast_to(self, shape) -> "Tile":
        from trnsim.beta1 import functions

        return functions.broadcast_to(self, shape)

    def astype(self, dtype) -> "Tile":
        from trnsim.beta1 import functions

        return functions.copy(self, dtype=dtype)

    # -- assignment

    def __setitem__(self, key, value):
        from trnsim.beta1 import assign

        assign.assign(self[key], value)

    def _accumulate(self, op, other):
        from trnsim.beta1 import assign

        return assign.accumulate(self, op, other)

    def __iadd__(self, other):
        return self._accumulate("add", other)

    def __isub__(self, other):
        return self._accumulate("subtract", other)

    def __imul__(self, other):
        return self._accumulate("multiply", other)

    def __itruediv__(self, other):
        return self._accumulate("divide", other)

    def __bool__(self):
        if self.space == "HBM":
            return True  # an optional argument of the kernel that was given
        return refuse(
            "tensor.truth",
            f"tile '{self.name}' has no truth value: its values exist only on the chip, so they cannot "
            "decide an `if`, `while`, `and` or `or` of the kernel. Select with nl.where or mask=.",
        )

    def _no_number(self, *_):
        refuse(
            "tensor.value",
            f"tile '{self.name}' has no value in Python: its values exist only on the chip, so they cannot be"
            " a loop bound, an index or a numpy array. Return it from the kernel to see it.",
        )

    __index__ = __int__ = __float__ = __array__ = _no_number

    def __iter__(self):
        refuse(
            "tensor.iteration",
            f"tile '{self.name}' cannot be iterated; loop over nl.affine_range and index it",
        )

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        from trnsim import _native, arrays

        run.current().flush()
        text = f"tile({self.name!r}, {self.space}, {name_of_dtype(self.dtype)}, shape={self.shape}"
        try:
            return f"{text}, {arrays.from_tensor(self.tensor)})"
        except _native.Error:
            return text + ")"


def _operator(op, swapped):
    def method(self, other):
        from trnsim.beta1 import functions

        if op == "add" and isinstance(other, Affine):
            return other + self
        return functions.binary(op, other, self) if swapped else functions.binary(op, self, other)

    return method


for _op, _name in (
    ("add", "add"),
    ("subtract", "sub"),
    ("multiply", "mul"),
    ("divide", "truediv"),
    ("power", "pow"),
    ("bitwise_and", "and"),
    ("bitwise_or", "or"),
    ("bitwise_xor", "xor"),
    ("mod", "mod"),
    ("left_shift", "lshift"),
    ("right_shift", "rshift"),
):
    setattr(Tile, f"__{_name}__", _operator(_op, False))
    setattr(Tile, f"__r{_name}__", _operator(_op, True))
for _op, _name in (
    ("less", "lt"),
    ("less_equal", "le"),
    ("greater", "gt"),
    ("greater_equal", "ge"),
    ("equal", "eq"),
    ("not_equal", "ne"),
):
    setattr(Tile, f"__{_name}__", _operator(_op, False))


def _unary(op):
    def method(self):
        from trnsim.beta1 import functions

        return functions.unary(op, self)

    return method


Tile.__neg__ = _unary("negative")
Tile.__invert__ = _unary("invert")
Tile.__abs__ = _unary("abs")
