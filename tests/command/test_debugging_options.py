"""Debugging from the command line: --dump-program, --stop-on-nan, --break-at, breakpoint(), --fp32."""

import json

import pytest

KERNEL = '''
import numpy as np
import nki, nki.isa as nisa, nki.language as nl

@nki.jit
def kernel(x):
    out = nl.ndarray((2, 4), dtype=nl.float32, buffer=nl.shared_hbm)
    t = nl.ndarray((2, 4), dtype=nl.float32, buffer=nl.sbuf, name="t")
    load = nisa.dma_copy(dst=t, src=x)
    {line}
    nisa.dma_copy(dst=out, src=t, name="store").depends_on(load)
    return out

kernel(np.arange(8, dtype=np.float32).reshape(2, 4))
print("survived")
'''

LISTING = """\
kernel on core 0 of trainium2: 3 instructions
#0 DMA dma_copy script.py:9 in kernel reads 32 bytes, writes 32 bytes
    dst = t SBUF partitions 0-1 byte 0 float32 [2, 4] strides [4]
    src = x HBM byte 0 float32 [2, 4] strides [16, 4]
#1 Scalar activation script.py:10 in kernel reads 32 bytes, writes 32 bytes
    dst = t SBUF partitions 0-1 byte 0 float32 [2, 4] strides [4]
    data = t SBUF partitions 0-1 byte 0 float32 [2, 4] strides [4]
    op = exp
    scale = 2
#2 DMA dma_copy 'store' script.py:11 in kernel reads 32 bytes, writes 32 bytes
    dst = out HBM byte 0 float32 [2, 4] strides [16, 4]
    src = t SBUF partitions 0-1 byte 0 float32 [2, 4] strides [4]
    after #0
"""


@pytest.fixture
def kernel(trnsim):
    return lambda line="nisa.activation(dst=t, op=nl.exp, data=t, scale=2.0)": trnsim.script(
        text=KERNEL.format(line=line))


def test_the_program_is_listed(trnsim, kernel):
    done = trnsim("run", "--quiet", "--dump-program", kernel())
    assert done.code == 0 and done.out == "survived\n" + LISTING


def test_the_listing_goes_to_a_file(trnsim, kernel):
    assert trnsim("run", "--dump-program", "p.txt", kernel()).code == 0
    assert (trnsim.folder / "p.txt").read_text() == LISTING
    assert trnsim("run", "--dump-program=p.json", "--timing-only", kernel()).code == 0
    run = json.loads((trnsim.folder / "p.json").read_text())["runs"][0]
    assert run["kernel"] == "kernel" and [i["opcode"] for i in run["instructions"]] == ["dma_copy", "activation",
                                                                                       "dma_copy"]
    last = run["instructions"][2]
    assert last["after"] == [0] and last["name"] == "store" and last["line"] == 11 and last["read_bytes"] == 32
    assert run["instructions"][1]["arguments"] == {"op": "exp", "scale": "2"}
    assert run["instructions"][1]["operands"][0] == {
        "argument": "dst", "reads": False, "writes": True, "tensor": "t", "memory": "SBUF", "start_partition": 0,
        "offset_bytes": 0, "dtype": "float32", "shape": [2, 4], "strides_bytes": [4]}


def test_a_listing_that_cannot_be_written_is_refused_first(trnsim, kernel):
    done = trnsim("run", "--dump-program=/no/such/folder/p.txt", kernel())
    assert done.code == 2 and "survived" not in done.out


def test_stop_on_nan_stops_the_script_at_the_line(trnsim, kernel):
    done = trnsim("run", "--stop-on-nan", kernel("nisa.activation(dst=t, op=nl.exp, data=t, scale=99.0)"))
    assert done.code == 3 and "survived" not in done.out
    assert "script.py:10: activation: dst[0, 1] is the first infinity" in done.err


def test_break_at_opens_pdb_at_the_users_line(trnsim, kernel):
    done = trnsim("run", "--break-at", "1", kernel(), input="p t.shape\nup\np __name__\ndown\nnext\nnext\ncontinue\n")
    assert done.code == 0 and "survived" in done.out, done.err
    assert "script.py(10)kernel()" in done.out and "(2, 4)" in done.out
    assert "script.py(14)<module>()" in done.out and "'__main__'" in done.out
    assert "script.py(11)kernel()" in done.out and "script.py(12)kernel()" in done.out
    assert "session.py" not in done.out


def test_break_at_takes_a_kernels_name(trnsim, kernel):
    done = trnsim("run", "--break-at", "kernel:2", kernel(), input="continue\n")
    assert "script.py(11)kernel()" in done.out and "survived" in done.out
    done = trnsim("run", "--break-at", "other:2", kernel())
    assert done.code == 0 and "no launch reached --break-at other:2" in done.err


@pytest.mark.parametrize("where", ["here", "kernel:", "-3", "1.5"])
def test_break_at_refuses_what_is_no_number(trnsim, kernel, where):
    done = trnsim("run", f"--break-at={where}", kernel())
    assert done.code == 2 and "--break-at takes" in done.err


def test_quitting_the_debugger_ends_the_script(trnsim, kernel):
    done = trnsim("run", "--break-at", "1", kernel(), input="quit\n")
    assert "survived" not in done.out and done.code == 0 and "Traceback" not in done.err


def test_breakpoint_shows_the_users_frames(trnsim, kernel):
    done = trnsim("run", kernel("breakpoint()"), input="where\ncontinue\n")
    assert "script.py(10)kernel()" in done.out and "survived" in done.out
    assert "session.py" not in done.out and "runpy" not in done.out


def test_fp32_everywhere_is_refused_by_name(trnsim, kernel):
    done = trnsim("run", "--fp32", kernel())
    assert done.code == 4 and "NKI_PRECISE_FP=0" in done.err and "survived" not in done.out
