"""Tensors that all programs of a launch have in common."""

import collections

from trnsim import _native


class SharedTensors:
    """The shared tensors of a launch: the n-th that a program creates on a line, under a name, is the n-th of all."""

    def __init__(self):
        self._made = {}
        self._counts = collections.defaultdict(int)

    def get(self, frame, name, shape, dtype, create, rule):
        """The tensor of the program `frame` and whether it is new; `create` makes it in the first program.

        Raises ProgramError with the id `rule` where another program gave it another shape or dtype.
        """
        place = (frame.launch.line, name)
        mine = (frame.program_id, place)
        key = (place, self._counts[mine])
        self._counts[mine] += 1
        form = (tuple(shape), str(dtype))
        if key not in self._made:
            self._made[key] = (form, frame.program_id, create())
            return self._made[key][-1], True
        known, first, tensor = self._made[key]
        if known != form:
            error = _native.ProgramError(
                f"the shared_hbm tensor '{name}' is {known[1]} {known[0]} in program {first} of the grid and "
                f"{form[1]} {form[0]} in program {frame.program_id}; the programs must create the same ones in the "
                "same order"
            )
            error.rule = rule
            raise error
        return tensor, False
