"""nl.affine_range and nl.sequential_range: loops whose body the vendor's compiler sees once.

Here the body runs in every iteration. What the compiler would have fixed when it saw the body, such as an address that
Python computes, is therefore remembered from the first iteration, by the order of the calls.
"""

import warnings

from trnsim import _native, session
from trnsim.beta1 import run

FIRST_ROUND = _native.Core.FIRST_ROUND  # of a loop: there is none before it


class Body:
    """What the calls of a loop's body fixed; a loop inside the body is one entry."""

    def __init__(self):
        self.entries = []
        self.at = 0

    def next(self, entry):
        """What the call at this place of the body fixed first: `entry` in the first iteration."""
        if self.at == len(self.entries):
            self.entries.append(entry)
        first = self.entries[self.at]
        self.at += 1
        return first if type(first) is type(entry) else entry


class Loop:
    """A range of iterations, as range() otherwise."""

    def __init__(self, iterations: range):
        self._iterations = iterations

    def __iter__(self):
        return self._rounds(run.current().bodies) if session.inside_kernel() else iter(self._iterations)

    def _rounds(self, bodies):
        body = bodies[-1].next(Body()) if bodies else Body()
        depth = len(bodies)
        bodies.append(body)
        try:
            launch, before = run.current().launch, FIRST_ROUND
            for i in self._iterations:
                body.at, first = 0, launch.instruction_count
                yield i
                before = launch.end_round(first, before)
        finally:
            del bodies[depth:]

    def __len__(self):
        return len(self._iterations)

    def __getitem__(self, index):
        return self._iterations[index]

    def __repr__(self):
        return repr(self._iterations)


def affine_range(start, stop=None, step=1, **_):
    """range(): iterations that do not depend on each other."""
    return Loop(range(start) if stop is None else range(start, stop, step))


def sequential_range(start, stop=None, step=1, **_):
    """range(): iterations that run in order."""
    return Loop(range(start) if stop is None else range(start, stop, step))


def fixed(function: str, values: tuple) -> tuple:
    """The values that a call inside loops has in the first iteration. Warns where `values` differ from them."""
    bodies = run.current().bodies
    first = bodies[-1].next(values) if bodies else values
    if first != values:
        warnings.warn(
            f"{function}: the compiler sees the body of a loop once, so the place is the one computed in the first "
            f"iteration, {first}, not {values}",
            stacklevel=3,
        )
    return first
