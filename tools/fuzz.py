"""Runs random kernels on trnsim: legal ones against a plain numpy reference, illegal ones against the rules.

    python tools/fuzz.py [--programs 10000] [--illegal 2000] [--cores 1000] [--first SEED]
    python tools/fuzz.py --seed SEED [--illegal | --cores]   # one again, with its steps

The kernels are drawn from seeds: the same seed is the same kernel. With the sanitizers, see CONTRIBUTING.md. Ends
with 1 where a program disagrees, is accepted though illegal, or ends in anything but an error of trnsim.
"""

import argparse
import collections
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "fuzz"))

import fuzz_cores
import fuzz_illegal
import trnsim
from fuzz_legal_more import legal
from fuzz_programs import differences

EVERY_SECONDS = 20


def run_legal(seed, say=False):
    """What is wrong with this program, or None; and its steps."""
    drawing = legal(seed)
    if say:
        print(drawing.program)
    steps = [step.instruction for step in drawing.program.steps]
    try:
        wrong = differences(drawing.program, drawing.reference.tiles)
    except trnsim.Error as error:
        return f"refused: {error}", steps
    return ("\n".join(wrong) or None), steps


def run_illegal(seed, say=False):
    way, drawing, rule, body = fuzz_illegal.illegal(seed)
    if say:
        print(drawing.program, f"breaks {rule} ({way})", sep="\n")
    try:
        fuzz_illegal.run(drawing, body)
    except trnsim.ProgramError as error:
        return (None if error.rule == rule else f"refused as {error.rule}, not as {rule}: {error}"), [rule]
    return f"{way}: accepted, though it breaks {rule}", [rule]


def run_cores(seed, say=False):
    """Every fifth one has a mistake in its last meeting."""
    drawings, rule = fuzz_cores.broken(seed) if seed % 5 == 4 else (fuzz_cores.pair(seed), None)
    if say:
        print(*(drawing.program for drawing in drawings), *([f"breaks {rule}"] if rule else []), sep="\n")
    steps = [type(step).__name__ for drawing in drawings for step in drawing.program.steps]
    try:
        wrong = "\n".join(fuzz_cores.differences(drawings)) or (rule and f"accepted, though it breaks {rule}")
    except trnsim.ProgramError as error:
        wrong = None if error.rule == rule else f"refused as {error.rule}, not as {rule}: {error}"
    return wrong, [*steps, rule or "equal"]


def run_many(what, run, seeds):
    """Counts and the first failures; returns how many failed."""
    seen, failed, said = collections.Counter(), [], time.monotonic()
    for done, seed in enumerate(seeds):
        try:
            wrong, kinds = run(seed)
        except Exception as error:  # a defect, whatever it is: the seed is worth more than the traceback
            wrong, kinds = f"{type(error).__name__}: {error}", []
        seen.update(kinds)
        if wrong:
            failed.append(seed)
            if len(failed) <= 10:
                print(f"{what} seed {seed}: {wrong}", flush=True)
        if time.monotonic() - said > EVERY_SECONDS:
            said = time.monotonic()
            print(f"  {done + 1} of {len(seeds)} {what}, {len(failed)} failed", file=sys.stderr, flush=True)
    print(
        f"{len(seeds)} {what} programs, {len(failed)} failed" + (f", the first: seed {failed[0]}" if failed else "")
    )
    print("  " + ", ".join(f"{name} {count}" for name, count in sorted(seen.items())))
    return len(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=0, help="how many legal programs")
    parser.add_argument("--illegal", type=int, nargs="?", const=1, default=0, help="how many illegal programs")
    parser.add_argument("--cores", type=int, nargs="?", const=1, default=0, help="how many programs of two cores")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="this program alone, shown")
    options = parser.parse_args()
    if options.seed is not None:
        run = run_illegal if options.illegal else run_cores if options.cores else run_legal
        wrong, _ = run(options.seed, say=True)
        print(wrong or "as it should be")
        return bool(wrong)
    kinds = (
        ("legal", run_legal, options.programs),
        ("illegal", run_illegal, options.illegal),
        ("two-core", run_cores, options.cores),
    )
    return any([
        run_many(what, run, range(options.first, options.first + count)) for what, run, count in kinds if count
    ])


if __name__ == "__main__":
    sys.exit(main())
