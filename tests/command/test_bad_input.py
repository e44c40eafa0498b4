"""Whatever a user gets wrong: a clear error, the right exit code, and nothing lost."""

import json
import signal
import subprocess
import sys
import os
import time

import pytest


def refused(result, code, *fragments):
    assert result.code == code, result.err
    for fragment in fragments:
        assert fragment in result.err, result.err
    assert "site-packages/trnsim" not in result.err and "python/trnsim" not in result.err  # no frames of our own


def test_unknown_chip_names_the_nearest(trnsim):
    refused(trnsim("run", "--chip", "tranium2", trnsim.script()), 2, "tranium2", "trainium2")


def test_malformed_chip_file_names_line_and_column(trnsim):
    chip = trnsim.script(name="my.toml", text='base = "trainium2"\n[core.tensor\nclock = 3\n')
    refused(trnsim("run", "--chip", chip, trnsim.script()), 2, "my.toml:2:")


def test_unknown_key_of_a_chip_file_names_the_nearest(trnsim):
    chip = trnsim.script(name="my.toml", text='base = "trainium2"\n[core.tensor]\nclok = 3\n')
    refused(trnsim("run", "--chip", chip, trnsim.script()), 2, "my.toml:3:", "clock")


def test_script_that_does_not_exist(trnsim):
    refused(trnsim("run", "nowhere.py"), 2, "nowhere.py")


def test_script_with_a_syntax_error(trnsim):
    refused(trnsim("run", trnsim.script(text="def f(:\n")), 1, "SyntaxError")


def test_kernel_that_raises_keeps_the_users_traceback(trnsim):
    refused(trnsim("run", trnsim.script("raise RuntimeError('mine')")), 1, "script.py", "line 10", "mine")


@pytest.mark.parametrize("line, rule", [
    ("nl.ndarray((129, 4), dtype=nl.float32, buffer=nl.sbuf)", "129 partitions"),
    ("nl.ndarray((128, 70000), dtype=nl.float32, buffer=nl.sbuf)", "SBUF overflow"),
    ("nl.ndarray((128, 0), dtype=nl.float32, buffer=nl.sbuf)", "no elements"),
    ("nisa.nc_matmul(dst=t, stationary=t, moving=t)", "dst is in SBUF but must be in PSUM"),
    ("nisa.tensor_copy(dst=t, src=x)", "src is in HBM but must be in SBUF or PSUM"),
    ("nisa.tensor_copy(dst=t, src=nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf))", "never written"),
    ("nisa.tensor_tensor(dst=t, data1=t, data2=t[:, 0:32], op=nl.add)", "64 elements per partition"),
    ("nisa.tensor_tensor(dst=t, data1=t, op=nl.add)", "'data2' is missing"),
    ("nisa.tensor_tensor(dst=t, data1=t, data2=t, opp=nl.add)", "did you mean 'op'"),
    ("t[:, 0:4][:, 9]", "out of bounds"),
])
def test_illegal_line_is_named_with_its_rule_and_place(trnsim, line, rule):
    refused(trnsim("run", trnsim.script(line)), 3, rule, "script.py:10")


def test_overflow_lists_the_live_tensors(trnsim):
    line = ("big = nl.ndarray((128, 30000), dtype=nl.float32, name='big_one'); nisa.memset(big, 0); "
            "more = nl.ndarray((128, 30000), dtype=nl.float32); nisa.tensor_copy(dst=more, src=big)")
    refused(trnsim("run", trnsim.script(line)), 3, "Live tensors", "big_one")


def test_tile_is_placed_when_it_is_first_used(trnsim):
    line = ("for i in range(3): big = nl.ndarray((128, 30000), dtype=nl.float32); nisa.memset(big, 0)")
    assert trnsim("run", trnsim.script(line)).code == 0


def test_dtype_that_the_generation_lacks(trnsim):
    line = ("a = nl.ndarray((128, 64), dtype=nl.float8_e4m3fn); nisa.memset(a, 1.0); "
            "p = nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.psum); "
            "nisa.nc_matmul(dst=p, stationary=a, moving=a)")
    refused(trnsim("run", "--chip", "trn2", trnsim.script(line)), 3, "float8_e4m3fn", "NeuronCore-v3")
    assert trnsim("run", "--chip", "trn3", trnsim.script(line)).code == 0


def test_result_that_was_never_written(trnsim):
    text = ("import numpy as np, nki, nki.language as nl\n@nki.jit\ndef kernel(x):\n"
            "    return nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n"
            "kernel(np.ones((4, 4), np.float32))\n")
    refused(trnsim("run", trnsim.script(text=text)), 3, "never written")


@pytest.mark.parametrize("option", ["--trace", "--json"])
def test_output_that_cannot_be_written_is_refused_before_the_run(trnsim, option):
    result = trnsim("run", f"{option}=/nowhere/at/all.json", trnsim.script())
    refused(result, 2, "/nowhere/at/all.json")
    assert "survived" not in result.out


def test_failed_run_still_reports_what_it_recorded(trnsim):
    out = trnsim.folder / "report.json"
    refused(trnsim("run", f"--json={out}", trnsim.script("nisa.tensor_copy(dst=t, src=x)")), 3)
    assert json.loads(out.read_text())["runs"][0]["instruction_count"] == 1


def test_interrupt_leaves_a_trace_that_loads(trnsim):
    trace = trnsim.folder / "partial.pftrace"
    script = trnsim.script("while True: nisa.tensor_copy(dst=t, src=t)", before="print('ready', flush=True)")
    process = subprocess.Popen([sys.executable, "-m", "trnsim", "run", "--trace", str(trace), str(script)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                               # What a shell starts in the background has Ctrl-C ignored.
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert "interrupted" in err
    packets = top_level_fields(trace.read_bytes())
    assert len(packets) > 10 and set(packets) == {1}  # perfetto.protos.Trace holds nothing but packets


def top_level_fields(data):
    """Field numbers of a protobuf message whose fields are all length-delimited; fails if the bytes do not add up."""
    fields, at = [], 0
    while at < len(data):
        key, at = varint(data, at)
        assert key & 7 == 2
        size, at = varint(data, at)
        fields.append(key >> 3)
        at += size
    assert at == len(data)
    return fields


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            return value, at


def test_refusal_of_a_chip_inside_the_script_has_the_code_of_a_usage_error(trnsim):
    text = "import trnsim\ntrnsim.install(chip='tranium9')\n"
    refused(trnsim("run", trnsim.script(text=text)), 2, "tranium9", "script.py:2")


@pytest.mark.parametrize("line", [
    "nl.ndarray((2**70, 4), dtype=nl.float32)",
    "nl.ndarray((2**40, 2**30), dtype=nl.float32, buffer=nl.hbm)",
    "nl.ndarray((128, 2**57 + 1), dtype=nl.float32)",
    "nisa.iota(dst=t, pattern=[[2**70, 64]])",
    "nisa.iota(dst=t, pattern=[[2**40, 64]])",
    "nisa.iota(dst=t, pattern=[[1, 2**32 + 64]])",
    "t[2**80]",
])
def test_huge_integers_are_refused(trnsim, line):
    result = trnsim("run", trnsim.script(line))
    refused(result, 3, "script.py:10")


def test_chip_with_more_partitions_than_trnsim_simulates(trnsim):
    chip = trnsim.script(name="wide.toml", text='base = "trainium2"\n[core.sbuf]\npartitions = 256\n')
    refused(trnsim("run", "--chip", chip, trnsim.script()), 2, "sbuf.partitions is 256")


def test_script_called_runpy_keeps_its_frames(trnsim):
    refused(trnsim("run", trnsim.script("raise RuntimeError('mine')", name="my_runpy.py")), 1, "my_runpy.py", "line 10")


def test_exact_integers_are_asked_for_on_the_command_line(trnsim):
    script = trnsim.script(
        "big = nl.ndarray((4, 4), dtype=nl.int32, buffer=nl.sbuf); nisa.memset(big, 2**25); "
        "nisa.tensor_tensor(dst=big, data1=big, data2=big, op=nl.add, engine=nisa.vector_engine)"
    )
    assert trnsim("run", script).code == 0
    refused(trnsim("run", "--exact-integers", script), 3, "fp32", "2^24", "script.py:10")
