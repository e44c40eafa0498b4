"""Run the command `trnsim` as a user would, on a script written for the occasion."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

KERNEL = '''
import numpy as np
import nki, nki.isa as nisa, nki.language as nl

@nki.jit
def kernel(x):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    {line}
    nisa.dma_copy(dst=y, src=t)
    return y

{before}
kernel(np.ones((128, 64), np.float32))
print("survived")
'''


@pytest.fixture
def trnsim(tmp_path):
    """trnsim(*arguments) -> code, out, err; trnsim.script(line=...) writes a kernel with one line of choice."""

    def run(*arguments, **options):
        done = subprocess.run([sys.executable, "-m", "trnsim", *map(str, arguments)], capture_output=True, text=True,
                              timeout=120, cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                              **options)
        return SimpleNamespace(code=done.returncode, out=done.stdout, err=done.stderr)

    def script(line="pass", before="", name="script.py", text=None):
        path = tmp_path / name
        path.write_text(text if text is not None else KERNEL.format(line=line, before=before))
        return path

    run.script = script
    run.folder = tmp_path
    return run
