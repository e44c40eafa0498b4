"""Tests of what users of NKI asked in public: what happens here when they try."""

import pytest
import trnsim

trnsim.install()


@pytest.fixture(autouse=True)
def default_chip():
    trnsim.install()
    yield
    trnsim.install()


@pytest.fixture
def refused():
    """refused(rule, words...): the block must be refused by this rule, in these words."""

    class Refused:
        def __init__(self, rule, *words):
            self.rule, self.words = rule, words

        def __enter__(self):
            return self

        def __exit__(self, kind, error, trace):
            assert kind is not None and issubclass(kind, trnsim.ProgramError), f"{kind}: {error}"
            assert error.rule == self.rule, f"{error.rule}: {error}"
            for word in self.words:
                assert word in str(error), str(error)
            return True

    return Refused
