"""What tests of several folders share: run a function as a kernel; expect a refusal."""

import pytest
import trnsim


@pytest.fixture
def run():
    """run(fn, *arrays, chip="trn2", **kwargs): call `fn` as a kernel on a chip and return its results as
    arrays."""

    def call(fn, *arrays, chip="trn2", **kwargs):
        trnsim.install(chip=chip)
        import nki

        return nki.jit(fn)(*arrays, **kwargs)

    yield call
    trnsim.install()


@pytest.fixture
def refused():
    """refused(rule, words...): the block must raise a ProgramError of this rule, in these words."""

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
