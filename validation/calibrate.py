"""Compares trnsim's times with measured ones and writes the result as a page.

    validation/calibrate.py --rows microbench.csv kernels.csv --checkouts FOLDER [--output docs/calibration.md]

FOLDER holds checkouts of the public repositories whose kernels were measured, side by side. Rows that cannot be run are
listed with the reason.
"""

import argparse
import sys
from pathlib import Path

import trnsim

trnsim.install(timing_only=True)

from calibration import checkouts, instructions, kernels, rows, table, transfers  # noqa: E402

_CONFIDENCES = ("high", "medium")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rows", nargs="+", type=Path, required=True, help="CSV files of measured rows")
    parser.add_argument("--checkouts", type=Path, help="folder with the checkouts of public repositories")
    parser.add_argument("--output", type=Path, help="write the page here instead of printing it")
    parser.add_argument("--only", help="only rows whose id begins with this")
    options = parser.parse_args()
    compared, asides = [], []
    for row in (row for file in options.rows for row in rows.read(file)):
        if options.only and not row.id.startswith(options.only):
            continue
        outcome = _outcome(row, options.checkouts)
        (compared if isinstance(outcome, table.Comparison) else asides).append(outcome)
        if sys.stderr.isatty():
            print(f"\r{len(compared)} compared, {len(asides)} set aside ", end="", file=sys.stderr, flush=True)
    print(f"{len(compared)} compared, {len(asides)} set aside", file=sys.stderr)
    if not compared:
        print("no row could be compared; set aside:", file=sys.stderr)
        for aside in asides:
            print(f"  {aside.row.id} {aside.row.name}: {aside.reason}", file=sys.stderr)
        return 1
    page = table.text(compared, asides)
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    else:
        print(page)
    return 0


def _outcome(row: rows.Row, folder: Path | None):
    if row.confidence not in _CONFIDENCES:
        return table.Aside(row, f"confidence {row.confidence}")
    try:
        trnsim.install(chip=row.chip, timing_only=True)
        for family, source in (("instructions", instructions), ("transfers", transfers)):
            predicted = source.predict(row)
            if predicted is not None:
                return table.Comparison(row, family, predicted)
        if folder is None:
            return table.Aside(row, "no checkouts were given")
        return table.Comparison(row, f"kernels: {row.name.split(' ')[0]}", kernels.predict(row, folder))
    except (kernels.Unpredicted, checkouts.Missing) as aside:
        return table.Aside(row, str(aside))
    except trnsim.Error as refused:
        return table.Aside(row, f"trnsim refuses: {str(refused)[:120]}")


if __name__ == "__main__":
    sys.exit(main())
