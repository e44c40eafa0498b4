"""Operators as operands: nl's own, numpy's functions, and the dtypes that promotion gives."""

import numpy as np
import pytest
import trnsim
from oracle import host, same, sample
from trnsim import lowering

trnsim.install()

import nki
import nki.isa as nisa
import nki.language as nl


@pytest.mark.parametrize(
    "op, function",
    [
        (nl.add, np.add),
        (np.add, np.add),
        (np.multiply, np.multiply),
        (np.maximum, np.maximum),
        (np.max, np.maximum),
        (nl.max, np.maximum),
        (np.subtract, np.subtract),
        (np.greater, np.greater),
    ],
)
def test_tensor_tensor(evaluate, op, function):
    def kernel(a, b):
        result = nl.ndarray(a.shape, a.dtype, nl.sbuf)
        nisa.tensor_tensor(dst=result, data1=a, data2=b, op=op)
        return result

    x, y = sample((16, 8)), sample((16, 8), seed=1)
    same(evaluate(kernel, x, y), function(x, y).astype(np.float32))


@pytest.mark.parametrize("op", [nl.sum, np.sum, nl.add, np.add])
def test_tensor_reduce(evaluate, op):
    def kernel(a):
        result = nl.ndarray((16, 1), a.dtype, nl.sbuf)
        nisa.tensor_reduce(dst=result, op=op, data=a, axis=1)
        return result

    x = np.rint(sample((16, 8)))
    same(evaluate(kernel, x), x.sum(1, keepdims=True))


@pytest.mark.parametrize("op", [nl.exp, np.exp])
def test_activation(evaluate, op):
    def kernel(a):
        result = nl.ndarray(a.shape, a.dtype, nl.sbuf)
        nisa.activation(dst=result, op=op, data=a)
        return result

    x = sample((16, 8))
    np.testing.assert_allclose(evaluate(kernel, x), np.exp(x), rtol=1e-6)


def test_operators_are_values():
    assert repr(nl.add) == "add" and nl.add.__name__ == "add" and nl.add.__doc__.startswith("x + y")
    assert nl.add == nl.add and nl.add != nl.multiply and len({nl.add, nl.add, nl.exp}) == 2


@pytest.mark.parametrize(
    "name", ["add", "exp", "max", "copy", "where", "load", "softmax", "shared_identity_matrix"]
)
def test_signatures_and_docs(name):
    assert getattr(nl, name).__doc__


def test_unknown_operator():
    with pytest.raises(trnsim.ProgramError, match="not an operator that NKI knows") as caught:
        lowering.name_of(np.hypot)
    assert caught.value.rule == "language.operator"


def test_names_that_went_say_where():
    with pytest.raises(AttributeError, match="nki.language.arange is of Beta 1 .* only; use slices"):
        _ = nl.arange
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = nl.nothing
    assert not hasattr(nl, "mgrid")


def test_enumerations():
    assert {choice.name for choice in nisa.reduce_cmd} == {
        "idle",
        "reset",
        "reduce",
        "reset_reduce",
        "load_reduce",
    }
    assert nki.isa.constants.dge_mode.hwdge is nisa.dge_mode.hwdge
    assert nisa.vector_engine is nisa.engine.vector
    with pytest.raises(AttributeError, match="oob_mode has no member 'ignore'; it has error, skip"):
        _ = nisa.oob_mode.ignore


@pytest.mark.parametrize(
    "chip, version", [("trn1", "gen2"), ("inf2", "gen2"), ("trn2", "gen3"), ("trn3", "gen4")]
)
def test_generation(run, chip, version):
    def kernel(x):
        assert nisa.get_nc_version() == getattr(nisa.nc_version, version)
        assert nisa.get_nc_sub_version() == 0

    run(kernel, sample((1, 1)), chip=chip)


@pytest.mark.parametrize(
    "a, b, expected",
    [
        ("float32", "int32", "float32"),
        ("bfloat16", "int32", "bfloat16"),
        ("float16", "bfloat16", "float32"),
        ("float8_e4m3", "float16", "float16"),
        ("float8_e4m3", "bfloat16", "bfloat16"),
        ("float8_e4m3", "float8_e5m2", "bfloat16"),
        ("tfloat32", "float32", "float32"),
        ("int8", "uint8", "int16"),
        ("int8", "uint16", "int32"),
        ("int32", "uint32", "float32"),
        ("int8", "int32", "int32"),
        ("uint8", "uint8", "uint8"),
        ("bool", "int8", "int16"),
        ("float16", "float32", "float32"),
        ("uint16", "uint32", "uint32"),
    ],
)
def test_promotion(a, b, expected):
    from trnsim import dtypes

    def dtype(name):
        return dtypes.tfloat32 if name == "tfloat32" else host(name)

    assert lowering.promote(dtype(a), dtype(b)) == lowering.promote(dtype(b), dtype(a)) == dtype(expected)


def test_promotion_with_numbers(run):
    def kernel(x):
        tile = nl.load(x, dtype=nl.bfloat16)
        ints = nl.load(x, dtype=nl.int16)
        assert lowering.promote(tile, 1.5) == nl.bfloat16 and lowering.promote(2, ints) == nl.int16
        assert lowering.promote(ints, 1.5) == nl.float32 and lowering.promote(ints, tile) == nl.bfloat16

    run(kernel, sample((2, 2)))
    assert lowering.promote(True, True) == nl.uint8


def test_classes_and_enumerations_of_the_modules():
    import nki
    import nki.typing as nt
    from nki.dtype import DType

    assert issubclass(nt.mutable_tensor[2, 2], nt.tensor) and nt.NkiTensor is nl.NkiTensor
    assert isinstance(nl.float32, DType) and nki.Kernel is type(nki.jit(lambda x: x))
    assert nisa.NkiValidationError is trnsim.ProgramError and int(nisa.VirtualRegister(3)) == 3
    assert nisa.dma_engine.dma != nisa.dma_engine.gpsimd_dma and nisa.constants.dma_engine is nisa.dma_engine
    assert nisa.unknown_engine.name == "unknown" and nl.MemoryRegion.sbuf == nl.sbuf
    assert nl.NKIObject(size=3).size == 3
    assert [list(loop(1, 7, 2)) for loop in (nl.affine_range, nl.sequential_range, nl.static_range)] == [[1, 3, 5]] * 3
