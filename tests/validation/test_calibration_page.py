"""The calibration's page and its process: goal line, variants, bounds, other figures, limits, progress."""

import os
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "validation"))

import trnsim

trnsim.install()  # for the imports

import calibrate  # noqa: E402
import nki  # noqa: E402
import nki.isa as nisa  # noqa: E402
import nki.language as nl  # noqa: E402
import numpy as np  # noqa: E402
from calibration import kernels, metrics, process, rows, table  # noqa: E402

HEADER = "id,source,kernel,params_json,dtype,chip,lnc,n_cores,metric,value,unit,confidence\n"


def row(name, value, metric="total_time", confidence="high", unit="ns", id="K-1"):
    return rows.Row(id, "here", name, {}, "fp32", "trn2", "1", metric, value, unit, confidence)


def compared(name, predicted, measured, **told):
    device = told.pop("device_time", True)
    return table.Comparison(row(name, measured, **told), "kernels: k", predicted, device_time=device)


def test_the_page_begins_with_the_goal():
    page = table.text([compared("k", 110, 100, id="K-1"), compared("k", 80, 100, id="K-2"),
                       compared("k", 900, 100, confidence="medium"), compared("k", 900, 100, device_time=False)], [])
    goal = page.splitlines()[4]
    assert "2 rows, MAPE 15.0%, worst 20.0% (K-2)" in goal and goal.startswith("**Kernels of confidence high")
    assert "confidence high, device time" not in table.text([compared("k", 1, 1, device_time=False)], [])


def test_variants_are_ranked_in_a_table_of_their_own():
    tutorial = [compared(f"matmul tutorial v{i} x", predicted, measured)
                for i, predicted, measured in ((2, 40, 41), (3, 30, 31), (4, 29, 33), (1, 0, 99))]
    page = table.text(tutorial, [])
    assert "| matmul tutorial v2 to v5 | 3 | 0.50 |" in page
    assert "mamba v1 to v3" not in page


def test_tasks_of_kda_are_ranked_by_their_speed_up():
    own = [compared(f"{task} (KDA {version})", predicted, measured) for task, version, predicted, measured in (
        ("silu", "baseline", 100, 100), ("silu", "v1", 50, 60), ("bmm", "baseline", 1000, 900), ("bmm", "v1", 800, 950),
        ("bmm", "v2", 250, 300), ("lora", "v1", 1, 1))]
    assert table._speedups(own) == [(2.0, pytest.approx(100 / 60)), (1.25, pytest.approx(900 / 950)), (4.0, 3.0)]
    assert "| KDA's open tasks, speed-up over the baseline | 3 | 1.00 |" in table.text(own, [])


def test_bounds_stay_out_of_the_errors():
    page = table.text([compared("k", 110, 100)], [], bounds=[table.Bound(row("fast", 2e3), 1.5e3),
                                                             table.Bound(row("slow", 2e3), 2.5e3)])
    assert "| all | 1 | 10.0%" in page
    assert "| K-1 | fast | trn2 | 1.5 µs | 2 µs | yes |" in page and "| 2.5 µs | 2 µs | no |" in page


def test_other_figures_have_families_of_their_own():
    figure = table.Comparison(row("k", 50.0, "mfu_pct", unit="percent"), "figure: mfu_pct", 55.0)
    page = table.text([compared("k", 100, 100)], [], [figure])
    assert "| all | 1 | 0.0%" in page and "| figure: mfu_pct | 1 | 10.0%" in page
    assert "| 55 percent | 50 percent |" in page


def test_an_answer_that_takes_too_long_or_dies_is_named_and_the_next_is_answered(capsys):
    def answer(question):
        print("chatter")
        if question == "slow":
            time.sleep(30)
        if question == "dies":
            os._exit(3)
        if question == "killed":
            os.kill(os.getpid(), 9)
        return question * 2

    with process.Worker(answer) as worker:
        assert worker.ask("ab", 10) == "abab"
        first = worker._child.pid
        assert worker.ask("slow", 0.1) == "not done within 0.1 s"
        assert worker.ask("ab", 10) == "abab"
        assert worker._child.pid != first
        assert "ended with status 3" in worker.ask("dies", 10)
        assert "ended with signal 9" in worker.ask("killed", 10)
        assert worker.ask("c", 10) == "cc"
    assert capsys.readouterr().out == ""


def test_overlaps_count_once():
    assert metrics.union([(5, 7), (0, 2), (1, 3), (1, 2)]) == 5


@pytest.fixture(scope="module")
def profile():
    """Two fp32 matmuls and one of bf16, 128 x 128 x 512, after one load of 128 rows of 2 KiB."""
    trnsim.install(chip="trn2", timing_only=True)

    @nki.jit
    def kernel(x):
        tile = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
        half = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        nisa.tensor_copy(dst=half, src=tile, engine=nisa.vector_engine)
        for moving in (tile, tile, half):
            out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul(dst=out, stationary=moving[:, 0:128], moving=moving)
        return x

    kernel(np.zeros((128, 512), np.float32))
    yield trnsim.last_profile()
    trnsim.install(chip="trn2", timing_only=False)


def test_figures_of_a_profile(profile):
    def figure(name):
        return metrics.value(row("k", 1.0, name), profile)

    total_ns, matmul_flops = profile.latency_us * 1e3, 2 * 128 * 128 * 512
    tensor = [i for i in profile.instructions if i["queue"] == "Tensor"]
    assert figure("te_instr") == 2 * 5  # an fp32 matmul is two passes, and each pass loads a stationary tile first
    assert figure("ve_instr") == 1
    assert figure("te_active_ms") == pytest.approx(sum(i["busy_end_ns"] - i["start_ns"] for i in tensor), rel=1e-6)
    assert figure("te_active_pct") == pytest.approx(100 * figure("te_active_ms") / total_ns)
    assert figure("matmul_instruction_interval") == pytest.approx(figure("te_active_ms") / 5)
    assert figure("mfu_pct") == pytest.approx(100 * 3 * matmul_flops / (total_ns * 79e3), rel=1e-3)  # 79 TFLOPS
    assert figure("mbu_pct") == pytest.approx(100 * 128 * 2048 / (total_ns * 2900 / 4), rel=1e-3)  # 2.9 TB/s, 4 stacks
    # 128 packets of 2 KiB; one engine takes 27.2 GB/s and 8 ns a descriptor.
    assert figure("dma_packet_ms") == pytest.approx(128 * (2048 / 27.2 + 8), rel=1e-3)
    with pytest.raises(rows.Unpredicted, match="max_mfu_pct"):
        figure("max_mfu_pct")


def test_the_program_runs_the_rows_asked_for(tmp_path, monkeypatch, capsys):
    file = tmp_path / "rows.csv"
    file.write_text(HEADER + "K-1,here,fast,{},fp32,trn2,1,1,total_time,2,us,high\n"
                    "K-2,here,fast,{},fp32,trn2,1,1,p99_upper_bound,9,us,medium\n"
                    "K-3,here,odd,{},fp32,trn2,1,1,total_time,2,us,high\n"
                    "K-4,here,left,{},fp32,trn2,1,1,total_time,2,us,high\n")

    def predict(row, folder):
        if row.name == "odd":
            raise AssertionError("sizes must be even\nand more")
        return kernels.Prediction(3e3, None, 1e3)

    monkeypatch.setattr(kernels, "predict", predict)
    monkeypatch.setattr(calibrate.residuals, "of_kernel", lambda comparison, profile, launch_ns: (
        calibrate.residuals.of_part(comparison, "kernels")))
    monkeypatch.setattr(sys, "argv", ["calibrate.py", "--rows", str(file), "--checkouts", str(tmp_path),
                                      "--only", "fast|K-3"])
    assert calibrate.main() == 0
    page, progress = capsys.readouterr()
    assert "1 rows, MAPE 50.0%" in page and "| K-2 | fast | trn2 | 3 µs | 9 µs | yes |" in page
    assert "raises AssertionError: sizes must be even | 1: K-3" in page and "K-4" not in page
    assert "K-1 fast: 3 µs, measured 2 µs, ratio 1.50 [" in progress and "3 rows in" in progress
