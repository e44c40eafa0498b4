"""Drawing illegal programs: legal steps, then one of fuzz_ways.py that breaks exactly one rule."""

from fuzz_legal_more import append
from fuzz_programs import Step, simulate
from fuzz_views import Drawing
from fuzz_ways_newer import WAYS


def illegal(seed):
    """(way, drawing, rule, body): simulate(drawing.program, body) must be refused by that rule."""
    names = sorted(WAYS)
    name = names[seed % len(names)]
    drawing = Drawing(seed, ("trn1", "trn2", "trn3")[seed // len(names) % 3])
    for _ in range(drawing.random.randint(0, 2)):
        append(drawing)
    rule, broken = WAYS[name](drawing)
    if isinstance(broken, Step):
        drawing.program.steps.append(broken)
        return name, drawing, rule, None
    return name, drawing, rule, broken


def run(drawing, body):
    simulate(drawing.program, body)
