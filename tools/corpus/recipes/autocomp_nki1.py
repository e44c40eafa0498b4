"""ucb-bar/autocomp, kernels for Beta 1: a solution is pasted over a marker in its problem's harness, which tests it."""

from pathlib import Path

from corpus.case import Case
from corpus.runners import run_script

REPOSITORIES = ("autocomp",)

PROBLEMS = {
    "trn-tutorial-nki1": ("0_rmsnorm", "1_layernorm", "2_gemm", "3_mamba", "4_attention", "5_sdattention"),
    "trn-advanced-nki1": ("0_cumsum", "1_transpose", "3_rope"),
}
MARKER = "# SUBSTITUTE HERE"


def cases(checkout):
    for folder, problems in PROBLEMS.items():
        for problem in problems:
            solution = f"sols/{folder}/{problem}_ref.py"
            yield Case(f"harnesses/{folder}/{problem}_test.py", "solve", (solution,), seconds=900)


def solve(path, solution):
    """The harness with the solution in place of its marker, as a script; it prints "Test passed" or ends with 1."""
    root = next(folder for folder in path.parents if (folder / "sols").is_dir())
    text = path.read_text()
    assert MARKER in text, "the harness has no marker"
    pasted = Path(path.name)
    pasted.write_text(text.replace(MARKER, (root / solution).read_text()))
    outcome = run_script({"arguments": (), "says": "", "denies": "ailed"}, pasted.resolve())
    return outcome["remark"]
