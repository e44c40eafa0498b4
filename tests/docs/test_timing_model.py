"""The kernel that docs/timing-model.md walks through: its steps are the clock's, its formulas the catalogue's."""

import linecache
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import trnsim

trnsim.install()

import nki  # noqa: E402
import nki.isa as nisa  # noqa: E402
import nki.language as nl  # noqa: E402
from trnsim import _native, session  # noqa: E402

PAGE = (Path(__file__).parents[2] / "docs" / "timing-model.md").read_text(encoding="utf-8")
NAMES = ("load left", "load right", "nc_matmul", "activation", "store")


@pytest.fixture(scope="module")
def profile():
    (source,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    linecache.cache["timing-model.md"] = (len(source), None, source.splitlines(keepends=True), "timing-model.md")
    names = {"nki": nki, "nisa": nisa, "nl": nl}
    exec(compile(source, "timing-model.md", "exec"), names)
    trnsim.install(chip="trn2", timing_only=True)
    try:
        names["exp_of_product"](np.zeros((128, 128), ml_dtypes.bfloat16), np.zeros((128, 512), ml_dtypes.bfloat16))
        return trnsim.last_profile()
    finally:
        trnsim.install(chip="trn2", timing_only=False)


def rows():
    return re.findall(r"^\| ([\d.]+) \| ([\d.]+) \| ([\w ]+) \| ([\w ]+) \| `(.*)` \|$", PAGE, re.M)


def test_the_steps_are_those_of_the_clock(profile):
    printed = [row[:4] for row in rows()]
    clocked = [(f"{step['from_ns']:.1f}", f"{step['to_ns']:.1f}", NAMES[step["instruction"]], step["cause"])
               for step in profile.critical_path]
    assert printed == clocked
    assert clocked[-1][1] == f"{profile.latency_us * 1e3:.1f}"


def test_the_formulas_give_how_long_the_steps_take(profile):
    chip = _native.load_chip(session.HARDWARE, "trn2")
    for (*_, formula), step in zip(rows(), profile.critical_path, strict=True):
        figures = re.sub(r"[a-z]\w*(\.\w+)+", lambda m: repr(chip.number(m[0])), formula)
        assert eval(figures) == pytest.approx(step["to_ns"] - step["from_ns"], abs=0.01), formula


def test_the_list_of_causes_is_complete(profile):
    text = " ".join(PAGE.split())
    for cause in profile.time_lost_ns:
        assert cause.replace(" Engine", "") in text
