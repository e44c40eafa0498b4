"""`trnsim run --ranks N --on TOPOLOGY`: one script on several ranks."""

import json

import pytest

SCRIPT = '''
import sys
import numpy as np
import trnsim
import nki, nki.collectives as ncc, nki.isa as nisa, nki.language as nl

@nki.jit
def total(x):
    y = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    {line}
    return y

everyone = [list(range(trnsim.rank_count()))]
print(trnsim.rank(), float(total(np.full((128, 64), trnsim.rank() + 1, np.float32))[0, 0]), *sys.argv[1:])
'''
REDUCE = "ncc.all_reduce([x], [y], ncc.ReplicaGroup(everyone), nl.add)"


def script(trnsim, line=REDUCE):
    return trnsim.script(text=SCRIPT.format(line=line))


def test_every_rank_runs_the_script_with_inputs_of_its_own(trnsim):
    result = trnsim("run", "--quiet", "--ranks", "4", "--on", "trn2.48xlarge", script(trnsim), "more")
    assert result.code == 0, result.err
    assert result.out.splitlines() == [f"{rank} 10.0 more" for rank in range(4)]


def test_the_report_shows_ranks_side_by_side(trnsim):
    result = trnsim("run", "--ranks", "4", script(trnsim))
    assert result.code == 0, result.err
    assert "total on 4 cores side by side" in result.out and "core 3" in result.out
    runs = json.loads(trnsim("run", "--ranks", "4", "--json", script(trnsim)).out.split("\n", 4)[4])["runs"]
    assert [run["core"] for run in runs] == [0, 1, 2, 3]
    assert len({run["latency_ns"] for run in runs}) == 1


def test_output_is_the_same_every_time(trnsim):
    first, second = (trnsim("run", "--ranks", "8", script(trnsim)) for _ in range(2))
    assert (first.out, first.err) == (second.out, second.err)


def test_a_deadlock_names_the_lines_of_all_ranks(trnsim):
    line = "nisa.dma_copy(dst=y, src=x)\n    trnsim.rank() and " + REDUCE
    result = trnsim("run", "--ranks", "3", script(trnsim, line))
    assert result.code == 3 and "Traceback (most recent call last)" in result.err
    assert "rank 1 waits in all_reduce of ranks [0, 1, 2] at" in result.err
    assert "rank 0 has ended" in result.err and "script.py:" in result.err


def test_a_mistake_of_one_rank_stops_the_run(trnsim):
    result = trnsim("run", "--ranks", "2", script(trnsim, "1 / trnsim.rank()\n    " + REDUCE))
    assert result.code == 1 and "ZeroDivisionError" in result.err


@pytest.mark.parametrize("arguments, words", [
    (["--ranks", "65"], "1 to 64 ranks"),
    (["--ranks", "2", "--on", "trn9"], "no machine"),
    (["--ranks", "2", "--chip", "trn1"], "--chip"),
    (["--ranks", "-1"], "--ranks"),
    (["--ranks", "2", "--break-at", "3"], "--break-at"),
])
def test_what_cannot_be_is_refused(trnsim, arguments, words):
    result = trnsim("run", *arguments, script(trnsim))
    assert result.code == 2 and words in result.err, result.err
