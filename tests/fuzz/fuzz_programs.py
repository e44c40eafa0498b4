"""What a random program is, and running it: on trnsim, and on the reference.

A program is data: tiles with their first values, and steps, each the name of an instruction and its arguments.
Whatever an argument means in nki stands here as a Token, so that both sides read the same program.
"""

from dataclasses import dataclass, field

import numpy as np
import trnsim
from fuzz_numbers import host, same

trnsim.install()

import nki
import nki.isa as nisa
import nki.language as nl


@dataclass(frozen=True)
class Token:
    """A member of nki.language or nki.isa by its dotted name: nl.add, nisa.reduce_cmd.reduce."""

    name: str

    def resolve(self):
        value = {"nl": nl, "nisa": nisa}[self.name.split(".")[0]]
        for part in self.name.split(".")[1:]:
            value = getattr(value, part)
        return value

    def __repr__(self):
        return self.name


@dataclass
class Tile:
    name: str
    dtype: str
    buffer: str  # sbuf, psum or private_hbm
    values: np.ndarray

    @property
    def shape(self):
        return self.values.shape


@dataclass(frozen=True)
class View:
    """A tile, and what is done to it: ("slice", slices), ("permute", order), ("broadcast", dim, n),
    ("reshape", shape), ("ap", pairs, offset), or with an address known at run time, a register or a tile with one
    element whose value comes last: ("dynamic", pairs, offset, by, dim, value), ("ds", by, count, value)."""

    tile: Tile
    changes: tuple = ()

    def of_array(self, array):
        for kind, *how in self.changes:
            if kind == "slice":
                array = array[how[0]]
            elif kind == "permute":
                array = array.transpose(how[0])
            elif kind == "broadcast":
                shape = list(array.shape)
                shape[how[0]] = how[1]
                array = np.broadcast_to(array, shape)
            elif kind == "reshape":
                array = array.reshape(how[0])
            elif kind == "ds":
                array = array[:, how[2] : how[2] + how[1]]
            else:
                first = how[1] + (how[4] * int(np.prod(array.shape[how[3] + 1 :])) if kind == "dynamic" else 0)
                bits = array.view(f"u{array.itemsize}").reshape(-1)[first:]  # numpy's strides know no fp8
                strides = [step * array.itemsize for step, _ in how[0]]
                bits = np.lib.stride_tricks.as_strided(bits, [count for _, count in how[0]], strides)
                array = bits.view(array.dtype)
        return array

    def of_tensor(self, tensor, tensors):
        for kind, *how in self.changes:
            if kind == "slice":
                tensor = tensor[how[0]]
            elif kind == "permute":
                tensor = tensor.permute(how[0])
            elif kind == "broadcast":
                tensor = tensor.broadcast(how[0], how[1])
            elif kind == "reshape":
                tensor = tensor.reshape(how[0])
            elif kind == "ds":
                tensor = tensor[:, nl.ds(resolved(how[0], tensors), how[1])]
            elif kind == "dynamic":
                pairs, offset, by, dim = [list(pair) for pair in how[0]], how[1], resolved(how[2], tensors), how[3]
                tensor = tensor.ap(pairs, offset, scalar_offset=by, indirect_dim=dim)
            else:
                tensor = tensor.ap([list(pair) for pair in how[0]], how[1])
        return tensor

    @property
    def shape(self):
        return self.at(0).of_array(self.tile.values).shape

    def at(self, i):
        """This view in round `i` of the loop that it stands in."""
        known = [
            (*change[:-1], i) if change[0] in ("dynamic", "ds") and change[-1] is None else change
            for change in self.changes
        ]
        return View(self.tile, tuple(known))

    def __repr__(self):
        return self.tile.name + "".join(f".{kind}{tuple(how)}" for kind, *how in self.changes)


@dataclass(frozen=True, repr=False)
class Rows:
    """The rows of an HBM tile that a column of integers names: .ap(..., vector_offset=index)."""

    tile: Tile
    index: View

    def __repr__(self):
        return f"{self.tile.name}[rows {self.index!r}]"

    def of_tensor(self, tensor, index):
        rows, row = index.shape[0], int(np.prod(tensor.shape[1:]))
        return tensor.ap([[row, rows], [1, row]], vector_offset=index)


@dataclass(frozen=True, repr=False)
class Columns:
    """The columns of an on-chip view that an index names: .indirect(index, count)."""

    view: View
    index: View
    offsets: tuple  # what the index holds

    @property
    def tile(self):
        return self.view.tile

    @property
    def changes(self):
        return self.view.changes

    @property
    def shape(self):
        return (self.view.shape[0], len(self.offsets))

    def __repr__(self):
        return f"{self.view!r}[columns {self.index!r}: {len(self.offsets)}]"


@dataclass(frozen=True)
class Register:
    """A register of the kernel, which lives as long as the kernel; LOOP is the one its loops count in."""

    name: str

    def __repr__(self):
        return self.name


LOOP = Register("loop")


@dataclass
class Step:
    instruction: str
    arguments: dict
    loop: tuple = None  # first, end and step of nl.dynamic_range

    def in_round(self, i):
        arguments = {
            name: value.at(i) if isinstance(value, View) else value for name, value in self.arguments.items()
        }
        return Step(self.instruction, arguments)

    def __repr__(self):
        loop = f"for loop in dynamic_range{self.loop}: " if self.loop else ""
        return f"{loop}{self.instruction}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


@dataclass
class Program:
    seed: int
    chip: str
    tiles: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    registers: list = field(default_factory=list)

    def __str__(self):
        tiles = [f"  {t.name}: {t.dtype} {list(t.shape)} in {t.buffer}" for t in self.tiles]
        return "\n".join([f"seed {self.seed} on {self.chip}", *tiles, *(f"  {step}" for step in self.steps)])


def resolved(value, tensors):
    if isinstance(value, View):
        return value.of_tensor(tensors[value.tile.name], tensors)
    if isinstance(value, Register):
        return tensors[value.name]
    if isinstance(value, Columns):
        return resolved(value.view, tensors).indirect(resolved(value.index, tensors), len(value.offsets))
    if isinstance(value, Rows):
        return value.of_tensor(tensors[value.tile.name], resolved(value.index, tensors))
    if isinstance(value, Token):
        return value.resolve()
    if isinstance(value, list):
        return [resolved(entry, tensors) for entry in value]
    return value


def load(array, tile):
    """Inside a kernel: the tile, with its first values."""
    dtype = getattr(nl, tile.dtype)
    array = array.view(dtype) if tile.dtype.endswith("x4") else array
    if tile.buffer == "psum":
        staged = nl.ndarray(tile.shape, dtype=dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=staged, src=array)
        tensor = nl.ndarray(tile.shape, dtype=dtype, buffer=nl.psum, name=tile.name)
        nisa.tensor_copy(dst=tensor, src=staged)
        return tensor
    tensor = nl.ndarray(tile.shape, dtype=dtype, buffer=getattr(nl, tile.buffer), name=tile.name)
    nisa.dma_copy(dst=tensor, src=array)
    return tensor


def store(tensor, tile, result=None):
    """Inside a kernel: a result with the tile's values."""
    if tile.buffer == "psum":
        staged = nl.ndarray(tile.shape, dtype=tensor.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=staged, src=tensor)
        tensor = staged
    result = result or result_of(tile)
    if tile.dtype.endswith("x4"):
        tensor = tensor.view(result.dtype)
    nisa.dma_copy(dst=result, src=tensor)
    return result


def result_of(tile):
    """Inside a kernel: what is returned for a tile."""
    name = "float32" if tile.dtype == "tfloat32" else host(tile.dtype).name if "x4" in tile.dtype else tile.dtype
    return nl.ndarray(tile.shape, dtype=getattr(nl, name), buffer=nl.shared_hbm)


def start(program, arrays):
    """Inside a kernel: the tiles and registers that a program begins with, by name."""
    tensors = {tile.name: load(array, tile) for tile, array in zip(program.tiles, arrays, strict=True)}
    return tensors | {register.name: nisa.register_alloc(0) for register in program.registers}


def perform(step, tensors):
    function = getattr(nisa, step.instruction)
    for tensors[LOOP.name] in nl.dynamic_range(*step.loop) if step.loop else (None,):
        function(**{name: resolved(value, tensors) for name, value in step.arguments.items()})


def simulate(program, before_steps=None):
    """The tiles after the program, as trnsim has them; raises what trnsim raises."""
    trnsim.install(chip=program.chip, seed=program.seed)

    def fuzzed(arrays):
        tensors = start(program, arrays)
        if before_steps:
            before_steps(tensors)
        for step in program.steps:
            perform(step, tensors)
        return tuple(store(tensors[tile.name], tile) for tile in program.tiles)

    return nki.jit(fuzzed)(tuple(tile.values for tile in program.tiles))


def differences(program, state):
    """Where trnsim and the reference disagree: one line for each tile, none when all is well."""
    return compared(program, simulate(program), state)


def compared(program, results, state):
    lines = []
    for tile, result in zip(program.tiles, results, strict=True):
        expected = state[tile.name]
        result = np.asarray(result).view(host(tile.dtype)) if result.dtype != host(tile.dtype) else result
        if not same(result, expected):
            wrong = np.argwhere(~elementwise(result, expected))
            at = tuple(int(i) for i in wrong[0])
            lines.append(
                f"{tile.name}: {len(wrong)} of {result.size} differ, first at {at}: "
                f"{result[at]!r} where the reference has {expected[at]!r}"
            )
    return lines


def elementwise(a, b):
    return np.vectorize(lambda x, y: same(np.array([x], a.dtype), np.array([y], b.dtype)))(a, b)
