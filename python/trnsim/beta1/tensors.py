"""Creation of tensors: tiles, block dimensions before nl.par_dim, constants; and where they are placed."""

import copy
import itertools
import operator

import numpy as np

from trnsim import dtypes, limits, lowering, session
from trnsim.beta1 import assign, run
from trnsim.beta1.deferred import variable_name
from trnsim.beta1.issue import dtype_of, now
from trnsim.beta1.storage import Storage
from trnsim.beta1.tile import Tile
from trnsim.lowering.tiles import refuse
from trnsim.nki.language import buffers


class par_dim(int):  # noqa: N801
    """nl.par_dim(n): marks the partition axis of a shape; the axes before it are block dimensions."""


class Placement:
    """A buffer of neuronxcc.nki.compiler: `place(index, partitions, bytes)` gives (partition, byte) of each
    block's tile."""

    def __init__(self, space: str, place):
        self.space = space
        self.place = place


def ndarray(shape, dtype, *, buffer=None, name="", lazy_initialization=None):
    """A tensor; its contents are not initialised. Axes before nl.par_dim become blocks, a list-like of
    tiles."""
    return _create(shape, dtype, buffer, name, None)


def zeros(shape, dtype, *, buffer=None, name="", lazy_initialization=None):
    """A tensor of zeros. In PSUM the zeros cost nothing if a matmul accumulates there first."""
    return _create(shape, dtype, buffer, name, 0)


def ones(shape, dtype, *, buffer=None, name="", lazy_initialization=None):
    """A tensor of ones."""
    return _create(shape, dtype, buffer, name, 1)


def full(shape, fill_value, dtype, *, buffer=None, name="", lazy_initialization=None):
    """A tensor of one number."""
    return _create(shape, dtype, buffer, name, fill_value)


def zeros_like(x, dtype=None, *, buffer=None, name="", lazy_initialization=None):
    """A tensor of zeros with the shape of `x`."""
    return _create(x.shape, dtype or x.dtype, buffer if buffer is not None else _like(x), name, 0)


def empty_like(x, dtype=None, *, buffer=None, name="", lazy_initialization=None):
    """A tensor with the shape of `x`, not initialised."""
    return _create(x.shape, dtype or x.dtype, buffer if buffer is not None else _like(x), name, None)


def _like(x):
    return x.buffer if isinstance(x, Tile) else buffers.sbuf


def _create(shape, dtype, buffer, name, value):
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    buffer = buffers.sbuf if buffer is None else buffer
    dtype = dtype_of(dtype)
    name = name or variable_name("tile")
    space = getattr(buffer, "space", None)
    if space is None:
        refuse(
            "tensor.buffer",
            "buffer must be nl.sbuf, nl.psum, nl.hbm, nl.shared_hbm, nl.private_hbm or a placement of "
            f"neuronxcc.nki.compiler, got {buffer!r}",
        )
    if space == "HBM":
        return _hbm(tuple(int(size) for size in shape), dtype, buffer, name, value)
    marks = [d for d, size in enumerate(shape) if isinstance(size, par_dim)]
    if len(marks) > 1:
        refuse(
            "tensor.par_dim",
            f"shape {shape} marks {len(marks)} axes with nl.par_dim; one axis is the partition",
        )
    at = marks[0] if marks else 0
    shape = tuple(operator.index(size) for size in shape)
    run.current().epoch += 1  # what the call before used may make room
    if at == 0:
        return _tile(space, _on_chip(shape), dtype, name, value, buffer, ())
    return Blocks(shape, at, dtype, name, value, buffer)


def _on_chip(shape):
    return shape + (1,) if len(shape) == 1 else shape


def _hbm(shape, dtype, buffer, name, value):
    frame, shared = session.current(), buffer == "shared_hbm"

    def create():
        return Storage(run.current().launch.tensor("HBM", shape, dtype, name, shared=shared))

    if shared and frame.grid:
        storage, is_new = frame.shared.get(frame, name, shape, dtype, create, "grid.outputs")
    else:
        storage, is_new = create(), True
    tensor = Tile.of(storage)
    if is_new and value is not None:
        frame.launch.watch_races(False)
        _fill_hbm(tensor, value)
        frame.launch.watch_races(True)
    return tensor


def _fill_hbm(tensor, value):
    """The same number everywhere. What programs of a grid share, the first of them fills, before any other
    touches it."""
    now()
    launch, shape = run.current().launch, tensor.shape
    rows = int(np.prod(shape[:-1])) if len(shape) > 1 else shape[0]
    flat = tensor.reshape((rows, -1))
    for start in range(0, rows, limits.partitions()):
        count = min(limits.partitions(), rows - start)
        source = launch.tensor("SBUF", (count, flat.shape[1]), tensor.dtype, "constant")
        filled = Tile.of(Storage(source))
        assign.fill(filled, value)
        lowering.store(flat[start : start + count].target(), filled.tensor)


def _tile(space, shape, dtype, name, value, buffer, index):
    """One tile, placed by the simulator or by the kernel."""
    if isinstance(buffer, Placement):
        row = int(np.prod(shape[1:])) * dtype.itemsize
        address = buffer.place(index, shape[0], row)
        tensor = run.current().launch.tensor(space, shape, dtype, name, address, True)
        tile = Tile.of(Storage(tensor))
    else:
        tile = Tile.of(Storage.new(space, shape, dtype, name))
    if value is not None:
        now()
        assign.fill(tile, value)
    return tile


class Blocks:
    """A tensor with block dimensions: a tile per index of theirs, made when it is first used.

    `t[i_block]` and `t[i_block, i_p, i_f]` give the tile and a part of it; with fewer indices than block
    dimensions, the blocks that are left. How many tiles are on the chip at once follows from use: those used
    longest ago make room.
    """

    def __init__(self, shape, blocks: int, dtype, name, value, buffer):
        self.shape = shape
        self.dtype = dtype
        self.buffer = buffer
        self.name = name
        self._blocks = blocks
        self._value = value
        self._whole = name
        self._first: tuple[int, ...] = ()  # of the blocks, in the whole tensor
        self._tiles: dict[tuple[int, ...], Tile] = {}

    ndim = property(lambda self: len(self.shape))
    space = property(lambda self: self.buffer.space)

    def _part(self, index) -> "Blocks":
        part = copy.copy(self)  # the tiles are shared
        part._first = self._first + index
        part._blocks = self._blocks - len(index)
        part.shape = self.shape[len(index) :]
        part.name = _of_block(self._whole, part._first)
        return part

    def _tile(self, index) -> Tile:
        index = self._first + index
        if index not in self._tiles:
            name = _of_block(self._whole, index)
            self._tiles[index] = _tile(
                self.buffer.space,
                _on_chip(self.shape[self._blocks :]),
                self.dtype,
                name,
                self._value,
                self.buffer,
                index,
            )
        return self._tiles[index]

    def _select(self, key):
        """The block's index, and the rest of the subscript."""
        entries = list(key) if isinstance(key, tuple) else [key]
        if Ellipsis in [entry for entry in entries if isinstance(entry, type(Ellipsis))]:
            at = next(d for d, entry in enumerate(entries) if entry is Ellipsis)
            entries = entries[:at] + [slice(None)] * (self.ndim - len(entries) + 1) + entries[at + 1 :]
        index = []
        for entry, size in zip(entries[: self._blocks], self.shape):
            try:
                at = operator.index(entry)
            except TypeError:
                refuse(
                    "index.blocks",
                    f"the block dimensions of '{self.name}' (the first {self._blocks} of shape {self.shape}) "
                    f"take integers and loop variables, not {entry!r}: each block is a tile of its own",
                )
            at = at + size if at < 0 else at
            if not 0 <= at < size:
                refuse(
                    "index.out_of_bounds",
                    f"block index {entry} is out of bounds for '{self.name}' with shape {self.shape}",
                )
            index.append(at)
        return tuple(index), tuple(entries[self._blocks :])

    def __getitem__(self, key):
        index, rest = self._select(key)
        if len(index) < self._blocks:
            return self._part(index)
        tile = self._tile(index)
        return tile[rest] if rest else tile

    def __setitem__(self, key, value):
        target = self[key]
        if isinstance(target, Blocks):
            refuse(
                "index.blocks",
                f"'{self.name}' with shape {self.shape} has {self._blocks} block dimensions; index all of"
                " them to get a tile",
            )
        assign.assign(target, value)

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(self.shape[0]))

    def __iadd__(self, other):
        return refuse(
            "index.blocks",
            f"'{self.name}' is {self._count()} tiles; add to one of them: {self.name}[i] += ...",
        )

    def _count(self):
        return len(list(itertools.product(*map(range, self.shape[: self._blocks]))))

    @property
    def tensor(self):
        return refuse(
            "index.blocks",
            f"'{self.name}' with shape {self.shape} is {self._count()} tiles in block dimensions; an "
            "instruction takes one of them",
        )

    def __repr__(self):
        return f"blocks({self.name!r}, shape={self.shape}, block dimensions={self._blocks})"


def _of_block(name, index):
    return f"{name}[{', '.join(map(str, index))}]"


def shared_constant(constant, dtype=None, name=None):
    """An HBM tensor with data that is part of the program: an array, or the path of a .npy file."""
    now()
    return Tile.of(
        Storage(
            lowering.shared_constant(constant, None if dtype is None else dtype_of(dtype)), read_only=True
        )
    )


def shared_identity_matrix(n, dtype=dtypes.uint8, name=None):
    """The n x n identity in HBM, part of the program."""
    now()
    return assign.constant(np.eye(n, dtype=np.float32), dtype_of(dtype), "identity")
