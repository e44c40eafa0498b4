"""Compares trnsim's times with measured ones and writes the result as a page.

    validation/calibrate.py --rows microbench.csv kernels.csv --checkouts FOLDER [--output docs/calibration.md]
                            [--accuracy hardware/accuracy.toml]

FOLDER holds checkouts of the public repositories whose kernels were measured, side by side. Rows that cannot be run are
listed with the reason. --accuracy writes the residuals that the printed 90 % intervals come from. The page's own
intervals are out of sample: those of a row come from the residuals of the other sources.
"""

import argparse
import dataclasses
import sys
from pathlib import Path

import trnsim

trnsim.install(timing_only=True)

from calibration import checkouts, instructions, kernels, residuals, rows, table, transfers  # noqa: E402

_CONFIDENCES = ("high", "medium")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rows", nargs="+", type=Path, required=True, help="CSV files of measured rows")
    parser.add_argument("--checkouts", type=Path, help="folder with the checkouts of public repositories")
    parser.add_argument("--output", type=Path, help="write the page here instead of printing it")
    parser.add_argument("--accuracy", type=Path, help="write the residuals by family here")
    parser.add_argument("--only", help="only rows whose id begins with this")
    options = parser.parse_args()
    measured, asides = [], []
    for row in (row for file in options.rows for row in rows.read(file)):
        if options.only and not row.id.startswith(options.only):
            continue
        outcome = _outcome(row, options.checkouts)
        (measured if isinstance(outcome, residuals.Residual) else asides).append(outcome)
        if sys.stderr.isatty():
            print(f"\r{len(measured)} compared, {len(asides)} set aside ", end="", file=sys.stderr, flush=True)
    print(f"{len(measured)} compared, {len(asides)} set aside", file=sys.stderr)
    if not measured:
        print("no row could be compared; set aside:", file=sys.stderr)
        for aside in asides:
            print(f"  {aside.row.id} {aside.row.name}: {aside.reason}", file=sys.stderr)
        return 1
    compared = [dataclasses.replace(r.comparison, low=low, high=high, interpolated=interpolated)
                for r, (low, high, interpolated) in zip(measured, residuals.intervals(measured))]
    page = table.text(compared, asides)
    if options.accuracy:
        kernel_rows = [r for r in measured if r.family == residuals.KERNELS]
        options.accuracy.write_text(residuals.toml(residuals.families(kernel_rows)), encoding="utf-8")
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
                return residuals.of_part(table.Comparison(row, family, predicted), family)
        if folder is None:
            return table.Aside(row, "no checkouts were given")
        predicted = kernels.predict(row, folder)
        profile = trnsim.last_profile()
        comparison = table.Comparison(row, f"kernels: {row.name.split(' ')[0]}", predicted)
        return residuals.of_kernel(comparison, profile, predicted - profile.latency_us * 1e3)
    except (kernels.Unpredicted, checkouts.Missing) as aside:
        return table.Aside(row, str(aside))
    except ModuleNotFoundError as missing:
        return table.Aside(row, f"the checkout's code needs the Python package {missing.name}, which is not installed")
    except trnsim.Error as refused:
        return table.Aside(row, f"trnsim refuses: {str(refused)[:120]}")


if __name__ == "__main__":
    sys.exit(main())
