"""nki.isa.tensor_copy_predicated against numpy."""

import numpy as np
import pytest
import trnsim

from vector_oracle import DTYPES, SHAPES, convert, load, new, nisa, nl, same, sample, store


def predicate_of(shape, name="uint8", seed=9):
    random = np.random.default_rng(seed)
    return (random.integers(0, 2, shape) * random.integers(1, 256, shape)).astype(name)


def copied(run, y, x, predicate, source=None, **arguments):
    def kernel(old, new_values, mask):
        dst = load(old)
        nisa.tensor_copy_predicated(
            dst=dst, src=load(new_values) if source is None else source, predicate=load(mask), **arguments
        )
        return store(dst)

    return run(kernel, y, x, predicate)


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(run, shape):
    y, x, p = sample(shape), sample(shape, seed=1), predicate_of(shape)
    same(copied(run, y, x, p), np.where(p != 0, x, y))
    same(copied(run, y, x, p, reverse_pred=True), np.where(p == 0, x, y))


@pytest.mark.parametrize("mask", ("uint8", "uint16", "uint32"))
@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(run, name, mask):
    y, x, p = sample((32, 9), name), sample((32, 9), name, seed=1), predicate_of((32, 9), mask)
    same(copied(run, y, x, p), np.where(p != 0, x, y))
    same(copied(run, y, x, p, 1.3), np.where(p != 0, convert(1.3, name), y))


def test_bits_are_kept(run):
    bits = np.array([[0x7FC12345, 0xFFABCDEF, 0x80000000, 0x00000001]], np.uint32)
    x, y = bits.view(np.float32), np.zeros((1, 4), np.float32)
    p = np.ones((1, 4), np.uint8)
    np.testing.assert_array_equal(copied(run, y, x, p).view(np.uint32), bits)


def test_ranks_may_differ_and_one_operand_in_psum(run):
    y, x, p = sample((64, 12)), sample((64, 3, 4), seed=1), predicate_of((64, 2, 6))

    def kernel(old, values, mask):
        dst = load(old)
        nisa.tensor_copy_predicated(dst=dst, src=load(values, nl.psum), predicate=load(mask))
        return store(dst)

    same(run(kernel, y, x, p), np.where(p.reshape(64, 12) != 0, x.reshape(64, 12), y))


def refused_with(run, rule, dst="float32", src="float32", mask="uint8", buffer=None):
    def kernel(values, predicate):
        y = new((32, 4), dst)
        nisa.memset(y, 0)
        nisa.tensor_copy_predicated(dst=y, src=load(values, buffer), predicate=load(predicate, buffer))
        return store(y)

    with pytest.raises(trnsim.ProgramError) as error:
        run(kernel, sample((32, 4), src), predicate_of((32, 4), mask))
    assert error.value.rule == rule, str(error.value)


def test_rules(run):
    for name in ("int8", "int32", "float32"):
        refused_with(run, "tensor_copy_predicated.predicate_dtype", mask=name)
    refused_with(run, "tensor_copy_predicated.same_dtype", src="bfloat16")
    refused_with(run, "tensor_copy_predicated.both_psum", buffer=nl.psum)


def test_the_destination_must_have_been_written(run):
    with pytest.raises(trnsim.ProgramError, match="written"):
        run(
            lambda v, p: nisa.tensor_copy_predicated(dst=new((32, 4)), src=load(v), predicate=load(p)),
            sample((32, 4)),
            predicate_of((32, 4)),
        )
