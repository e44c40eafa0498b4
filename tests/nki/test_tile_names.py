"""Tiles without a name of their own have that of the variable that the kernel assigns them to."""

from types import SimpleNamespace

import nki
import nki.language as nl
import numpy as np
import pytest


def plain():
    acc = nl.ndarray((128, 4), nl.float32, buffer=nl.sbuf)
    return acc, "acc"


def over_lines():
    acc = nl.ndarray(
        (128, 4),
        nl.float32,
        buffer=nl.psum,
    )
    return acc, "acc"


def annotated():
    acc: object = nl.zeros((128, 4), nl.float32, buffer=nl.sbuf)
    return acc, "acc"


def of_an_expression():
    if (acc := nl.ndarray((128, 4), nl.float32, buffer=nl.sbuf)) is not None:
        return acc, "acc"


def chained():
    first = second = nl.ndarray((128, 4), nl.float32, buffer=nl.sbuf)
    assert first is second
    return first, "first"


def attribute():
    state = SimpleNamespace()
    state.acc = nl.ndarray((128, 4), nl.float32, buffer=nl.sbuf)
    return state.acc, "acc"


def named_by_the_user():
    acc = nl.ndarray((128, 4), nl.float32, buffer=nl.sbuf, name="sum")
    return acc, "sum"


@pytest.mark.parametrize("make", [plain, over_lines, annotated, of_an_expression, chained, attribute,
                                  named_by_the_user])
def test_a_tile_is_called_what_its_variable_is(make):
    seen = []

    @nki.jit
    def kernel(x):
        made, name = make()
        seen.append((made.name, name))
        return x

    kernel(np.ones((128, 4), np.float32))
    assert [found for found, _ in seen] == [name for _, name in seen]


def test_what_no_variable_takes_has_a_number():
    seen = []

    @nki.jit
    def kernel(x):
        tiles = [nl.ndarray((128, 4), nl.float32, buffer=nl.sbuf)]
        tiles.append(nl.ndarray((128, 4), nl.float32, buffer=nl.sbuf))
        table = {}
        table["a"] = nl.ndarray((128, 4), nl.float32, buffer=nl.sbuf)
        seen.extend(made.name for made in [*tiles, table["a"]])
        return x

    kernel(np.ones((128, 4), np.float32))
    assert all(name[0] == "t" and name[1:].isdigit() for name in seen)
    assert len(set(seen)) == 3
