"""`trnsim port`: each change in a small kernel that runs under Beta 1 as it is and, after the patch, under 0.6, with
equal bits; advice at its line; and that the file is never touched."""

import json
import subprocess
import sys
import textwrap
import types

import numpy as np
import pytest
import trnsim
from trnsim.port import command

ABOVE = 8  # lines of the file in front of a sample's own
OLD = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\n"
X = np.random.default_rng(5).standard_normal((128, 64)).astype(np.float32)
W = np.random.default_rng(6).standard_normal((128, 32)).astype(np.float32)

# name: (lines of a kernel of x [128 x 64] and w [128 x 32] that leave a tile `t`, its shape)
MECHANICAL = {
    "loads of index tiles": ("i = nl.arange(128)[:, None]\nj = nl.arange(64)[None, :]\nt = nl.load(x[i, j])",
                             (128, 64)),
    "inline index tiles": ("t = nl.load(x[nl.arange(128)[:, None], nl.arange(64)[None, :]])", (128, 64)),
    "mgrid": ("i, j = nl.mgrid[0:128, 0:32]\nt = nl.load(x[i, 32 + j])", (128, 32)),
    "mgrid's fields": ("g = nl.mgrid[0:128, 0:32]\nt = nl.load(x[g.p, g.x + 16])", (128, 32)),
    "an index tile that starts elsewhere": ("i = nl.arange(128)[:, None]\nj = 32 + nl.arange(32)[None, :]\n"
                                            "t = nl.load(x[i, j])", (128, 32)),
    "a stride": ("i = nl.arange(128)[:, None]\nj = nl.arange(32)[None, :]\ns = nl.load(x)\nt = nl.copy(s[i, 2 * j])",
                 (128, 32)),
    "one index along an axis": ("i = nl.arange(128)[:, None]\ns = nl.load(x)\nt = nl.copy(s[i, 5])", (128, 1)),
    "indices of a loop": ("i = nl.arange(128)[:, None]\nj = nl.arange(16)[None, :]\n"
                          "t = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)\n"
                          "for k in nl.affine_range(4):\n    t[i, k * 16 + j] = nl.load(x[i, k * 16 + j])", (128, 64)),
    "par_dim": ("t = nl.zeros((nl.par_dim(128), 64), dtype=nl.float32, buffer=nl.sbuf)\nt[...] = nl.load(x)",
                (128, 64)),
    "block dimensions": ("b = nl.ndarray((2, nl.par_dim(128), 32), dtype=nl.float32, buffer=nl.sbuf)\n"
                         "for k in nl.affine_range(2):\n"
                         "    b[k, 0:128, 0:32] = nl.load(x[0:128, k * 32:k * 32 + 32])\n"
                         "t = nl.add(b[0, 0:128, 0:32], b[1, 0:128, 0:32])", (128, 32)),
    "a returned tile": ("s = nl.load(x)\nt = nisa.activation(op=nl.exp, data=s)", (128, 64)),
    "a returned tile with a dtype": ("s = nl.load(x)\nt = nisa.tensor_scalar(s, nl.multiply, 2.0, dtype=nl.bfloat16)",
                                     (128, 64)),
    "a returned sum of two": ("s = nl.load(x)\nt = nisa.tensor_tensor(s, s, op=nl.add)", (128, 64)),
    "a returned reduction": ("s = nl.load(x)\nt = nisa.tensor_reduce(nl.add, s, axis=[1])", (128, 1)),
    "a returned product": ("a, b = nl.load(w), nl.load(x)\na = nl.load(w)\nb = nl.load(x)\n"
                           "p = nisa.nc_matmul(a, b)\nt = nl.copy(p)", (32, 64)),
    "a returned transpose": ("s = nl.load(w)\np = nisa.nc_transpose(s)\nt = nl.copy(p)", (32, 128)),
    "a tile of one value": ("t = nisa.memset((128, 64), 1.5, nl.float32)", (128, 64)),
    "a result into a part": ("t = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)\ns = nl.load(x)\n"
                             "t[0:128, 0:32] = nisa.activation(op=nl.exp, data=s[0:128, 0:32])\n"
                             "t[0:128, 32:64] = nl.exp(s[0:128, 32:64])", (128, 64)),
    "a number into a part": ("t = nl.load(x)\nt[0:128, 0:8] = 3.0", (128, 64)),
    "a load into a part": ("t = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)\n"
                           "t[...] = nl.load(x, mask=None)", (128, 64)),
    "a sum in PSUM": ("p = nl.zeros((32, 64), dtype=nl.float32, buffer=nl.psum)\na = nl.load(w)\nb = nl.load(x)\n"
                      "for k in nl.affine_range(3):\n    p += nisa.nc_matmul(a, b)\nt = nl.copy(p)", (32, 64)),
    "a sum of nl.matmul in PSUM": ("p = nl.zeros((32, 64), dtype=nl.float32, buffer=nl.psum)\na = nl.load(w)\n"
                                   "b = nl.load(x)\np += nl.matmul(a, b, transpose_x=True)\nt = nl.copy(p)", (32, 64)),
    "operators": ("s = nl.load(x)\nt = -s * 2.0 + s - (s * s)", (128, 64)),
    "a comparison": ("s = nl.load(x)\nt = nl.multiply(s > 0.0, s)", (128, 64)),
    "an operator in place": ("t = nl.load(x)\ns = nl.load(x)\nt += s\nt[0:128, 0:8] *= s[0:128, 0:8]", (128, 64)),
    "broadcast_to": ("s = nl.load(x[0:1, 0:64])\nb = s.broadcast_to((128, 64))\nt = nl.add(b, b)", (128, 64)),
    "PSUM into HBM": ("a = nl.load(w)\nb = nl.load(x)\nt = nisa.nc_matmul(a, b)", (32, 64)),
    "bytes beyond ASCII": ("s = nl.load(x)  # \u00fc\u6f22\nt = s + s  # \u00e9", (128, 64)),
}  # fmt: skip


def written(tmp_path, lines, shape, head=OLD, store="nl.store(out, t)"):
    body = textwrap.indent(f"out = nl.ndarray({shape}, dtype=nl.float32, buffer=nl.shared_hbm)\n{lines}\n{store}\n"
                           "return out", "    ")
    path = tmp_path / "kernel.py"
    path.write_text(f"{head}\n\n@nki.jit\ndef kernel(x, w):\n{body}\n", encoding="utf-8")
    return path


def run(text, release):
    trnsim.install(nki=release)
    try:
        module = types.ModuleType("ported")
        exec(compile(text, "ported.py", "exec"), module.__dict__)
        return np.asarray(module.kernel(X, W))
    finally:
        trnsim.install()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MECHANICAL)
def test_what_the_patch_changes_gives_the_same_bits(tmp_path, name):
    path = written(tmp_path, *MECHANICAL[name])
    before = path.read_bytes()
    source = command.advised(path, "0.6")
    assert all(finding.mechanical for finding in source.findings), source.findings
    old, new = run(before.decode(), "auto"), run(source.rewritten(), "0.6")
    assert np.abs(old).sum() > 0
    assert old.tobytes() == new.tobytes()
    assert path.read_bytes() == before


@pytest.mark.parametrize("head", [OLD.replace("\n", "\r\n"), "# coding: latin-1\n" + OLD,
                                  "# \x0c \u2028 \x85\n" + OLD,
                                  "import neuronxcc.nki.language as nl, neuronxcc.nki.isa as nisa\n"
                                  "from neuronxcc import nki\n"])
def test_line_ends_encodings_and_ways_to_import(tmp_path, head):
    lines, shape = MECHANICAL["loads of index tiles"]
    path = written(tmp_path, lines, shape, head=head)
    text = path.read_text(encoding="utf-8")
    if "\r" in head:
        path.write_bytes(text.replace("\n", "\r\n").encode())
    before = path.read_bytes()
    source = command.advised(path, "0.6")
    assert run(source.rewritten(), "0.6").tobytes() == X.tobytes()
    patch = ["patch", "--quiet", "--binary", str(path)]
    done = subprocess.run(patch, input=source.diff().encode(), capture_output=True)
    assert done.returncode == 0, done.stdout
    assert path.read_bytes() == source.rewritten().encode() != before


def test_a_module_that_is_spelled_out_is_found(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text("import neuronxcc.nki.language\n\ndef kernel(x):\n    return neuronxcc.nki.language.arange(4)\n")
    found = command.advised(path, "0.6").findings
    assert {f.line for f in found} == {1, 4}


@pytest.mark.parametrize("name", MECHANICAL)
def test_patch_takes_the_diff(tmp_path, name):
    path = written(tmp_path, *MECHANICAL[name])
    source = command.advised(path, "0.6")
    done = subprocess.run(["patch", "--quiet", str(path)], input=source.diff(), text=True, capture_output=True)
    assert done.returncode == 0, done.stdout
    assert path.read_text(encoding="utf-8") == source.rewritten()
    again = command.advised(path, "0.6")
    assert not again.findings  # what is ported needs nothing more


# name: (lines, the line with the advice, words of it)
ADVICE = {
    "a mask": ("i = nl.arange(128)[:, None]\nj = nl.arange(64)[None, :]\ns = nl.load(x[i, j], mask=(j < 50))\nt = s",
               3, "end the slices of axis 1 at min(64, 50)"),
    "a moved mask": ("j = nl.arange(64)[None, :]\ni = nl.arange(128)[:, None]\nfor k in nl.affine_range(2):\n"
                     "    s = nl.load(x[i, j], mask=(k * 64 + j < 100))\nt = s", 4, "min(k * 64 + 64, 100)"),
    "an access pattern": ("i = nl.arange(128)[:, None, None]\nj = nl.arange(8)[None, :, None]\n"
                          "k = nl.arange(8)[None, None, :]\ns = nl.load(x)\nt = nl.copy(s[i, k * 8 + j])", 5,
                          ".ap(...)"),
    "arguments that are others": ("s = nl.load(x)\nt = nisa.bn_stats(s)", 2, "trnsim isa bn_stats"),
    "a result within an expression": ("s = nl.load(x)\nt = nl.add(nisa.activation(op=nl.exp, data=s), s)", 2,
                                      "nisa.activation(dst=tile, op=nl.exp, data=s)"),
    "a name without successor": ("s = nl.load(x)\nt = nl.static_cast(s, nl.bfloat16)", 2, "nisa.tensor_copy"),
    "a division": ("s = nl.load(x)\nt = s / s", 2, "nl.multiply(s, nl.reciprocal(s))"),
    "a division by a number": ("s = nl.load(x)\nt = s / 4.0", 2, "nl.multiply(s, 1 / (4.0))"),
    "a block as a whole": ("b = nl.ndarray((2, nl.par_dim(128), 64), dtype=nl.float32, buffer=nl.sbuf)\nt = b[0]", 2,
                           "b[partition, block, ...]"),
}


@pytest.mark.parametrize("name", ADVICE)
def test_advice_stands_at_its_line_with_what_to_write(tmp_path, name):
    lines, line, words = ADVICE[name]
    source = command.advised(written(tmp_path, lines, (128, 64)), "0.6")
    found = [f for f in source.findings if f.line == ABOVE + line and not f.mechanical]
    assert any(words in finding.instead for finding in found), source.findings


def test_imports_inside_a_kernel_that_the_file_has_go(tmp_path):
    path = written(tmp_path, "import neuronxcc.nki.language as nl\nt = nl.load(x)", (128, 64))
    new = command.advised(path, "0.6").rewritten()
    assert new.count("import nki.language as nl") == 1
    assert run(new, "0.6").tobytes() == X.tobytes()


def test_results_written_into_parameters_are_returned_now(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(f"{OLD}\n@nki.jit\ndef kernel(x, out):\n    nl.store(out, nl.load(x))\n")
    source = command.advised(path, "0.6")
    assert any(f.line == 6 and "return out" in f.instead for f in source.findings)


NEWER = "import nki\nimport nki.language as nl\nimport nki.isa as nisa\n"


@pytest.mark.parametrize(("line", "release", "words"), [
    ("t = nl.ndarray((nl.par_dim(128), 64), dtype=nl.float32, buffer=nl.sbuf)", "0.6", "removed in release 0.3"),
    ("nisa.tensor_copy_dynamic_src(dst=x, src=x)", "0.6", "nisa.tensor_copy with .ap"),
    ("nisa.sendrecv(src=x, dst=x, send_to_rank=0, recv_from_rank=0, pipe_id=0, use_gpsimd_dma=True)", "0.4",
     "dma_engine=nisa.dma_engine.gpsimd_dma"),
    ("nisa.nc_matmul(dst=x, stationary=x, moving=x, is_moving_zero=True)", "0.3", "is_moving_onezero="),
    ("for k in nl.affine_range(4):\n    pass", "0.7", "use range"),
    ("nl.fori_loop(0, 4, print)", "0.5", "nl.dynamic_range"),
])  # fmt: skip
def test_names_and_parameters_of_newer_releases(tmp_path, line, release, words):
    path = written(tmp_path, line, (128, 64), head=NEWER, store="")
    found = command.advised(path, release).findings
    assert any(f.line == ABOVE + 1 and words in f"{f.what} {f.instead}" for f in found), found


# What people asked who met a newer release with older code.
@pytest.mark.parametrize(("text", "release", "words"), [
    ("@nki.jit(platform_target='trn2')\ndef kernel(x):\n    return x\n", "0.4", "NEURON_PLATFORM_TARGET_OVERRIDE"),
    ("nki.simulate_kernel(kernel, x)\n", "0.4", "use nki.simulate"),
    ("@nki.jit\ndef kernel(x):\n    i = nl.arange(8)\n    return nl.par_dim(i)\n", "0.2", "index tiles"),
    ("t = nl.load(x)\n", "0.2", "came with release 0.3"),
])  # fmt: skip
def test_reported_questions(tmp_path, text, release, words):
    path = tmp_path / "kernel.py"
    path.write_text(OLD + text)
    found = command.advised(path, release).findings
    assert any(words in f"{f.what} {f.instead}" for f in found), found


def trnsim_port(*arguments):
    command_line = [sys.executable, "-m", "trnsim", "port", *map(str, arguments)]
    return subprocess.run(command_line, capture_output=True, text=True)


def test_the_command(tmp_path):
    path = written(tmp_path, *MECHANICAL["operators"])
    shown, patch = trnsim_port(path), trnsim_port(path, "--diff")
    listed = trnsim_port(path, "--json", "--to", "0.6")
    assert shown.returncode == 1 and f"{path}:{ABOVE + 2}:" in shown.stdout and "by hand" in shown.stdout
    assert patch.returncode == 0 and patch.stdout.startswith("--- a/")
    report = json.loads(listed.stdout)
    assert report["to"] == "0.6" and {f["line"] for f in report["findings"]} >= {1, 2, ABOVE + 2}
    path.write_text(NEWER)
    assert trnsim_port(path).returncode == 0


@pytest.mark.parametrize(("content", "arguments", "words"), [
    (None, (), "No such file"), (b"\xff\xfe\x00", (), "binary file"),
    (b"# \xff\n", (), "not text"), (b"def (:", (), ":1: not Python"),
    (b"", ("--to", "0.66"), "did you mean 0.6?"), (b"x\x00", (), "not Python"),
])  # fmt: skip
def test_bad_input(tmp_path, content, arguments, words):
    path = tmp_path / "file.py"
    if content is not None:
        path.write_bytes(content)
    done = trnsim_port(path, *arguments)
    assert done.returncode not in (0, 1) and words in done.stderr and "Traceback" not in done.stderr
