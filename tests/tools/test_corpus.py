"""tools/corpus.py counts kernels that run and agree, and tells apart the ways in which they do not."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from corpus import command, page  # noqa: E402
from corpus.case import INTENDED, KERNEL, Case  # noqa: E402
from corpus.recipes import asst4  # noqa: E402
from corpus.runners import compare  # noqa: E402

KERNEL_FILE = """
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

@nki.jit
def vector_add_naive(a, b):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.add(nl.load(a), nl.load(b)) + OFFSET)
    return out

@nki.jit
def vector_add_tiled(a, b):
    return nl.add(nl.load(a), nl.load(b))  # refused: not in HBM
"""
TESTS = """
import numpy as np
from kernels import vector_add_naive, vector_add_tiled

def test_that_passes():
    vector_add_naive(np.ones((4, 4), np.float32), np.ones((4, 4), np.float32))

def test_that_fails():
    assert vector_add_naive(np.ones((4, 4), np.float32), np.ones((4, 4), np.float32)).max() == 7

def test_that_is_refused():
    vector_add_tiled(np.ones((4, 4), np.float32), np.ones((4, 4), np.float32))
"""


@pytest.fixture
def checkout(tmp_path):
    (tmp_path / "part1").mkdir()
    return tmp_path


def write(checkout, offset):
    (checkout / "part1/kernels.py").write_text(KERNEL_FILE.replace("OFFSET", offset))


def test_a_kernel_that_agrees_says_how_well(checkout):
    write(checkout, "0.0")
    case = Case("part1/kernels.py", "vector_add", ("vector_add_naive", 128), name="vector_add_naive")
    outcome = command.run(case, asst4, checkout)
    assert outcome["problems"] == {} and outcome["remark"] == "bit for bit"
    assert outcome["kernels"] == ["part1/kernels.py:vector_add_naive"]


def test_a_kernel_that_differs_ran_and_a_refused_one_did_not(checkout):
    write(checkout, "1.0")
    for kernel, ran, word in (("vector_add_naive", True, "not bit for bit"), ("vector_add_tiled", False, "HBM")):
        case = Case("part1/kernels.py", "vector_add", (kernel, 128), name=kernel)
        problem, launches = command.run(case, asst4, checkout)["problems"][kernel]
        assert word in problem and launches == {f"part1/kernels.py:{kernel}": ran}


def test_each_test_of_a_file_answers_for_what_it_launched(checkout):
    write(checkout, "0.0")
    (checkout / "part1/test_them.py").write_text(TESTS)
    outcome = command.run(Case("part1/test_them.py", "tests"), asst4, checkout)
    assert outcome["tests"] == 3 and set(outcome["problems"]) == {"test_that_fails", "test_that_is_refused"}
    assert outcome["problems"]["test_that_fails"][1] == {"part1/kernels.py:vector_add_naive": True}
    assert outcome["problems"]["test_that_is_refused"][1] == {"part1/kernels.py:vector_add_tiled": False}


def test_a_script_must_say_what_its_case_expects(checkout):
    (checkout / "script.py").write_text("print('they differ')")
    case = Case("script.py", "script", says=" match", denies=" differ")
    assert "did not print ' match'" in command.run(case, asst4, checkout)["problems"]["script"][0]


def test_a_case_that_hangs_is_stopped(checkout):
    (checkout / "script.py").write_text("while True: pass")
    outcome = command.run(Case("script.py", "script", seconds=3), asst4, checkout)
    assert outcome["problems"] == {"time": ("stopped after 3 s", {})}


def row(kernel, finding=None, ended_well=False):
    problems = [{"name": "t", "problem": "p", "finding": finding, "launches": {kernel: ended_well}}]
    return {"file": "f", "name": "n", "tests": 1, "kernels": [kernel], "problems": problems if finding else []}


def test_kernels_are_counted_as_tried_running_and_agreeing():
    tally = page.Tally()
    faults = {"meant": INTENDED, "wrong": KERNEL}
    rows = (row("good"), row("meant", "meant"), row("refused", "wrong"), row("differs", "wrong", True), row("differs"))
    for entry in rows:
        tally.add(entry, faults)
    assert tally.counts == (4, 2, 1, 1)
    assert (tally.cases, tally.failed_cases) == (5, 2)


@pytest.mark.parametrize("skipped, said", [({}, "| 1 of 1 |"), ({"slow": "too large"}, "| 1 of 1, 1 skipped |")])
def test_the_page_says_how_many_tests_were_skipped(skipped, said):
    case = row("good") | {"dialect": "0.3", "skipped": skipped, "note": "", "remark": ""}
    results = {"repository": "r", "cases": [case], "sections": {}, "findings": {}}
    assert any(said in line for line in page.repository_section(results, {}))


def test_comparison_holds_tolerances():
    assert compare(np.float32([1.0]), np.float32([1.0])) == "bit for bit"
    compare(np.float32([1.0]), np.float32([1.001]), rtol=1e-2)
    for result, tolerance in (([1.1], {"rtol": 1e-2}), ([np.nan], {"rtol": 1e-2}), ([1.1], {"of_largest": 1e-3}),
                              ([1.1], {})):
        with pytest.raises(AssertionError):
            compare(np.float32(result), np.float32([1.0]), **tolerance)
    with pytest.raises(AssertionError, match="shape"):
        compare(np.zeros(2), np.zeros(3), rtol=1)
