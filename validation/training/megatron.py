"""Megatron on A100: step times (table 5) and activation memory (figure 7) of Korthikanti et al., arXiv 2205.05198.

Memory is published relative to a run without recomputation and without sequence parallelism.
"""

import csv
from pathlib import Path

DATA = Path(__file__).with_name("megatron.csv")
# GPUs, stages, chunks, micro-batch, global batch; tensor parallelism is 8 throughout (table 3).
RUNS = {"megatron-22b": (8, 1, 1, 4, 4), "megatron-175b": (64, 8, 3, 1, 64), "turing-530b": (280, 35, 3, 1, 280),
        "megatron-1t": (512, 64, 1, 1, 512)}  # fmt: skip


def rows():
    """The published rows, with `options` of the plan that should reproduce them."""
    with open(DATA, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            gpus, stages, chunks, micro_batch, batch = RUNS[row["model"]]
            row["options"] = {
                "model": row["model"], "on": f"a100_80:{gpus}", "tp": 8, "pp": stages, "zero": 0, "seq": 2048,
                "sp": row["sp"], "recompute": row["recompute"], "attention": "materialised",
                "micro_batch": micro_batch, "global_batch": batch,
                "schedule": "interleaved" if chunks > 1 else "1f1b", "chunks": chunks,
            }  # fmt: skip
            yield row


def step_rows(train):
    """(row, predicted seconds) of the eight step times."""
    return [(row, train(**row["options"])) for row in rows() if row["seconds"]]


def memory_rows(train):
    """(row, predicted percent) of the twenty activation memories."""
    base, found = {}, []
    for row in rows():
        bytes_ = train(**row["options"])["memory"]["activations"]
        base.setdefault(row["model"], bytes_)
        found.append((row, 100 * bytes_ / base[row["model"]]))
    return found
