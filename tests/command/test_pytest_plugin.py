"""pytest -p trnsim, on a small test file."""

import os
import subprocess
import sys

import pytest

TESTS = '''
import numpy as np
import pytest
import nki, nki.isa as nisa, nki.language as nl
import trnsim

@nki.jit
def copied(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out

X = np.ones((4, 8), np.float32)

def test_profile(trnsim_profile):
    assert trnsim_profile.all == []
    with pytest.raises(trnsim.ProgramError, match="no kernel yet"):
        trnsim_profile()
    copied(X)
    assert trnsim_profile().kernel == "copied" and len(trnsim_profile.all) == 1

def test_chip(trnsim_profile):
    trnsim.install(chip="trn3")  # undone before the next test
    copied(X)
    assert trnsim_profile().chip == "trainium3"

def test_failure(trnsim_profile):
    got = copied(X)
    assert trnsim_profile().chip == "CHIP"
    assert got.sum() == -1
'''


@pytest.fixture
def run(tmp_path):
    def call(*arguments):
        (tmp_path / "test_small.py").write_text(TESTS)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        return done.stdout + done.stderr

    return call


@pytest.mark.parametrize("plugin", ["trnsim", "trnsim.pytest_plugin"])
def test_failing_tests_show_the_summary(run, plugin):
    out = run("-p", plugin)
    assert "2 passed" in out and "1 failed" in out and "== 'CHIP'" in out.replace('"', "'")
    assert out.count("trnsim kernel summary") == 1 and "copied on one NeuronCore-v3" in out


def test_the_chip_is_an_option(run):
    assert "NeuronCore-v2" in run("-p", "trnsim", "--trnsim-chip", "trn1", "-k", "failure")


def test_timing_only_is_an_option(run):
    assert "1 passed" in run("-p", "trnsim", "--trnsim-timing-only", "-k", "profile")


@pytest.mark.parametrize("option, text", [("--trnsim-chip=tranium2", "trainium2"), ("--trnsim-nki=9", "unknown NKI")])
def test_wrong_options_are_refused_at_once(run, option, text):
    out = run("-p", "trnsim", option)
    assert text in out and "Traceback" not in out and "passed" not in out
