"""Runs of more than two seconds say how far they are, on a terminal and nowhere else."""

import os
import pty
import subprocess
import sys

LINE = "import time; end = time.time() + 3\n    while time.time() < end: nisa.tensor_copy(dst=t, src=t)"


def test_a_long_run_shows_its_progress_on_a_terminal(trnsim):
    terminal, end = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "trnsim", "run", "--quiet", str(trnsim.script(LINE))]
    process = subprocess.Popen(command, stderr=end, stdout=subprocess.DEVNULL, env=environment)
    assert process.wait(timeout=120) == 0
    os.close(end)
    shown = os.read(terminal, 65536).decode()
    os.close(terminal)
    assert "trnsim: kernel: " in shown and "instructions, 2 s" in shown


def test_no_progress_where_nobody_looks(trnsim):
    assert trnsim("run", "--no-lint", "--quiet", trnsim.script(LINE)).err == ""
