"""Compares trnsim's times of collectives with published ones and writes the result as a page.

    validation/collectives.py --rows microbench.csv [--output docs/collectives.md]

Every row of the category collective is set beside a prediction, in one of these families; the reasons why a family says
little about the model stand in FAMILIES.
"""

import argparse
import csv
import json
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FAMILIES = {
    "trn2.48xlarge, 64 ranks": "Named chip, instance, ranks and software of 2026. The fabric's figures for Trainium2 "
    "are fitted to these tables as a whole: six figures for all sizes of three collectives.",
    "trn1, two instances, 64 ranks": "Stale: AWS prints this table since 2023, in whole microseconds and without "
    "naming the instance; 32 ranks per node fit trn1. Rings only, as the runtime of that time had.",
    "trn1, one instance": "Stale in the same way. The start and the step of Trainium1 are fitted to it.",
    "trn1, two ranks over EFA": "Named instance, software not stated. "
    "Small sizes are faster, and large ones slower, than one "
    "bandwidth says; the start of 2023 is too long for the first row.",
    "one chip, eager PyTorch": "Times of a framework, about 60 to 100 us of dispatch in each; rates are the best of "
    "all sizes, taken here at 1 GiB. Not fitted.",
    "decode step": "90 all_reduces of unstated size in one step of a model; predicted at 16 KiB. Not fitted.",
    "unnamed": "The publisher names neither chip nor instance; predicted on trn2.48xlarge, which may be wrong. "
    "Not fitted.",
}
FITTED = tuple(FAMILIES)[:4]
DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "uint8": "uint8", "": "bfloat16"}
MIB = 2**20


@dataclass
class Row:
    id: str
    what: str
    family: str
    collective: str
    arguments: tuple
    bytes: int
    measured: float
    unit: str = "us"
    predicted: float = 0.0

    @property
    def error(self):
        return self.predicted / self.measured - 1


def read(path):
    """The rows that can be predicted, and (id, name, reason) of the others."""
    rows, asides = [], []
    with open(path, encoding="utf-8", newline="") as file:
        for raw in csv.DictReader(file):
            if raw["category"] != "collective":
                continue
            made = prepared(raw)
            (asides if isinstance(made, tuple) else rows).append(made)
    return rows, asides


def prepared(raw):
    """A Row, or (id, name, reason)."""
    aside = lambda reason: (raw["id"], raw["name"], reason)  # noqa: E731
    given, words = json.loads(raw["params_json"] or "{}"), raw["name"].split()
    if raw["confidence"] == "flag":
        return aside("implausible, as its own note says")
    if raw["metric"] in ("change", "threshold"):
        return aside("no time: a threshold of the catalogue or a change between releases")
    if "torch-xla" in raw["name"]:
        return aside("flat in size: the graph was probably pruned, as its own note says")
    if "node count not stated" in raw["notes"]:
        return aside("the number of nodes is not stated and times do not rise with size")
    if "profile screenshot" in raw["notes"]:
        return aside("ranks not stated")
    if "hop latency" in raw["name"]:
        return aside("1 to 2 us a hop, as the catalogue says (NeuronLink, hop_latency)")
    if "300 us floor" in raw["notes"]:
        return aside("unnamed, and a floor of 300 us that no other table has")
    return located(raw, given, words)


def located(raw, given, words):
    ranks = given.get("ranks") or int(raw["n_cores"] or 0)
    dtype = DTYPES[raw["dtype"]]
    row = Row(raw["id"], raw["name"], "", words[1] if words[0] in ("nccom-test", "eager") else "", (),
              given.get("bytes", 0), float(raw["value"]), raw["unit"])
    common = ("--ranks", str(ranks), "--dtype", dtype)
    if given.get("instance") == "trn2.48xlarge":
        row.family, row.arguments = "trn2.48xlarge, 64 ranks", ("--on", "trn2.48xlarge", *common)
    elif given.get("instance") == "2x trn1.32xlarge" and ranks == 2:
        row.family = "trn1, two ranks over EFA"
        row.arguments = ("--on", "trn1.32xlarge:2", "--which", "0,32", "--dtype", dtype, "--algorithm", "ring")
    elif given.get("instance") == "2x trn1.32xlarge" or given.get("nodes") == 2:
        row.family = "trn1, two instances, 64 ranks"
        row.arguments = ("--on", "trn1.32xlarge:2", "--ranks", "64", "--dtype", dtype, "--algorithm", "ring")
    elif raw["chip"] == "trn1":
        row.family = "trn1, one instance"
        row.arguments = ("--on", "trn1.32xlarge", *common, "--algorithm", "ring")
    elif "90 all-reduces" in raw["name"]:
        row.family, row.collective, row.bytes = "decode step", "all_reduce", 16 * 1024
        row.measured, row.unit = row.measured / given["count"] * 1000, "us"
        row.arguments = ("--on", "trn2.48xlarge", *common)
    elif "eager" in raw["name"] or "one chip" in raw["name"]:
        row.family, row.arguments = "one chip, eager PyTorch", ("--on", "trn2.3xlarge", *common)
        row.collective = words[1] if words[0] == "eager" else words[3].rstrip(",")
        rows_ = given.get("rows", given.get("tokens", 0))
        row.bytes = rows_ * given.get("cols", 5120) * 2 or 1024 * MIB
    else:
        row.family, row.arguments = "unnamed", ("--on", "trn2.48xlarge", *common)
        if row.collective.endswith("v"):
            row.collective = row.collective[:-1]  # of equal parts here
    return row


def predict(rows):
    """Fill in the predictions: one run of the command for all sizes of a configuration."""
    asked = {}
    for row in rows:
        asked.setdefault((row.collective, row.arguments), []).append(row)
    for (collective, arguments), some in asked.items():
        sizes = sorted({row.bytes for row in some})
        done = subprocess.run(
            [sys.executable, "-m", "trnsim", "collective", collective, *arguments, "--size", ",".join(map(str, sizes)),
             "--json"], capture_output=True, text=True, check=True)
        by_size = dict(zip(sizes, json.loads(done.stdout)["rows"]))
        for row in some:
            found = by_size[row.bytes]
            row.predicted = found["time_us"] if row.unit == "us" else found["busbw_gb_per_s"]


def page(rows, asides):
    lines = ["# Collectives, predicted and measured", "",
             "Written by `validation/collectives.py` from rows of published measurements. Do not edit: run it again.",
             "", "| family | rows | MAPE | worst |", "| --- | ---: | ---: | ---: |"]
    for family in FAMILIES:
        errors = [abs(row.error) for row in rows if row.family == family]
        if errors:
            lines.append(f"| {family} | {len(errors)} | {statistics.mean(errors):.1%} | {max(errors):.1%} |")
    fitted = [abs(row.error) for row in rows if row.family in FITTED]
    lines += [f"| all but eager, decode and unnamed | {len(fitted)} | {statistics.mean(fitted):.1%} | "
              f"{max(fitted):.1%} |", ""]
    for family, why in FAMILIES.items():
        some = [row for row in rows if row.family == family]
        if not some:
            continue
        lines += [f"## {family[0].upper()}{family[1:]}", "", why, "",
                  "| row | collective | bytes | predicted | measured | error |",
                  "| --- | --- | ---: | ---: | ---: | ---: |"]
        lines += [f"| {row.id} | {row.collective} | {row.bytes} | {row.predicted:.1f} {row.unit} | "
                  f"{row.measured:g} {row.unit} | {row.error:+.1%} |" for row in some]
        lines.append("")
    lines += ["## Set aside", "", "| row | what | why |", "| --- | --- | --- |"]
    lines += [f"| {id_} | {name} | {reason} |" for id_, name, reason in asides]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rows", type=Path, required=True, help="a CSV file of measured rows")
    parser.add_argument("--output", type=Path, help="write the page here instead of printing it")
    options = parser.parse_args()
    rows, asides = read(options.rows)
    predict(rows)
    text = page(rows, asides)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
