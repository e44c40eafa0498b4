"""The data classes that kernels define: with and without @dataclass, annotated and not."""

from dataclasses import FrozenInstanceError, dataclass, field

import pytest
import trnsim

trnsim.install(nki="0.3")
import nki.language as nl  # noqa: E402


def test_a_class_without_dataclass_takes_its_fields_in_order_or_by_name():
    class Tiles(nl.NKIObject):
        rows: int
        columns: int = 512
        name = "tiles"

        def size(self):
            return self.rows * self.columns

    a, b = Tiles(128), Tiles(rows=2, name="b")
    assert (a.rows, a.columns, a.name, a.size()) == (128, 512, "tiles", 128 * 512)
    assert (b.rows, b.columns, b.name) == (2, 512, "b")
    assert Tiles().rows is None
    with pytest.raises(TypeError, match="at most 3"):
        Tiles(1, 2, 3, 4)
    with pytest.raises(TypeError, match="two values for 'rows'"):
        Tiles(1, rows=2)


def test_a_dataclass_takes_fields_without_annotation():
    @dataclass
    class Section(nl.NKIObject):
        length: int
        index = None
        _kept = 3

        def next(self):
            return self.index + 1

        @property
        def last(self):
            return self.index - 1

        @staticmethod
        def zero():
            return Section(0, index=0)

    section = Section(7, index=4)
    assert (section.length, section.index, section.next(), section.last, section._kept) == (7, 4, 5, 3, 3)
    assert Section.zero() == Section(0, 0)


def test_post_init_follows_in_every_form():
    class Plain(nl.NKIObject):
        x: int

        def __post_init__(self):
            self.y = self.x + 1

    @dataclass
    class Decorated(nl.NKIObject):
        x: int
        z: int = 0

        def __post_init__(self):
            self.y = self.x + 1

    assert Plain(1).y == 2
    assert (Decorated(x=4, z=1).y, Decorated(4).z) == (5, 0)


def test_defaults_are_made_anew_for_each_object():
    class Lists(nl.NKIObject):
        items: list = field(default_factory=list)
        count: int = field(default=2)

    a, b = Lists(), Lists()
    a.items.append(1)
    assert (a.items, b.items, b.count) == ([1], [], 2)


def test_frozen_dataclasses_and_own_initialisers_work():
    @dataclass(frozen=True)
    class Frozen(nl.NKIObject):
        x: int
        factor = 2

    class Own(nl.NKIObject):
        x: int = 1

        def __init__(self, value):
            self.x = value

    assert (Frozen(3).x, Frozen(3, factor=5).factor, Own(9).x) == (3, 5, 9)
    with pytest.raises(FrozenInstanceError):
        Frozen(3).x = 1


@pytest.mark.parametrize("decorate", [lambda cls: cls, dataclass])
def test_what_is_not_given_is_none(decorate):
    class Sizes(nl.NKIObject):
        rows: int
        columns: int = 4
        rest: int
        items: list = field(default_factory=list)

    sizes = decorate(Sizes)(3)
    assert (sizes.rows, sizes.columns, sizes.rest, sizes.items) == (3, 4, None, [])
