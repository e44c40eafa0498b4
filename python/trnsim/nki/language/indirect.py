"""Views whose address is known only when the kernel runs.

Execution is eager, so an index held in a tile or a register can be read on the spot: such a view is an
ordinary one. Rows chosen by a vector stay indirect, because the DMA engines look them up one by one.
"""

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
    """at(i) for the i that `index` holds, where dimension `dim` of `base` has it; else a view that DMA
    refuses or skips."""
    i = value_of(index)
    if 0 <= i < base.shape[dim]:
        return at(i)
    return OutsideView(base, dim, i, tuple(shape))


class IndirectView:
    """What only nisa.dma_copy and nisa.dma_transpose take."""

    def __init__(self, tensor, shape):
        self.base = tensor
        self.shape = tuple(shape)
        self.dtype = tensor.dtype
        self.name = tensor.name
        self.buffer = tensor.buffer
        self.ndim = len(self.shape)

    def is_indirect(self) -> bool:
        """Whether the address is known only at run time."""
        return True

    def __getattr__(self, method):
        if method.startswith("__"):
            raise AttributeError(method)
        return refuse(
            "tensor.indirect",
            f"'{self.name}' is an indirect view, on which {method} is not defined; take views before "
            "the dynamic index, and copy it with nisa.dma_copy to compute with it",
        )

    def __repr__(self):
        return f"IndirectView({self.name!r}, shape={self.shape})"


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

    def __getitem__(self, key):
        entries = key if isinstance(key, tuple) else (key,)
        if entries[:1] not in ((slice(None),), (Ellipsis,)):
            refuse(
                "tensor.indirect",
                f"'{self.name}' is an indirect view; its dimension 0 cannot be sliced again",
            )
        return RowsView(self.rows.subscript(key), self.index, self.shape[0])

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


class OutsideView(IndirectView):
    """An element that does not exist. With oob_mode.skip a DMA leaves it out, else it raises."""

    def __init__(self, base, dim, index, shape):
        self._where = (
            f"index {index} is out of bounds for dimension {dim} (size {base.shape[dim]}) of tensor "
            f"'{base.name}' with shape {base.shape}"
        )
        super().__init__(base, shape)

    def fail(self, instruction: str):
        """Raise for the index that does not exist."""
        refuse(
            f"{instruction}.out_of_bounds",
            f"{instruction}: {self._where}; oob_mode skip would leave the transfer out",
        )
