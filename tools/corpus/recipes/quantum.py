"""biquando/trainium-quantum-sim: gates applied to a state vector."""

import contextlib
import importlib
import io
import re

import numpy as np
from corpus.case import Case
from corpus.runners import compare

REPOSITORIES = ("quantum",)


def cases(checkout):
    yield Case("src/hybrid.py", "gate_on_tiles", name="kernel", seconds=900)
    yield Case("src/torch_test.py", "product", name="kernel")
    yield Case("src/test.py", "circuit", name="test_correctness", seconds=1500)


def gate_on_tiles(path):
    """The kernel multiplies each transposed tile of the state by a unitary and transposes back."""
    import torch

    random = np.random.default_rng(0)
    state = random.standard_normal((2, 512, 128)).astype(np.float32)
    gate = random.standard_normal((2, 128, 128)).astype(np.float32)
    result = importlib.import_module(path.stem).kernel(torch.tensor(state), torch.tensor(gate)).numpy()
    wide = state[0].astype(np.complex128) + 1j * state[1]
    unitary = gate[0].astype(np.complex128) + 1j * gate[1]
    expected = np.concatenate([(unitary @ tile.T).T for tile in wide.reshape(4, 128, 128)])
    # It stores the imaginary part first.
    return compare(result, np.stack([expected.imag, expected.real]).astype(np.float32), of_largest=1e-5)


def product(path):
    """src/torch_test.py calls the kernel of src/torch_circuit.py with small matrices."""
    import torch

    random = np.random.default_rng(0)
    left, right = (random.standard_normal((128, 128)).astype(np.float32) for _ in range(2))
    kernel = importlib.import_module("torch_circuit").kernel
    return compare(kernel(torch.tensor(left), torch.tensor(right)).numpy(), left @ right, of_largest=1e-5)


def circuit(path):
    """Its own comparison with qiskit's state vector, of which it prints the distance."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        importlib.import_module(path.stem).test_correctness()
    distance = float(re.search(r"Distance between state vectors: (\S+)", output.getvalue())[1])
    assert distance < 1e-4, f"distance {distance:.1e} from qiskit's state vector"
    return f"distance {distance:.1e} from qiskit's state vector"
