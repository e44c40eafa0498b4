"""Writes docs/training.md: published training measurements beside what trnsim.fleet predicts.

    python validation/training/page.py --rows FILE.csv

FILE.csv holds Trainium rows (see rows.py); Megatron's stand in megatron.csv beside this file.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import megatron
import rows as trainium
from trnsim import fleet

PAGE = Path(__file__).resolve().parents[2] / "docs" / "training.md"
HEAD = """# Training: predicted and measured

Written by `python validation/training/page.py --rows FILE.csv`; do not edit. Nothing is fitted but one efficiency per
accelerator (`hardware/training/`); no row has a knob of its own. *Inside* says whether the measured figure lies in the
interval that `trnsim train` prints.
"""


def summary(errors, inside):
    mean, worst = 100 * sum(errors) / len(errors), 100 * max(errors)
    text = f"{len(errors)} rows: mean absolute error {mean:.1f} %, worst {worst:.1f} %"
    return text + (f", {100 * sum(inside) / len(inside):.0f} % inside the interval." if inside else ".")


def table(head, lines):
    return ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)] + [f"| {' | '.join(line)} |" for line in lines]


def ratio_inside(plan, time_ratio):
    step = plan["step_seconds"]
    return step["low"] <= time_ratio * step["value"] <= step["high"]


def trainium_part(path):
    lines, errors, inside, out = [], [], [], []
    plans = {}
    for row in trainium.read(path):
        if row.left_out:
            out.append([row.id, row.what, row.left_out])
            continue
        key = tuple(row.options.items())
        plan = plans[key] = plans.get(key) or fleet.train(**row.options)
        value = trainium.predicted(row, plan)
        error = value / row.measured - 1
        ratio = row.measured / value if row.unit in trainium.SECONDS else value / row.measured
        errors.append(abs(error))
        inside.append(ratio_inside(plan, ratio))
        layout = f"{row.options['on']}, tp {row.options['tp']}, pp {row.options['pp']}"
        lines.append([row.id, row.what, layout, row.version or "before 2.5", f"{row.measured:.4g}", f"{value:.4g}",
                      row.unit, f"{100 * error:+.0f} %", "yes" if inside[-1] else "no"])
    head = ["row", "what", "where", "release", "measured", "predicted", "unit", "error", "inside"]
    return ["## Trainium1", "", summary(errors, inside), "", *table(head, lines), "", "Left out:", "",
            *table(["row", "what", "why"], out), ""]


def megatron_part():
    lines, errors, inside = [], [], []
    for row, plan in megatron.step_rows(fleet.train):
        measured, value = float(row["seconds"]), plan["step_seconds"]["value"]
        errors.append(abs(value / measured - 1))
        inside.append(ratio_inside(plan, measured / value))
        lines.append([row["model"], row["recompute"], f"{measured}", f"{value:.2f}",
                      f"{100 * (value / measured - 1):+.1f} %", "yes" if inside[-1] else "no"])
    text = ["## Megatron on A100: step time", "", summary(errors, inside), "",
            *table(["model", "recomputes", "measured s", "predicted s", "error", "inside"], lines), ""]
    lines, errors = [], []
    for row, value in megatron.memory_rows(fleet.train):
        measured = float(row["activation_percent"])
        errors.append(abs(value / measured - 1))
        lines.append([row["model"], row["recompute"], row["sp"], f"{measured}", f"{value:.2f}",
                      f"{100 * (value / measured - 1):+.1f} %"])
    return [*text, "## Megatron: activation memory, percent of a run that recomputes nothing", "",
            summary(errors, []), "",
            *table(["model", "recomputes", "sequence parallel", "published %", "predicted %", "error"], lines), ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True)
    options = parser.parse_args()
    PAGE.write_text("\n".join([HEAD, *megatron_part(), *trainium_part(options.rows)]).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
