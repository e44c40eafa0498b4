"""Views whose address is known only when the kernel runs.

Execution is eager, so an index held in a tile or a register can be read on the spot: such a view is an
ordinary one. Rows chosen by a vector stay indirect, because the DMA engines look them up one by one.
"""

import math
import numbers

from trnsim import _native, arrays, session
from trnsim.lowering.tiles import is_tensor, refuse


def value_of(index) -> int:
    """The integer in a [1, 1] tile, a register or a number. Raises Unsupported in a timing-only run for a
    tile."""
    if isinstance(index, numbers.Integral) or hasattr(index, "__index__"):
        return int(index)
    if not is_tensor(index) or index.size != 1:
        refuse(
            "tensor.indirect",
            f"a dynamic index must be an integer, a register or a tile with one element, got {index!r}",
        )
    if session.settings.timing_only:
        raise _native.Unsupported(
            f"the address held in tile '{index.name}', because a timing-only run has no values; run with "
            "values, or use a Python integer"
        )
    if "int" not in index.dtype_name:
        refuse(
            "tensor.indirect",
            f"the dynamic index '{index.name}' is {index.dtype_name}; it must be an integer type",
        )
    index.require_written()
    return int(arrays.from_tensor(index).reshape(-1)[0])


def element_view(base, dim: int, index, at, shape):
    """at(i) for the i that `index` holds, where `base` has it; else a view that DMA refuses or skips. On
    chip there is nothing to skip: there it raises at once."""
    i = value_of(index)
    where = f"index {i} is out of bounds for dimension {dim} (size {base.shape[dim]})"
    if 0 <= i < base.shape[dim]:
        view = at(i)
        view.is_dynamic = True
        view.dynamic_offset = index if is_tensor(index) else None  # the tile to wait for
        try:
            view.require_inside()
            return view
        except _native.ProgramError as error:
            if error.rule != "tensor.out_of_bounds":
                raise
            where = f"from index {i} of dimension {dim} (size {base.shape[dim]}), {error}"
    else:
        where += f" of tensor '{base.name}' with shape {base.shape}"
    if base.space != "HBM":
        refuse("tensor.out_of_bounds", where)
    return OutsideView(base, where, shape)


class IndirectView:
    """A view that only some instructions take."""

    def __init__(self, tensor, shape):
        self.base = tensor
        self.shape = tuple(shape)
        self.dtype = tensor.dtype
        self.itemsize = tensor.itemsize
        self.name = tensor.name
        self.buffer = tensor.buffer
        self.ndim = len(self.shape)
        self.size = math.prod(self.shape)
        self.offset = tensor.offset

    def is_indirect(self) -> bool:
        """Whether the address is known only at run time."""
        return True

    def __getattr__(self, method):
        if method.startswith("__"):
            raise AttributeError(method)
        return self._refuse(method)

    def __getitem__(self, key):
        return self._refuse("a subscript")

    def __setitem__(self, key, value):
        self._refuse("assignment")

    def _refuse(self, method: str):
        return refuse(
            "tensor.indirect",
            f"'{self.name}' is an indirect view, on which {method} is not defined; take views before "
            "the dynamic index, and copy it with nisa.dma_copy to compute with it",
        )

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r}, shape={self.shape})"


class RowsView(IndirectView):
    """Rows of an HBM tensor chosen by a vector: `rows` spans all that exist, `index` says which."""

    def __init__(self, rows, index, count):
        if not is_tensor(index) or index.space != "SBUF":
            refuse("tensor.indirect", f"the vector of row numbers must be a tile in SBUF, got {index!r}")
        if rows.space != "HBM":
            refuse(
                "tensor.indirect",
                f"rows are chosen by a vector in HBM only; '{rows.name}' is in {rows.space}",
            )
        self.rows = rows
        self.index = index
        super().__init__(rows, (index.shape[0] if count is None else count,) + tuple(rows.shape[1:]))

    def _view(self, method: str, change) -> "RowsView":
        """The view whose every row `change` makes of a row; `change` leaves dimension 0 alone."""
        rows = change(self.rows)
        if rows.ndim == 0 or rows.shape[0] != self.rows.shape[0] or rows.strides[0] != self.rows.strides[0]:
            self._keep_rows(method, 0)
        return RowsView(rows, self.index, self.shape[0])

    def _keep_rows(self, method: str, dim):
        if dim in (0, -self.ndim):
            refuse(
                "tensor.indirect",
                f"{method}: dimension 0 of '{self.name}' is chosen by a vector and must stay as it is",
            )

    def __getitem__(self, key):
        entries = key if type(key) is tuple else (key,)
        if entries[:1] not in ((slice(None),), (Ellipsis,)):
            self._keep_rows("subscript", 0)
        return self._view("subscript", lambda rows: rows[key])

    def slice(self, dim, start, end, step=1):
        """NkiTensor.slice of each row."""
        self._keep_rows("slice", dim)
        return self._view("slice", lambda rows: rows.slice(dim, start, end, step))

    def select(self, dim, index):
        """NkiTensor.select of each row, at an index known when the kernel is built."""
        self._keep_rows("select", dim)
        if not isinstance(index, numbers.Integral):
            self._refuse("select at an index known only at run time")
        return self._view("select", lambda rows: rows.select(dim, index))

    def permute(self, dims):
        """NkiTensor.permute that leaves dimension 0 where it is."""
        return self._view("permute", lambda rows: rows.permute(dims))

    def broadcast(self, dim, size):
        """NkiTensor.broadcast of each row."""
        self._keep_rows("broadcast", dim)
        return self._view("broadcast", lambda rows: rows.broadcast(dim, size))

    def expand_dim(self, dim):
        """NkiTensor.expand_dim of each row."""
        self._keep_rows("expand_dim", 0 if dim == -self.ndim - 1 else dim)
        return self._view("expand_dim", lambda rows: rows.expand_dim(dim))

    def squeeze_dim(self, dim):
        """NkiTensor.squeeze_dim of each row."""
        self._keep_rows("squeeze_dim", dim)
        return self._view("squeeze_dim", lambda rows: rows.squeeze_dim(dim))

    def reshape_dim(self, dim, shape):
        """NkiTensor.reshape_dim of each row."""
        self._keep_rows("reshape_dim", dim)
        return self._view("reshape_dim", lambda rows: rows.reshape_dim(dim, shape))

    def flatten_dims(self, start_dim, end_dim):
        """NkiTensor.flatten_dims of each row."""
        self._keep_rows("flatten_dims", start_dim)
        return self._view("flatten_dims", lambda rows: rows.flatten_dims(start_dim, end_dim))

    def reshape(self, shape):
        """NkiTensor.reshape of each row; the first size stays."""
        shape = tuple(shape) if not isinstance(shape, numbers.Integral) else (shape,)
        if shape[:1] != self.shape[:1]:
            self._keep_rows("reshape", 0)
        return self._view("reshape", lambda rows: rows.reshape(rows.shape[:1] + shape[1:]))

    def rearrange(self, src_pattern, dst_pattern, fixed_sizes=None):
        """NkiTensor.rearrange that leaves dimension 0 as it is."""
        return self._view("rearrange", lambda rows: rows.rearrange(src_pattern, dst_pattern, fixed_sizes))

    @property
    def strides(self):
        """Elements from one index to the next, of each dimension."""
        return self.rows.strides

    def get_pattern(self):
        """[[stride, size], ...]; the stride of dimension 0 scales the row numbers."""
        return [[stride, size] for stride, size in zip(self.strides, self.shape)]

    def is_contiguous(self) -> bool:
        """Whether the elements of each row lie one after another, and row after row."""
        return self.rows.is_contiguous()

    def column(self):
        """The row numbers as dma_copy takes them, one per row moved."""
        if self.index.shape[0] == self.shape[0] and self.index.size == self.shape[0]:
            return self.index
        if self.index.size // self.index.shape[0] != 1 or self.index.shape[0] < self.shape[0]:
            refuse(
                "tensor.indirect",
                f"the vector of row numbers has shape {self.index.shape}; the view moves {self.shape[0]} "
                f"rows and needs a column of [{self.shape[0]}, 1]",
            )
        return self.index[: self.shape[0]]


class ColumnsView(IndirectView):
    """Columns of a tile chosen by an index: an operand of engine instructions, which see `tensor`."""

    def __init__(self, tile, index, num_elem):
        if tile.space == "HBM":
            refuse("tensor.indirect", f"indirect: '{tile.name}' is in HBM; it must be a tile in SBUF or PSUM")
        if not is_tensor(index) or index.space != "SBUF":
            refuse("tensor.indirect", f"indirect: the index must be a tile in SBUF, got {index!r}")
        if "int" not in index.dtype_name or index.ndim != 2 or index.shape[0] != tile.shape[0]:
            refuse(
                "tensor.indirect",
                f"indirect: the index is {index.dtype_name} {index.shape}; it must hold integers and have shape "
                f"({tile.shape[0]}, K), as '{tile.name}' has {tile.shape[0]} partitions",
            )
        count = index.size if num_elem is None else num_elem
        if not isinstance(count, numbers.Integral) or not 1 <= count <= index.size:
            refuse(
                "tensor.indirect",
                f"indirect: num_elem must be an integer from 1 to {index.size}, the size of the index, "
                f"got {num_elem!r}",
            )
        self.tensor = tile.columns(index, int(count))
        self.index = index
        super().__init__(tile, (tile.shape[0], int(count)))

    def _refuse(self, method: str):
        return refuse(
            "tensor.indirect",
            f"'{self.name}' is an indirect tile, on which {method} is not defined; take views before "
            "indirect()",
        )


class OutsideView(IndirectView):
    """An element that does not exist. With oob_mode.skip a DMA leaves it out, else it raises."""

    def __init__(self, base, where, shape):
        self._where = where
        super().__init__(base, shape)

    def fail(self, instruction: str):
        """Raise for the index that does not exist."""
        refuse(
            f"{instruction}.out_of_bounds",
            f"{instruction}: {self._where}; oob_mode skip would leave the transfer out",
        )
