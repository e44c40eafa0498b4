"""Random programs against the reference, and random mistakes against the rules: a few hundred of many thousands.

tools/fuzz.py runs as many as one likes, and any of them by its seed.
"""

import functools

import fuzz_cores
import fuzz_illegal
import pytest
import trnsim
from fuzz_legal_more import DRAW
from fuzz_legal_more import legal as draw
from fuzz_programs import differences
from fuzz_ways_newer import WAYS

LEGAL, ILLEGAL, CORES, AT_ONCE = 160, 120, 20, 20
legal = functools.cache(draw)


@pytest.mark.parametrize("first", range(0, LEGAL, AT_ONCE))
def test_a_legal_program_equals_the_reference(first):
    for seed in range(first, first + AT_ONCE):
        drawing = legal(seed)
        wrong = differences(drawing.program, drawing.reference.tiles)
        assert not wrong, f"{drawing.program}\n" + "\n".join(wrong)


@pytest.mark.parametrize("first", range(0, ILLEGAL, AT_ONCE))
def test_an_illegal_program_is_refused_by_its_rule(first):
    for seed in range(first, first + AT_ONCE):
        way, drawing, rule, body = fuzz_illegal.illegal(seed)
        with pytest.raises(trnsim.ProgramError) as error:
            fuzz_illegal.run(drawing, body)
        assert error.value.rule == rule, f"{way}\n{drawing.program}\n{error.value}"


@pytest.mark.parametrize("seed", range(CORES))
def test_a_program_of_two_cores_equals_their_references(seed):
    drawings = fuzz_cores.pair(seed)
    wrong = fuzz_cores.differences(drawings)
    assert not wrong, "\n".join([*(str(drawing.program) for drawing in drawings), *wrong])


@pytest.mark.parametrize("seed", range(15))
def test_a_meeting_that_goes_wrong_is_refused_by_its_rule(seed):
    drawings, rule = fuzz_cores.broken(seed)
    with pytest.raises(trnsim.ProgramError) as error:
        fuzz_cores.differences(drawings)
    assert error.value.rule == rule, error.value
    trnsim.install()


def test_each_mistake_of_a_meeting_is_drawn():
    assert {fuzz_cores.broken(seed)[1] for seed in range(15)} == {rule for *_, rule in fuzz_cores.MISTAKES.values()}


def test_the_same_seed_draws_the_same_program():
    assert str(draw(7).program) == str(draw(7).program) != str(draw(8).program)


def test_a_wrong_reference_is_noticed():
    drawing = draw(3)
    tile = drawing.program.tiles[-1]
    bits = drawing.reference.tiles[tile.name].view("u1")
    bits[..., -1] ^= 1
    assert differences(drawing.program, drawing.reference.tiles)


@pytest.mark.parametrize("instruction", sorted(DRAW))
def test_each_instruction_is_drawn(instruction):
    assert any(step.instruction == instruction for seed in range(LEGAL) for step in legal(seed).program.steps)


def test_each_way_to_break_a_rule_is_drawn():
    assert {fuzz_illegal.illegal(seed)[0] for seed in range(ILLEGAL)} == set(WAYS)
