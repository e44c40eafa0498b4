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


@pytest.fixture
def refused():
    """refused("rule", text in the message): the block must raise a ProgramError with this rule."""

    class Refused:
        def __init__(self, rule, *words):
            self.rule, self.words = rule, words

        def __enter__(self):
            return self

        def __exit__(self, kind, error, trace):
            assert kind is not None and issubclass(
                kind, trnsim.ProgramError
            ), f"{kind} instead of a ProgramError: {error}"
            assert error.rule == self.rule, f"{error.rule}: {error}"
            for word in self.words:
                assert word in str(error), str(error)
            return True

    return Refused
