"""What the processors of one call left: their parts of the result put together, and their counts."""

from typing import NamedTuple

import numpy as np

from trnsim import _native


class Outcome(NamedTuple):
    """Of one processor; of several, `counts` has a row for each."""

    values: np.ndarray
    written: np.ndarray
    element_accesses: int
    transfers: int
    transfer_bytes: int
    steps: int
    stack_bytes: int
    counts: tuple = ()


def _fail(rule, text):
    error = _native.ProgramError(text)
    error.rule = rule
    raise error


def _index(mask) -> list[int]:
    return [int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape)]


def merged(operator: str, outcomes: list[Outcome]) -> Outcome:
    """The whole result. Raises ProgramError for elements that two processors wrote, or none."""
    first = outcomes[0]
    values, written = first.values.copy(), first.written.copy()
    for number, outcome in enumerate(outcomes[1:], 1):
        both = written & outcome.written
        if both.any():
            at = _index(both)
            other = next(i for i, o in enumerate(outcomes) if o.written[tuple(at)])
            _fail("gpsimd.core_overlap",
                  f"{operator}: processors {other} and {number} both write element {at} of the result; without "
                  "synchronization between them, each writes a part of its own")
        values[outcome.written] = outcome.values[outcome.written]
        written |= outcome.written
    if not written.all():
        missing = int((~written).sum())
        _fail("gpsimd.unwritten_result",
              f"{operator}: element {_index(~written)} of the result was never written ({missing} in all)")
    counts = tuple(tuple(float(o[i]) for o in outcomes) for i in range(2, 6))
    return first._replace(values=values, written=written, counts=counts)
