"""Tests of the Beta 1 dialect: `import neuronxcc.nki` means the simulator, on Trainium2."""

import numpy as np
import pytest
import trnsim

trnsim.install(chip="trn2")


@pytest.fixture(autouse=True)
def trainium2():
    trnsim.install(chip="trn2")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def opcodes():
    """Names of the instructions of the latest launch, in program order."""
    return lambda: [instruction["opcode"] for instruction in trnsim.last_profile().instructions]
