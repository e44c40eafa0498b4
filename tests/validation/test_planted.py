"""Badly written kernels with one planted cause each: the verdict names it, and promises what mending it gains."""

import importlib
import sys
from pathlib import Path

import pytest
import trnsim

VALIDATION = Path(__file__).parents[2] / "validation"
sys.path.insert(0, str(VALIDATION))

trnsim.install()  # for the imports; the mode is the fixture's

MODULES = sorted(file.stem for file in (VALIDATION / "planted").glob("*.py") if file.stem not in ("__init__", "parts"))


def profile_of(module, kernel):
    trnsim.install(chip=module.CHIP, timing_only=True)
    try:
        getattr(module, kernel)(*module.arguments())
        return trnsim.last_profile()
    finally:
        trnsim.install(chip="trn2", timing_only=False)


@pytest.mark.parametrize("name", MODULES)
def test_the_verdict_names_the_planted_cause_and_promises_what_mending_it_gains(name):
    module = importlib.import_module(f"planted.{name}")
    bad, good = profile_of(module, "bad"), profile_of(module, "good")
    first = bad.advice[0]
    assert first["obstacle"] == module.OBSTACLE, bad.verdict
    assert bad.verdict.startswith(f"{first['cause']}: {first['advice']}")
    assert first["expected_speedup"] == pytest.approx(bad.latency_us / good.latency_us, rel=0.15)
    assert bad.latency_us / good.latency_us > 1.25


@pytest.mark.parametrize("name", MODULES)
def test_the_mended_kernel_is_not_told_the_same_again(name):
    module = importlib.import_module(f"planted.{name}")
    gains = {gain["obstacle"]: gain["expected_speedup"] for gain in profile_of(module, "good").advice}
    assert gains.get(module.OBSTACLE, 1) < 1.25


def test_there_are_ten():
    assert len(MODULES) >= 10
