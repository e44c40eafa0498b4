"""A sweep on a real local Ray cluster of several workers, one of which is killed in the middle."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("ray")

PLAN = """
[fixed]
model = "llama3-8b"
global_batch = 1024
[vary]
on = ["trn1.32xlarge:16", "p5.48xlarge:8"]
tp = [1, 2, 4, 8]
pp = [1, 2, 4, 8]
micro_batch = [1, 2]
seq = [2048, 4096, 8192]
recompute = ["none", "full"]
"""


def workers():
    """Ray's worker processes that run a task of the sweep, or may."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                title = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if title.startswith(b"ray::evaluate"):
                found.append(int(folder.name))
    return found


@pytest.mark.slow
def test_a_sweep_on_ray_survives_the_death_of_a_worker(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    before, killed = set(workers()), 0
    with subprocess.Popen([sys.executable, "-m", "trnsim", "sweep", "plan.toml", "--engine", "ray://local"],
                          cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        deadline = time.monotonic() + 240
        while process.poll() is None and time.monotonic() < deadline:
            ours = [pid for pid in workers() if pid not in before]
            if ours and not killed:
                os.kill(ours[0], signal.SIGKILL)
                killed += 1
            time.sleep(0.005)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert killed == 1
    with sqlite3.connect(tmp_path / "plan.sqlite") as db:
        rows = db.execute("SELECT finished, runs, plan, error FROM plans").fetchall()
    assert len(rows) == 2 * 4 * 4 * 2 * 3 * 2
    assert all(finished == 1 and runs == 1 and (plan or error) for finished, runs, plan, error in rows)
    assert json.loads(next(plan for *_, plan, _ in rows if plan))["model"] == "llama3-8b"
