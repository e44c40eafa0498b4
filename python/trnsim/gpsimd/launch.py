"""A call of an operator as a launch of the simulator, with its program and profile."""

import os
import sys

import numpy as np

from trnsim import _native, arrays, session
from trnsim.profile import Profile

_PRINT_QUEUE = "NEURON_RT_GPSIMD_STDOUT_QUEUE_SIZE_BYTES"
_LONGEST_QUEUE = 131072


def record(name: str, inputs: list[np.ndarray], result) -> None:
    """Make a launch of one custom_op instruction and keep its profile."""
    settings = session.settings
    launch = _native.Launch(session.load_chip(settings.chip), name, values=not settings.timing_only)
    core = launch.core(0)
    core.enter()
    try:
        srcs = [_flat(arrays.to_hbm(core, array, f"argument {i}")) for i, array in enumerate(inputs) if array.size]
        dst = _flat(arrays.to_hbm(core, result.values, "result"))
        if result.values.size:
            accesses, transfers, transfer_bytes, steps = result.counts
            _native.isa.custom_op(dst, srcs, accesses, transfers, transfer_bytes, steps, name=name)
        core.end()
    finally:
        _native.Launch.leave()
        session.keep(Profile(launch))
        launch.close()


def _flat(tensor):
    return tensor.reshape((tensor.size,))


def show_printed(text: bytes) -> None:
    """What the operator printed, as far as the queue of the environment holds it; without one, all of it."""
    size = os.environ.get(_PRINT_QUEUE)
    if size is not None:
        number = int(size) if size.isdigit() else -1
        if number < 0 or number > _LONGEST_QUEUE or number & (number - 1):
            raise _native.ConfigError(f"{_PRINT_QUEUE} is '{size}'; it must be 0 or a power of two up to "
                                      f"{_LONGEST_QUEUE}")
        text = text[-number:] if number else b""
    if text:
        sys.stdout.write(text.decode(errors="replace"))
        sys.stdout.flush()
