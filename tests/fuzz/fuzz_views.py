"""Drawing tiles, and views of them: partition starts, strides, permutations, broadcasts, access patterns."""

import random

import numpy as np
from fuzz_newer import Newer
from fuzz_numbers import DTYPES, sample, size
from fuzz_programs import Columns, Program, Register, Tile, View

PARTITIONS = (1, 2, 3, 15, 16, 31, 32, 33, 48, 64, 65, 128)
ON_CHIP = ("sbuf", "sbuf", "psum")
CHIPS = ("trn1", "trn1", "trn2", "trn2", "trn2", "trn3", "trn3", "trn3", "trn3", "trn3", "inf1", "inf2")
BANK = 2048  # bytes of a partition in one PSUM bank


def starts(partitions):
    """Where so many partitions may start."""
    return [0] if partitions > 64 else [0, 64] if partitions > 32 else [0, 32, 64, 96]


class Drawing:
    """A program in the making, with the reference that has run it so far."""

    def __init__(self, seed, chip=None):
        self.random = random.Random(seed)
        self.program = Program(seed, chip or self.random.choice(CHIPS))
        self.reference = Newer(self.program.chip, seed)

    @property
    def generation(self):
        return self.reference.generation

    def chance(self, probability):
        return self.random.random() < probability

    def dtype(self, among=DTYPES):
        return self.random.choice(among)

    def partitions(self, most=128):
        return self.random.choice([count for count in PARTITIONS if count <= most])

    def shape(self, most=48):
        """A free shape of one to three dimensions."""
        total, shape = self.random.randint(1, most if self.chance(0.97) else 14 * most), []
        for _ in range(self.random.randint(0, 2)):
            factor = self.random.choice([f for f in range(1, total + 1) if total % f == 0])
            shape.append(factor)
            total //= factor
        return (*shape, total)

    def tile(self, shape, dtype, buffer="sbuf", values=None):
        if values is None:
            values = sample(self.random, shape, dtype)
        tile = Tile(f"t{len(self.program.tiles)}", dtype, buffer, values)
        self.program.tiles.append(tile)
        self.reference.add(tile)
        return tile

    def source(self, partitions, free, dtype, buffer="sbuf"):
        """A view to read: (partitions, *free) elements of a tile that exists already, or of a new one."""
        if self.chance(0.4):
            free = (int(np.prod(free)),)  # the same elements in one dimension
        return self.existing(partitions, free, dtype, buffer) or self.fresh(partitions, free, dtype, buffer, True)

    def destination(self, partitions, free, dtype, buffer="sbuf"):
        return self.existing(partitions, free, dtype, buffer) or self.fresh(partitions, free, dtype, buffer, False)

    def existing(self, partitions, free, dtype, buffer):
        """A slice of a tile that other instructions know, so that they depend on each other."""
        fitting = [
            tile
            for tile in self.program.tiles
            if (tile.dtype, tile.buffer) == (dtype, buffer)
            and len(tile.shape) == len(free) + 1
            and all(have >= need for have, need in zip(tile.shape, (partitions, *free), strict=True))
            and (buffer != "psum" or size(dtype) * int(np.prod(tile.shape[1:])) <= BANK)  # matmuls stay in one
        ]
        if not fitting or self.chance(0.4):
            return None
        tile = self.random.choice(fitting)
        start = self.random.choice([s for s in starts(partitions) if s + partitions <= tile.shape[0]])
        slices = [slice(start, start + partitions)]
        for have, need in zip(tile.shape[1:], free, strict=True):
            step = self.random.choice([s for s in (1, 2, 3) if (need - 1) * s < have])
            first = self.random.randint(0, have - 1 - (need - 1) * step)
            slices.append(slice(first, first + (need - 1) * step + 1, step))
        return View(tile, (("slice", tuple(slices)),))

    def fresh(self, partitions, free, dtype, buffer, readable):
        """A new tile, made so that the view fits into it."""
        if buffer == "private_hbm":
            return View(self.tile((partitions, *free), dtype, buffer))
        kinds = ["plain", "slice", "slice", "permute", "ap", "reshape", "dynamic"] + ["broadcast", "reverse"] * readable
        kind = self.random.choice(kinds)
        if size(dtype) * int(np.prod(free)) * 4 > BANK:
            kind = "plain"
        return getattr(self, kind)(partitions, free, dtype, buffer)

    def plain(self, partitions, free, dtype, buffer):
        return View(self.tile((partitions, *free), dtype, buffer))

    def slice(self, partitions, free, dtype, buffer):
        start = self.random.choice(starts(partitions))
        slices, shape = [slice(start, start + partitions)], [self.random.randint(start + partitions, 128)]
        widened = self.random.randrange(len(free))
        for i, need in enumerate(free):
            step = self.random.choice((1, 2, 3)) if i == widened else 1
            first = self.random.randint(0, 2) if i == widened else 0
            slices.append(slice(first, first + (need - 1) * step + 1, step))
            shape.append(slices[-1].stop + (self.random.randint(0, 2) if i == widened else 0))
        return View(self.tile(tuple(shape), dtype, buffer), (("slice", tuple(slices)),))

    def reverse(self, partitions, free, dtype, buffer):
        backwards = tuple(slice(None, None, -1) if i == len(free) else slice(None) for i in range(len(free) + 1))
        return View(self.tile((partitions, *free), dtype, buffer), (("slice", backwards),))

    def permute(self, partitions, free, dtype, buffer):
        order = list(range(1, len(free) + 1))
        self.random.shuffle(order)
        shape = [partitions] + [0] * len(free)
        for place, dim in enumerate(order):
            shape[dim] = free[place]
        return View(self.tile(tuple(shape), dtype, buffer), (("permute", (0, *order)),))

    def reshape(self, partitions, free, dtype, buffer):
        flat = View(self.tile((partitions, int(np.prod(free))), dtype, buffer))
        return View(flat.tile, (("reshape", (partitions, *free)),))

    def broadcast(self, partitions, free, dtype, buffer):
        dim = self.random.randrange(len(free))
        narrow = tuple(1 if i == dim else n for i, n in enumerate(free))
        return View(self.tile((partitions, *narrow), dtype, buffer), (("broadcast", dim + 1, free[dim]),))

    def ap(self, partitions, free, dtype, buffer):
        step, first = self.random.choice((1, 2)), self.random.randint(0, 3)
        row = first + int(np.prod(free)) * step + self.random.randint(0, 2)
        start = self.random.choice(starts(partitions))
        pairs, width = [], step
        for count in reversed(free):
            pairs.insert(0, (width, count))
            width *= count
        tile = self.tile((start + partitions, row), dtype, buffer)
        return View(tile, (("ap", ((row, partitions), *pairs), start * row + first),))

    def dynamic(self, partitions, free, dtype, buffer):
        """As ap and slice, but where it starts is known only at run time."""
        value, count = self.random.randint(0, 4), int(np.prod(free))
        by = self.held(value)
        if len(free) == 1 and isinstance(by, Register) and self.chance(0.5):
            tile = self.tile((partitions, value + count + self.random.randint(0, 2)), dtype, buffer)
            return View(tile, (("ds", by, count, value),))
        step, first = self.random.choice((1, 2)), self.random.randint(0, 3)
        start = self.random.choice(starts(partitions))
        slot = first + count * step + self.random.randint(0, 2)
        slots = value + self.random.randint(1, 2)
        width, pairs = step, []
        for size_ in reversed(free):
            pairs.insert(0, (width, size_))
            width *= size_
        row = slots * slot
        if buffer == "psum" and row * size(dtype) > BANK:  # matmuls stay in one bank
            return self.plain(partitions, free, dtype, buffer)
        shape = (slots, slot) if self.chance(0.5) else (row,)  # a step of dimension 1 is a slot, or an element
        tile = self.tile((start + partitions, *shape), dtype, buffer)
        return View(tile, (("dynamic", ((row, partitions), *pairs), start * row + first, by, 1, value),))

    def register(self, value=None):
        """A register of the program: one that holds this value, or any."""
        known = [r for r in self.program.registers if value in (None, self.reference.registers.get(r.name, 0))]
        return self.random.choice(known) if known else None

    def held(self, value):
        """A register or a tile with one element that holds a value."""
        register = self.register(value)
        if register and self.chance(0.6):
            return register
        dtype = self.random.choice(("int32", "uint32"))
        return View(self.tile((1, 1), dtype, values=np.full((1, 1), value, dtype)))

    def columns(self, view, group=16, start=None, once=False):
        """As many columns as `view` has, named by an index in a new tile like that of the view; none where its
        partitions cannot hold the index."""
        partitions, n = view.shape[0], int(np.prod(view.shape[1:]))
        if partitions < min(n, group):
            return None
        width = n + self.random.randint(0, 9)
        where = self.random.choice(starts(partitions)) if start is None else start
        offsets = self.random.sample(range(width), n) if once else [self.random.randrange(width) for _ in range(n)]
        index = np.zeros((where + partitions, -(-n // group) + self.random.randint(0, 1)), np.int64)
        for i, offset in enumerate(offsets):
            index[where + i % group, i // group] = offset
        kind = self.random.choice(("uint16", "int32", "uint32") + ("uint8",) * (width < 256))
        rows = (("slice", (slice(where, where + partitions),)),)
        base = self.random.choice(starts(partitions)) if start is not None else where
        tile = self.tile((base + partitions, width), view.tile.dtype, view.tile.buffer)
        inner = View(tile, (("slice", (slice(base, base + partitions),)),))
        return Columns(inner, View(self.tile(index.shape, kind, values=index.astype(kind)), rows), tuple(offsets))

    def column(self, partitions, dtype="float32", values=None):
        """One element for each partition."""
        if values is None:
            return self.source(partitions, (1,), dtype)
        return View(self.tile((partitions, 1), dtype, values=values))

    def scalar(self, partitions):
        """A number, or a column of float32."""
        return self.column(partitions) if self.chance(0.5) else self.number()

    def number(self):
        return float(np.float32(self.random.choice((0.0, 1.0, -2.5, 0.1, 7.0, self.random.uniform(-4, 4)))))

    def on_chip(self, *, not_psum=False):
        return "sbuf" if not_psum else self.random.choice(ON_CHIP)
