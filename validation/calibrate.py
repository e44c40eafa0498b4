"""Compares trnsim's times with measured ones and writes the result as a page.

    validation/calibrate.py --rows microbench.csv kernels.csv --checkouts FOLDER [--output docs/calibration.md]
                            [--accuracy hardware/accuracy.toml] [--published] [--only REGEX] [--limit SECONDS]

FOLDER holds checkouts of the public repositories whose kernels were measured, side by side. Rows that cannot be run are
listed with the reason. --accuracy writes the residuals that the printed 90 % intervals come from. The page's own
intervals are out of sample: those of a row come from the residuals of the other sources.
"""

import argparse
import dataclasses
import re
import sys
import time
from pathlib import Path

import trnsim

trnsim.install(timing_only=True)

from calibration import (checkouts, instructions, kernels, nki_library, process, residuals, rows, table,  # noqa: E402
                         tasks, transfers)

_CONFIDENCES = ("high", "medium")


def main() -> int:
    options = _options()
    read = [row for file in options.rows for row in rows.read(file)]
    if options.published and options.checkouts:
        read += tasks.kda_rows(options.checkouts) + nki_library.published_rows(options.checkouts)
    wanted = [row for row in read if re.search(options.only, f"{row.id} {row.name} {row.metric}")]
    outcomes = _outcomes(wanted, options)
    measured = [o for o in outcomes if isinstance(o, residuals.Residual)]
    figures = [o for o in outcomes if isinstance(o, table.Comparison)]
    bounds = [o for o in outcomes if isinstance(o, table.Bound)]
    asides = [o for o in outcomes if isinstance(o, table.Aside)]
    print(f"{len(measured) + len(figures)} compared, {len(bounds)} held against bounds, {len(asides)} set aside",
          file=sys.stderr)
    if not measured + figures + bounds:
        print("no row could be compared; set aside:", file=sys.stderr)
        for aside in asides:
            print(f"  {aside.row.id} {aside.row.name}: {aside.reason}", file=sys.stderr)
        return 1
    compared = [dataclasses.replace(r.comparison, low=low, high=high, interpolated=interpolated)
                for r, (low, high, interpolated) in zip(measured, residuals.intervals(measured))]
    page = table.text(compared, asides, figures, bounds)
    if options.accuracy:
        kernel_rows = [r for r in measured if r.family == residuals.KERNELS]
        options.accuracy.write_text(residuals.toml(residuals.families(kernel_rows)), encoding="utf-8")
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    else:
        print(page)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rows", nargs="+", type=Path, required=True, help="CSV files of measured rows")
    parser.add_argument("--checkouts", type=Path, help="folder with the checkouts of public repositories")
    parser.add_argument("--output", type=Path, help="write the page here instead of printing it")
    parser.add_argument("--accuracy", type=Path, help="write the residuals by family here")
    parser.add_argument("--published", action="store_true",
                        help="also compare what the checkouts themselves give: KDA's versions, nki-library's lists")
    parser.add_argument("--only", default="", metavar="REGEX", help="only rows with this in their id, name or metric")
    parser.add_argument("--limit", type=float, default=300, metavar="SECONDS", help="the longest that one row may take")
    return parser.parse_args()


def _outcomes(wanted: list[rows.Row], options: argparse.Namespace) -> list:
    outcomes, spent = [], []
    with process.Worker(lambda row: _outcome(row, options.checkouts)) as worker:
        for row in wanted:
            start = time.monotonic()
            outcome = worker.ask(row, options.limit)
            outcomes.append(table.Aside(row, outcome) if isinstance(outcome, str) else outcome)
            spent.append(time.monotonic() - start)
            print(f"{row.id} {row.name}: {table.said(outcomes[-1])} [{spent[-1]:.1f} s]", file=sys.stderr, flush=True)
    if spent:
        print(f"{len(spent)} rows in {sum(spent):.0f} s, the slowest {max(spent):.1f} s", file=sys.stderr)
    return outcomes


def _outcome(row: rows.Row, folder: Path | None):
    """A Residual for a time, a Comparison for another figure, a Bound, or an Aside with the reason."""
    if row.confidence not in _CONFIDENCES:
        return table.Aside(row, f"confidence {row.confidence}")
    try:
        trnsim.install(chip=row.chip, timing_only=True, spill=True)
        for family, source in (("instructions", instructions), ("transfers", transfers)):
            predicted = source.predict(row)
            if predicted is not None:
                return residuals.of_part(table.Comparison(row, family, predicted), family)
        if folder is None:
            return table.Aside(row, "no checkouts were given")
        return _of_kernel(row, kernels.predict(row, folder))
    except (rows.Unpredicted, checkouts.Missing) as aside:
        return table.Aside(row, str(aside))
    except ModuleNotFoundError as missing:
        return table.Aside(row, f"the checkout's code needs the Python package {missing.name}, which is not installed")
    except trnsim.Error as refused:
        return table.Aside(row, f"trnsim refuses: {_first_line(refused)}")
    except Exception as raised:  # of the checkout's own code, for example an assertion on its sizes
        return table.Aside(row, f"the kernel's code raises {type(raised).__name__}: {_first_line(raised)}")


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:120]


def _of_kernel(row: rows.Row, prediction: kernels.Prediction):
    if row.metric in kernels.BOUNDS:
        return table.Bound(row, prediction.value)
    if prediction.is_figure:
        return table.Comparison(row, f"figure: {row.metric}", prediction.value)
    comparison = table.Comparison(row, f"kernels: {row.name.split(' ')[0]}", prediction.value,
                                  device_time=kernels.is_device_time(row))
    return residuals.of_kernel(comparison, prediction.profile, prediction.launch_ns)


if __name__ == "__main__":
    sys.exit(main())
