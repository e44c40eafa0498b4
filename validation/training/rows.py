"""Published training measurements as requests of trnsim.fleet: one rule per kind of row, no knob per row.

What a table does not say comes from the recipes that it was measured with: neuronx-nemo-megatron (gpt_*.sh, llama_*.sh:
sequence parallelism, full recomputation, selective for the 23B model) and neuronx-distributed (Llama with ZeRO-1 and
selective recomputation). The compiler keeps the scores of Llama's attention on the chip (NEURON_FUSE_SOFTMAX);
attention with dropout on its probabilities goes through memory. BERT and ViT run one replica per core.
"""

import csv
import re
from dataclasses import dataclass, field

MODELS = {
    "BERT-Large": "bert-large-pretraining", "ViT-Base": "vit-base", "GPT3-6.7B": "gpt3-6.7b",
    "GTP3-6.7B": "gpt3-6.7b", "GPT-3 6.7B": "gpt3-6.7b", "GPT3-23B": "gpt3-23b", "GPT3-46B": "gpt3-46b",
    "Llama2-7B": "llama2-7b", "Llama2-13B": "llama2-13b", "Llama31-8B": "llama3.1-8b", "Llama-3.1-8B": "llama3.1-8b",
}  # fmt: skip
SECONDS = {"ms": 1e-3, "s": 1.0}


@dataclass
class Row:
    """A published figure, and the options of the plan that should reproduce it; or why it is left out."""

    id: str
    what: str
    metric: str
    measured: float
    unit: str
    source: str
    version: str
    left_out: str = ""
    options: dict = field(default_factory=dict)


def read(path):
    """The rows of a file: id, source, model, instance, nodes, tp, dp, pp, micro_batch, global_batch, ..."""
    with open(path, newline="", encoding="utf-8") as file:
        return [row_of(entry) for entry in csv.DictReader(file)]


def row_of(entry) -> Row:
    row = Row(entry["id"], entry["model"], entry["metric"], float(entry["value"]), entry["unit"], entry["source"],
              entry["version"])
    row.left_out = reason_against(entry)
    if not row.left_out:
        row.options = options_of(entry)
    return row


# Rows whose own figures contradict their parameters.
DOUBTFUL = {
    "T-sdk-0013": "its scaling efficiency of 91 % refers to the 1,864 of micro-batch 8, not to micro-batch 16",
    "T-sdk-0023": "its scaling efficiency of 91 % refers to the 1,864 of micro-batch 8, not to micro-batch 16",
    "T-oth-0001": "TP is inferred; the speed is that of the tables' TP 8",
    "T-oth-0002": "TP is inferred; the speed is that of the tables' TP 8",
}


def reason_against(entry) -> str:
    notes = entry["notes"]
    if entry["id"] in DOUBTFUL:
        return "doubtful: " + DOUBTFUL[entry["id"]]
    if entry["confidence"] in ("low", "flag"):
        return "the source is second hand or approximate"
    if "SUSPECT" in notes:
        return notes[notes.index("SUSPECT"):].split(";")[0].replace("SUSPECT", "doubtful:").replace("::", ":")
    if not any(name in entry["model"] for name in MODELS):
        return "an architecture that trnsim train does not know"
    if entry["metric"] == "compute_cost_per_sequence":
        return "work, not time"
    if not entry["instance"].startswith("trn1.32xlarge") or not entry["nodes"]:
        return "the system is not stated"
    return ""


def options_of(entry) -> dict:
    model = next(preset for name, preset in MODELS.items() if name in entry["model"])
    nodes = int(entry["nodes"])
    replicas = model.startswith(("bert", "vit"))
    tp, pp = int(entry["tp"] or 1), int(entry["pp"] or 1)
    if found := re.search(r"\[(\d+)xNC\(TP\)", entry["notes"]):
        tp = int(found[1])
    own_optimizer = "FP32Optimizer" in entry["precision"] or "FP32 optimizer" in entry["precision"]
    options = {
        "model": model, "on": f"trn1.32xlarge:{nodes}", "tp": tp, "pp": pp, "dp": nodes * 32 // (tp * pp),
        "micro_batch": int(entry["micro_batch"] or 1), "global_batch": int(entry["global_batch"]),
        "dtype": dtype_of(entry), "sp": tp > 1, "zero": 0 if replicas else 1,
        "optimizer_states": "bf16" if "SR" in entry["precision"] or entry["precision"] == "BF16" else "fp32",
        "attention": "flash" if model.startswith("llama") else "materialised",
        "recompute": recompute_of(model, own_optimizer),
        "seq": sequence_of(model, entry),
    }  # fmt: skip
    return {name: value for name, value in options.items() if value is not None}


def dtype_of(entry) -> str:
    """Tables before 2.5 print FP32 everywhere; 2.5 gives the same figures as bf16 for all but the smaller batches."""
    if entry["precision"] != "FP32":
        return "bf16"
    if not entry["version"] and (entry["micro_batch"], entry["seq_len"]) not in (("8", "128"), ("1", "512")):
        return "bf16"
    return "autocast"  # the compiler's default then: FP32 products cast to bf16 (whats-new, --auto-cast)


def recompute_of(model, own_optimizer) -> str:
    if model.startswith(("bert", "vit")):
        return "none"
    if own_optimizer or model == "gpt3-23b":
        return "selective" if not model.startswith("llama3") else "none"
    return "full"


def sequence_of(model, entry):
    if model == "vit-base":
        return 197
    if "Ph2" in entry["model"]:
        return 512  # the tables from 2.16 on print 128 for this phase as well
    return int(entry["seq_len"] or 2048)


def predicted(row, plan) -> float:
    """The figure of the row as the plan has it."""
    step = plan["step_seconds"]["value"]
    layout = plan["layout"]
    if row.metric == "throughput":
        return layout["global_batch"] / step
    if row.metric in ("iteration_time", "step_time"):
        return step / SECONDS[row.unit]
    if row.metric in ("mfu", "mfu_derived"):
        return 100 * plan["mfu"]["value"]
    if row.metric == "tokens_per_s_per_chip_derived":
        return plan["tokens_per_second"]["value"] / plan["accelerators"]
    raise ValueError(f"{row.id}: no rule for {row.metric}")
