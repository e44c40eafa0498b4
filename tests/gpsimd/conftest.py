"""Libraries of operators for the tests, built once in a session."""

import os

import operators
import pytest
import trnsim
from trnsim import gpsimd


@pytest.fixture(scope="session", autouse=True)
def simulated_chip(tmp_path_factory):
    trnsim.install(chip="trn1")
    os.environ.setdefault("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp().parent / "trnsim-cache"))


@pytest.fixture(autouse=True)
def trn1():
    trnsim.install(chip="trn1")


def built(folder, name, compute, shapes=None, **options):
    """The library of operators in these sources; files compute.cpp and shape.cpp of a folder."""
    (folder / "compute.cpp").write_text(compute)
    if shapes:
        (folder / "shape.cpp").write_text(shapes)
    return gpsimd.load(name, [folder / "compute.cpp"], [folder / "shape.cpp"] if shapes else None,
                       build_directory=folder, **options)


@pytest.fixture(scope="session")
def build_operators(simulated_chip):
    return built


@pytest.fixture(scope="session")
def arithmetic(tmp_path_factory, simulated_chip):
    return built(tmp_path_factory.mktemp("arithmetic"), "arithmetic", operators.COMPUTE, operators.SHAPES)


@pytest.fixture(scope="session")
def mistakes(tmp_path_factory, simulated_chip):
    return built(tmp_path_factory.mktemp("mistakes"), "mistakes", operators.WRONG, operators.WRONG_SHAPES)


@pytest.fixture(scope="session")
def together(tmp_path_factory, simulated_chip):
    return built(tmp_path_factory.mktemp("together"), "together", operators.MULTICORE, operators.MULTICORE_SHAPES,
                 multicore=True)
