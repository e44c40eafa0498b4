"""What nl.device_print prints."""

import numpy as np

from trnsim import arrays, session


def device_print(prefix, tensor) -> None:
    """Print `prefix`, the program's id where the kernel has a grid, what the tensor is, and its values.

    Large tensors are abbreviated as numpy does (numpy.set_printoptions applies). In a timing-only run there are no
    values, and the line says so.
    """
    frame = session.current()
    program = f" program {frame.program_id}" if frame.program_id else ""
    head = f"{prefix}{program} {tensor.dtype_name}{list(tensor.shape)} in {tensor.space}"
    if session.settings.timing_only:
        print(f"{head}: no values in a timing-only run")
        return
    tensor.require_written()
    print(f"{head}:\n{np.array2string(arrays.from_tensor(tensor), separator=' ')}")
