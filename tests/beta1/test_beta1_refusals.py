"""Mistakes in kernels of Beta 1: each is refused with its rule's id and the words that say what is wrong."""

import numpy as np
import pytest
import trnsim

trnsim.install()

import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
from neuronxcc import nki

A = np.arange(64 * 32, dtype=np.float32).reshape(64, 32)


def pair():
    return nl.mgrid[0:64, 0:32]


def hbm():
    return nl.ndarray((64, 32), nl.float32, buffer=nl.shared_hbm)


def inside(tile, value):
    tile[...] = value


def placed(buffer):
    nl.store(hbm(), nl.copy(nl.ndarray((nl.par_dim(64), 32), nl.float32, buffer=buffer)))


MISTAKES = [
    ("affine_select.pred", lambda a: nisa.affine_select(True, nl.load(a), 0.0), "got bool"),
    ("affine_select.pred",
     lambda a: nisa.affine_select((pair()[0] < 9) & (pair()[1] < 9), nl.load(a), 0.0), "two instructions"),
    ("assign.value", lambda a: inside(nl.load(a), "zero"), "str 'zero'"),
    ("assign.value", lambda a: inside(nl.load(a), a), "nl.load it"),
    ("compiler.alloc", lambda a: placed(ncc.sbuf.alloc(lambda idx, pdim_size, fdim_size: (0, 0, 0))), "2 integers"),
    ("compiler.alloc", lambda a: placed(ncc.psum.alloc(lambda idx, pdim_size, fdim_size: (0, 0))), "3 integers"),
    ("compiler.alloc", lambda a: placed(ncc.sbuf.alloc(lambda idx, pdim_size, fdim_size: ("a", 0))), "2 integers"),
    ("dma_transpose.argument", lambda a: nisa.dma_transpose(3.0), "got float"),
    ("index.arange", lambda a: nl.arange(64)[0:3], "':' and None"),
    ("index.mgrid", lambda a: nl.mgrid[0:64, 5], "slices with an end"),
    ("index.mgrid", lambda a: nl.mgrid[0:], "slices with an end"),
    ("iota.expr", lambda a: nisa.iota(7, nl.int32), "got 7"),
    ("iota.expr", lambda a: nisa.iota(nl.arange(8), nl.int32), "partition and a free axis"),
    ("language.shape", lambda a: nl.broadcast_to(nl.load(a), shape=(64, 48)), "(64, 48)"),
    ("load.src", lambda a: nl.load(nl.load(a)), "nl.load", "HBM"),
    ("load.src", lambda a: nl.load(3.0), "nl.load", "HBM"),
    ("load.src", lambda a: nl.load_transpose2d(nl.load(a)), "nl.load_transpose2d"),
    ("mask.instruction", lambda a: nl.matmul(nl.load(a), nl.load(a), transpose_x=True, mask=pair()[0] < 9), "no mask"),
    ("mask.operand", lambda a: pair()[0] < 1.5, "1.5"),
    ("mask.operand", lambda a: (pair()[0] < 9) & 3, "joins with masks"),
    ("mask.operator", lambda a: (pair()[0] < 9) | (pair()[1] < 9), "two instructions"),
    ("mask.type", lambda a: nl.load(a, mask=3), "got int"),
    ("nc_matmul.perf_mode", lambda a: nisa.nc_matmul(nl.load(a), nl.load(a), perf_mode="quick"), "'quick'"),
    ("store.dst", lambda a: nl.store(nl.load(a), nl.load(a)), "dst must be a tensor in HBM"),
    ("store.shape", lambda a: nl.store(hbm(), nl.load(a[0:32])), "(32, 32)", "(64, 32)"),
    ("store.value", lambda a: nl.store(hbm(), a), "is in HBM"),
    ("tensor.iteration", lambda a: list(nl.load(a)), "nl.affine_range"),
    ("grid.nested", lambda a: nki.jit(lambda b: b)[2](a), "inside another kernel"),
    ("grid.spmd_dim", lambda a: nl.spmd_dim(2, 3), "one integer"),
    ("grid.spmd_dim", lambda a: nl.spmd_dim(nl.nc(2), nl.nc(2)), "one integer"),
]


@pytest.mark.parametrize("rule, body, words", [(rule, body, words) for rule, body, *words in MISTAKES],
                         ids=[f"{rule}-{i}" for i, (rule, *_) in enumerate(MISTAKES)])
def test_a_mistake_in_a_kernel(refused, rule, body, words):
    with refused(rule, *words):
        nki.jit(lambda a: body(a))(A)


@pytest.mark.parametrize(
    "grid, words", [((0,), "below 1"), ((2, -1), "below 1"), (("2",), "integers"), (1.5, "integers")]
)
def test_a_grid_that_is_none(refused, grid, words):
    with refused("grid.size", words):
        nki.jit(lambda a: nl.load(a))[grid](A)


@pytest.mark.parametrize("what", [3, "kernel", A])
def test_a_kernel_that_is_no_function(refused, what):
    with refused("launch.kernel", type(what).__name__):
        nki.jit(mode="simulation")(what)


def test_a_mode_that_is_none(refused):
    with refused("launch.mode", "'fast'"):
        nki.jit(lambda a: a, mode="fast")


@pytest.mark.parametrize("percentile", [-1, 101, 100.5])
def test_a_percentile_outside_0_to_100(refused, percentile):
    from trnsim.beta1.benchmark import Latency  # noqa: PLC0415

    assert Latency(3.0).get_latency_percentile(99) == 3.0
    with refused("benchmark.percentile", str(percentile)):
        Latency(3.0).get_latency_percentile(percentile)


def test_a_dialect_inside_the_other(refused):
    from nki import jit  # noqa: PLC0415

    with refused("launch.dialect", "one of the two dialects"):
        jit(lambda a: nl.zeros((64, 32), nl.float32))(A)
