"""Random programs of two cores: each does as fuzz_legal_more.py draws, and between they meet and exchange tiles."""

import random
from dataclasses import dataclass

from fuzz_legal_more import append
from fuzz_programs import Tile, compared, nisa, nki, nl, perform, result_of, start, store, trnsim
from fuzz_views import Drawing


@dataclass(repr=False)
class Exchange:
    """Each core's `given` becomes the other's `taken`: through shared HBM and a barrier, or by sendrecv."""

    number: int
    given: Tile
    taken: Tile
    through_hbm: bool
    mistake: str = ""  # what this core does wrong

    def __repr__(self):
        return f"exchange({self.given.name}, {self.taken.name}, {'shared HBM' if self.through_hbm else 'sendrecv'})"

    def perform(self, tensors, me):
        given, taken = tensors[self.given.name], tensors[self.taken.name]
        if self.mistake == "left out":
            return None
        if not self.through_hbm:
            pipe = self.number % 3 + (self.mistake == "another pipe")
            if self.mistake == "a part":
                given, taken = given[:, ..., :1], taken[:, ..., :1]
            return nisa.sendrecv(given, taken, 1 - me, 1 - me, pipe)
        name = f"exchange{self.number}"
        both = nl.ndarray((2, *given.shape), dtype=given.dtype, buffer=nl.shared_hbm, name=name)
        if self.mistake == "no barrier":
            return nisa.dma_copy(dst=taken, src=both[0]) if me else nisa.dma_copy(dst=both[0], src=given)
        nisa.dma_copy(dst=both[me], src=given)
        other = nl.ndarray((4,), dtype=nl.float32, buffer=nl.shared_hbm, name=f"other{self.number}")
        nisa.core_barrier(other if self.mistake == "another barrier" else both, (0, 1))
        return nisa.dma_copy(dst=taken, src=both[1 - me])


def pair(seed):
    """Two drawings on one chip, whose references have run: the random numbers of core i start from the seed plus i."""
    chip = ("trn2", "trn3")[seed % 2]
    drawings = [Drawing(seed + core, chip) for core in range(2)]
    for number in range(drawings[0].random.randint(1, 4)):
        for drawing in drawings:
            for _ in range(drawing.random.randint(0, 3)):
                append(drawing)
        first = drawings[0]
        shape, dtype, through_hbm = (first.partitions(), *first.shape()), first.dtype(), first.chance(0.5)
        meetings = [
            Exchange(number, drawing.tile(shape, dtype), drawing.tile(shape, dtype), through_hbm)
            for drawing in drawings
        ]
        given = [d.reference.tiles[m.given.name].copy() for d, m in zip(drawings, meetings, strict=True)]
        for core, (drawing, meeting) in enumerate(zip(drawings, meetings, strict=True)):
            drawing.program.steps.append(meeting)
            drawing.reference.tiles[meeting.taken.name][...] = given[1 - core]
    return drawings


MISTAKES = {  # of both cores, or of core 1 alone: where it is made, and the rule that it breaks
    "left out": (None, False, "launch.deadlock"),
    "another pipe": (False, False, "sendrecv.match_pipe"),
    "a part": (False, False, "sendrecv.match_shape"),
    "no barrier": (True, True, "race.shared_hbm"),
    "another barrier": (True, False, "core_barrier.match"),
}


def broken(seed):
    """(drawings, rule): the last meeting of the two goes wrong by this rule."""
    drawings, mistake = pair(seed), random.Random(seed).choice(sorted(MISTAKES))
    through_hbm, both, rule = MISTAKES[mistake]
    for core, drawing in enumerate(drawings):
        meeting = drawing.program.steps[-1]
        meeting.through_hbm = meeting.through_hbm if through_hbm is None else through_hbm
        meeting.mistake = mistake if both or core else ""
        if mistake == "a part" and meeting.given.shape[-1] == 1:
            return broken(seed + 1_000_000)
    return drawings, rule


def differences(drawings):
    """Where the two cores and their references disagree."""
    programs = [drawing.program for drawing in drawings]
    trnsim.install(chip=programs[0].chip, seed=programs[0].seed)

    def fuzzed(first, second):
        me = nl.program_id(0)
        results = [[result_of(tile) for tile in program.tiles] for program in programs]
        tensors = start(programs[me], (first, second)[me])
        for step in programs[me].steps:
            step.perform(tensors, me) if isinstance(step, Exchange) else perform(step, tensors)
        for tile, result in zip(programs[me].tiles, results[me], strict=True):
            store(tensors[tile.name], tile, result)
        return tuple(results[0] + results[1])

    arrays = (tuple(tile.values for tile in program.tiles) for program in programs)
    got = nki.jit(fuzzed)[2](*arrays)
    trnsim.install()
    count = len(programs[0].tiles)
    lines = []
    for core, part in enumerate((got[:count], got[count:])):
        state = drawings[core].reference.tiles
        lines += [f"core {core}: {line}" for line in compared(programs[core], part, state)]
    return lines
