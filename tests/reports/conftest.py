"""Tests of what users of NKI asked in public: what happens here when they try."""

import pytest
import trnsim

trnsim.install()


@pytest.fixture(autouse=True)
def default_chip():
    trnsim.install()
    yield
    trnsim.install()
