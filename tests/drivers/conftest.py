"""Drivers' packages resolve to the stand-ins; the file of a package that is not installed is skipped by name."""

import pytest
import trnsim

trnsim.install()


@pytest.fixture(autouse=True)
def trainium2():
    trnsim.install(chip="trn2")
