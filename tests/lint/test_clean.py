"""Kernels that compile have no findings, and a file is judged by its kernels alone."""

from pathlib import Path

import pytest

from lint_samples import HEAD, OLD_HEAD, kernel
from trnsim.lint import check

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").rglob("*.py"))

CLEAN = {
    "guide": """
        assert x.shape[0] <= nl.tile_size.pmax, f"{x.shape[0]} rows"
        print("shape", x.shape)
        sizes = []
        for i in range(4):
            sizes.append(i * 2)
        d = {"n": 1}
        for key in d.keys():
            n = d[key]
        t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
        y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=t, src=x)
        if x.shape[0] > 64 and x.shape != None:
            nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=1.0)
        nisa.dma_copy(dst=y, src=t[0:128, 0:512])
        return y
    """,
    "none": """
        if x is None or x is not None:
            pass
        if x.shape[0] in (1, 2) and isinstance(x.shape, tuple):
            pass
    """,
    "product": """
        a = nl.ndarray((128, 128), dtype=nl.bfloat16, buffer=nl.sbuf)
        p = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=p, stationary=a, moving=a)
        nisa.tensor_copy(dst=a[32:64, :], src=p[64:96, :])
        nisa.dma_copy(dst=x[17:33], src=a[17:33, :])
    """,
    "loop": """
        count = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
        reg = nisa.register_alloc(4)
        def body(i):
            nisa.memset(dst=count, value=0)
        nl.fori_loop(0, reg, body)
    """,
    "order": """
        with nl.no_reorder():
            nisa.dma_copy(dst=x, src=x)
    """,
}


@pytest.mark.parametrize("name", CLEAN)
def test_kernel_that_compiles_has_no_findings(write, name):
    assert check.check(write(kernel(CLEAN[name]))) == []


def test_python_around_kernels_is_free(write):
    driver = "import torch\nclass Any:\n    pass\nwith open('x') as f:\n    print(np.zeros(2), [i for i in f])\n"
    assert check.check(write(kernel("pass") + driver)) == []


def test_beta_1_takes_any_python(write):
    body = "i = nl.arange(128)[:, None]\nf = lambda n: [n for n in range(n)]\nwith open('x') as g:\n    pass"
    assert check.check(write(kernel(body, head=OLD_HEAD))) == []


def test_functions_of_local_modules_are_followed(write):
    write("def part(x):\n    return [n for n in x.shape]\n", "parts.py")
    findings = check.check(write(kernel("part(x)", above="from parts import part\n")))
    assert [(Path(f.file).name, f.line, f.rule) for f in findings] == [("parts.py", 2, "python.comprehension")]


def test_kernel_made_by_a_call_is_found(write):
    text = f"{HEAD}\ndef plain(x):\n    y = [n for n in x.shape]\nfast = nki.jit(plain)\n"
    assert [f.rule for f in check.check(write(text))] == ["python.comprehension"]


def test_kernel_inside_a_function_is_found(write):
    text = f"{HEAD}\ndef make():\n    @nki.jit\n    def kernel(x):\n        y = [n for n in x.shape]\n"
    assert [f.line for f in check.check(write(text))] == [9]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_own_examples_have_no_errors(path):
    assert [f.text() for f in check.check(path) if f.level == "error"] == []
