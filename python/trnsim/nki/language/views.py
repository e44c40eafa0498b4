"""The views of NkiTensor: other shapes of the same storage, each free of instructions.

NkiTensor is the native tensor class itself, so that an instruction call costs no wrapper; its NKI methods
are added to it here.
"""

import math
import numbers

from trnsim import _native, arrays
from trnsim.lowering.tiles import refuse
from trnsim.nki.language import buffers
from trnsim.nki.language.indirect import ColumnsView, RowsView, element_view
from trnsim.nki.language.rearrangement import rearrange

_BUFFER = {"SBUF": buffers.sbuf, "PSUM": buffers.psum, "HBM": buffers.SharedHbm("shared_hbm", "HBM")}


def _dim(self, dim, method: str) -> int:
    if not isinstance(dim, numbers.Integral) or not -self.ndim <= dim < self.ndim:
        refuse("tensor.dim", f"{method}: dimension {dim!r} of tensor '{self.name}' with shape {self.shape}")
    return int(dim) % self.ndim


def ap(self, pattern, offset=None, scalar_offset=None, vector_offset=None, indirect_dim=0, dtype=None):
    """The pattern [[step, count], ...] over the tensor's storage, in elements of `dtype`, outermost first.

    `offset` counts from this view's own. With `scalar_offset` (an integer, a register or a [1, 1] tile) the
    view starts so many steps of dimension `indirect_dim` later; with `vector_offset` (a tile) row p is the
    row that its p-th element names. Raises ProgramError for a pattern that the hardware does not have.
    """
    to = (self if dtype is None else self.pattern([[0, 1]], 0, dtype)).itemsize
    start, rest = divmod(self.offset * self.itemsize, to)
    if rest:
        refuse(
            "tensor.view",
            f"ap: the view of tensor '{self.name}' starts in the middle of a {to}-byte element",
        )
    start += _offset(offset)
    if scalar_offset is None and vector_offset is None:
        return self.pattern(pattern, start, dtype)
    if scalar_offset is not None and vector_offset is not None:
        refuse("tensor.indirect", "ap: scalar_offset and vector_offset cannot be combined")
    _not_indirect(self, "ap")
    dim = _dim(self, indirect_dim, "ap")
    step = self.strides[dim] * self.itemsize // to
    if scalar_offset is not None:
        at = lambda steps: self.pattern(pattern, start + steps * step, dtype)  # noqa: E731
        return element_view(self, dim, scalar_offset, at, shape=at(0).shape)
    if dim != 0:
        refuse("tensor.indirect", f"ap: vector_offset indexes dimension 0 only, indirect_dim is {indirect_dim}")
    row = self.pattern([[1, 1], *list(pattern)[1:]], start, dtype)
    reach = sum((count - 1) * stride for count, stride in zip(row.shape, row.strides) if stride > 0)
    fitting = (row.row_elements - 1 - reach - start) // step + 1
    rows = min(self.shape[0] - (start - self.offset * self.itemsize // to) // step, fitting)
    if rows < 1:
        refuse(
            "tensor.out_of_bounds",
            f"ap: a row of the pattern reaches to element {start + reach} of tensor '{self.name}', which has "
            f"{row.row_elements}",
        )
    return RowsView(self.pattern([[step, rows], *list(pattern)[1:]], start, dtype), vector_offset, pattern[0][1])


def _offset(offset) -> int:
    if offset is None:
        return 0
    if getattr(offset, "is_register", False) or not hasattr(offset, "__index__"):
        refuse(
            "tensor.pattern", f"ap: offset must be an integer, got {offset!r}; run-time offsets are scalar_offset"
        )
    return int(offset)


def _not_indirect(self, method: str):
    if self.is_dynamic:
        refuse(
            "tensor.indirect",
            f"{method}: the address of this view of tensor '{self.name}' is already known only at run time; a "
            "view takes one dynamic index",
        )


def reshape_dim(self, dim, shape):
    """Split one dimension; one size may be -1."""
    dim = _dim(self, dim, "reshape_dim")
    shape = tuple(shape)
    if dim == 0 and len(shape) != 1 and self.space != "HBM":
        refuse(
            "tensor.reshape",
            f"reshape_dim: dimension 0 of {self.space} tensor '{self.name}' is its partition and is not split",
        )
    if shape.count(-1) > 1:
        refuse("tensor.reshape", f"reshape_dim: more than one size of {shape} is -1")
    if -1 in shape:
        known = -math.prod(shape)
        if known <= 0 or self.shape[dim] % known:
            refuse(
                "tensor.reshape",
                f"reshape_dim: dimension {dim} of tensor '{self.name}' has size {self.shape[dim]}, which "
                f"{shape} does not divide",
            )
        shape = tuple(self.shape[dim] // known if size == -1 else size for size in shape)
    return self.reshape(self.shape[:dim] + shape + self.shape[dim + 1 :])


def flatten_dims(self, start_dim, end_dim):
    """Merge the dimensions from `start_dim` to `end_dim`, both included."""
    start, end = _dim(self, start_dim, "flatten_dims"), _dim(self, end_dim, "flatten_dims")
    if end < start:
        refuse("tensor.dim", f"flatten_dims: start_dim {start_dim} is after end_dim {end_dim}")
    if start == 0 and end > 0 and self.space != "HBM":
        refuse(
            "tensor.reshape",
            f"flatten_dims: dimension 0 of {self.space} tensor '{self.name}' is its partition and is not merged",
        )
    merged = math.prod(self.shape[start : end + 1])
    return self.reshape(self.shape[:start] + (merged,) + self.shape[end + 1 :])


def slice_(self, dim, start, end, step=1):
    """The elements from `start` to before `end` of one dimension."""
    dim = _dim(self, dim, "slice")
    if not 0 <= start < end <= self.shape[dim] or step < 1:
        refuse(
            "tensor.out_of_bounds",
            f"slice: {start}:{end}:{step} of dimension {dim} (size {self.shape[dim]}) of tensor "
            f"'{self.name}' with shape {self.shape}",
        )
    return self.subscript((slice(None),) * dim + (slice(start, end, step),))


def select(self, dim, index):
    """One element of a dimension, which goes (a tile keeps two dimensions, an HBM tensor one); `index` may
    be a [1, 1] tile or a register."""
    dim = _dim(self, dim, "select")
    at = lambda i: self.subscript((slice(None),) * dim + (i,))  # noqa: E731
    if isinstance(index, numbers.Integral):
        return at(index)
    if dim == 0 and self.space != "HBM":
        refuse("tensor.indirect", f"select: the partition of '{self.name}' cannot be chosen at run time")
    _not_indirect(self, "select")
    return element_view(self, dim, index, lambda i: at(int(i)), shape=self.shape[:dim] + self.shape[dim + 1 :])


def vector_select(self, dim, vector_offset):
    """Row p of the result is the row of this HBM tensor that element p of `vector_offset` names."""
    if _dim(self, dim, "vector_select") != 0:
        refuse(
            "tensor.indirect", f"vector_select: dim is {dim}; only dimension 0 can be selected by a vector"
        )
    _not_indirect(self, "vector_select")
    return RowsView(self, vector_offset, None)


def indirect(self, index, num_elem=None):
    """`num_elem` columns of this tile, at the free-dimension offsets in the SBUF tile `index` of [P, K]
    (NeuronCore-v4): offset i is index[i % G, i // G], G 32 for the Tensor Engine and 16 for the others. The
    instruction that takes it gathers the columns, or scatters to them. Raises ProgramError."""
    _not_indirect(self, "indirect")
    return ColumnsView(self, index, num_elem)


def is_contiguous(self) -> bool:
    """Whether the elements (on chip: those of each partition) lie one after another."""
    expected = 1
    for size, stride in reversed(list(zip(self.shape, self.strides))[0 if self.space == "HBM" else 1 :]):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def _subscript(self, key):
    try:
        return self.subscript(key)
    except _native.ProgramError as error:
        failure = error
    entries = key if isinstance(key, tuple) else (key,)
    for place, entry in enumerate(entries):
        if isinstance(entry, _native.Tensor) and all(isinstance(other, slice) for other in entries[:place]):
            return _subscript(select(self, place, entry), entries[:place] + entries[place + 1 :] or Ellipsis)
        if entry is None:
            refuse(
                "tensor.index",
                f"tensor '{self.name}': None in a subscript; use expand_dim() to add a dimension",
            )
    raise failure


def _assign(self, key, value):
    refuse(
        "tensor.assignment",
        f"tensor '{self.name}' cannot be assigned to: tensors are views of storage that instructions "
        "write. Pass it as dst=, for example nisa.tensor_copy(dst=tensor[...], src=value).",
    )


def _no_arithmetic(symbol, function):
    def refuse_operator(self, other):
        refuse(
            "tensor.operator",
            f"{symbol} is not defined on tensors; use nl.{function}(x, y) or "
            f"nisa.tensor_tensor(dst, x, y, op=nl.{function})",
        )

    return refuse_operator


def _repr(self):
    try:
        return f"NkiTensor({self.name!r}, {self.space}, {self.dtype_name}, {arrays.from_tensor(self)})"
    except _native.Error:
        return f"NkiTensor({self.name!r}, {self.space}, {self.dtype_name}, shape={self.shape})"


def _truth(self) -> bool:
    """Of the result of a comparison, whether it holds everywhere (for assert); a tensor as such is there:
    True."""
    if not getattr(self, "is_comparison", False):
        return True
    return bool(arrays.from_tensor(self).astype(bool).all())


_METHODS = {
    "__getitem__": _subscript,
    "__setitem__": _assign,
    "__repr__": _repr,
    "__bool__": _truth,
    "ap": ap,
    "reshape_dim": reshape_dim,
    "flatten_dims": flatten_dims,
    "slice": slice_,
    "select": select,
    "vector_select": vector_select,
    "indirect": indirect,
    "rearrange": rearrange,
    "is_contiguous": is_contiguous,
    "view": lambda self, dtype: self.reinterpret(dtype),
    "reinterpret_cast": lambda self, dtype: self.reinterpret(dtype),
    "is_indirect": lambda self: self.is_dynamic,
    "get_pattern": lambda self: [[stride, size] for stride, size in zip(self.strides, self.shape)],
    "numpy": lambda self: arrays.from_tensor(self),
    "buffer": property(lambda self: buffers.private_hbm if self.is_private else _BUFFER[self.space]),
}
_OPERATORS = {
    "add": ("+", "add"),
    "sub": ("-", "subtract"),
    "mul": ("*", "multiply"),
    "truediv": ("/", "divide"),
}

for _name, _method in _METHODS.items():
    setattr(_native.Tensor, _name, _method)
for _name, (_symbol, _function) in _OPERATORS.items():
    for _prefix in ("", "r"):
        setattr(_native.Tensor, f"__{_prefix}{_name}__", _no_arithmetic(_symbol, _function))
