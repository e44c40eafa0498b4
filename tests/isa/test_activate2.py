"""nki.isa.activate2 against numpy: the two operators and the function in fp32, each rounded."""

import itertools

import numpy as np
import pytest
import trnsim
from vector_oracle import DTYPES, apply, convert, fp32, new, nisa, nl, on_tiles, refused, same, sample, sums

CMD = nisa.reduce_cmd
PAIRS = (("multiply", "add"), ("multiply", "subtract"), ("multiply", "bypass"), ("add", "bypass"),
         ("subtract", "bypass"), ("bypass", "bypass"))


def activate2(run, x, out="float32", op="copy", imm0=0.0, imm1=0.0, op0="bypass", op1="bypass", **arguments):
    body = lambda dst, data: nisa.activate2(dst, getattr(nl, op), data, imm0, imm1, getattr(nl, op0), getattr(nl, op1),
                                            **arguments)
    return on_tiles(run, body, x, out=[(x.shape, out)], chip="trn3")


def operated(x, pair, imm0, imm1, reverse0=False, reverse1=False):
    t = fp32(x)
    for op, imm, reverse in ((pair[0], imm0, reverse0), (pair[1], imm1, reverse1)):
        if op != "bypass":
            t = apply(op, imm, t) if reverse else apply(op, t, imm)
    return t


@pytest.mark.parametrize("pair", PAIRS)
def test_operators(run, pair):
    x = sample((40, 30))
    for reverse0, reverse1 in itertools.product((False, True), repeat=2):
        if (reverse0 and pair[0] == "bypass") or (reverse1 and pair[1] == "bypass"):
            continue
        same(activate2(run, x, imm0=1.25, imm1=0.3, op0=pair[0], op1=pair[1], reverse0=reverse0, reverse1=reverse1),
             operated(x, pair, 1.25, 0.3, reverse0, reverse1))


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(run, name):
    x = sample((33, 20), name)
    same(activate2(run, x, imm0=2.0, op0="multiply"), operated(x, ("multiply", "bypass"), 2.0, 0))
    y = sample((33, 20), low=-100, high=100)
    same(activate2(run, y, name, imm0=1.5, op0="subtract"), convert(operated(y, ("subtract", "bypass"), 1.5, 0), name))


@pytest.mark.parametrize("shape", [(1, 1), (128, 16), (127, 33), (2, 2, 3, 5), (3, 9001)])
def test_shapes(run, shape):
    x = sample(shape)
    same(activate2(run, x, op="square", imm0=0.5, imm1=3.0, op0="multiply", op1="add"),
         np.square(operated(x, ("multiply", "add"), 0.5, 3.0)))


def test_vectors(run):
    x, first, second, slope = sample((64, 9)), *(sample((64, 1), seed=i) for i in (1, 2, 3))

    def body(dst, data, a, b, c):
        nisa.activate2(dst, nl.prelu, data, a, b, nl.multiply, nl.subtract, relu_param=c)

    t = operated(x, ("multiply", "subtract"), first, second)
    result = on_tiles(run, body, x, first, second, slope, out=[(x.shape, "float32")], chip="trn3")
    same(result, np.where(t < 0, t * slope, t))


def test_slope_of_prelu(run):
    x = sample((32, 12))
    same(activate2(run, x, op="prelu", relu_param=0.25), np.where(x < 0, x * np.float32(0.25), x))
    same(activate2(run, x, op="prelu"), np.where(x < 0, x * np.float32(0), x))
    same(activate2(run, x, op="relu", relu_param=0.25), np.maximum(x, 0))


def test_none_stands_for_bypass(run):
    x = sample((32, 12))
    result = on_tiles(run, lambda dst, data: nisa.activate2(dst, nl.square, data, None, None, None, None), x,
                      out=[(x.shape, "float32")], chip="trn3")
    same(result, np.square(x))


def ends(x, op):
    """The reduction, element by element from its identity."""
    result = np.full((len(x), 1), {"maximum": -np.inf, "minimum": np.inf, "abs_max": 0, "abs_min": np.inf}[op],
                     np.float32)
    for column in x.T[:, :, None]:
        if op in ("maximum", "minimum"):
            result = getattr(np, op)(result, column)
        elif op == "abs_max":
            result = np.where(np.abs(result) > np.abs(column), result, column)
        else:
            result = np.where(np.abs(result) < np.abs(column), result, column)
    return result


@pytest.mark.parametrize("op", ("add", "maximum", "minimum", "abs_max", "abs_min"))
def test_reductions_take_the_values_before_they_are_converted(run, op):
    x = sample((128, 37))

    def body(dst, first, second, third, data):
        step = lambda command, result=None: nisa.activate2(
            dst, nl.copy, data, 1.5, 0.0, nl.multiply, nl.bypass, reduce_op=getattr(nl, op), reduce_res=result,
            reduce_cmd=command)
        step(CMD.reset_reduce, first)
        step(CMD.reduce, second)
        step(CMD.reset, third)

    out = [(x.shape, "bfloat16")] + [((128, 1), "float32")] * 3
    values, first, second, third = on_tiles(run, body, x, out=out, chip="trn3")
    y = operated(x, ("multiply", "bypass"), 1.5, 0)
    twice = np.concatenate([y, y], 1)
    same(values, convert(y, "bfloat16"))
    same(first, sums(y) if op == "add" else ends(y, op))
    same(second, sums(twice) if op == "add" else ends(twice, op))
    same(third, np.zeros((128, 1), np.float32) if op == "add" else ends(y[:, :0], op))


def test_registers_are_those_of_activation(run):
    x = sample((32, 10))

    def body(dst, total, data):
        nisa.activate2(dst, nl.copy, data, 0.0, 0.0, nl.bypass, nl.bypass, reduce_op=nl.add,
                       reduce_cmd=CMD.reset_reduce)
        nisa.activation(dst=dst, op=nl.square, data=data, reduce_op=nl.add, reduce_cmd=CMD.reduce, reduce_res=total)

    _, total = on_tiles(run, body, x, out=[(x.shape, "float32"), ((32, 1), "float32")], chip="trn3")
    same(total, sums(np.concatenate([x, x * x], 1)))


def test_psum_and_in_place(run):
    x = sample((64, 48))

    def body(dst, src):
        psum = new(x.shape, buffer=nl.psum)
        nisa.tensor_copy(dst=psum, src=src)
        nisa.activate2(psum, nl.copy, psum, 2.0, 1.0, nl.multiply, nl.add)
        nisa.tensor_copy(dst=dst, src=psum)

    same(on_tiles(run, body, x, out=[(x.shape, "float32")], chip="trn3"), operated(x, ("multiply", "add"), 2, 1))


@pytest.mark.parametrize("rule, op0, op1, arguments", [
    ("op_pair", "add", "add", {}),
    ("op_pair", "bypass", "add", {}),
    ("op_pair", "multiply", "multiply", {}),
    ("op_pair", "maximum", "bypass", {}),
    ("op_pair", "subtract", "multiply", {}),
    ("reverse", "bypass", "bypass", {"reverse0": True}),
    ("reverse", "multiply", "bypass", {"reverse1": True}),
    ("operand", "multiply", "bypass", {"imm0": None}),
    ("operand", "multiply", "add", {"imm1": None}),
    ("reduce_cmd", "bypass", "bypass", {"reduce_op": nl.add, "reduce_cmd": CMD.load_reduce}),
    ("reduce_op", "bypass", "bypass", {"reduce_cmd": CMD.reset_reduce}),
    ("reduce_op", "bypass", "bypass", {"reduce_op": nl.multiply}),
])
def test_rules(run, rule, op0, op1, arguments):
    arguments = {"imm0": 1.0, "imm1": 1.0, **arguments}

    def body(dst, data):
        nisa.activate2(dst, nl.copy, data, op0=getattr(nl, op0), op1=getattr(nl, op1), **arguments)

    refused(run, f"activate2.{rule}", body, sample((32, 6)), out=[((32, 6), "float32")], chip="trn3")


@pytest.mark.parametrize("rule, first, second", [
    ("same_dtype", ((32, 1), "float32"), ((32, 1), "bfloat16")),
    ("per_partition", ((32, 2), "float32"), ((32, 1), "float32")),
    ("per_partition", ((32, 1), "float32"), ((16, 1), "float32")),
])
def test_rules_of_vectors(run, rule, first, second):
    def body(dst, data, a, b):
        nisa.activate2(dst, nl.copy, data, a, b, nl.multiply, nl.add)

    refused(run, f"activate2.{rule}", body, sample((32, 6)), sample(*first), sample(*second),
            out=[((32, 6), "float32")], chip="trn3")


def test_columns_gathered_and_scattered_by_an_index(run):
    x, offsets = sample((32, 24)), np.random.default_rng(0).permutation(24)[:20]
    index = np.full((32, 2), 30000, np.uint32)
    index[:16] = np.append(offsets, [30000] * 12).reshape(2, 16).T

    def body(dst, src, index):
        nisa.memset(dst, 0.0)
        nisa.activate2(dst.indirect(index, 20), nl.square, src.indirect(index, 20), 2.0, 0.0, nl.multiply, nl.bypass)

    result = on_tiles(run, body, x, index, out=[(x.shape, "float32")], chip="trn3")
    same(result[:, offsets], np.square(operated(x[:, offsets], ("multiply", "bypass"), 2.0, 0)))
    assert (np.delete(result, offsets, 1) == 0).all()


def test_not_before_v4(run):
    refused(run, "activate2.generation",
            lambda dst, data: nisa.activate2(dst, nl.copy, data, 0.0, 0.0, nl.bypass, nl.bypass), sample((32, 6)),
            out=[((32, 6), "float32")], chip="trn2")


def test_time_is_that_of_activation(run):
    def body(dst, total, data):
        nisa.activation(dst=dst, op=nl.exp, data=data, reduce_op=nl.add, reduce_cmd=CMD.reset_reduce, reduce_res=total)
        nisa.activation(dst=dst, op=nl.exp, data=data, reduce_op=nl.add, reduce_cmd=CMD.reset_reduce, reduce_res=total)
        nisa.activate2(dst, nl.exp, data, 1.0, 0.0, nl.multiply, nl.add, reduce_op=nl.add,
                       reduce_cmd=CMD.reset_reduce, reduce_res=total)

    on_tiles(run, body, sample((128, 500)), out=[((128, 500), "float32"), ((128, 1), "float32")], chip="trn3")
    plain, new_one = [i["busy_end_ns"] - i["start_ns"] for i in trnsim.last_profile().instructions
                      if i["opcode"] in ("activation", "activate2")][1:]
    assert new_one == pytest.approx(plain, abs=1e-6) == pytest.approx((500 + 64) / 1.2, abs=0.01)
