"""`trnsim whatif`: what a script or a saved program would gain without each obstacle, and on other chips."""

import json

import pytest

import trnsim as package

SCRIPT = '''
import numpy as np
import nki, nki.isa as nisa, nki.language as nl

@nki.jit
def slices(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype)
    for i in range(0, x.shape[1], 16):
        nisa.dma_copy(dst=tile[:, i:i + 16], src=x[:, i:i + 16])
    nisa.dma_copy(dst=out, src=tile)
    return out

slices(np.zeros((128, 1024), np.float32))
'''


def answer(trnsim, *args):
    done = trnsim("whatif", "--json", *args)
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_all_obstacles_and_chips_are_asked_unless_some_are_named(trnsim):
    script = trnsim.script(text=SCRIPT)
    (launch,) = answer(trnsim, script)
    speedups = [gain["speedup"] for gain in launch["gains"]]
    assert speedups == sorted(speedups, reverse=True)
    assert launch["gains"][0]["obstacle"] in ("larger-dma-transfers", "dma-issue")
    assert {other["chip"] for other in launch["other_chips"]} >= {"trainium1", "trainium3"}
    (launch,) = answer(trnsim, "--obstacle", "dma-latency", "--obstacle", "trn3", script)
    assert [gain["obstacle"] for gain in launch["gains"]] == ["dma-latency"]
    assert [other["chip"] for other in launch["other_chips"]] == ["trainium3"]


def test_a_saved_program_gives_the_same_answer_as_its_script(trnsim):
    script = trnsim.script(text=SCRIPT)
    assert trnsim("run", "--quiet", "--save", "p.trn", script).code == 0
    assert answer(trnsim, "p.trn") == answer(trnsim, script)
    table = trnsim("whatif", "p.trn")
    assert "larger-dma-transfers: small transfers of one line are gathered" in table.out
    assert "slices on trainium2" in table.out


def test_another_chip_is_where_the_program_would_run_there(trnsim):
    script = trnsim.script(text=SCRIPT)
    assert trnsim("run", "--quiet", "--chip", "trn3", "--json=there.json", script).code == 0
    there = json.loads((trnsim.folder / "there.json").read_text())["runs"][0]["latency_ns"]
    (launch,) = answer(trnsim, "--obstacle", "trn3", script)
    assert launch["other_chips"][0]["latency_ns"] == there


@pytest.mark.parametrize("asked", ["gremlins", "trn9"])
def test_an_unknown_obstacle_is_refused_before_anything_runs(trnsim, asked):
    script = trnsim.script(text="raise SystemExit('ran')")
    done = trnsim("whatif", "--obstacle", asked, script)
    assert done.code == 2
    assert f"{asked} is no obstacle" in done.err
    assert "ran" not in done.err


def test_the_help_lists_the_obstacles(trnsim):
    out = trnsim("whatif", "--help").out
    assert "twice-the-hbm" in out and "twice the bandwidth of the HBM" in out


def test_a_profile_says_where_its_time_went_and_what_to_do():
    names = {}
    package.install(chip="trn2", timing_only=True)
    try:
        exec(compile(SCRIPT, "script.py", "exec"), names)
        profile = package.last_profile()
    finally:
        package.install(chip="trn2", timing_only=False)
    lost = profile.time_lost_ns
    assert sum(lost.values()) == pytest.approx(profile.latency_us * 1e3 + lost["launch"], abs=1e-6)
    assert profile.verdict.startswith("small DMA transfers: move more per dma_copy")
    assert profile.advice[0]["expected_latency_ns"] < profile.latency_us * 1e3
    gain = profile.what_if("larger-dma-transfers")["gains"][0]
    assert gain["latency_ns"] == profile.advice[0]["expected_latency_ns"]
    page = " ".join(line.strip() for line in profile.summary().splitlines())
    assert profile.verdict in page.replace("verdict      ", "")
    with pytest.raises(package.ConfigError, match="gremlins"):
        profile.what_if("gremlins")
