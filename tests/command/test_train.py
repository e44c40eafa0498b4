"""trnsim train and trnsim sweep as commands."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

LLAMA = ("train", "llama3-8b", "--on", "trn1.32xlarge:16", "--global-batch", "512")


def test_train_says_where_the_time_goes_whether_it_fits_and_what_it_costs(trnsim):
    done = trnsim(*LLAMA, "--tp", "8", "--sp", "--tokens", "15T")
    assert done.code == 0, done.err
    for words in ("llama3-8b, 8.03 B parameters", "step", "MFU", "memory", "15 T tokens", "USD", "goodput",
                  "calibrated", "where the step goes", "feed-forward"):  # fmt: skip
        assert words in done.out


def test_json_and_text_are_of_the_same_plan(trnsim):
    plan = json.loads(trnsim(*LLAMA, "--tp", "8", "--sp", "--json").out)
    assert plan["layout"]["tp"] == 8
    assert plan["ranks"] == 512


def test_search_prints_ten_layouts_and_why_others_lose(trnsim):
    done = trnsim(*LLAMA, "--search")
    assert "layouts tried" in done.out
    assert "why the others lose" in done.out


def test_compare_prints_one_line_per_system(trnsim):
    done = trnsim("train", "llama3-8b", "--compare", "trn1.32xlarge:16,trn2-ultraserver:2,p5.48xlarge:8")
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == 4


def test_a_step_of_rainier_with_stragglers(trnsim):
    done = trnsim("train", "llama3.1-405b", "--on", "rainier", "--tp", "32", "--pp", "10", "--sp", "--recompute",
                  "full", "--stragglers", "1000", "--jitter", "0.05")  # fmt: skip
    assert done.code == 0, done.err
    assert "replicas differ" in done.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(("--tp", "3"), "nearest: --tp 2"), (("--pp", "99"), "at most --pp 32"), (("--price", "0"), "a price is above 0"),
     (("--tpx", "3"), "tpx")],
)  # fmt: skip
def test_bad_input_is_one_clear_line_and_code_2(trnsim, arguments, says):
    done = trnsim(*LLAMA, *arguments)
    assert done.code == 2
    assert says in done.err
    assert "Traceback" not in done.err


SWEEP = """
[fixed]
model = "llama3-8b"
global_batch = 1024
[vary]
on = ["trn1.32xlarge:16", "p5.48xlarge:8"]
tp = [1, 2, 4, 8, 16, 32]
pp = [1, 2, 4, 8]
micro_batch = [1, 2]
"""


def plans(path):
    with sqlite3.connect(path, timeout=60) as db:
        try:
            return db.execute("SELECT finished, runs, plan, error FROM plans").fetchall()
        except sqlite3.OperationalError:  # not there yet
            return []


def test_a_sweep_runs_every_plan_once_and_draws_the_frontier(trnsim):
    file = trnsim.script(text=SWEEP, name="plan.toml")
    done = trnsim("sweep", file, "--processes", "2", "--plot", "out.svg", "--plot", "out.html")
    assert done.code == 0, done.err
    assert "frontier" in done.out
    rows = plans(trnsim.folder / "plan.sqlite")
    assert len(rows) == 2 * 6 * 4 * 2
    assert all(finished == 1 and runs == 1 and (plan or error) for finished, runs, plan, error in rows)
    assert (trnsim.folder / "out.svg").read_text().startswith("<svg")
    again = trnsim("sweep", file)
    assert again.code == 0
    assert {runs for _, runs, _, _ in plans(trnsim.folder / "plan.sqlite")} == {1}  # nothing ran twice


def test_a_sweep_that_is_killed_goes_on_where_it_stopped(trnsim):
    file = trnsim.script(text=SWEEP, name="plan.toml")
    path = trnsim.folder / "plan.sqlite"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-m", "trnsim", "sweep", str(file), "--processes", "2"], cwd=trnsim.folder,
                          env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (path.exists() and any(row[0] for row in plans(path))):
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
    finished = sum(row[0] for row in plans(path))
    assert finished > 0
    done = trnsim("sweep", file, "--processes", "2")
    assert done.code == 0, done.err
    rows = plans(path)
    assert all(row[0] for row in rows)
    assert sum(row[1] for row in rows) <= len(rows) + 2  # only the two that were cut off ran again


def test_a_plan_file_with_an_unknown_option_is_refused(trnsim):
    done = trnsim("sweep", trnsim.script(text=SWEEP + "tpp = [1]\n", name="plan.toml"))
    assert done.code == 2
    assert "tpp is no option" in done.err


@pytest.mark.parametrize("command", [("train", "llama3-8b"), ("collective", "all_reduce")])
def test_an_unknown_machine_is_refused_with_the_names_of_machines_alone(trnsim, command):
    done = trnsim(*command, "--on", "trn2.49xlarge")
    assert done.code == 2
    assert 'did you mean "trn2.48xlarge"?' in done.err and "trn2_ultraserver" in done.err
    assert "neuroncore" not in done.err and "training_" not in done.err and "nvlink" not in done.err
